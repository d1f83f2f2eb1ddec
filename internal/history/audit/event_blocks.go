package audit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// eventBlocks keep the memory of blocks, which are megabytes, from one read to the next, and
// eventSums that of blocks of numbers.
var eventBlocks, eventSums = func() (blocks, sums *sync.Pool) {
	shapes := store.NewShapes()
	blocks = &sync.Pool{New: func() any {
		block := &eventBlock{columns: store.NewEvents()}
		block.columns.ShareShapes(shapes)
		return block
	}}
	sums = &sync.Pool{New: func() any {
		block := &eventBlock{sums: store.NewEventSums()}
		block.sums.ShareShapes(shapes)
		return block
	}}
	return blocks, sums
}()

// eventBlock is a block of events and the rows that it is read into.
type eventBlock struct {
	columns *store.Events
	one     store.EventRows // the same rows one at a time, if loaded
	hashes  []uint64        // of the same rows, if loaded

	sums *store.EventSums // what rows are read into in place of columns, if not nil
}

// free gives the block back. The pool must not keep what its rows refer to.
func (b *eventBlock) free() {
	if b.sums != nil {
		eventSums.Put(b)
		return
	}
	b.one.Unload()
	eventBlocks.Put(b)
}

// block is what rows are read into.
func (b *eventBlock) block() store.Block {
	if b.sums != nil {
		return b.sums
	}
	return b.columns
}

// load makes rows of what was read.
func (b *eventBlock) load() {
	if b.sums == nil {
		b.one.Load(b.columns)
		b.hashes = b.columns.AppendHashes(b.hashes[:0])
	}
}

func (b *eventBlock) position(i int) schemas.Position {
	if b.sums != nil {
		return b.sums.Position(i)
	}
	return b.one.Position(i)
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
	// unordered says that an event, read as numbers, stands before the one that came last: what
	// follows cannot be looked at.
	unordered bool

	events []schemas.Event
	values []byte // arguments and results of events
	facts  []EventFacts
}

// EventFacts are what is known of an event beside its fields.
type EventFacts struct {
	// Row is the hash of its row, for BatchHash.
	Row uint64
	// Contract is the LifetimeHash of its contract's id.
	Contract uint64
	// Create tells what a created event begins a contract with.
	Create CreateKey
	// Body is valid for as long as the event is.
	Body Body
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

// AppendValues appends the argument and the result of the event, with marks in place of ids and
// parties. Both begin and end where the returned offsets say.
func (b *Body) AppendValues(dst []byte) (_ []byte, argument, end int) {
	return b.Shape.AppendValues(dst, b.scalars)
}

// read starts to read what the queries find, one after another.
func (r *eventRuns) read(ctx context.Context, db *store.DB, queries []rows.Query, texts bool) {
	pool := eventSums
	if texts {
		pool = eventBlocks
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.incoming = make(chan *eventBlock, blocksAhead)
	guard.Go(func() error {
		for _, q := range queries {
			if err := sendBlocks(ctx, db, q, pool, r.incoming); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		r.err = err
		close(r.incoming)
	})
}

// sendBlocks sends the blocks that a query finds.
func sendBlocks(ctx context.Context, db *store.DB, q rows.Query, pool *sync.Pool, to chan<- *eventBlock) error {
	var block *eventBlock // under way
	err := db.SelectBlocks(ctx, q.Text, q.Params, func() store.Block {
		block = pool.Get().(*eventBlock)
		return block.block()
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
	if r.unordered {
		return at, false
	}
	if r.current == nil {
		if r.current = <-r.incoming; r.current == nil {
			return at, false
		}
		r.current.load()
	}
	return r.current.position(r.row), true
}

// take returns the events at the next position, which are valid until the next call.
func (r *eventRuns) take() []schemas.Event {
	r.freeDone()
	r.events, r.values, r.facts = r.events[:0], r.values[:0], r.facts[:0]
	first, _ := r.next()
	for {
		at, ok := r.next()
		if !ok || at != first {
			r.unordered = ok && r.current.sums != nil && at.Before(first)
			return r.events
		}
		block := r.current
		r.add(block)
		if n := len(r.events); block.sums != nil && n > 1 && r.events[n-1].Node < r.events[n-2].Node {
			r.unordered = true
			return r.events
		}
		if r.row++; r.row == block.block().Rows() {
			r.current, r.row, r.done = nil, 0, append(r.done, block)
		}
	}
}

// add adds the event that comes next.
func (r *eventRuns) add(block *eventBlock) {
	// What is behind the end is used again, the local part of an event above all.
	r.events, r.facts = slices.Grow(r.events, 1)[:len(r.events)+1], append(r.facts, EventFacts{})
	e, f := &r.events[len(r.events)-1], &r.facts[len(r.facts)-1]
	if sums := block.sums; sums != nil {
		sums.Fill(r.row, e)
		f.Row, f.Contract = sums.Hash(r.row), sums.Contract(r.row)
		f.Body.Shape, f.Body.scalars = sums.Body(r.row)
		if e.Kind == schemas.Created {
			f.Create = sums.CreateKey(r.row)
		}
		return
	}
	r.values = block.one.AppendEvent(r.values, r.row, e)
	f.Row, f.Contract = block.hashes[r.row], LifetimeHash(e.ContractID)
	f.Body.Shape, f.Body.scalars = block.one.Body(r.row)
	if e.Kind == schemas.Created {
		f.Create = store.NewCreateKey(e, block.one.ArgumentKey(r.row))
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
