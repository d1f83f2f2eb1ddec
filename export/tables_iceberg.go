package export

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// newTables returns the Iceberg tables over the exporter's segments, nil if none are kept.
func (e *Exporter) newTables() (*iceberg.Tables, error) {
	if e.cfg.Iceberg == nil {
		return nil, nil
	}
	return iceberg.New(iceberg.Config{
		Stream: e.stream, Objects: e.cfg.Iceberg, Catalog: publishedFiles{e}, Log: e.log, Now: e.cfg.Now,
	})
}

// updateTables makes the tables equal to what is published.
func (e *Exporter) updateTables(ctx context.Context) error {
	if e.tables == nil {
		return nil
	}
	return e.tables.Update(ctx)
}

// excludeFromTables is for segments that were taken out of the catalog just now: it comes
// before their objects are replaced or removed.
func (e *Exporter) excludeFromTables(ctx context.Context) error {
	if e.tables == nil {
		return nil
	}
	return e.tables.Exclude(ctx)
}

// tablesLack reports whether the tables do not have exactly the published ones of all
// segments.
func (e *Exporter) tablesLack(ctx context.Context, rows []segmentRow) (bool, error) {
	if e.tables == nil {
		return false, nil
	}
	same, err := e.tables.UpToDate(ctx, publishedSegments(rows))
	return !same, err
}

// publishedSegments are the segments that the latest rows say are published.
func publishedSegments(rows []segmentRow) []iceberg.Segment {
	var list []iceberg.Segment
	for i := range rows {
		if rows[i].State == published {
			list = append(list, iceberg.Segment{Ref: rows[i].ref(), Content: rows[i].ManifestHash, Version: rows[i].Version})
		}
	}
	return list
}

// publishedFiles is the exporter's catalog as tables are made of it.
type publishedFiles struct{ exporter *Exporter }

// Segments implements iceberg.Catalog.
func (p publishedFiles) Segments(ctx context.Context) ([]iceberg.Segment, error) {
	rows, err := p.exporter.allRows(ctx)
	return publishedSegments(rows), err
}

// Files implements iceberg.Catalog.
func (p publishedFiles) Files(ctx context.Context, table schemas.ParquetTable, segments []iceberg.Segment) ([][]iceberg.File, error) {
	refs := make([]schemas.SegmentRef, len(segments))
	for i, s := range segments {
		refs[i] = s.Ref
	}
	rows, err := p.exporter.catalog.some(ctx, refs)
	if err != nil {
		return nil, err
	}
	byRef := make(map[schemas.SegmentRef]*segmentRow, len(rows))
	for i := range rows {
		byRef[rows[i].ref()] = &rows[i]
	}
	files := make([][]iceberg.File, len(segments))
	for i, s := range segments {
		row := byRef[s.Ref]
		if row == nil || row.State != published || row.ManifestHash != s.Content {
			return nil, fmt.Errorf("%w: segment %s", iceberg.ErrChanged, s.Ref)
		}
		if files[i], err = p.filesOf(row, table); err != nil {
			return nil, fmt.Errorf("reading the manifest of segment %s: %w", s.Ref, err)
		}
	}
	return files, nil
}

func (p publishedFiles) filesOf(row *segmentRow, table schemas.ParquetTable) ([]iceberg.File, error) {
	m, err := p.exporter.manifests.of(row)
	if err != nil {
		return nil, err
	}
	var files []iceberg.File
	for _, part := range m.table(table).Parts {
		f := iceberg.File{Key: part.Key, Bytes: part.Bytes, Rows: part.Rows}
		if f.First, err = part.First.rowKey(); err != nil {
			return nil, err
		}
		if f.Last, err = part.Last.rowKey(); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// collectTables removes what no snapshot of a table needs and that was stored before an
// instant.
func (e *Exporter) collectTables(ctx context.Context, before time.Time, done *Collection) error {
	if e.tables == nil {
		return nil
	}
	objects, bytes, err := e.tables.Collect(ctx, before)
	done.Objects += objects
	done.Bytes += bytes
	return err
}
