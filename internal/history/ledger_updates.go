package history

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// How a stretch is looked through. The store finds rows by ranges of offsets, and what a
// query costs grows with its range, so a reader takes it in windows.
const (
	// firstWindow is the least width of the first window in offsets: the rows of about one
	// granule of events are read whatever is asked for.
	firstWindow = 4096
	// windowGrowth is by how much a window that holds too little is at least widened, and
	// emptyGrowth one that holds nothing.
	windowGrowth, emptyGrowth = 8, 64
	// maxWindow is the most that one query looks through, and with it one call.
	maxWindow = 8 << 20
	// spreadUnit is the fixed point of Reader.spread, offsets to an update.
	spreadUnit = 16
)

// LedgerUpdates returns updates of a node's stream that sel may be interested in, at or
// below the watermark: a range that ends above it is cut there. It may return fewer than
// the limit, even none, before the end of the range: see LedgerPage.
func (r *Reader) LedgerUpdates(ctx context.Context, sel LedgerSelection, rg LedgerRange) (LedgerPage, error) {
	search, rg, err := r.beginSearch(ctx, sel, rg)
	if err != nil {
		return LedgerPage{}, err
	}
	return r.search(ctx, sel, search, rg)
}

// beginSearch finds out how to look for what sel selects, and cuts the range at the watermark.
func (r *Reader) beginSearch(ctx context.Context, sel LedgerSelection, rg LedgerRange) (s ledgerSearch, cut LedgerRange, err error) {
	end, err := r.LedgerEndFrom(ctx, rg.Through)
	if err != nil {
		return s, rg, err
	}
	rg.Through = min(rg.Through, end)
	rg.After = max(rg.After, 0)
	if rg.After >= rg.Through {
		return s, rg, nil
	}
	if s, err = r.ledgerSearch(ctx, sel, rg.Through); err != nil {
		return s, rg, fmt.Errorf("looking for updates after offset %d: %w", rg.After, err)
	}
	return s, rg, nil
}

// search reads a page of a range that ends at or below the watermark.
func (r *Reader) search(ctx context.Context, sel LedgerSelection, s ledgerSearch, rg LedgerRange) (page LedgerPage, err error) {
	switch {
	case rg.After >= rg.Through:
		return LedgerPage{Covered: rg.start()}, nil
	case s.nothing():
		return LedgerPage{Covered: rg.end()}, nil
	case s.pass:
		page, err = r.passThrough(rg, func(w LedgerRange) ([]schemas.Update, error) { return r.wholeWindow(ctx, s.kinds, w) })
	default:
		page, err = r.pickOut(ctx, s, rg, sel.Contracts)
	}
	if err != nil {
		return LedgerPage{}, fmt.Errorf("reading updates between offsets %d and %d: %w", rg.After, rg.Through, err)
	}
	if sel.Contracts && s.pass {
		err = r.addEndedContracts(ctx, page.Updates)
	}
	return page, err
}

// end is where a reading of the whole range arrives.
func (rg LedgerRange) end() int64 {
	if rg.Descending {
		return rg.After
	}
	return rg.Through
}

// start is where a reading of the range begins.
func (rg LedgerRange) start() int64 {
	if rg.Descending {
		return rg.Through
	}
	return rg.After
}

// window cuts off the next width offsets of what is left of the range.
func (rg LedgerRange) window(width int64) (w, rest LedgerRange) {
	w, rest = rg, rg
	if rg.Descending {
		w.After = max(rg.After, rg.Through-width)
		rest.Through = w.After
	} else {
		w.Through = min(rg.Through, rg.After+width)
		rest.After = w.Through
	}
	return w, rest
}

// ledgerSearch is how the updates of a selection are found.
type ledgerSearch struct {
	// kinds are those that the selection asks for.
	kinds []string
	// pass says that all transactions are of interest: there is nothing to look for.
	pass bool
	// events are looked through unless it says none, but where onlyReassigned says so only
	// those of reassignments.
	events         ledgerMatch
	onlyReassigned bool
	// whole are the kinds of which all updates are of interest.
	whole []string
}

// byKeys reports whether updates are found by the keys of their parties.
func (s *ledgerSearch) byKeys() bool { return len(s.events.parties) > 0 && !s.onlyReassigned }

// inOneGo reports whether a query takes no longer for a wide window than for a narrow one.
func (s *ledgerSearch) inOneGo() bool {
	return s.byKeys() && len(s.events.parties) == 1 && len(s.whole) == 0
}

func (s *ledgerSearch) nothing() bool { return !s.pass && s.events.none && len(s.whole) == 0 }

var reassignments = []string{string(schemas.Assignment), string(schemas.Unassignment)}

// ledgerSearch finds out how to look for what sel selects.
func (r *Reader) ledgerSearch(ctx context.Context, sel LedgerSelection, through int64) (s ledgerSearch, err error) {
	transactions, reassigned := ledgerMatch{none: true}, ledgerMatch{none: true}
	if sel.Transactions != nil {
		if transactions, err = r.matchEvents(ctx, sel.Transactions.Entries, through); err != nil {
			return s, err
		}
		s.kinds = append(s.kinds, string(schemas.Transaction))
	}
	if sel.Reassignments != nil {
		if reassigned, err = r.matchEvents(ctx, sel.Reassignments.Entries, through); err != nil {
			return s, err
		}
		s.kinds = append(s.kinds, reassignments...)
	}
	if sel.Topology {
		s.kinds, s.whole = append(s.kinds, string(schemas.Topology)), append(s.whole, string(schemas.Topology))
	}
	s.pass = transactions.all
	if reassigned.all {
		s.whole = append(s.whole, reassignments...)
		reassigned = ledgerMatch{none: true}
	}
	switch {
	case s.pass:
	case transactions.none:
		s.events, s.onlyReassigned = reassigned, true
	case reassigned.none:
		s.events = transactions
	default:
		entries := slices.Concat(sel.Transactions.Entries, sel.Reassignments.Entries)
		s.events, err = r.matchEvents(ctx, entries, through)
	}
	return s, err
}

// passThrough has the next window read, which is as wide as updates up to the limit were
// before. It is widened while there is nothing in it.
func (r *Reader) passThrough(rg LedgerRange, read func(w LedgerRange) ([]schemas.Update, error)) (LedgerPage, error) {
	width := max(int64(rg.Limit)*r.spread.Load()/spreadUnit, int64(rg.Limit))
	for looked := int64(0); ; {
		w, rest := rg.window(min(width, maxWindow))
		updates, err := read(w)
		if err != nil {
			return LedgerPage{}, err
		}
		looked += w.Through - w.After
		if len(updates) > 0 {
			r.spread.Store((w.Through - w.After) * spreadUnit / int64(len(updates)))
		}
		switch {
		case len(updates) == rg.Limit: // there may be more in the window
			return LedgerPage{updates, cursorBehind(updates[rg.Limit-1].Local.Offset, rg)}, nil
		case len(updates) > 0 || rest.After >= rest.Through || looked >= maxWindow:
			return LedgerPage{updates, w.end()}, nil
		}
		rg, width = rest, width*windowGrowth
	}
}

// cursorBehind is Covered of a page that ends with the update at an offset.
func cursorBehind(offset int64, rg LedgerRange) int64 {
	if rg.Descending {
		return offset - 1
	}
	return offset
}

// wholeWindow reads the updates of some kinds in a window, up to the limit, whole.
func (r *Reader) wholeWindow(ctx context.Context, kinds []string, w LedgerRange) ([]schemas.Update, error) {
	var events []store.EventRow
	updates, err := r.ledgerWindow(ctx, kinds, w, func(ctx context.Context, first, last int64) error {
		return r.selectNodeRows(ctx, ledgerEventsQuery, r.offsets(first, last), func(rows []store.EventRow) { events = append(events, rows...) })
	})
	if err != nil {
		return nil, err
	}
	return updates, hangOnRows(updates, events, w.Descending)
}

// ledgerWindow reads the updates of some kinds in a window, up to the limit, without events:
// readEvents reads those between two offsets, first exclusive. It does so beside them if all
// that the window may have is little, and else when it is known which are needed.
func (r *Reader) ledgerWindow(ctx context.Context, kinds []string, w LedgerRange,
	readEvents func(ctx context.Context, first, last int64) error) (updates []schemas.Update, err error) {
	const beside = 4 // times the limit
	params := r.offsets(w.After, w.Through)
	params["kinds"], params["limit"] = store.Texts(kinds), store.Int(int64(w.Limit))
	query := directed(ledgerUpdatesQuery, w.Descending)
	if w.Through-w.After > beside*int64(w.Limit) {
		if updates, err = r.selectUpdates(ctx, query, params); err != nil || len(updates) == 0 {
			return nil, err
		}
		span := offsetSpan(updates)
		return updates, readEvents(ctx, span.After, span.Through)
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = r.selectUpdates(ctx, query, params)
		return err
	})
	group.Go(func() error { return readEvents(ctx, w.After, w.Through) })
	return updates, group.Wait()
}

// storedAt reads the updates at ascending offsets out of the tables of history, whole, in either
// direction.
func (r *Reader) storedAt(ctx context.Context, offsets []int64, descending bool) ([]schemas.Update, error) {
	if len(offsets) == 0 {
		return nil, nil
	}
	params := store.Params{"stream": store.Text(r.stream), "offsets": store.Ints(offsets)}
	var updates []schemas.Update
	readUpdates := func(ctx context.Context) (err error) {
		updates, err = r.selectUpdates(ctx, ledgerUpdatesAtQuery, params)
		if descending {
			slices.Reverse(updates)
		}
		return err
	}
	return r.withEvents(ctx, &updates, readUpdates, descending, ledgerEventsAtQuery, maps.Clone(params))
}

// withEvents gives updates their events out of a query, beside which they are read
// themselves unless they are there.
func (r *Reader) withEvents(ctx context.Context, updates *[]schemas.Update, readUpdates func(context.Context) error,
	descending bool, query string, params store.Params) ([]schemas.Update, error) {
	var events []store.EventRow
	group, groupCtx := guard.WithContext(ctx)
	if readUpdates != nil {
		group.Go(func() error { return readUpdates(groupCtx) })
	}
	group.Go(func() error {
		return r.selectNodeRows(groupCtx, query, params, func(rows []store.EventRow) { events = append(events, rows...) })
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return *updates, hangOnRows(*updates, events, descending)
}

// hangOnRows gives updates in either direction their events out of ascending rows. The error
// is schemas.ErrDamaged where the store lacks some.
func hangOnRows(updates []schemas.Update, rows []store.EventRow, descending bool) error {
	if descending {
		slices.Reverse(updates)
		defer slices.Reverse(updates)
	}
	attach(updates, rows)
	for i := range updates {
		nameEvents(&updates[i])
	}
	return checkComplete(updates)
}

// nameEvents gives events the ids that follow from those of their updates.
func nameEvents(u *schemas.Update) {
	for i := range u.Events {
		if e := &u.Events[i]; e.EventID == "" {
			e.EventID = schemas.EventID(u.UpdateID, e.Node)
		}
	}
}

// nodeEventBlocks are like eventBlocks.
var nodeEventBlocks = func() *sync.Pool {
	shapes := store.NewShapes()
	return &sync.Pool{New: func() any {
		block := &nodeEventBlock{columns: store.NewNodeEvents()}
		block.columns.ShareShapes(shapes)
		return block
	}}
}()

type nodeEventBlock struct {
	columns *store.NodeEvents
	rows    []store.EventRow
	one     store.EventRows // the same rows one at a time, if loaded
}

// free gives the block back.
func (b *nodeEventBlock) free() {
	clear(b.rows) // the pool must not keep what they refer to
	b.one.Unload()
	nodeEventBlocks.Put(b)
}

// selectNodeRows is selectEventRows for a query of a node's events by offset.
func (r *Reader) selectNodeRows(ctx context.Context, query string, params store.Params, each func(rows []store.EventRow)) error {
	block := nodeEventBlocks.Get().(*nodeEventBlock)
	defer block.free()
	return r.db.Select(ctx, query, params, block.columns, func() error {
		block.rows = block.columns.AppendTo(block.rows[:0])
		each(block.rows)
		return nil
	})
}

// pickOut looks for updates in windows, and reads those it finds, with the contracts that
// ended in them if asked to: beside them when it is known already what ended up to there.
func (r *Reader) pickOut(ctx context.Context, s ledgerSearch, rg LedgerRange, contracts bool) (page LedgerPage, err error) {
	offsets, covered, err := r.findOffsets(ctx, s, rg)
	if err != nil {
		return page, err
	}
	if rg.Descending {
		slices.Reverse(offsets)
	}
	page.Covered = covered
	var ended endedContracts
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		page.Updates, err = r.ledgerAt(groupCtx, offsets, rg.Descending)
		return err
	})
	beside := contracts && len(offsets) > 0 && r.lifetimes.Load() >= offsets[len(offsets)-1]
	if beside {
		group.Go(func() (err error) {
			ended, err = r.endedAt(groupCtx, offsets)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return LedgerPage{}, err
	}
	page.Updates = slices.DeleteFunc(page.Updates, func(u schemas.Update) bool { return !slices.Contains(s.kinds, string(u.Kind)) })
	switch {
	case beside:
		for i := range page.Updates {
			ended.addTo(&page.Updates[i])
		}
	case contracts:
		err = r.addEndedContracts(ctx, page.Updates)
	}
	return page, err
}

// findOffsets returns the offsets of updates in the direction of the range, up to its
// limit, and how far it was looked through. How often there is one in a window says how wide
// the next is to be: what is rare is found in few queries by the filters of the store, and
// what is frequent in the first.
func (r *Reader) findOffsets(ctx context.Context, s ledgerSearch, rg LedgerRange) (offsets []int64, covered int64, err error) {
	limit := rg.Limit
	width, most := max(2*int64(limit)*r.spread.Load()/spreadUnit, firstWindow), int64(maxWindow)
	if s.inOneGo() {
		width, most = rg.Through-rg.After, rg.Through-rg.After
	}
	for looked := int64(0); ; {
		w, rest := rg.window(min(width, most))
		w.Limit = limit - len(offsets)
		found, err := r.offsetsIn(ctx, s, w)
		if err != nil {
			return nil, 0, err
		}
		offsets = append(offsets, found...)
		looked += w.Through - w.After
		switch {
		case len(offsets) == limit:
			return offsets, cursorBehind(offsets[limit-1], rg), nil
		case rest.After >= rest.Through || looked >= maxWindow:
			return offsets, w.end(), nil
		}
		growth := max(int64(limit-len(offsets))/int64(len(found)+1), windowGrowth)
		if len(found) == 0 {
			growth = max(growth, emptyGrowth)
		}
		rg, width = rest, width*min(growth, math.MaxInt32)
	}
}

// offsetsIn returns the first offsets in a window.
func (r *Reader) offsetsIn(ctx context.Context, s ledgerSearch, w LedgerRange) (offsets []int64, err error) {
	var inEvents, inUpdates []int64
	group, groupCtx := guard.WithContext(ctx)
	if !s.events.none {
		group.Go(func() (err error) {
			inEvents, err = r.offsetsOfEvents(groupCtx, s, w)
			return err
		})
	}
	if len(s.whole) > 0 {
		group.Go(func() (err error) {
			params := r.offsets(w.After, w.Through)
			params["kinds"], params["limit"] = store.Texts(s.whole), store.Int(int64(w.Limit))
			inUpdates, err = r.selectOffsets(groupCtx, directed(ledgerFindUpdatesQuery, w.Descending), params)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	offsets = append(inEvents, inUpdates...)
	slices.Sort(offsets)
	if w.Descending {
		slices.Reverse(offsets)
	}
	offsets = slices.Compact(offsets)
	return offsets[:min(len(offsets), w.Limit)], nil
}

// offsetsOfEvents returns the first offsets in a window of updates of which an event matches.
func (r *Reader) offsetsOfEvents(ctx context.Context, s ledgerSearch, w LedgerRange) ([]int64, error) {
	params := r.offsets(w.After, w.Through)
	params["limit"] = store.Int(int64(w.Limit))
	query := ledgerFindEventsQuery
	switch {
	case s.byKeys():
		keys := make([]uint64, len(s.events.parties))
		for i, party := range s.events.parties {
			keys[i] = store.PartyKey(party)
		}
		params["party_keys"] = store.Numbers(keys)
		return r.selectOffsets(ctx, directed(ledgerFindPartiesQuery, w.Descending), params)
	case s.onlyReassigned:
		query, params["kinds"] = ledgerFindReassignedQuery, store.Texts(reassignments)
	}
	maps.Copy(params, s.events.params)
	return r.selectOffsets(ctx, matching(directed(query, w.Descending), s.events.condition), params)
}

// LedgerUpdateAt returns the update at an offset of a node's stream, whole, nil if there is
// none at or below the watermark.
func (r *Reader) LedgerUpdateAt(ctx context.Context, offset int64) (*schemas.Update, error) {
	end, err := r.LedgerEndFrom(ctx, offset)
	if err != nil || offset <= 0 || offset > end {
		return nil, err
	}
	updates, err := r.ledgerAt(ctx, []int64{offset}, false)
	if err != nil {
		return nil, fmt.Errorf("reading the update at offset %d: %w", offset, err)
	}
	return r.onlyOne(ctx, updates)
}

// LedgerUpdateByID returns the update of a node's stream with an id, whole, nil if there is
// none at or below the watermark.
func (r *Reader) LedgerUpdateByID(ctx context.Context, id string) (*schemas.Update, error) {
	end, err := r.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return nil, err
	}
	updates, err := r.selectUpdates(ctx, ledgerUpdateByIDQuery, store.Params{
		"stream": store.Text(r.stream), "id": store.Text(id), "through": store.Int(end),
	})
	if err != nil {
		return nil, fmt.Errorf("looking up update %.80q: %w", id, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	params := store.Params{"stream": store.Text(r.stream), "offsets": store.Ints([]int64{updates[0].Local.Offset})}
	if updates, err = r.withEvents(ctx, &updates, nil, false, ledgerEventsAtQuery, params); err != nil {
		return nil, fmt.Errorf("reading the events of update %.80q: %w", id, err)
	}
	return r.onlyOne(ctx, updates)
}

// onlyOne is the update, with the contracts that it ended, nil without one.
func (r *Reader) onlyOne(ctx context.Context, updates []schemas.Update) (*schemas.Update, error) {
	if len(updates) == 0 {
		return nil, nil
	}
	return &updates[0], r.addEndedContracts(ctx, updates[:1])
}
