package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Restore fills the store from the bucket or, unless from is "", from files of the network's layout in
// that folder. Contracts that were carried over into later migrations then come from the first upstream.
func (a *App) Restore(ctx context.Context, from string, progress *console.Progress) error {
	if from != "" {
		return restoreFiles(ctx, a, from, progress)
	}
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

func restoreFiles(ctx context.Context, a *App, dir string, progress *console.Progress) error {
	a.db.makes = true
	if err := checkFolder("--from", dir); err != nil {
		return err
	}
	if err := a.db.checkLocal(ctx); err != nil {
		return err
	}
	catalog, err := a.p.catalog()
	if err != nil {
		return err
	}
	from := &fileHistory{files: network.Files{Dir: os.DirFS(dir), Values: catalog}}
	if urls := a.p.cfg.ScanURLs; len(urls) > 0 {
		if from.upstream, err = a.verifier().newPeer(urls[0]); err != nil {
			return err
		}
	}
	if err := a.db.open(ctx); err != nil {
		return err
	}
	return a.db.seized(ctx, schemas.ScanStream, func(ctx context.Context) error {
		return a.p.guard(ctx, func(ctx context.Context) error { return a.objects.restoreFiles(ctx, from, progress) })
	})
}

// fileHistory is the history in files of the network's layout.
type fileHistory struct {
	files    network.Files
	upstream *peer // nil if there is none
}

// items are the updates of the files, with the import updates of the upstream before each migration.
func (h *fileHistory) items(ctx context.Context, after schemas.Position, each func(schemas.Item) error) error {
	migration := after.MigrationID
	begun := after != schemas.Start && after.RecordTime > schemas.MinMicros
	return h.files.Updates(ctx, after, func(u *schemas.Update) error {
		if u.MigrationID != migration || !begun {
			if err := h.imports(ctx, u.MigrationID, after, each); err != nil {
				return err
			}
			migration, begun = u.MigrationID, true
		}
		return each(schemas.Item{Update: u})
	})
}

// imports gives the import updates of a migration after a position. The network's first migration has
// none.
func (h *fileHistory) imports(ctx context.Context, migrationID int64, after schemas.Position, each func(schemas.Item) error) error {
	if h.upstream == nil {
		if migrationID == 0 {
			return nil
		}
		return fmt.Errorf("migration %d begins with contracts that were carried over into it, which the network's files do not have: name a scan that has them with --scan-url", migrationID)
	}
	last := ""
	if after.MigrationID == migrationID {
		last = after.UpdateID
	}
	for {
		page, err := h.upstream.Imports(ctx, migrationID, last, scan.MaxPageItems)
		if err != nil {
			return fmt.Errorf("reading what was carried over into migration %d: %w", migrationID, err)
		}
		for i := range page {
			if err := each(schemas.Item{Update: &page[i]}); err != nil {
				return err
			}
		}
		if len(page) < scan.MaxPageItems {
			return nil
		}
		last = page[len(page)-1].UpdateID
	}
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
	return o.restored(ctx, func(ctx context.Context) error {
		return from.Restore(ctx, archive.RestoreConfig{
			Sink: indexer.NewSinks(o.db.db, o.p.log), Catalog: catalog,
			Progress: func(now archive.RestoreProgress) {
				last = now
				p.Set(now.Rows, now.TotalRows)
			},
		})
	}, func(mark schemas.Position) {
		p.End(fmt.Sprintf("%d segments, %d rows, up to %s", last.Segments, last.Rows, mark))
	})
}

// restoreFiles is restore from files of the network's layout.
func (o *objects) restoreFiles(ctx context.Context, from *fileHistory, p *console.Progress) error {
	p.Begin("restore", "rows", 0)
	var rows int64
	return o.restored(ctx, func(ctx context.Context) error {
		return archive.RestoreItems(ctx, indexer.NewSinks(o.db.db, o.p.log), schemas.ScanStream, from.items, func(more int64) {
			rows += more
			p.Set(rows, 0)
		})
	}, func(mark schemas.Position) { p.End(fmt.Sprintf("%d rows, up to %s", rows, mark)) })
}

// restored does the work of a restore, with the lifetimes beside it, and reports the end.
func (o *objects) restored(ctx context.Context, work func(context.Context) error, report func(mark schemas.Position)) error {
	if err := o.db.withLifetimes(ctx, work); err != nil {
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
	report(mark)
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
