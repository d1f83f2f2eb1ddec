package history

import (
	"context"
	"fmt"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// eventBlocks keep the memory of blocks, which are megabytes, from one stretch to the next.
var eventBlocks = sync.Pool{New: func() any { return &eventBlock{columns: store.NewEvents()} }}

// eventBlock is a block of events and the rows that it is read into.
type eventBlock struct {
	columns *store.Events
	rows    []store.EventRow
}

// EventRun is the events that stand at one position, by node number.
type EventRun struct {
	At     schemas.Position
	Events []schemas.Event
}

// Stretch is what the tables hold between two positions, row by row and as it stands:
// rows that stand there twice and rows that belong to nothing included. Each list is
// ascending by position; updates have no events, which are apart.
type Stretch struct {
	Imports []schemas.Update
	Updates []schemas.Update
	Events  []EventRun
	// Verdicts are items without updates.
	Verdicts []schemas.Item
}

// addEvents adds a block of rows. They are copied once and then shared by the runs.
func (s *Stretch) addEvents(rows []store.EventRow) {
	events := make([]schemas.Event, len(rows))
	for start := 0; start < len(rows); {
		end := start
		for end < len(rows) && rows[end].Position == rows[start].Position {
			events[end] = rows[end].Event
			end++
		}
		if last := len(s.Events) - 1; last >= 0 && s.Events[last].At == rows[start].Position {
			s.Events[last].Events = append(s.Events[last].Events, events[start:end]...)
		} else {
			s.Events = append(s.Events, EventRun{rows[start].Position, events[start:end:end]})
		}
		start = end
	}
}

// Stretch reads all rows after one position through another. It is not limited: callers
// choose a stretch that fits into memory.
func (r *Reader) Stretch(ctx context.Context, after, through schemas.Position) (*Stretch, error) {
	s := new(Stretch)
	if through.Offset > 0 {
		return s, r.addNode(ctx, s, after, through)
	}
	for m := max(after.MigrationID, 0); m <= through.MigrationID; m++ {
		lo := schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros}
		hi := schemas.Position{MigrationID: m, RecordTime: schemas.MaxMicros, UpdateID: schemas.MaxUpdateID}
		if m == after.MigrationID {
			lo = after
		}
		if m == through.MigrationID {
			hi = through
		}
		if lo.RecordTime == schemas.MinMicros {
			last := schemas.MaxUpdateID
			if hi.RecordTime == schemas.MinMicros {
				last = hi.UpdateID
			}
			if err := r.addImports(ctx, s, m, lo.UpdateID, last); err != nil {
				return nil, err
			}
		}
		if hi.RecordTime != schemas.MinMicros {
			if err := r.addHistory(ctx, s, Range{After: lo, Through: hi, Limit: math.MaxUint32}); err != nil {
				return nil, fmt.Errorf("reading rows after %s: %w", lo, err)
			}
		}
	}
	return s, nil
}

// addNode is Stretch for a node's own stream: the contracts that it begins with, and what
// lies between two offsets.
func (r *Reader) addNode(ctx context.Context, s *Stretch, after, through schemas.Position) error {
	if after.RecordTime == schemas.MinMicros {
		last := schemas.MaxUpdateID
		if through.RecordTime == schemas.MinMicros {
			last = through.UpdateID
		}
		if err := r.addImports(ctx, s, through.MigrationID, after.UpdateID, last); err != nil {
			return err
		}
	}
	if through.RecordTime == schemas.MinMicros {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return r.selectRuns(ctx, s, eventsByOffsetQuery, store.Params{
			"stream": store.Text(r.stream), "first": store.Int(after.Offset + 1), "last": store.Int(through.Offset),
		})
	})
	group.Go(func() (err error) {
		s.Updates, err = r.selectUpdates(ctx, updatesByOffsetQuery, store.Params{
			"stream": store.Text(r.stream), "after": store.Int(after.Offset), "through": store.Int(through.Offset), "limit": store.Int(math.MaxUint32),
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("reading rows after %s: %w", after, err)
	}
	return nil
}

// selectRuns adds the events that a query finds.
func (r *Reader) selectRuns(ctx context.Context, s *Stretch, query string, params store.Params) error {
	block := eventBlocks.Get().(*eventBlock)
	defer eventBlocks.Put(block)
	defer func() { clear(block.rows) }() // the pool must not keep what they refer to
	return r.db.Select(ctx, query, params, block.columns, func() error {
		block.rows = block.columns.AppendTo(block.rows[:0])
		s.addEvents(block.rows)
		return nil
	})
}

func (r *Reader) addImports(ctx context.Context, s *Stretch, migration int64, after, through string) error {
	block := store.NewImports()
	err := r.db.Select(ctx, importsQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migration), "after_id": store.Text(after),
		"through_id": store.Text(through), "limit": store.Int(math.MaxUint32),
	}, block, func() error {
		s.Imports = block.AppendTo(s.Imports)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading imports of migration %d: %w", migration, err)
	}
	return nil
}

// addHistory reads the tables of history of one migration, events beside the others.
func (r *Reader) addHistory(ctx context.Context, s *Stretch, rg Range) error {
	params := r.params(rg)
	// Events are asked for by first and last position, both inclusive. An
	// update id that is never given stands between rg.After and what follows it.
	first := rg.After
	first.RecordTime = store.Clamp(first.RecordTime)
	first.UpdateID += "\x00"
	last := rg.Through
	last.RecordTime = store.Clamp(last.RecordTime)
	between := r.between(first, last)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.selectRuns(ctx, s, eventsQuery, between) })
	group.Go(func() error {
		updates, err := r.selectUpdates(ctx, updatesQuery, params)
		if err != nil {
			return err
		}
		s.Updates = append(s.Updates, updates...)
		verdicts, err := r.selectVerdicts(ctx, verdictsQuery, params)
		if err != nil {
			return err
		}
		s.Verdicts = append(s.Verdicts, verdicts...)
		return nil
	})
	return group.Wait()
}
