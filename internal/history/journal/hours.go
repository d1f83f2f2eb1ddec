package journal

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/hours_after.sql
var hoursAfter string

// Hour is an hour of a migration, start exclusive, in which batches of a stream end, and what these have. They may
// begin in an earlier one.
type Hour struct {
	Migration int64  `column:"migration"`
	Start     int64  `column:"hour"` // in microseconds since 1970
	Items     uint64 `column:"all_items"`
	Events    uint64 `column:"all_events"`
}

// At is the position at which the hour begins, behind all that is before it.
func (h Hour) At() schemas.Position { return schemas.EndOf(h.Migration, schemas.Micros(h.Start)) }

// End is the position at which the hour ends.
func (h Hour) End() schemas.Position {
	return schemas.EndOf(h.Migration, schemas.Micros(h.Start+3600e6))
}

// HoursAfter returns the hours in which a stream has batches that end after a position, and at or before another
// one, in order: the first 10,000.
func HoursAfter(ctx context.Context, db *store.DB, stream string, after, through schemas.Position) ([]Hour, error) {
	hours, err := store.SelectAll(ctx, db, hoursAfter, store.Params{
		"stream": store.Text(stream), "imports": store.Int(int64(schemas.MinMicros)),
		"migration": store.Int(after.MigrationID), "time": store.Int(int64(after.RecordTime)), "id": store.Text(after.UpdateID),
		"last_migration": store.Int(through.MigrationID), "last_time": store.Int(int64(through.RecordTime)), "last_id": store.Text(through.UpdateID),
	}, store.NewRecords[Hour]())
	if err != nil {
		return nil, fmt.Errorf("reading the hours of %s after %s: %w", stream, after, err)
	}
	return hours, nil
}
