package node

import (
	"cmp"
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LedgerRun is a part of a stretch of a node's stream, as Page is, whose updates are
// put together when they are asked for: until then most of it is columns, a quarter of the
// size. It belongs to one goroutine and must be closed.
type Run struct {
	covered int64
	updates []schemas.Update
	// apart says that the events of updates are in rows.
	apart bool
	rows  nodeRows
	// ended are contracts that ended in the run, if they are asked for.
	ended endedContracts
}

// RunOf makes a run of a page.
func RunOf(page Page) *Run {
	return &Run{covered: page.Covered, updates: page.Updates}
}

// Covered says how far the stretch was looked through: see Page.
func (r *Run) Covered() int64 { return r.covered }

// Len is how many updates are left.
func (r *Run) Len() int { return len(r.updates) }

// Next returns the next update in the order asked for, whole, nil when there is none left. It
// is valid, with all that it refers to, until the next call. Events may be without their id
// where that follows from the id of the update. The error is schemas.ErrDamaged where the store
// lacks its events.
func (r *Run) Next() (u *schemas.Update, err error) {
	if len(r.updates) == 0 {
		return nil, nil
	}
	u, r.updates = &r.updates[0], r.updates[1:]
	if !r.apart {
		return u, nil
	}
	u.Events = r.rows.take(u.Local.Offset)
	if err := u.CheckComplete(); err != nil {
		return nil, err
	}
	if r.ended != nil {
		r.ended.addTo(u)
	}
	return u, nil
}

// Close gives up the memory of the run.
func (r *Run) Close() {
	r.rows.close()
	*r = Run{}
}

// LedgerRun is LedgerUpdates for who goes through much of the stream at once. Where updates
// must be looked for it reads a page.
func (r *Reader) LedgerRun(ctx context.Context, sel Selection, rg Range) (_ *Run, err error) {
	var (
		apart bool
		rows  nodeRows
		ended endedContracts
	)
	defer func() {
		if err != nil {
			rows.close()
		}
	}()
	page, err := r.search(ctx, sel, rg, func(kinds []string, w Range) ([]schemas.Update, error) {
		apart = true
		updates, err := r.source.window(ctx, kinds, w, func(ctx context.Context, first, last int64) error {
			return r.db.SelectBlocks(ctx, runEventsQuery, between(r.stream, first, last), rows.add, func() error { return nil })
		})
		if err == nil && sel.Contracts && len(updates) > 0 {
			ended, err = r.lifetimes.endedBetween(ctx, offsetSpan(updates))
		}
		return updates, err
	})
	if err != nil {
		return nil, err
	}
	rows.order(rg.Descending)
	run := RunOf(page)
	run.apart, run.rows, run.ended = apart, rows, ended
	return run, nil
}

// offsetSpan is the range of the offsets of updates in either direction.
func offsetSpan(updates []schemas.Update) Range {
	a, b := updates[0].Local.Offset, updates[len(updates)-1].Local.Offset
	return Range{After: min(a, b) - 1, Through: max(a, b)}
}

// nodeRows are blocks of a node's events, of which updates are given theirs in order.
type nodeRows struct {
	blocks []*nodeEventBlock
	places []nodePlace // in the order of the run
	next   int
	// descending is the direction of offsets.
	descending bool
	// What the events taken last consist of.
	events []schemas.Event
	values []byte
}

// nodePlace is where an event stands, and in which row of which block it is.
type nodePlace struct {
	offset           int64
	node, block, row int32
}

// add returns a block to be read into.
func (r *nodeRows) add() store.Block {
	block := nodeEventBlocks.Get().(*nodeEventBlock)
	r.blocks = append(r.blocks, block)
	return block.columns
}

// order puts the rows of all blocks in order by offset, in either direction, and node. The
// store gives them nearly so, and would copy all columns to sort them.
func (r *nodeRows) order(descending bool) {
	r.descending = descending
	direction := 1
	if descending {
		direction = -1
	}
	for i, b := range r.blocks {
		b.one.LoadShared(&b.columns.Events)
		r.places = slices.Grow(r.places, b.columns.Rows())
		for row := range b.columns.Rows() {
			offset, node := b.one.Place(row)
			r.places = append(r.places, nodePlace{offset, node, int32(i), int32(row)})
		}
	}
	slices.SortFunc(r.places, func(a, b nodePlace) int {
		if a.offset != b.offset {
			return direction * cmp.Compare(a.offset, b.offset)
		}
		return cmp.Compare(a.node, b.node)
	})
}

// take returns the events at an offset, those before which are passed over. They are valid
// until the next call.
func (r *nodeRows) take(offset int64) []schemas.Event {
	for r.next < len(r.places) && r.precedes(offset) {
		r.next++
	}
	r.events, r.values = r.events[:0], r.values[:0]
	for ; r.next < len(r.places) && r.places[r.next].offset == offset; r.next++ {
		if len(r.events) == cap(r.events) {
			r.events = slices.Grow(r.events, 1)
		}
		r.events = r.events[:len(r.events)+1] // what it was last has memory that is used again
		at := r.places[r.next]
		r.values = r.blocks[at.block].one.AppendEvent(r.values, int(at.row), &r.events[len(r.events)-1])
	}
	return r.events
}

// precedes reports whether the next row stands before an offset in the order of the run.
func (r *nodeRows) precedes(offset int64) bool {
	if r.descending {
		return r.places[r.next].offset > offset
	}
	return r.places[r.next].offset < offset
}

func (r *nodeRows) close() {
	for _, b := range r.blocks {
		b.free()
	}
	*r = nodeRows{}
}
