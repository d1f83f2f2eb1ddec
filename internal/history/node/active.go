package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LedgerActive returns a page of the active set of a node's stream at an offset. It waits
// for lifetimes, which are known soon after the stream is.
//
// Lifetimes say which contracts are in the set, in order. What is told of their creation is
// in the updates that activated them, and only those of the page are read.
func (r *Reader) LedgerActive(ctx context.Context, q ActiveQuery) (ActivePage, error) {
	if q.Offset <= 0 {
		return ActivePage{}, nil
	}
	if err := r.awaitLifetimes(ctx, q.Offset); err != nil {
		return ActivePage{}, err
	}
	keys, err := r.actives.at(ctx, q)
	if err != nil {
		return ActivePage{}, fmt.Errorf("looking for contracts active at offset %d: %w", q.Offset, err)
	}
	contracts, err := r.actives.activated(ctx, keys, q.Offset)
	if err != nil {
		return ActivePage{}, fmt.Errorf("reading %d contracts active at offset %d: %w", len(keys), q.Offset, err)
	}
	return ActivePage{Contracts: contracts, More: len(keys) == q.Limit}, nil
}

// actives reads active sets.
type actives struct {
	db      *store.DB
	stream  string
	source  *source
	finder  *finder
	flights inFlight
}

// at returns the lifetimes of a page, ascending: of active contracts, and the last ones of
// those in flight.
func (a *actives) at(ctx context.Context, q ActiveQuery) ([]store.LedgerKey, error) {
	m, err := a.finder.match(ctx, q.Selection.Entries, q.Offset)
	if err != nil || m.none() {
		return nil, err
	}
	if m.all {
		m.filters = []filter{{}}
	}
	var active, left []store.LedgerKey
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		active, err = a.keys(groupCtx, q, activeKeysQuery, m.filters, "at", store.Int(q.Offset))
		return err
	})
	group.Go(func() error {
		offsets, err := a.inFlightAt(groupCtx, q.Offset)
		if err != nil || len(offsets) == 0 {
			return err
		}
		left, err = a.keys(groupCtx, q, leftKeysQuery, m.filters, "offsets", store.Ints(offsets))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	keys := append(active, left...)
	slices.SortStableFunc(keys, compareKeys)
	return keys[:min(len(keys), q.Limit)], nil
}

// keys returns the lifetimes that a query finds, ascending, each once. It has a parameter beside
// those of all.
func (a *actives) keys(ctx context.Context, q ActiveQuery, query string, filters []filter, name, value string) ([]store.LedgerKey, error) {
	after := store.BeforeHistory
	if q.After.ContractID != "" {
		after = q.After.CreatedAt
	}
	keys, err := selectFiltered(ctx, a.db, query, filters, store.Params{
		"stream": store.Text(a.stream), "limit": store.Int(int64(q.Limit)), name: value,
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.After.ContractID),
	}, func() store.Rows[store.LedgerKey] { return store.NewLedgerKeys() })
	slices.SortFunc(keys, compareKeys)
	return slices.CompactFunc(keys, func(a, b store.LedgerKey) bool { return compareKeys(a, b) == 0 }), err
}

func compareKeys(a, b store.LedgerKey) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.ContractID, b.ContractID))
}

// inFlight keeps for the last offset that was asked for which unassignments had no
// assignment there: pages of one set ask for the same.
type inFlight struct {
	mu      sync.Mutex
	at      int64
	offsets []int64
}

func (f *inFlight) get(at int64) (offsets []int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.offsets, f.at == at
}

func (f *inFlight) put(at int64, offsets []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.offsets = at, offsets
}

// inFlightAt returns the offsets of unassignments that were in flight at an offset. Nothing is
// held while the store is asked: pages of different sets must not wait for each other.
func (a *actives) inFlightAt(ctx context.Context, at int64) ([]int64, error) {
	if offsets, ok := a.flights.get(at); ok {
		return offsets, nil
	}
	offsets, err := store.SelectAll(ctx, a.db, inFlightQuery, store.Params{"stream": store.Text(a.stream), "at": store.Int(at)}, store.NewOffsets())
	if err != nil {
		return nil, fmt.Errorf("looking for reassignments in flight: %w", err)
	}
	a.flights.put(at, offsets)
	return offsets, nil
}

// activated reads what activated the contracts with some keys, and, of those that have left
// at or below an offset, what sent them away.
func (a *actives) activated(ctx context.Context, keys []store.LedgerKey, at int64) ([]Contract, error) {
	var offsets []int64
	var carried []string
	for _, k := range keys {
		if k.Carried {
			carried = append(carried, k.ContractID)
		} else {
			offsets = append(offsets, k.CreatedOffset)
		}
		if hasLeft(k, at) {
			offsets = append(offsets, k.ArchivedOffset)
		}
	}
	slices.Sort(offsets)
	var updates, imports []schemas.Update
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = a.source.at(groupCtx, slices.Compact(offsets), false)
		return err
	})
	group.Go(func() (err error) {
		imports, err = a.source.importsAt(groupCtx, carried)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	contracts := make([]Contract, len(keys))
	for i, k := range keys {
		if err := contracts[i].set(k, at, updates, imports); err != nil {
			return nil, err
		}
	}
	return contracts, nil
}

// hasLeft reports whether a lifetime had ended at an offset.
func hasLeft(k store.LedgerKey, at int64) bool {
	return k.ArchivedOffset != 0 && k.ArchivedOffset <= at
}

// set fills in what the ascending updates and imports tell of a lifetime.
func (c *Contract) set(k store.LedgerKey, at int64, updates, imports []schemas.Update) error {
	begin := eventOf(updates, k.CreatedOffset, k.ContractID, schemas.Created)
	if k.Carried {
		begin = importOf(imports, k.ContractID)
	}
	if begin == nil {
		return fmt.Errorf("the store has a lifetime of contract %.80q from offset %d but not its creation", k.ContractID, k.CreatedOffset)
	}
	u, e := &begin.Update, begin.Event()
	*c = Contract{
		Event: *e, Encoding: u.Encoding, WorkflowID: u.WorkflowID, SynchronizerID: k.SynchronizerID, Offset: u.Local.Offset,
	}
	if u.Kind == schemas.Assignment || k.Carried {
		if err := c.readExtras(); err != nil {
			return err
		}
	}
	if hasLeft(k, at) {
		if c.Unassigned = eventOf(updates, k.ArchivedOffset, k.ContractID, schemas.Unassigned); c.Unassigned == nil {
			return fmt.Errorf("the store has a lifetime of contract %.80q up to offset %d but not its end", k.ContractID, k.ArchivedOffset)
		}
	}
	return nil
}

// activationExtras are the extras of a create that tell of the activation.
type activationExtras struct {
	NodeID         *int32 `json:"nodeId"`
	Offset         int64  `json:"offset"`
	Counter        int64  `json:"reassignmentCounter"`
	ReassignmentID string `json:"reassignmentId"`
	Source         string `json:"source"`
	Submitter      string `json:"submitter"`
}

// readExtras sets what the extras of an assignment, or of a contract that the stream began
// with, tell of its activation.
func (c *Contract) readExtras() error {
	var x activationExtras
	if c.Event.Local.Extras == nil {
		return nil
	}
	if err := json.Unmarshal(c.Event.Local.Extras, &x); err != nil {
		return fmt.Errorf("reading the extras of contract %.80q: %w", c.Event.ContractID, err)
	}
	c.Counter = x.Counter
	if x.NodeID != nil { // of a contract that the stream began with
		c.Event.Node, c.Offset = *x.NodeID, x.Offset
		if x.ReassignmentID != "" && x.Source != "" {
			c.Assigned = &schemas.Reassignment{
				Submitter: x.Submitter, SourceSynchronizer: x.Source, TargetSynchronizer: c.SynchronizerID,
				UnassignID: x.ReassignmentID, Counter: x.Counter, ContractID: c.Event.ContractID,
			}
		}
	}
	return nil
}

// eventOf returns the event of a kind of a contract out of the update at an offset, nil if
// there is none.
func eventOf(updates []schemas.Update, offset int64, contractID string, kind schemas.EventKind) *Event {
	i, ok := slices.BinarySearchFunc(updates, offset, func(u schemas.Update, offset int64) int { return cmp.Compare(u.Local.Offset, offset) })
	if !ok {
		return nil
	}
	for _, e := range updates[i].Events {
		if e.Kind == kind && e.ContractID == contractID {
			return onlyEvent(updates[i], e)
		}
	}
	return nil
}

// importOf returns the import of a contract, whose id is that of the update.
func importOf(imports []schemas.Update, contractID string) *Event {
	i, ok := slices.BinarySearchFunc(imports, contractID, func(u schemas.Update, id string) int { return strings.Compare(u.UpdateID, id) })
	if !ok {
		return nil
	}
	return &Event{imports[i]}
}

// onlyEvent is u with one of its events.
func onlyEvent(u schemas.Update, e schemas.Event) *Event {
	u.Events = []schemas.Event{e}
	return &Event{u}
}

// ActiveAtOffset returns a page of the set of contracts of a node's own stream that is
// active at an offset: those that began at or before it and did not end up to it. Only
// contracts with a stakeholder on the node are ever active there.
func (r *Reader) ActiveAtOffset(ctx context.Context, q ActiveAtQuery) ([]ActiveLifetime, error) {
	after := store.BeforeHistory
	if q.AfterContractID != "" {
		after = q.AfterCreatedAt
	}
	lifetimes, err := store.SelectAll(ctx, r.db, activeAtOffsetQuery, store.Params{
		"stream": store.Text(r.stream), "at": store.Int(q.Offset),
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.AfterContractID),
		"templates": store.Texts(q.Templates), "parties": store.Texts(q.Parties), "limit": store.Int(int64(q.Limit)),
	}, store.NewNodeContracts())
	if err != nil {
		return nil, fmt.Errorf("reading contracts active at offset %d: %w", q.Offset, err)
	}
	return lifetimes, nil
}
