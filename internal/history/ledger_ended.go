package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// endedKey is what an ended contract is found by.
type endedKey struct {
	offset int64
	key    uint64
}

// endedContracts are contracts that ended on a node's stream, by where and which.
type endedContracts map[endedKey]*schemas.EndedContract

// addEndedContracts sets LocalEvent.Contract of the consuming exercises in whole updates. It
// waits for the lifetimes of contracts that ended in them, see awaitLifetimes. Contracts of
// which the node has no stakeholder stay without.
func (r *Reader) addEndedContracts(ctx context.Context, updates []schemas.Update) error {
	var offsets []int64
	last := int64(0)
	for i := range updates {
		u, any := &updates[i], false
		if endedWithin(u, func(*schemas.Event) { any = true }); any {
			offsets, last = append(offsets, u.Local.Offset), max(last, u.Local.Offset)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := r.awaitLifetimes(ctx, last); err != nil {
		return err
	}
	ended, err := r.endedAt(ctx, offsets)
	for i := range updates {
		ended.addTo(&updates[i])
	}
	return err
}

// addTo sets the contracts of the consuming exercises in an update.
func (c endedContracts) addTo(u *schemas.Update) {
	endedWithin(u, func(e *schemas.Event) {
		e.Local.Contract = c[endedKey{u.Local.Offset, store.ContractHash(e.ContractID)}]
	})
}

// endedAt returns what is known of the contracts that ended at some offsets.
func (r *Reader) endedAt(ctx context.Context, offsets []int64) (endedContracts, error) {
	ended, err := r.selectEnded(ctx, ledgerEndedQuery, store.Params{"stream": store.Text(r.stream), "offsets": store.Ints(offsets)})
	if err != nil {
		return nil, fmt.Errorf("reading the contracts that ended in %d updates: %w", len(offsets), err)
	}
	return ended, nil
}

// endedBetween is endedAt for a range, once lifetimes are known up to its end.
func (r *Reader) endedBetween(ctx context.Context, rg LedgerRange) (endedContracts, error) {
	if err := r.awaitLifetimes(ctx, rg.Through); err != nil {
		return nil, err
	}
	ended, err := r.selectEnded(ctx, ledgerEndedBetweenQuery, r.offsets(rg.After, rg.Through))
	if err != nil {
		return nil, fmt.Errorf("reading the contracts that ended between offsets %d and %d: %w", rg.After, rg.Through, err)
	}
	return ended, nil
}

func (r *Reader) selectEnded(ctx context.Context, query string, params store.Params) (endedContracts, error) {
	ended := make(endedContracts)
	block := store.NewEndedContracts()
	err := r.db.Select(ctx, query, params, block, func() error {
		for _, c := range block.AppendTo(nil) {
			ended[endedKey{c.ArchivedOffset, c.Key}] = &schemas.EndedContract{TemplateID: c.TemplateID, Signatories: c.Signatories, Observers: c.Observers}
		}
		return nil
	})
	return ended, err
}

// endedWithin sets the contracts of exercises that end what the same update created, and
// calls other for those that end others and change the active set.
func endedWithin(u *schemas.Update, other func(*schemas.Event)) {
	var created map[string]*schemas.Event
	for i := range u.Events {
		e := &u.Events[i]
		switch {
		case e.Kind == schemas.Created:
			if created == nil {
				created = make(map[string]*schemas.Event)
			}
			created[e.ContractID] = e
		case e.Kind != schemas.Exercised || !e.Consuming:
		case created[e.ContractID] != nil:
			c := created[e.ContractID]
			e.Local.Contract = &schemas.EndedContract{TemplateID: c.TemplateID, Signatories: c.Signatories, Observers: c.Observers}
		case e.Local.ACSDelta:
			other(e)
		}
	}
}
