package history

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Stretch is what the tables hold between two positions, row by row and as it stands:
// rows that stand there twice and rows that belong to nothing included. Each list is
// ascending by position; updates have no events, which are apart. It is used by one
// goroutine.
type Stretch struct {
	Imports []schemas.Update
	// ImportKeys are the keys of their arguments: see ArgumentKey.
	ImportKeys [][]byte
	Updates    []schemas.Update
	// Verdicts are items without updates.
	Verdicts []schemas.Item

	events eventRuns
}

// NextEvents returns where the next events stand, ascending; ok is false when there are
// none left.
func (s *Stretch) NextEvents() (at schemas.Position, ok bool) { return s.events.next() }

// TakeEvents returns the events that stand at the next position, by node number. They are
// valid until the next call, except for their texts.
func (s *Stretch) TakeEvents() []schemas.Event { return s.events.take() }

// ArgumentKey returns what tells the argument of a created event from all others, by number
// among the events taken last. It is valid for as long as they are.
func (s *Stretch) ArgumentKey(event int) []byte { return s.events.key(event) }

// Bodies are those of the events taken last, and valid for as long as they are.
func (s *Stretch) Bodies() []Body { return s.events.bodies }

// Close gives up the memory of events.
func (s *Stretch) Close() { s.events.close() }

// Stretch reads all rows after one position through another. It is not limited: callers
// choose a stretch that fits into memory, and close it.
func (r *Reader) Stretch(ctx context.Context, after, through schemas.Position) (*Stretch, error) {
	s := new(Stretch)
	if err := r.addRows(ctx, s, after, through); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (r *Reader) addRows(ctx context.Context, s *Stretch, after, through schemas.Position) error {
	if through.Offset > 0 {
		return r.addNode(ctx, s, after, through)
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
				return err
			}
		}
		if hi.RecordTime != schemas.MinMicros {
			if err := r.addHistory(ctx, s, Range{After: lo, Through: hi, Limit: math.MaxUint32}); err != nil {
				return fmt.Errorf("reading rows after %s: %w", lo, err)
			}
		}
	}
	return nil
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
		return r.selectEvents(ctx, s, eventsByOffsetQuery, store.Params{
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

// selectEvents adds the events that a query finds.
func (r *Reader) selectEvents(ctx context.Context, s *Stretch, query string, params store.Params) error {
	return r.db.SelectBlocks(ctx, query, params, s.events.add)
}

func (r *Reader) addImports(ctx context.Context, s *Stretch, migration int64, after, through string) error {
	block := store.NewImports()
	err := r.db.Select(ctx, importsQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migration), "after_id": store.Text(after),
		"through_id": store.Text(through), "limit": store.Int(math.MaxUint32),
	}, block, func() error {
		s.Imports, s.ImportKeys = block.AppendTo(s.Imports), block.AppendArgumentKeys(s.ImportKeys)
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
	group.Go(func() error { return r.selectEvents(ctx, s, eventsQuery, between) })
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
