package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// mediaType is the registered media type.
const mediaType = "application/zstd"

// Pages reads the history that is published.
type Pages interface {
	// Updates calls each with the updates after a position and up to another one, in order.
	Updates(ctx context.Context, after, through schemas.Position, each func(context.Context, []schemas.Update) error) error
	// Contracts calls each with the contracts of a migration that are active at an instant, in
	// order.
	Contracts(ctx context.Context, migrationID int64, at schemas.Micros, each func(context.Context, []history.ActiveContract) error) error
}

// Publisher writes objects into the bucket, and has those of a batch wait in staging
// until peers agree, if they must.
type Publisher interface {
	// PutPart stores an object under a new key, or in staging. Where there is another object
	// already the error is ErrConflict, unless it may be overwritten.
	PutPart(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string, overwrite bool) error
	// Stages reports whether objects wait in staging.
	Stages() bool
	// Publish has a batch listed by list. One that is staged it first puts under its keys, if peers
	// agree now, and in the end removes from staging; what staging has lost it withdraws.
	Publish(ctx context.Context, b published.Batch, staged, overwrite bool, list, withdraw func() error) error
}

// Objects is the bucket; *bucket.Client is one.
type Objects interface {
	// Get streams a range of an object, the rest of it if to is negative; or
	// bucket.ErrNotFound.
	Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error)
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
}

// Exporter exports one stream in the network's own layout. All fields are required. It
// is safe for concurrent use.
type Exporter struct {
	Catalog   *published.Catalog
	Pages     Pages
	Publisher Publisher
	Objects   Objects
	// Whole returns an error if the store lacks rows of history.
	Whole func(ctx context.Context) error
	// Values converts contract values into the encodings of the layout.
	Values *values.Catalog
	Cut    Cut
	// TempDir holds objects on their way to the bucket.
	TempDir string
	// Workers is how many folders are measured at once.
	Workers int
	Now     func() time.Time
	Log     *slog.Logger
}

// Export publishes all objects of one kind and folder, in all encodings. It is safe to
// repeat, finishes a run that was cut off, and returns ErrNotClosed if the folder may still
// grow, or ErrConflict. What was withdrawn is written again, and its objects are
// overwritten; what has expired stays away.
func (e *Exporter) Export(ctx context.Context, ref schemas.NetworkRef) error {
	if ref.Stream != e.Catalog.Stream() {
		return fmt.Errorf("%s is not of stream %s", ref, e.Catalog.Stream())
	}
	if err := ref.Check(); err != nil {
		return err
	}
	last, err := e.Catalog.LastFolder(ctx, ref)
	if err != nil || last.State == published.Published || last.State == published.Expired {
		return err
	}
	return e.export(ctx, ref, last)
}

// export writes the unit's objects and then its row, with a stay in staging between
// if peers must agree. last is its latest row, or one of version 0.
func (e *Exporter) export(ctx context.Context, ref schemas.NetworkRef, last store.NetworkFolderRow) error {
	start := e.Now()
	lines, last, err := e.written(ctx, ref, last)
	if err != nil {
		return fmt.Errorf("exporting %s: %w", ref, err)
	}
	row, err := published.FolderRow(ref, lines, published.Published, last.Version+1)
	if err != nil {
		return err
	}
	list := func() error { return e.Catalog.Folders.Append(ctx, row) }
	withdraw := func() error {
		last.Version++
		last.State = published.Withdrawn
		return e.Catalog.Folders.Append(ctx, last)
	}
	overwrite := published.Overwrites(last.State, last.Version)
	if err := e.Publisher.Publish(ctx, published.FolderBatch(ref, lines), last.State == published.Staged, overwrite, list, withdraw); err != nil {
		return fmt.Errorf("publishing %s: %w", ref, err)
	}
	e.Log.InfoContext(ctx, "exported folder", "folder", ref.String(), "objects", row.Count,
		"rows", row.Rows, "bytes", row.Bytes, "elapsed", e.Now().Sub(start))
	return nil
}

// closed returns what a reference stands for, or ErrNotClosed.
func (e *Exporter) closed(ctx context.Context, ref schemas.NetworkRef) (published.Folder, error) {
	folders, err := e.Catalog.ClosedFolders(ctx)
	if err != nil {
		return published.Folder{}, err
	}
	for _, f := range folders {
		if f.Ref == ref {
			return f, nil
		}
	}
	return published.Folder{}, fmt.Errorf("%w: %s", published.ErrNotClosed, ref)
}

// written writes the objects, unless they are staged already, and returns them with
// the latest row.
func (e *Exporter) written(ctx context.Context, ref schemas.NetworkRef, last store.NetworkFolderRow) ([]published.NetworkLines, store.NetworkFolderRow, error) {
	if last.State == published.Staged {
		lines, err := published.LinesOf(&last)
		return lines, last, err
	}
	unit, err := e.closed(ctx, ref)
	if err != nil {
		return nil, last, err
	}
	if err := e.Whole(ctx); err != nil {
		return nil, last, err
	}
	lines, err := e.write(ctx, unit, published.Overwrites(last.State, last.Version))
	if err != nil {
		return nil, last, err
	}
	if err := e.Whole(ctx); err != nil {
		return nil, last, err
	}
	if err := e.deleteStale(ctx, last, lines); err != nil {
		return nil, last, fmt.Errorf("removing old objects: %w", err)
	}
	if !e.Publisher.Stages() {
		return lines, last, nil
	}
	row, err := published.FolderRow(ref, lines, published.Staged, last.Version+1)
	if err != nil {
		return nil, last, err
	}
	return lines, row, e.Catalog.Folders.Append(ctx, row)
}

// write puts the unit's objects into the bucket.
func (e *Exporter) write(ctx context.Context, u published.Folder, overwrite bool) (_ []published.NetworkLines, err error) {
	sinks := make([]*bucketSink, len(schemas.NetworkEncodings))
	writers, takers := make([]*lineWriter, len(sinks)), make([]lineTaker, len(sinks))
	for i, encoding := range schemas.NetworkEncodings {
		sinks[i] = &bucketSink{exporter: e, ref: u.Ref, encoding: encoding, overwrite: overwrite, objects: []published.NetworkObject{}}
		defer func() { err = errors.Join(err, sinks[i].close()) }()
		if writers[i], err = e.newLineWriter(encoding, sinks[i]); err != nil {
			return nil, err
		}
		takers[i] = writers[i]
	}
	if err := e.writeLines(ctx, u, takers...); err != nil {
		return nil, err
	}
	lines := make([]published.NetworkLines, len(sinks))
	for i, w := range writers {
		lines[i] = published.NetworkLines{Encoding: sinks[i].encoding, Rows: w.total.Rows, JSONBytes: w.total.JSONBytes, Objects: sinks[i].objects}
	}
	return lines, nil
}

// deleteStale removes objects of an earlier version that the new one does not have,
// while it is still withdrawn.
func (e *Exporter) deleteStale(ctx context.Context, last store.NetworkFolderRow, now []published.NetworkLines) error {
	before, err := published.LinesOf(&last)
	if err != nil {
		return err
	}
	keep := make(map[string]bool)
	for i := range now {
		for _, o := range now[i].Objects {
			keep[o.Key] = true
		}
	}
	for i := range before {
		for _, o := range before[i].Objects {
			if keep[o.Key] {
				continue
			}
			if err := e.Objects.Delete(ctx, o.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
