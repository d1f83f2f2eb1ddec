package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Migrations sums up what the store holds at or below the watermark, by ascending id.
func (r *Reader) Migrations(ctx context.Context) ([]Migration, error) {
	watermark, err := r.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return nil, err
	}
	byID := make(map[int64]*Migration)
	var list []*Migration
	at := func(id int64) *Migration {
		if byID[id] == nil {
			byID[id] = &Migration{ID: id}
			list = append(list, byID[id])
		}
		return byID[id]
	}
	counts, err := importCounts(ctx, r.db, r.stream, watermark)
	if err != nil {
		return nil, fmt.Errorf("counting imports: %w", err)
	}
	for _, c := range counts {
		m := at(c.MigrationID)
		m.Imports, m.LastImportID = c.Imports, c.LastID
	}
	ranges, err := synchronizerRanges(ctx, r.db, r.stream, watermark)
	if err != nil {
		return nil, fmt.Errorf("reading record time ranges: %w", err)
	}
	for _, s := range ranges {
		m := at(s.MigrationID)
		m.Synchronizers = append(m.Synchronizers, SynchronizerRange{s.SynchronizerID, s.Min, s.Max})
	}
	return sortedMigrations(list), nil
}

// importCounts counts import updates at or below the watermark. Those above it lie in the
// migration whose imports are being written, if any.
func importCounts(ctx context.Context, db *store.DB, stream string, watermark schemas.Position) ([]store.ImportCount, error) {
	query, params := importCountsQuery, store.Params{
		"stream": store.Text(stream), "through_migration": store.Int(watermark.MigrationID),
	}
	if watermark.RecordTime == schemas.MinMicros {
		query, params["through_id"] = importCountsWithinQuery, store.Text(watermark.UpdateID)
	}
	return store.SelectAll(ctx, db, query, params, store.NewRecords[store.ImportCount]())
}

// synchronizerRanges are the record times held at or below the watermark. A batch that
// is being written lies above it, and only in the newest migration: there, a range that
// goes too far is cut.
func synchronizerRanges(ctx context.Context, db *store.DB, stream string, watermark schemas.Position) ([]store.SynchronizerRange, error) {
	all, err := rows.SynchronizerRanges(ctx, db, stream)
	if err != nil {
		return nil, err
	}
	var held []store.SynchronizerRange
	for _, s := range all {
		switch {
		case s.MigrationID > watermark.MigrationID:
			continue
		case s.MigrationID == watermark.MigrationID && s.Max >= watermark.RecordTime:
			last, err := store.SelectAll(ctx, db, lastUpdateOfSynchronizerQuery, store.Params{
				"stream": store.Text(stream), "migration": store.Int(s.MigrationID), "synchronizer": store.Text(s.SynchronizerID),
				"through_time": store.Time(store.Clamp(watermark.RecordTime)), "through_id": store.Text(watermark.UpdateID),
			}, store.NewRecords[store.SynchronizerRange]())
			if err != nil {
				return nil, err
			}
			if len(last) == 0 {
				continue
			}
			s.Max = last[0].Max
		}
		held = append(held, s)
	}
	return held, nil
}

func sortedMigrations(list []*Migration) []Migration {
	slices.SortFunc(list, func(a, b *Migration) int { return int(a.ID - b.ID) })
	sorted := make([]Migration, len(list))
	for i, m := range list {
		sorted[i] = *m
	}
	return sorted
}
