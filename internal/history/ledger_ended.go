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

// addEndedContracts sets LocalEvent.Contract of the consuming exercises in whole updates. It
// waits for the lifetimes of contracts that ended in them, see awaitLifetimes. Contracts of
// which the node has no stakeholder stay without.
func (r *Reader) addEndedContracts(ctx context.Context, updates []schemas.Update) error {
	wanted := make(map[endedKey]*schemas.LocalEvent)
	var offsets []int64
	last := int64(0)
	for i := range updates {
		u := &updates[i]
		before := len(wanted)
		endedWithin(u, func(e *schemas.Event) {
			wanted[endedKey{u.Local.Offset, store.ContractHash(e.ContractID)}] = e.Local
		})
		if len(wanted) > before {
			offsets, last = append(offsets, u.Local.Offset), max(last, u.Local.Offset)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := r.awaitLifetimes(ctx, last); err != nil {
		return err
	}
	block := store.NewEndedContracts()
	params := store.Params{"stream": store.Text(r.stream), "offsets": store.Ints(offsets)}
	err := r.db.Select(ctx, ledgerEndedQuery, params, block, func() error {
		for _, c := range block.AppendTo(nil) {
			if l := wanted[endedKey{c.ArchivedOffset, c.Key}]; l != nil {
				l.Contract = &schemas.EndedContract{TemplateID: c.TemplateID, Signatories: c.Signatories, Observers: c.Observers}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the contracts that ended in %d updates: %w", len(offsets), err)
	}
	return nil
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
