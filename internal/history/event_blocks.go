package history

import (
	"context"
	"fmt"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// eventBlocks keep the memory of blocks, which are megabytes, from one read to the next.
var eventBlocks = func() *sync.Pool {
	shapes := store.NewShapes()
	return &sync.Pool{New: func() any {
		block := &eventBlock{columns: store.NewEvents()}
		block.columns.ShareShapes(shapes)
		return block
	}}
}()

// eventBlock is a block of events and the rows that it is read into.
type eventBlock struct {
	columns *store.Events
	rows    []store.EventRow

	one store.EventRows // the same rows one at a time, if loaded
}

// free gives the block back. The pool must not keep what rows refer to.
func (b *eventBlock) free() {
	clear(b.rows)
	b.one.Unload()
	eventBlocks.Put(b)
}

// blocksAhead is how many blocks are read before they are asked for: one while another is
// looked at.
const blocksAhead = 1

// eventRuns goes through events update by update. Blocks of them are read meanwhile, and
// each gives its memory to one that comes later: what a stretch takes does not depend on how
// long it is.
type eventRuns struct {
	incoming chan *eventBlock // closed after the last one
	current  *eventBlock      // nil before the first and after the last one
	row      int              // the next one of current
	done     []*eventBlock    // the events taken last refer to them

	stop context.CancelFunc // ends the reading
	err  error              // why it ended early; set before incoming is closed

	events []schemas.Event
	values []byte        // arguments and results of events
	keys   []ArgumentKey // of the arguments of created events, by event
	bodies []Body
}

// Body is an event's body as it is stored.
type Body struct {
	Shape   *Shape
	scalars []byte
}

// Shape is the body with marks in place of its values.
type Shape = store.Shape

// AppendScalars appends the values that are neither ids nor parties, in order.
func (b *Body) AppendScalars(list [][]byte) [][]byte { return store.AppendScalars(list, b.scalars) }

// eventQuery asks for events.
type eventQuery struct {
	text   string
	params store.Params
}

// read starts to read what the queries find, one after another.
func (r *eventRuns) read(ctx context.Context, db *store.DB, queries []eventQuery) {
	ctx, r.stop = context.WithCancel(ctx)
	r.incoming = make(chan *eventBlock, blocksAhead)
	go func() {
		defer close(r.incoming)
		for _, q := range queries {
			if r.err = sendBlocks(ctx, db, q, r.incoming); r.err != nil {
				return
			}
		}
	}()
}

// sendBlocks sends the blocks that a query finds.
func sendBlocks(ctx context.Context, db *store.DB, q eventQuery, to chan<- *eventBlock) error {
	var block *eventBlock // under way
	err := db.SelectBlocks(ctx, q.text, q.params, func() store.Block {
		block = eventBlocks.Get().(*eventBlock)
		return block.columns
	}, func() error {
		select {
		case to <- block:
			block = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if block != nil {
		block.free()
	}
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	return nil
}

// next returns where the next events stand.
func (r *eventRuns) next() (at schemas.Position, ok bool) {
	if r.current == nil {
		if r.current = <-r.incoming; r.current == nil {
			return at, false
		}
		r.current.one.Load(r.current.columns)
	}
	return r.current.one.Position(r.row), true
}

// take returns the events at the next position, which are valid until the next call.
func (r *eventRuns) take() []schemas.Event {
	r.freeDone()
	r.events, r.values, r.keys, r.bodies = r.events[:0], r.values[:0], r.keys[:0], r.bodies[:0]
	first, _ := r.next()
	for {
		at, ok := r.next()
		if !ok || at != first {
			return r.events
		}
		block := r.current
		r.events = append(r.events, schemas.Event{})
		e := &r.events[len(r.events)-1]
		r.values = block.one.AppendEvent(r.values, r.row, e)
		shape, scalars := block.one.Body(r.row)
		r.bodies = append(r.bodies, Body{shape, scalars})
		r.keys = append(r.keys, ArgumentKey{})
		if e.Kind == schemas.Created {
			r.keys[len(r.keys)-1] = block.one.ArgumentKey(r.row)
		}
		if r.row++; r.row == block.columns.Rows() {
			r.current, r.row, r.done = nil, 0, append(r.done, block)
		}
	}
}

func (r *eventRuns) freeDone() {
	for _, block := range r.done {
		block.free()
	}
	r.done = r.done[:0]
}

// close ends the reading and frees all blocks.
func (r *eventRuns) close() {
	if r.incoming == nil {
		return
	}
	r.stop()
	if r.current != nil {
		r.done = append(r.done, r.current)
	}
	for block := range r.incoming {
		r.done = append(r.done, block)
	}
	r.freeDone()
	*r = eventRuns{}
}
