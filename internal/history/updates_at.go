package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updatesAt returns the updates that stand at ascending positions of one migration, whole.
func (r *Reader) updatesAt(ctx context.Context, positions []schemas.Position) ([]schemas.Update, error) {
	if len(positions) == 0 {
		return nil, nil
	}
	updates, err := store.SelectAll(ctx, r.db, updatesAtQuery, at(r.stream, positions), store.NewUpdates())
	if err != nil {
		return nil, fmt.Errorf("reading %d updates from %s: %w", len(positions), positions[0], err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	found := make([]schemas.Position, len(updates))
	for i := range updates {
		found[i] = updates[i].Position()
	}
	return updates, rows.AddEvents(ctx, r.db, updates, rows.Query{Text: eventsAtQuery, Params: at(r.stream, found)})
}

// at are the parameters of a query for positions of one migration.
func at(stream string, positions []schemas.Position) store.Params {
	times, ids := make([]schemas.Micros, len(positions)), make([]string, len(positions))
	for i, p := range positions {
		times[i], ids[i] = store.Clamp(p.RecordTime), p.UpdateID
	}
	return store.Params{
		"stream": store.Text(stream), "migration": store.Int(positions[0].MigrationID),
		"times": store.Times(times), "ids": store.Texts(ids),
	}
}

// UpdateIDByHash returns the id of the first update at or below the watermark that an
// external party signed with a hash, in lower-case hexadecimal digits; ok is false when
// there is none.
func (r *Reader) UpdateIDByHash(ctx context.Context, hash string) (id string, ok bool, err error) {
	watermark, err := r.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return "", false, err
	}
	params := through(r.stream, watermark)
	params["hash"], params["keys"] = store.Text(hash), store.PlaceKeys(r.stream, store.ByHash, hash)
	found, err := store.SelectAll(ctx, r.db, updateByHashQuery, params, store.NewPositions(watermark.MigrationID))
	if err != nil {
		return "", false, fmt.Errorf("looking up external transaction hash %s: %w", hash, err)
	}
	if len(found) == 0 {
		return "", false, nil
	}
	return found[len(found)-1].UpdateID, true, nil
}

// through are the parameters of a query at or below a position.
func through(stream string, p schemas.Position) store.Params {
	return store.Params{
		"stream": store.Text(stream), "through_migration": store.Int(p.MigrationID),
		"through_time": store.Time(store.Clamp(p.RecordTime)), "through_id": store.Text(p.UpdateID),
	}
}
