package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Movement is what a choice did to what a party holds: see table movements.
type Movement struct {
	Entry        int32  `column:"entry"`
	Event        int32  `column:"event"`
	Party        string `column:"party,low"`
	Instrument   string `column:"instrument,low"`
	Pocket       string `column:"in_pocket"`
	Amount       string `column:"change"`
	Cause        string `column:"why"`
	Class        string `column:"class,low"`
	Purpose      string `column:"purpose,low"`
	Counterparty string `column:"counterparty,low"`
	Reference    string `column:"reference"`
	Reason       string `column:"reason"`
}

// MovementsOf returns what an update did to holdings, at most limit, in its order. derived says that they are
// known: movements follow history.
func (r *Reader) MovementsOf(ctx context.Context, at schemas.Position, limit int) (list []Movement, derived bool, err error) {
	through, err := r.history.MovementsWatermark(ctx)
	if err != nil || through.Before(at) {
		return nil, false, err
	}
	block := store.NewRecords[Movement]()
	err = r.db.SelectWithin(ctx, query("movements_of"), store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(at.MigrationID), "time": store.Time(store.Clamp(at.RecordTime)),
		"id": store.Text(at.UpdateID), "limit": store.Int(int64(limit)),
	}, maxTime, maxMemory, block, func() error {
		list = block.AppendTo(list)
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("reading what update %.80q did to holdings: %w", at.UpdateID, err)
	}
	return list, true, nil
}

// Neighbours returns the ids of the updates before and after a position of a migration, "" where there is none.
func (r *Reader) Neighbours(ctx context.Context, at schemas.Position) (before, after string, err error) {
	for _, newest := range []bool{true, false} {
		s := search{Reader: r, filter: Filter{Migration: &at.MigrationID, From: schemas.MinMicros, To: schemas.MaxMicros}, limit: 1, newest: newest, ends: time.Now().Add(searchTime)}
		cursor := Cursor{Before: &at}
		if !newest {
			cursor = Cursor{After: &at}
		}
		if err := s.run(ctx, cursor); err != nil {
			return "", "", fmt.Errorf("looking for the updates beside %s: %w", at, err)
		}
		if len(s.found) > 0 && newest {
			before = s.found[0].UpdateID
		} else if len(s.found) > 0 {
			after = s.found[0].UpdateID
		}
	}
	return before, after, nil
}
