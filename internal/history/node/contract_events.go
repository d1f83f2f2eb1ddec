package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractEvents returns the first event that created a contract on a node's stream, by a
// transaction, an assignment or the set that the stream began with, and the exercise that
// archived it, each nil if there is none at or below the watermark.
func (r *Reader) ContractEvents(ctx context.Context, contractID string) (created, ended *Event, err error) {
	end, err := r.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return nil, nil, err
	}
	var offsets []int64
	var imports []schemas.Update
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() error {
		params := store.Params{"stream": store.Text(r.stream), "contract": store.Text(contractID), "keys": store.PlaceKeys(r.stream, store.ByContract, contractID), "through": store.Int(end)}
		return selectRows(groupCtx, r.db, contractEventsQuery, params, func(rows []store.EventRow) {
			for i := range rows {
				offsets = append(offsets, rows[i].Position.Offset)
			}
		})
	})
	group.Go(func() (err error) {
		imports, err = r.source.importsAt(groupCtx, []string{contractID})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, nil, fmt.Errorf("looking up the events of contract %.80q: %w", contractID, err)
	}
	if len(imports) > 0 {
		created = &Event{imports[0]}
	}
	if len(offsets) == 0 {
		return created, nil, nil
	}
	updates, err := r.source.at(ctx, slices.Compact(offsets), false)
	if err == nil {
		err = r.lifetimes.addEnded(ctx, updates)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the events of contract %.80q: %w", contractID, err)
	}
	for i := range updates {
		for _, e := range updates[i].Events {
			switch {
			case e.ContractID != contractID:
			case e.Kind == schemas.Created && created == nil:
				created = onlyEvent(updates[i], e)
			case e.Kind == schemas.Exercised && e.Consuming:
				ended = onlyEvent(updates[i], e)
			}
		}
	}
	return created, ended, nil
}
