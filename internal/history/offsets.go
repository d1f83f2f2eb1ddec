package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// UpdatesByOffset returns at most limit updates of a node's own stream after one offset up
// to and including another, ascending, whole. The contracts that the stream began with
// are not among them: see Imports.
func (r *Reader) UpdatesByOffset(ctx context.Context, after, through int64, limit int) ([]schemas.Update, error) {
	updates, err := r.selectUpdates(ctx, updatesByOffsetQuery, store.Params{
		"stream": store.Text(r.stream), "after": store.Int(after), "through": store.Int(through), "limit": store.Int(int64(limit)),
	})
	if err != nil {
		return nil, fmt.Errorf("reading updates after offset %d: %w", after, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	params := store.Params{
		"stream": store.Text(r.stream), "first": store.Int(after + 1), "last": store.Int(updates[len(updates)-1].Local.Offset),
	}
	if err := r.hangOn(ctx, updates, eventsByOffsetQuery, params, true); err != nil {
		return nil, err
	}
	return updates, nil
}

// EachUpdatePage gives all updates of a node's own stream after one offset through another, as
// UpdatesByOffset does, up to limit at a time; the last page may be empty.
func (r *Reader) EachUpdatePage(ctx context.Context, after, through int64, limit int, page func([]schemas.Update) error) error {
	for {
		updates, err := r.UpdatesByOffset(ctx, after, through, limit)
		if err != nil {
			return err
		}
		if err := page(updates); err != nil || len(updates) < limit {
			return err
		}
		after = updates[len(updates)-1].Local.Offset
	}
}

// ActiveAtOffset returns a page of the set of contracts of a node's own stream that is
// active at an offset: those that began at or before it and did not end up to it. Only
// contracts with a stakeholder on the node are ever active there.
func (r *Reader) ActiveAtOffset(ctx context.Context, q ActiveAtQuery) ([]ActiveContract, error) {
	after := store.BeforeHistory
	if q.AfterContractID != "" {
		after = q.AfterCreatedAt
	}
	var contracts []ActiveContract
	block := store.NewNodeContracts()
	err := r.db.Select(ctx, activeAtOffsetQuery, store.Params{
		"stream": store.Text(r.stream), "at": store.Int(q.Offset),
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.AfterContractID),
		"templates": store.Texts(q.Templates), "parties": store.Texts(q.Parties), "limit": store.Int(int64(q.Limit)),
	}, block, func() error {
		for _, row := range block.AppendTo(nil) {
			contracts = append(contracts, ActiveContract{
				Event: row.Event, Encoding: row.Encoding, CreatedIn: row.CreatedIn,
				SynchronizerID: row.SynchronizerID, CreatedOffset: row.CreatedOffset,
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading contracts active at offset %d: %w", q.Offset, err)
	}
	return contracts, nil
}
