package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newRestore(a *app) *cobra.Command {
	var lines string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "rebuild the store from the published objects",
		Long: `restore reads the Parquet objects in the bucket, and nothing else, and writes the history
that they hold into the store, through the same writer as ingest: exactly once, and on from
where it was cut off. Contract lifetimes are derived along with it, and the segments are
entered as published. ledgerlake verify then compares the store with the objects. Of an
upstream, ingest goes on where the last segment ends.

A store that has history already must hold the beginning of what the objects hold. A
segment that is missing in between is an error.

With --lines no store is needed: every update is written to a file, or to standard output
with -, as one line of canonical JSON, the form that /v2/updates gives it; of imports, that
of /v0/backfilling/import-updates.`,
		Example: "  ledgerlake restore --data /srv/ledgerlake --s3-endpoint https://s3.example.com --s3-bucket lake --s3-access-key KEY --s3-secret-key SECRET\n" +
			"  ledgerlake verify --data /srv/ledgerlake\n" +
			"  ledgerlake restore --data /srv/ledgerlake --lines - | zstd > updates.jsonl.zst",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.quiet()
			s := newStack(a)
			defer s.closeInto(&err)
			s.makesStore, s.readsBucket = true, true
			if lines != "" {
				if err := s.openBucket(cmd.Context()); err != nil {
					return err
				}
				return s.guard(cmd.Context(), func(ctx context.Context) error { return s.writeLines(ctx, lines) })
			}
			if err := s.checkLocal(cmd.Context()); err != nil {
				return err
			}
			if err := s.openBucket(cmd.Context()); err != nil {
				return err
			}
			archive, err := s.openArchive(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.openStore(cmd.Context()); err != nil {
				return err
			}
			p := console.NewProgress(a.console)
			return s.guard(cmd.Context(), func(ctx context.Context) error { return s.restore(ctx, archive, p) })
		},
	}
	cmd.Flags().StringVar(&lines, "lines", "", "write the updates to this file as JSON lines, - for standard output, in place of a store")
	return cmd
}

// openArchive reads the manifests in the bucket, of which there must be some.
func (s *stack) openArchive(ctx context.Context) (*export.Archive, error) {
	cfg := s.archiveConfig()
	archive, err := export.OpenArchive(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if len(archive.Segments()) == 0 {
		return nil, fmt.Errorf("bucket %s has no published segments, so nothing can be restored: correct --s3-bucket or --s3-prefix, or publish some with ledgerlake export", s.app.cfg.S3Bucket)
	}
	return archive, makeTemp(cfg)
}

// restore fills the store from the bucket, with the lifetimes beside it.
func (s *stack) restore(ctx context.Context, archive *export.Archive, p *console.Progress) error {
	exporter, err := s.newExporter()
	if err != nil {
		return err
	}
	p.Begin("restore", "rows", 0)
	var last export.RestoreProgress
	err = s.withLifetimes(ctx, func(ctx context.Context) error {
		return exporter.Restore(ctx, archive, indexer.NewSinks(s.db, s.app.log), func(now export.RestoreProgress) {
			last = now
			p.Set(now.Rows, now.TotalRows)
		})
	})
	if err != nil {
		return err
	}
	// The end of the history there is has been reached: readers may page through it.
	if err := indexer.SetBackfilled(ctx, s.db, schemas.ScanStream); err != nil {
		return err
	}
	mark, err := s.reader.Watermark(ctx)
	if err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d segments, %d rows, up to %s", last.Segments, last.Rows, mark))
	return nil
}

// withLifetimes derives lifetimes of the public history while work fills the store, and
// after it the rest.
func (s *stack) withLifetimes(ctx context.Context, work func(context.Context) error) error {
	group, groupCtx := guard.WithContext(ctx)
	beside, stop := context.WithCancel(groupCtx)
	defer stop()
	group.Go(func() error {
		defer stop()
		return work(groupCtx)
	})
	group.Go(func() error {
		err := indexer.NewLifetimes(s.db, schemas.ScanStream, 0, s.app.log).Run(beside)
		if beside.Err() != nil {
			return nil
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return indexer.NewLifetimes(s.db, schemas.ScanStream, 0, s.app.log).CatchUp(ctx)
}

// writeLines writes every update of the bucket as a line of canonical JSON.
func (s *stack) writeLines(ctx context.Context, path string) (err error) {
	archive, err := s.openArchive(ctx)
	if err != nil {
		return err
	}
	out := s.app.data
	if path != "-" {
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("creating the file of updates: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	return linesOf(ctx, archive, out)
}

func linesOf(ctx context.Context, archive *export.Archive, out io.Writer) error {
	buffered := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	err := archive.Updates(ctx, func(u *schemas.Update) error {
		line = append(schemas.AppendUpdate(line[:0], u, schemas.UpdateForm{WithOffset: u.IsImport()}), '\n')
		_, err := buffered.Write(line)
		return err
	})
	return errors.Join(err, buffered.Flush())
}
