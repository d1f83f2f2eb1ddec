package export

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// icebergTables are the Iceberg tables over the published segments. Without tables it does
// nothing.
type icebergTables struct{ *iceberg.Tables }

func newIcebergTables(cfg *Config, log *slog.Logger) (icebergTables, error) {
	if cfg.Iceberg == nil {
		return icebergTables{}, nil
	}
	tables, err := iceberg.New(iceberg.Config{
		Stream: cfg.Catalog.Stream(), Objects: cfg.Iceberg, Catalog: publishedFiles{cfg.Catalog}, Log: log, Now: cfg.Now,
	})
	return icebergTables{tables}, err
}

// update makes the tables equal to what is published.
func (t icebergTables) update(ctx context.Context) error {
	if t.Tables == nil {
		return nil
	}
	return t.Tables.Update(ctx)
}

// exclude is for segments that were taken out of the catalogue just now: it comes before
// their objects are replaced or removed.
func (t icebergTables) exclude(ctx context.Context) error {
	if t.Tables == nil {
		return nil
	}
	return t.Tables.Exclude(ctx)
}

// lack reports whether the tables do not have exactly the published ones of all segments.
func (t icebergTables) lack(ctx context.Context, rows []store.SegmentRow) (bool, error) {
	if t.Tables == nil {
		return false, nil
	}
	same, err := t.Tables.UpToDate(ctx, publishedSegments(rows))
	return !same, err
}

// collect removes what no snapshot of a table needs and that was stored before an instant.
func (t icebergTables) collect(ctx context.Context, before time.Time, done *Collection) error {
	if t.Tables == nil {
		return nil
	}
	objects, bytes, err := t.Tables.Collect(ctx, before)
	done.Objects += objects
	done.Bytes += bytes
	return err
}

// check says how the tables differ from what is published.
func (t icebergTables) check(ctx context.Context) ([]string, error) {
	if t.Tables == nil {
		return nil, nil
	}
	return t.Tables.Check(ctx)
}

// publishedSegments are the segments that the latest rows say are published.
func publishedSegments(rows []store.SegmentRow) []iceberg.Segment {
	var list []iceberg.Segment
	for i := range rows {
		if rows[i].State == published.Published {
			list = append(list, iceberg.Segment{Ref: rows[i].Ref(), Content: rows[i].ManifestHash, Version: rows[i].Version})
		}
	}
	return list
}

// publishedFiles is the catalogue as tables are made of it.
type publishedFiles struct{ catalog *published.Catalog }

// Segments implements iceberg.Catalog.
func (p publishedFiles) Segments(ctx context.Context) ([]iceberg.Segment, error) {
	rows, err := p.catalog.AllSegments(ctx)
	return publishedSegments(rows), err
}

// Files implements iceberg.Catalog.
func (p publishedFiles) Files(ctx context.Context, table schemas.ParquetTable, segments []iceberg.Segment) ([][]iceberg.File, error) {
	refs := make([]schemas.SegmentRef, len(segments))
	for i, s := range segments {
		refs[i] = s.Ref
	}
	rows, err := p.catalog.Segments.Some(ctx, refs)
	if err != nil {
		return nil, err
	}
	byRef := make(map[schemas.SegmentRef]*store.SegmentRow, len(rows))
	for i := range rows {
		byRef[rows[i].Ref()] = &rows[i]
	}
	files := make([][]iceberg.File, len(segments))
	for i, s := range segments {
		row := byRef[s.Ref]
		if row == nil || row.State != published.Published || row.ManifestHash != s.Content {
			return nil, fmt.Errorf("%w: segment %s", iceberg.ErrChanged, s.Ref)
		}
		if files[i], err = p.filesOf(row, table); err != nil {
			return nil, fmt.Errorf("reading the manifest of segment %s: %w", s.Ref, err)
		}
	}
	return files, nil
}

func (p publishedFiles) filesOf(row *store.SegmentRow, table schemas.ParquetTable) ([]iceberg.File, error) {
	m, err := p.catalog.ManifestOf(row)
	if err != nil {
		return nil, err
	}
	var files []iceberg.File
	for _, part := range m.Table(table).Parts {
		f := iceberg.File{Key: part.Key, Bytes: part.Bytes, Rows: part.Rows}
		if f.First, err = part.First.RowKey(); err != nil {
			return nil, err
		}
		if f.Last, err = part.Last.RowKey(); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
