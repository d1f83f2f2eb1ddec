package node

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

// lifetimes reads the contracts that ended in updates.
type lifetimes struct {
	db     *store.DB
	stream string
	ends   *ends
}

// addEnded sets LocalEvent.Contract of the consuming exercises in whole updates. It
// waits for the lifetimes of contracts that ended in them, see awaitLifetimes. Contracts of
// which the node has no stakeholder stay without.
func (l *lifetimes) addEnded(ctx context.Context, updates []schemas.Update) error {
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
	if err := l.ends.awaitLifetimes(ctx, last); err != nil {
		return err
	}
	ended, err := l.endedAt(ctx, offsets)
	for i := range updates {
		ended.addTo(&updates[i])
	}
	return err
}

// addTo sets the contracts of the consuming exercises in an update.
func (c endedContracts) addTo(u *schemas.Update) {
	endedWithin(u, func(e *schemas.Event) {
		e.Local.Contract = c[endedKey{u.Local.Offset, store.Key(e.ContractID)}]
	})
}

// endedAt returns what is known of the contracts that ended at some offsets.
func (l *lifetimes) endedAt(ctx context.Context, offsets []int64) (endedContracts, error) {
	ended, err := l.selectEnded(ctx, endedQuery, store.Params{"stream": store.Text(l.stream), "offsets": store.Ints(offsets)})
	if err != nil {
		return nil, fmt.Errorf("reading the contracts that ended in %d updates: %w", len(offsets), err)
	}
	return ended, nil
}

// endedBetween is endedAt for a range, once lifetimes are known up to its end.
func (l *lifetimes) endedBetween(ctx context.Context, rg Range) (endedContracts, error) {
	if err := l.ends.awaitLifetimes(ctx, rg.Through); err != nil {
		return nil, err
	}
	ended, err := l.selectEnded(ctx, endedBetweenQuery, between(l.stream, rg.After, rg.Through))
	if err != nil {
		return nil, fmt.Errorf("reading the contracts that ended between offsets %d and %d: %w", rg.After, rg.Through, err)
	}
	return ended, nil
}

func (l *lifetimes) selectEnded(ctx context.Context, query string, params store.Params) (endedContracts, error) {
	list, err := store.SelectAll(ctx, l.db, query, params, store.NewEndedContracts())
	ended := make(endedContracts, len(list))
	for _, c := range list {
		ended[endedKey{c.ArchivedOffset, c.Key}] = &schemas.EndedContract{TemplateID: c.TemplateID, Signatories: c.Signatories, Observers: c.Observers}
	}
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
