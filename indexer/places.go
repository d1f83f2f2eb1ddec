package indexer

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/fill_places.sql
var fillPlacesStatement string

// fillPlaces adds the places of what the other tables have in a range of a stream, within one
// migration and not of imports. A repeated call with the same token changes nothing.
func fillPlaces(ctx context.Context, db *store.DB, stream string, after, through schemas.Position, token string) error {
	err := db.Change(ctx, "places", fillPlacesStatement, token, store.Params{
		"stream": store.Text(stream), "migration": store.Int(through.MigrationID),
		"after_time": store.Time(store.Clamp(after.RecordTime)), "after_id": store.Text(after.UpdateID), "after_offset": store.Int(after.Offset),
		"through_time": store.Time(store.Clamp(through.RecordTime)), "through_id": store.Text(through.UpdateID), "through_offset": store.Int(through.Offset),
	})
	if err != nil {
		return fmt.Errorf("filling places of %s after %s: %w", stream, after, err)
	}
	return nil
}

// fillAllPlaces fills table places for a store that an earlier version wrote, of all streams, in ranges
// of batches. It goes on where an earlier call was cut off, and reports how many batches are done. No
// version that does not write places itself may write to the store meanwhile.
func fillAllPlaces(ctx context.Context, dsn string, report func(done, total int64)) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	streams, err := historyStreams(ctx, db)
	if err != nil {
		return err
	}
	done, total := int64(0), int64(0)
	for _, s := range streams {
		total += int64(s.Items + s.Events)
	}
	for _, s := range streams {
		stream := s.Stream
		f := journal.NewFollower(db, stream, journals.PlacesStream(stream), 100*time.Millisecond, slog.Default())
		err := f.CatchUp(ctx, func(ctx context.Context) error {
			if _, err := f.Load(ctx); err != nil {
				return err
			}
			return f.Take(ctx, "filling places", func(ctx context.Context, row *store.BatchRow) error {
				done += int64(row.Items + row.Events)
				report(done, total)
				return fillRange(ctx, db, stream, row)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// historyStreams are the streams of a store that are not derived from others in it.
func historyStreams(ctx context.Context, db *store.DB) ([]store.StreamRow, error) {
	streams, err := journals.Streams(ctx, db)
	return slices.DeleteFunc(streams, func(s store.StreamRow) bool { return journals.IsDerived(s.Stream) }), err
}

// fillRange fills the places of a range of batches. Imports have none.
func fillRange(ctx context.Context, db *store.DB, stream string, row *store.BatchRow) error {
	after, through := row.After, row.Through
	if through.RecordTime == schemas.MinMicros {
		return nil
	}
	if !journal.SameKind(after, through) {
		after.MigrationID, after.RecordTime, after.UpdateID = through.MigrationID, schemas.MinMicros, ""
	}
	return fillPlaces(ctx, db, stream, after, through, fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, row.Hash))
}
