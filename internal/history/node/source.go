package node

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// source reads updates of a node's stream, whole.
type source struct {
	db     *store.DB
	stream string
	copies *copies.Updates // see Reader.UseCopies; usually nil
}

// at reads the updates at ascending offsets, whole, in either direction: those that have a
// copy there, the others out of the tables of history.
func (s *source) at(ctx context.Context, offsets []int64, descending bool) ([]schemas.Update, error) {
	if s.copies == nil || len(offsets) == 0 {
		return s.storedAt(ctx, offsets, descending)
	}
	copied, err := s.copies.At(ctx, offsets)
	if err != nil {
		return nil, err
	}
	var missing []int64
	for _, offset := range offsets {
		if copied[offset] == nil {
			missing = append(missing, offset)
		}
	}
	stored, err := s.storedAt(ctx, missing, false)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		copied[stored[i].Local.Offset] = &stored[i]
	}
	updates := make([]schemas.Update, 0, len(copied))
	for _, offset := range offsets {
		if u := copied[offset]; u != nil {
			updates = append(updates, *u)
		}
	}
	if descending {
		slices.Reverse(updates)
	}
	return updates, nil
}

// window reads the updates of some kinds in a window, up to the limit, without events:
// readEvents reads those between two offsets, first exclusive. It does so beside them if all
// that the window may have is little, and else when it is known which are needed.
func (s *source) window(ctx context.Context, kinds []string, w Range,
	readEvents func(ctx context.Context, first, last int64) error) (updates []schemas.Update, err error) {
	const beside = 4 // times the limit
	params := between(s.stream, w.After, w.Through)
	params["kinds"], params["limit"] = store.Texts(kinds), store.Int(int64(w.Limit))
	query := directed(w.Descending, updatesQuery, updatesDescendingQuery)
	if w.Through-w.After > beside*int64(w.Limit) {
		if updates, err = store.SelectAll(ctx, s.db, query, params, store.NewUpdates()); err != nil || len(updates) == 0 {
			return nil, err
		}
		span := offsetSpan(updates)
		return updates, readEvents(ctx, span.After, span.Through)
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = store.SelectAll(ctx, s.db, query, params, store.NewUpdates())
		return err
	})
	group.Go(func() error { return readEvents(ctx, w.After, w.Through) })
	return updates, group.Wait()
}

// storedAt reads the updates at ascending offsets out of the tables of history, whole, in either
// direction.
func (s *source) storedAt(ctx context.Context, offsets []int64, descending bool) ([]schemas.Update, error) {
	if len(offsets) == 0 {
		return nil, nil
	}
	params := store.Params{"stream": store.Text(s.stream), "offsets": store.Ints(offsets)}
	var updates []schemas.Update
	var events []store.EventRow
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = store.SelectAll(groupCtx, s.db, updatesAtQuery, params, store.NewUpdates())
		return err
	})
	group.Go(func() error {
		return selectRows(groupCtx, s.db, eventsAtQuery, params, func(block []store.EventRow) { events = append(events, block...) })
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if descending {
		slices.Reverse(updates)
	}
	return updates, hangOnRows(updates, events, descending)
}

// hangOnRows gives updates in either direction their events out of ascending rows. The error
// is schemas.ErrDamaged where the store lacks some.
func hangOnRows(updates []schemas.Update, events []store.EventRow, descending bool) error {
	if descending {
		slices.Reverse(updates)
		defer slices.Reverse(updates)
	}
	err := rows.Attach(updates, events)
	for i := range updates {
		nameEvents(&updates[i])
	}
	return err
}

// nameEvents gives events the ids that follow from those of their updates.
func nameEvents(u *schemas.Update) {
	for i := range u.Events {
		if e := &u.Events[i]; e.EventID == "" {
			e.EventID = schemas.EventID(u.UpdateID, e.Node)
		}
	}
}

// nodeEventBlocks keep the memory of blocks, which are megabytes, from one read to the next.
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

// selectRows calls each once per block of the rows that a query of events by offset finds, like
// rows.EachEvents.
func selectRows(ctx context.Context, db *store.DB, query string, params store.Params, each func(rows []store.EventRow)) error {
	block := nodeEventBlocks.Get().(*nodeEventBlock)
	defer block.free()
	return db.Select(ctx, query, params, block.columns, func() error {
		block.rows = block.columns.AppendTo(block.rows[:0])
		each(block.rows)
		return nil
	})
}

// importsAt returns the import updates of contracts, ascending by id.
func (s *source) importsAt(ctx context.Context, ids []string) ([]schemas.Update, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	params := store.Params{"stream": store.Text(s.stream), "ids": store.Texts(ids)}
	list, err := store.SelectAll(ctx, s.db, importsAtQuery, params, store.NewImports())
	if err != nil {
		return nil, fmt.Errorf("reading %d contracts that the stream began with: %w", len(ids), err)
	}
	return list, nil
}
