package history

import (
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

// eventRuns goes through blocks of events, which follow one another, update by update.
type eventRuns struct {
	blocks []*eventBlock // those that are not done
	row    int           // the next one of the first block
	done   []*eventBlock // the events taken last refer to them

	events []schemas.Event
	values []byte // arguments and results of events
	// keys are those of arguments: see Stretch.ArgumentKey.
	keys     []byte
	keyStart []int // by event
	bodies   []Body
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

// add returns a block to be read into.
func (r *eventRuns) add() store.Block {
	block := eventBlocks.Get().(*eventBlock)
	r.blocks = append(r.blocks, block)
	return block.columns
}

// next returns where the next events stand.
func (r *eventRuns) next() (at schemas.Position, ok bool) {
	if len(r.blocks) == 0 {
		return at, false
	}
	first := r.blocks[0]
	if !first.one.Loaded() {
		first.one.Load(first.columns)
	}
	return first.one.Position(r.row), true
}

// take returns the events at the next position, which are valid until the next call.
func (r *eventRuns) take() []schemas.Event {
	r.freeDone()
	r.events, r.values, r.keys, r.keyStart = r.events[:0], r.values[:0], r.keys[:0], r.keyStart[:0]
	r.bodies = r.bodies[:0]
	first, _ := r.next()
	for {
		at, ok := r.next()
		if !ok || at != first {
			return r.events
		}
		block := r.blocks[0]
		r.events = append(r.events, schemas.Event{})
		e := &r.events[len(r.events)-1]
		r.values = block.one.AppendEvent(r.values, r.row, e)
		shape, scalars := block.one.Body(r.row)
		r.bodies = append(r.bodies, Body{shape, scalars})
		r.keyStart = append(r.keyStart, len(r.keys))
		if e.Kind == schemas.Created {
			r.keys = block.one.AppendArgumentKey(r.keys, r.row)
		}
		if r.row++; r.row == block.columns.Rows() {
			r.blocks, r.row, r.done = r.blocks[1:], 0, append(r.done, block)
		}
	}
}

// key returns the key of the argument of an event taken last.
func (r *eventRuns) key(event int) []byte {
	if event+1 < len(r.keyStart) {
		return r.keys[r.keyStart[event]:r.keyStart[event+1]]
	}
	return r.keys[r.keyStart[event]:]
}

func (r *eventRuns) freeDone() {
	for _, block := range r.done {
		block.free()
	}
	r.done = r.done[:0]
}

func (r *eventRuns) close() {
	r.done = append(r.done, r.blocks...)
	r.freeDone()
	*r = eventRuns{}
}
