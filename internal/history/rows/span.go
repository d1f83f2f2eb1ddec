// Package rows reads the tables of history and joins their rows into updates. All readers of
// history share it: it knows the queries by position and by offset, and what is missing.
//
// Updates are whole, with all their events in order, or the error is schemas.ErrDamaged.
package rows

import (
	"context"
	_ "embed"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/updates.sql
	updatesQuery string
	//go:embed sql/updates_by_offset.sql
	updatesByOffsetQuery string
	//go:embed sql/events.sql
	eventsQuery string
	//go:embed sql/events_by_offset.sql
	eventsByOffsetQuery string
	//go:embed sql/verdicts.sql
	verdictsQuery string
	//go:embed sql/imports.sql
	importsQuery string
	//go:embed sql/synchronizer_ranges.sql
	synchronizerRangesQuery string
)

// Query is the text of a query with its parameters.
type Query struct {
	Text   string
	Params store.Params
}

// Span is a part of a stream within one migration, After exclusive and Through inclusive. One
// that ends at an offset is of a node's own stream, which is ordered by offset alone.
type Span struct {
	Stream         string
	After, Through schemas.Position
}

// Updates finds the first updates of the span, ascending. Import updates are not among them.
func (s Span) Updates(limit int64) Query {
	if s.Through.Offset == 0 {
		return Query{updatesQuery, s.Params(limit)}
	}
	return Query{updatesByOffsetQuery, store.Params{
		"stream": store.Text(s.Stream), "after": store.Int(s.After.Offset), "through": store.Int(s.Through.Offset), "limit": store.Int(limit),
	}}
}

// Verdicts finds the first verdicts of the span, ascending.
func (s Span) Verdicts(limit int64) Query { return Query{verdictsQuery, s.Params(limit)} }

// Events finds the events of the span, ascending. Those whose update is lost are among them.
func (s Span) Events() Query {
	params := s.EventParams()
	if s.Through.Offset > 0 {
		return Query{eventsByOffsetQuery, params}
	}
	return Query{eventsQuery, params}
}

// EventParams are the parameters of a query for the events of the span: of the first and the
// last position, both inclusive, or of offsets. An update id that is never used stands between
// After and what follows it.
func (s Span) EventParams() store.Params {
	if s.Through.Offset > 0 {
		return store.Params{
			"stream": store.Text(s.Stream), "first": store.Int(s.After.Offset + 1), "last": store.Int(s.Through.Offset),
		}
	}
	first := s.After
	first.UpdateID += "\x00"
	return Between(s.Stream, first, s.Through).Params
}

// Between finds the events of the updates between two positions of one migration, both
// inclusive, ascending.
func Between(stream string, first, last schemas.Position) Query {
	return Query{eventsQuery, store.Params{
		"stream": store.Text(stream), "migration": store.Int(first.MigrationID),
		"first_time": store.Time(store.Clamp(first.RecordTime)), "first_id": store.Text(first.UpdateID),
		"last_time": store.Time(store.Clamp(last.RecordTime)), "last_id": store.Text(last.UpdateID),
	}}
}

// Imports finds the first import updates of a migration after an update id up to another,
// ascending by id.
func Imports(stream string, migrationID int64, afterID, throughID string, limit int64) Query {
	return Query{importsQuery, store.Params{
		"stream": store.Text(stream), "migration": store.Int(migrationID), "after_id": store.Text(afterID),
		"through_id": store.Text(throughID), "limit": store.Int(limit),
	}}
}

// Params are the parameters of a query for the first rows of a span by position.
func (s Span) Params(limit int64) store.Params {
	return store.Params{
		"stream": store.Text(s.Stream), "migration": store.Int(s.Through.MigrationID), "limit": store.Int(limit),
		"after_time": store.Time(store.Clamp(s.After.RecordTime)), "after_id": store.Text(s.After.UpdateID),
		"through_time": store.Time(store.Clamp(s.Through.RecordTime)), "through_id": store.Text(s.Through.UpdateID),
	}
}

// SynchronizerRanges returns the record times that a stream has of each synchronizer in each
// migration, also those above the watermark.
func SynchronizerRanges(ctx context.Context, db *store.DB, stream string) ([]store.SynchronizerRange, error) {
	return store.SelectAll(ctx, db, synchronizerRangesQuery, store.Params{"stream": store.Text(stream)}, store.NewRecords[store.SynchronizerRange]())
}
