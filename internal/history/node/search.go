package node

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

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
	// spreadUnit is the fixed point of finder.spread, offsets to an update.
	spreadUnit = 16
)

// plan is how the updates of a selection are found.
type plan struct {
	// kinds are those that the selection asks for.
	kinds []string
	// pass says that all transactions are of interest: there is nothing to look for.
	pass bool
	// events are looked through unless nothing matches, but where onlyReassigned says so only
	// those of reassignments.
	events         match
	onlyReassigned bool
	// whole are the kinds of which all updates are of interest.
	whole []string
}

// byKeys reports whether updates are found by the keys of their parties.
func (p *plan) byKeys() bool { return len(p.events.onlyParties()) > 0 && !p.onlyReassigned }

// inOneGo reports whether a query takes no longer for a wide window than for a narrow one.
func (p *plan) inOneGo() bool {
	return p.byKeys() && len(p.events.onlyParties()) == 1 && len(p.whole) == 0
}

func (p *plan) nothing() bool { return !p.pass && p.events.none() && len(p.whole) == 0 }

var reassignments = []string{string(schemas.Assignment), string(schemas.Unassignment)}

// finder finds updates of a node's stream.
type finder struct {
	db        *store.DB
	stream    string
	templates *templates
	spread    atomic.Int64 // offsets to an update, as seen last
}

// plan finds out how to look for what sel selects.
func (f *finder) plan(ctx context.Context, sel Selection, through int64) (p plan, err error) {
	var transactions, reassigned match
	if sel.Transactions != nil {
		if transactions, err = f.match(ctx, sel.Transactions.Entries, through); err != nil {
			return p, err
		}
		p.kinds = append(p.kinds, string(schemas.Transaction))
	}
	if sel.Reassignments != nil {
		if reassigned, err = f.match(ctx, sel.Reassignments.Entries, through); err != nil {
			return p, err
		}
		p.kinds = append(p.kinds, reassignments...)
	}
	if sel.Topology {
		p.kinds, p.whole = append(p.kinds, string(schemas.Topology)), append(p.whole, string(schemas.Topology))
	}
	p.pass = transactions.all
	if reassigned.all {
		p.whole = append(p.whole, reassignments...)
		reassigned = match{}
	}
	switch {
	case p.pass:
	case transactions.none():
		p.events, p.onlyReassigned = reassigned, true
	case reassigned.none():
		p.events = transactions
	default:
		entries := slices.Concat(sel.Transactions.Entries, sel.Reassignments.Entries)
		p.events, err = f.match(ctx, entries, through)
	}
	return p, err
}

// passThrough has the next window read, which is as wide as updates up to the limit were
// before. It is widened while there is nothing in it.
func (f *finder) passThrough(rg Range, read func(w Range) ([]schemas.Update, error)) (Page, error) {
	width := max(int64(rg.Limit)*f.spread.Load()/spreadUnit, int64(rg.Limit))
	for looked := int64(0); ; {
		w, rest := rg.window(min(width, maxWindow))
		updates, err := read(w)
		if err != nil {
			return Page{}, err
		}
		looked += w.Through - w.After
		if len(updates) > 0 {
			f.spread.Store((w.Through - w.After) * spreadUnit / int64(len(updates)))
		}
		switch {
		case len(updates) == rg.Limit: // there may be more in the window
			return Page{updates, cursorBehind(updates[rg.Limit-1].Local.Offset, rg)}, nil
		case len(updates) > 0 || rest.After >= rest.Through || looked >= maxWindow:
			return Page{updates, w.end()}, nil
		}
		rg, width = rest, width*windowGrowth
	}
}

// inWindows returns the offsets that find gives of windows, in the direction of the range, up to
// its limit, and how far it was looked through. How often there is one in a window says how wide
// the next is to be: what is rare is found in few queries by the filters of the store, and
// what is frequent in the first. In one go, the first window is all of the range.
func (f *finder) inWindows(rg Range, inOneGo bool, find func(w Range) ([]int64, error)) (offsets []int64, covered int64, err error) {
	limit := rg.Limit
	width, most := max(2*int64(limit)*f.spread.Load()/spreadUnit, firstWindow), int64(maxWindow)
	if inOneGo {
		width, most = rg.Through-rg.After, rg.Through-rg.After
	}
	for looked := int64(0); ; {
		w, rest := rg.window(min(width, most))
		w.Limit = limit - len(offsets)
		found, err := find(w)
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
func (f *finder) offsetsIn(ctx context.Context, p plan, w Range) (offsets []int64, err error) {
	var inEvents, inUpdates []int64
	group, groupCtx := guard.WithContext(ctx)
	if !p.events.none() {
		group.Go(func() (err error) {
			inEvents, err = f.offsetsOfEvents(groupCtx, p, w)
			return err
		})
	}
	if len(p.whole) > 0 {
		group.Go(func() (err error) {
			params := between(f.stream, w.After, w.Through)
			params["kinds"], params["limit"] = store.Texts(p.whole), store.Int(int64(w.Limit))
			inUpdates, err = store.SelectAll(groupCtx, f.db, directed(w.Descending, findUpdatesQuery, findUpdatesDescendingQuery), params, store.NewOffsets())
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

// offsetsOfEvents returns the first offsets in a window of updates of which an event matches, in
// any order, and maybe others behind them.
func (f *finder) offsetsOfEvents(ctx context.Context, p plan, w Range) ([]int64, error) {
	params := between(f.stream, w.After, w.Through)
	params["limit"] = store.Int(int64(w.Limit))
	if p.byKeys() {
		params["keys"] = store.PlaceKeys(f.stream, store.ByParty, p.events.onlyParties()...)
		return store.SelectAll(ctx, f.db, directed(w.Descending, findPartiesQuery, findPartiesDescendingQuery), params, store.NewOffsets())
	}
	query := findEventsQuery
	if p.onlyReassigned {
		query = findReassignedQuery
		params["kinds"] = store.Texts(reassignments)
	}
	params["direction"] = directed(w.Descending, "1", "-1")
	return selectFiltered(ctx, f.db, query, p.events.filters, params, func() store.Rows[int64] { return store.NewOffsets() })
}
