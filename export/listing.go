package export

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Object is a published object.
type Object struct {
	Part
	Segment schemas.SegmentRef
	Table   schemas.ParquetTable
	// Start (exclusive) and End (inclusive) bound the record times of its segment.
	Start, End schemas.Micros
}

// Objects lists published objects of the given tables, of all tables if none are
// given, whose segments overlap the record times after from and up to to. Order is by
// segment, then table, then part. from MinMicros includes the imports.
func (e *Exporter) Objects(ctx context.Context, from, to schemas.Micros, tables ...schemas.ParquetTable) ([]Object, error) {
	if from == schemas.MinMicros {
		from-- // exclusive, and imports stand at MinMicros
	}
	rows, err := e.catalog.between(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var objects []Object
	for i := range rows {
		m, err := decodeManifest([]byte(rows[i].Manifest))
		if err != nil {
			return nil, err
		}
		for _, t := range m.Tables {
			if len(tables) > 0 && !slices.Contains(tables, t.Name) {
				continue
			}
			for _, p := range t.Parts {
				objects = append(objects, Object{p, m.Ref(), t.Name, schemas.Micros(rows[i].Start), schemas.Micros(rows[i].End)})
			}
		}
	}
	return objects, nil
}
