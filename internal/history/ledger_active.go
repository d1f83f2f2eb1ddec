package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
func (r *Reader) LedgerActive(ctx context.Context, q LedgerActiveQuery) (LedgerActivePage, error) {
	if q.Offset <= 0 {
		return LedgerActivePage{}, nil
	}
	if err := r.awaitLifetimes(ctx, q.Offset); err != nil {
		return LedgerActivePage{}, err
	}
	keys, err := r.activeAt(ctx, q)
	if err != nil {
		return LedgerActivePage{}, fmt.Errorf("looking for contracts active at offset %d: %w", q.Offset, err)
	}
	contracts, err := r.activated(ctx, keys, q.Offset)
	if err != nil {
		return LedgerActivePage{}, fmt.Errorf("reading %d contracts active at offset %d: %w", len(keys), q.Offset, err)
	}
	return LedgerActivePage{Contracts: contracts, More: len(keys) == q.Limit}, nil
}

// activeAt returns the lifetimes of a page, ascending: of active contracts, and the last
// ones of those in flight.
func (r *Reader) activeAt(ctx context.Context, q LedgerActiveQuery) ([]store.LedgerKey, error) {
	match, err := r.matchLifetimes(ctx, q.Selection.Entries, q.Offset)
	if err != nil || match.none {
		return nil, err
	}
	if match.all {
		match.condition = "true"
	}
	after := store.BeforeHistory
	if q.After.ContractID != "" {
		after = q.After.CreatedAt
	}
	params := store.Params{
		"stream": store.Text(r.stream), "limit": store.Int(int64(q.Limit)),
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.After.ContractID),
	}
	maps.Copy(params, match.params)
	var active, left []store.LedgerKey
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		own := maps.Clone(params)
		own["at"] = store.Int(q.Offset)
		active, err = r.selectLedgerKeys(groupCtx, matching(ledgerActiveKeysQuery, match.condition), own)
		return err
	})
	group.Go(func() error {
		offsets, err := r.inFlightAt(groupCtx, q.Offset)
		if err != nil || len(offsets) == 0 {
			return err
		}
		own := maps.Clone(params)
		own["offsets"] = store.Ints(offsets)
		left, err = r.selectLedgerKeys(groupCtx, matching(ledgerLeftKeysQuery, match.condition), own)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	keys := append(active, left...)
	slices.SortFunc(keys, func(a, b store.LedgerKey) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.ContractID, b.ContractID))
	})
	return keys[:min(len(keys), q.Limit)], nil
}

func (r *Reader) selectLedgerKeys(ctx context.Context, query string, params store.Params) ([]store.LedgerKey, error) {
	var keys []store.LedgerKey
	block := store.NewLedgerKeys()
	err := r.db.Select(ctx, query, params, block, func() error {
		keys = block.AppendTo(keys)
		return nil
	})
	return keys, err
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
func (r *Reader) inFlightAt(ctx context.Context, at int64) ([]int64, error) {
	if offsets, ok := r.flights.get(at); ok {
		return offsets, nil
	}
	offsets, err := r.selectOffsets(ctx, ledgerInFlightQuery, store.Params{"stream": store.Text(r.stream), "at": store.Int(at)})
	if err != nil {
		return nil, fmt.Errorf("looking for reassignments in flight: %w", err)
	}
	r.flights.put(at, offsets)
	return offsets, nil
}

// activated reads what activated the contracts with some keys, and, of those that have left
// at or below an offset, what sent them away.
func (r *Reader) activated(ctx context.Context, keys []store.LedgerKey, at int64) ([]LedgerContract, error) {
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
		updates, err = r.ledgerAt(groupCtx, slices.Compact(offsets), false)
		return err
	})
	group.Go(func() (err error) {
		imports, err = r.importsAt(groupCtx, carried)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	contracts := make([]LedgerContract, len(keys))
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

// importsAt returns the import updates of contracts, ascending by id.
func (r *Reader) importsAt(ctx context.Context, ids []string) (list []schemas.Update, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	block := store.NewImports()
	params := store.Params{"stream": store.Text(r.stream), "ids": store.Texts(ids)}
	err = r.db.Select(ctx, ledgerImportsAtQuery, params, block, func() error {
		list = block.AppendTo(list)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %d contracts that the stream began with: %w", len(ids), err)
	}
	return list, nil
}

// set fills in what the ascending updates and imports tell of a lifetime.
func (c *LedgerContract) set(k store.LedgerKey, at int64, updates, imports []schemas.Update) error {
	begin := eventOf(updates, k.CreatedOffset, k.ContractID, schemas.Created)
	if k.Carried {
		begin = importOf(imports, k.ContractID)
	}
	if begin == nil {
		return fmt.Errorf("the store has a lifetime of contract %.80q from offset %d and not its creation", k.ContractID, k.CreatedOffset)
	}
	u, e := &begin.Update, begin.Event()
	*c = LedgerContract{
		Event: *e, Encoding: u.Encoding, WorkflowID: u.WorkflowID, SynchronizerID: k.SynchronizerID, Offset: u.Local.Offset,
	}
	if u.Kind == schemas.Assignment || k.Carried {
		if err := c.readExtras(); err != nil {
			return err
		}
	}
	if hasLeft(k, at) {
		if c.Unassigned = eventOf(updates, k.ArchivedOffset, k.ContractID, schemas.Unassigned); c.Unassigned == nil {
			return fmt.Errorf("the store has a lifetime of contract %.80q up to offset %d and not its end", k.ContractID, k.ArchivedOffset)
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
func (c *LedgerContract) readExtras() error {
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
func eventOf(updates []schemas.Update, offset int64, contractID string, kind schemas.EventKind) *LedgerEvent {
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
func importOf(imports []schemas.Update, contractID string) *LedgerEvent {
	i, ok := slices.BinarySearchFunc(imports, contractID, func(u schemas.Update, id string) int { return strings.Compare(u.UpdateID, id) })
	if !ok {
		return nil
	}
	return &LedgerEvent{imports[i]}
}

// onlyEvent is u with one of its events.
func onlyEvent(u schemas.Update, e schemas.Event) *LedgerEvent {
	u.Events = []schemas.Event{e}
	return &LedgerEvent{u}
}
