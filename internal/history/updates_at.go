package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updatesAt returns the updates that stand at ascending positions of one migration, whole.
func (r *Reader) updatesAt(ctx context.Context, positions []schemas.Position) ([]schemas.Update, error) {
	if len(positions) == 0 {
		return nil, nil
	}
	updates, err := r.selectUpdates(ctx, updatesAtQuery, r.at(positions))
	if err != nil {
		return nil, fmt.Errorf("reading %d updates from %s: %w", len(positions), positions[0], err)
	}
	if err := r.addEventsAt(ctx, updates); err != nil {
		return nil, err
	}
	return updates, nil
}

// addEventsAt reads the events of updates that ascend and may lie far apart, with one query
// for each migration, and hangs them on.
func (r *Reader) addEventsAt(ctx context.Context, updates []schemas.Update) error {
	for len(updates) > 0 {
		migration := updates[0].MigrationID
		n := slices.IndexFunc(updates, func(u schemas.Update) bool { return u.MigrationID != migration })
		if n < 0 {
			n = len(updates)
		}
		positions := make([]schemas.Position, n)
		for i := range positions {
			positions[i] = updates[i].Position()
		}
		if err := r.hangOn(ctx, updates[:n], eventsAtQuery, r.at(positions), false); err != nil {
			return err
		}
		updates = updates[n:]
	}
	return nil
}

// at are the parameters of a query for positions of one migration.
func (r *Reader) at(positions []schemas.Position) store.Params {
	times, ids := make([]schemas.Micros, len(positions)), make([]string, len(positions))
	for i, p := range positions {
		times[i], ids[i] = store.Clamp(p.RecordTime), p.UpdateID
	}
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(positions[0].MigrationID),
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
	params := r.through(watermark)
	params["hash"] = store.Text(hash)
	block := store.NewPositions()
	err = r.db.Select(ctx, updateByHashQuery, params, block, func() error {
		for _, p := range block.AppendTo(nil, watermark.MigrationID) {
			id, ok = p.UpdateID, true
		}
		return nil
	})
	if err != nil {
		return "", false, fmt.Errorf("looking up external transaction hash %s: %w", hash, err)
	}
	return id, ok, nil
}

// through are the parameters of a query at or below a position.
func (r *Reader) through(p schemas.Position) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "through_migration": store.Int(p.MigrationID),
		"through_time": store.Time(store.Clamp(p.RecordTime)), "through_id": store.Text(p.UpdateID),
	}
}
