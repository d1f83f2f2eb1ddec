package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ItemsByID returns the items with the given update ids that lie at or below the
// watermark; ids that are unknown are absent. Import updates are not looked up.
//
// What a lookup costs is queries and columns, so it first asks for places alone and then
// for all columns of all tables at once, by primary key.
func (r *Reader) ItemsByID(ctx context.Context, ids []string) (map[string]schemas.Item, error) {
	places, err := r.places(ctx, ids)
	if err != nil {
		return nil, err
	}
	items := make(map[string]schemas.Item, len(ids))
	parts := byMigration(places)
	found := make([][]schemas.Item, len(parts))
	group, groupCtx := guard.WithContext(ctx)
	for i, part := range parts {
		group.Go(func() (err error) {
			found[i], err = r.itemsAt(groupCtx, part)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, list := range found {
		for _, it := range list {
			items[it.Position().UpdateID] = it
		}
	}
	return items, r.addLateVerdicts(ctx, ids, items)
}

// places finds where ids stand at or below the watermark, ascending. Nearly every id is
// that of an update, so verdicts are only asked for the others.
func (r *Reader) places(ctx context.Context, ids []string) ([]schemas.Position, error) {
	places, err := placesOf(ctx, r.db, r.stream, store.ByUpdate, ids)
	if err != nil {
		return nil, err
	}
	if others := without(ids, places); len(others) > 0 {
		verdicts, err := placesOf(ctx, r.db, r.stream, store.ByVerdict, others)
		if err != nil {
			return nil, err
		}
		places = append(places, verdicts...)
	}
	slices.SortFunc(places, schemas.Position.Compare)
	return r.passedOf(ctx, places)
}

// placesOf returns the places in a stream of updates or verdicts with some ids, in any order.
func placesOf(ctx context.Context, db *store.DB, stream string, kind store.PlaceKind, ids []string) ([]schemas.Position, error) {
	keys, byKey := make([]uint64, len(ids)), make(map[uint64][]string, len(ids))
	for i, id := range ids {
		keys[i] = store.PlaceKey(stream, kind, id)
		byKey[keys[i]] = append(byKey[keys[i]], id)
	}
	found, err := store.SelectAll(ctx, db, placesQuery, store.Params{"keys": store.Numbers(keys)}, store.NewFoundPlaces())
	if err != nil {
		return nil, fmt.Errorf("looking up the places of %d update ids: %w", len(ids), err)
	}
	var places []schemas.Position
	for _, f := range found {
		for _, id := range byKey[f.Key] { // those that are not there are not found there
			places = append(places, schemas.Position{MigrationID: f.MigrationID, RecordTime: f.RecordTime, UpdateID: id})
		}
	}
	return places, nil
}

// without returns the ids that stand at none of some places.
func without(ids []string, places []schemas.Position) []string {
	found := make(map[string]bool, len(places))
	for _, p := range places {
		found[p.UpdateID] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return found[id] })
}

// passedOf keeps the ascending places that the watermark has passed. It is read only for
// places above the one that was read last.
func (r *Reader) passedOf(ctx context.Context, places []schemas.Position) ([]schemas.Position, error) {
	if len(places) == 0 {
		return nil, nil
	}
	known := r.mark.Passed()
	if known == nil || known.Before(places[len(places)-1]) {
		watermark, err := r.Watermark(ctx)
		if err != nil {
			return nil, err
		}
		known = &watermark
	}
	return slices.DeleteFunc(places, known.Before), nil
}

// byMigration splits ascending positions at migration borders.
func byMigration(positions []schemas.Position) (parts [][]schemas.Position) {
	for len(positions) > 0 {
		n := slices.IndexFunc(positions, func(p schemas.Position) bool { return p.MigrationID != positions[0].MigrationID })
		if n < 0 {
			n = len(positions)
		}
		parts, positions = append(parts, positions[:n]), positions[n:]
	}
	return parts
}

// itemsAt returns the items that stand at ascending positions of one migration.
func (r *Reader) itemsAt(ctx context.Context, positions []schemas.Position) ([]schemas.Item, error) {
	params := at(r.stream, positions)
	var updates []schemas.Update
	var verdicts []schemas.Item
	var events []store.EventRow
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = store.SelectAll(ctx, r.db, updatesAtQuery, params, store.NewUpdates())
		return err
	})
	group.Go(func() (err error) {
		verdicts, err = store.SelectAll(ctx, r.db, verdictsAtQuery, params, store.NewVerdicts())
		return err
	})
	group.Go(func() error {
		return rows.EachEvents(ctx, r.db, rows.Query{Text: eventsAtQuery, Params: params}, func(block []store.EventRow) { events = append(events, block...) })
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading %d items from %s: %w", len(positions), positions[0], err)
	}
	if err := rows.Attach(updates, events); err != nil {
		return nil, err
	}
	return mergeItems(updates, verdicts, len(updates)+len(verdicts)), nil
}

// addLateVerdicts completes items by what became known of them later. What was there first
// stays, so it asks only for what has no verdict and could have one.
func (r *Reader) addLateVerdicts(ctx context.Context, ids []string, items map[string]schemas.Item) error {
	if r.side == nil {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		it := items[id]
		return it.Verdict != nil || it.Update != nil && it.Update.Kind != schemas.Transaction
	})
	if len(open) == 0 {
		return nil
	}
	late, err := r.side.verdictsByID(ctx, open)
	if err != nil {
		return err
	}
	for _, it := range late {
		id := it.Verdict.UpdateID
		it.Update = items[id].Update
		items[id] = it
	}
	return nil
}

// verdictsByID looks up verdicts at or below the stream's watermark.
func (r *Reader) verdictsByID(ctx context.Context, ids []string) ([]schemas.Item, error) {
	watermark, err := r.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return nil, err
	}
	params := through(r.stream, watermark)
	params["ids"], params["keys"] = store.Texts(ids), store.PlaceKeys(r.stream, store.ByVerdict, ids...)
	verdicts, err := store.SelectAll(ctx, r.db, verdictsByIDQuery, params, store.NewVerdicts())
	if err != nil {
		return nil, fmt.Errorf("looking up late verdicts of %d update ids: %w", len(ids), err)
	}
	return verdicts, nil
}
