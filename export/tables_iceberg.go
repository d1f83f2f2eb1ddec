package export

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// newIcebergTables returns the Iceberg tables over the published segments, nil if there are none.
func newIcebergTables(cfg *Config, log *slog.Logger) (*iceberg.Tables, error) {
	if cfg.Iceberg == nil {
		return nil, nil
	}
	return iceberg.New(iceberg.Config{
		Stream: cfg.Catalog.Stream(), Objects: cfg.Iceberg, Catalog: publishedFiles{cfg.Catalog}, Log: log, Now: cfg.Now,
	})
}

// publishedSegments are the segments that the latest rows say are published.
func publishedSegments(rows []store.SegmentRow) []iceberg.Segment {
	var list []iceberg.Segment
	for i := range rows {
		if rows[i].State == published.Published {
			list = append(list, iceberg.Segment{Ref: rows[i].Ref(), Content: rows[i].ManifestHash, Derived: rows[i].DerivedHash, Version: rows[i].Version})
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
		if row == nil || row.State != published.Published || row.ManifestHash != s.Content && row.DerivedHash != s.Content {
			return nil, fmt.Errorf("%w: segment %s", iceberg.ErrChanged, s.Ref)
		}
		if files[i], err = p.filesOf(row, table); err != nil {
			return nil, fmt.Errorf("reading what describes segment %s: %w", s.Ref, err)
		}
	}
	return files, nil
}

func (p publishedFiles) filesOf(row *store.SegmentRow, table schemas.ParquetTable) ([]iceberg.File, error) {
	parts, err := p.partsOf(row, table)
	if err != nil {
		return nil, err
	}
	var files []iceberg.File
	for _, part := range parts {
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

func (p publishedFiles) partsOf(row *store.SegmentRow, table schemas.ParquetTable) ([]published.Part, error) {
	if slices.Contains(row.Ref().DerivedTables(), table) {
		d, err := published.DerivedOf(row)
		if d == nil || err != nil {
			return nil, err
		}
		return d.Table(table).Parts, nil
	}
	m, err := p.catalog.ManifestOf(row)
	if err != nil {
		return nil, err
	}
	return m.Table(table).Parts, nil
}
