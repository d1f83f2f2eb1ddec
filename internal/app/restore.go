package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Restore fills the store from the bucket.
func (a *App) Restore(ctx context.Context, progress *console.Progress) error {
	a.db.makes, a.objects.reads = true, true
	if err := a.db.checkLocal(ctx); err != nil {
		return err
	}
	if err := a.objects.open(ctx); err != nil {
		return err
	}
	archive, err := a.objects.openArchive(ctx)
	if err != nil {
		return err
	}
	if err := a.db.open(ctx); err != nil {
		return err
	}
	return a.db.seized(ctx, schemas.ScanStream, func(ctx context.Context) error {
		return a.p.guard(ctx, func(ctx context.Context) error { return a.objects.restore(ctx, archive, progress) })
	})
}

// RestoreLines writes every update of the bucket to out as a line of canonical JSON. No store is
// needed.
func (a *App) RestoreLines(ctx context.Context, out func() (io.Writer, error)) error {
	a.objects.reads = true
	if err := a.objects.open(ctx); err != nil {
		return err
	}
	return a.p.guard(ctx, func(ctx context.Context) error {
		archive, err := a.objects.openArchive(ctx)
		if err != nil {
			return err
		}
		w, err := out()
		if err != nil {
			return err
		}
		return linesOf(ctx, archive, w)
	})
}

// openArchive reads the manifests in the bucket, of which there must be some.
func (o *objects) openArchive(ctx context.Context) (*archive.Archive, error) {
	cfg := o.archiveConfig()
	archive, err := archive.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if len(archive.Segments()) == 0 {
		return nil, fmt.Errorf("bucket %s has no published segments, so nothing can be restored: correct --s3-bucket or --s3-prefix, or publish some with ledgerlake export", o.p.cfg.S3Bucket)
	}
	return archive, makeTemp(cfg)
}

// restore fills the store from the bucket, with the lifetimes beside it.
func (o *objects) restore(ctx context.Context, from *archive.Archive, p *console.Progress) error {
	catalog, err := o.published()
	if err != nil {
		return err
	}
	p.Begin("restore", "rows", 0)
	var last archive.RestoreProgress
	err = o.db.withLifetimes(ctx, func(ctx context.Context) error {
		return from.Restore(ctx, archive.RestoreConfig{
			Sink: indexer.NewSinks(o.db.db, o.p.log), Catalog: catalog,
			Progress: func(now archive.RestoreProgress) {
				last = now
				p.Set(now.Rows, now.TotalRows)
			},
		})
	})
	if err != nil {
		return err
	}
	// The end of the history there is has been reached: readers may page through it.
	if err := indexer.SetBackfilled(ctx, o.db.db, schemas.ScanStream); err != nil {
		return err
	}
	mark, err := o.db.reader.Watermark(ctx)
	if err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d segments, %d rows, up to %s", last.Segments, last.Rows, mark))
	return nil
}

// withLifetimes derives lifetimes of the public history while work fills the store, and
// after it the rest.
func (d *database) withLifetimes(ctx context.Context, work func(context.Context) error) error {
	lifetimes := indexer.NewLifetimes(d.db, schemas.ScanStream, 0, d.p.log)
	if err := d.p.guard(ctx, work, lifetimes.Run); err != nil {
		return err
	}
	return lifetimes.CatchUp(ctx)
}

func linesOf(ctx context.Context, archive *archive.Archive, out io.Writer) error {
	buffered := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	err := archive.Updates(ctx, func(u *schemas.Update) error {
		line = append(schemas.AppendUpdate(line[:0], u, schemas.UpdateForm{WithOffset: u.IsImport()}), '\n')
		_, err := buffered.Write(line)
		return err
	})
	return errors.Join(err, buffered.Flush())
}
