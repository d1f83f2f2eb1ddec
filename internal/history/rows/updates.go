package rows

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Updates returns the first updates of a span, ascending, whole. Import updates are not among
// them.
func Updates(ctx context.Context, db *store.DB, s Span, limit int64) ([]schemas.Update, error) {
	q := s.Updates(limit)
	updates, err := store.SelectAll(ctx, db, q.Text, q.Params, store.NewUpdates())
	if err != nil {
		return nil, fmt.Errorf("reading updates after %s: %w", s.After, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	// Events are read from where the span begins, not from the first update: those of updates
	// that the store has lost show that it has.
	s.Through = updates[len(updates)-1].Position()
	return updates, join(ctx, db, updates, s.Events(), true)
}

// AddEvents gives ascending updates their events out of a query whose rows are in the same
// order. Events of other updates are dropped.
func AddEvents(ctx context.Context, db *store.DB, updates []schemas.Update, events Query) error {
	if len(updates) == 0 {
		return nil
	}
	return join(ctx, db, updates, events, false)
}

// join gives each update its events. The error is schemas.ErrDamaged where the store lacks some
// or, if the updates are all that the query can find events of, where it has events without
// their update.
func join(ctx context.Context, db *store.DB, updates []schemas.Update, events Query, all bool) error {
	next := 0 // update that the next events belong to, or a later one
	var orphan *schemas.Position
	err := EachEvents(ctx, db, events, func(rows []store.EventRow) {
		for len(rows) > 0 {
			run := firstRun(rows)
			for next < len(updates) && updates[next].Position().Before(run[0].Position) {
				next++
			}
			if next < len(updates) && updates[next].Position() == run[0].Position {
				updates[next].Events = appendEvents(updates[next].Events, run)
			} else if orphan == nil {
				at := run[0].Position // rows are used again
				orphan = &at
			}
			rows = rows[len(run):]
		}
	})
	if err != nil {
		return fmt.Errorf("reading events from %s: %w", updates[0].Position(), err)
	}
	if all && orphan != nil {
		return Lost(*orphan)
	}
	return checkComplete(updates)
}

// Attach gives ascending updates their events out of ascending rows. The error is
// schemas.ErrDamaged where some are missing.
func Attach(updates []schemas.Update, rows []store.EventRow) error {
	for i := range updates {
		at := updates[i].Position()
		for len(rows) > 0 && rows[0].Position.Before(at) {
			rows = rows[1:]
		}
		if len(rows) > 0 && rows[0].Position == at {
			run := firstRun(rows)
			updates[i].Events = appendEvents(updates[i].Events, run)
			rows = rows[len(run):]
		}
	}
	return checkComplete(updates)
}

// Lost is the error of an event whose update is missing.
func Lost(at schemas.Position) error {
	return fmt.Errorf("%w: table events has events of update %s, %s, and table updates does not have it", schemas.ErrDamaged, at.UpdateID, at)
}

// checkComplete returns an error unless all updates have their events.
func checkComplete(updates []schemas.Update) error {
	for i := range updates {
		if err := updates[i].CheckComplete(); err != nil {
			return err
		}
	}
	return nil
}

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
}

// free gives the block back. The pool must not keep what rows refer to.
func (b *eventBlock) free() {
	clear(b.rows)
	eventBlocks.Put(b)
}

// EachEvents calls each once per block of rows, which are valid until it returns; what they
// refer to stays.
func EachEvents(ctx context.Context, db *store.DB, q Query, each func(rows []store.EventRow)) error {
	block := eventBlocks.Get().(*eventBlock)
	defer block.free()
	return db.Select(ctx, q.Text, q.Params, block.columns, func() error {
		block.rows = block.columns.AppendTo(block.rows[:0])
		each(block.rows)
		return nil
	})
}

// firstRun returns the rows at the beginning that are at one position.
func firstRun(rows []store.EventRow) []store.EventRow {
	n := 1
	for n < len(rows) && rows[n].Position == rows[0].Position {
		n++
	}
	return rows[:n]
}

func appendEvents(events []schemas.Event, rows []store.EventRow) []schemas.Event {
	events = slices.Grow(events, len(rows))
	for i := range rows {
		events = append(events, rows[i].Event)
	}
	return events
}
