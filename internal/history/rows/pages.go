package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// EachUpdates calls each for all updates of a span, in the order of Updates and in pages of at
// most limit. It queries the store once, and not once a page: for reading much. Pages and what
// they refer to are the caller's.
func EachUpdates(ctx context.Context, db *store.DB, s Span, limit int, each func([]schemas.Update) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var events eventPages
	events.read(ctx, db, s.Events())
	q := s.Updates(math.MaxUint32)
	block := store.NewUpdates()
	err := db.SelectLarge(ctx, q.Text, q.Params, block, func() error {
		for page := range slices.Chunk(block.AppendTo(nil), limit) {
			if err := events.hangOn(page); err != nil {
				return err
			}
			if err := each(page); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = events.end()
	}
	cancel()
	events.drain()
	if err != nil {
		return fmt.Errorf("reading updates after %s: %w", s.After, err)
	}
	return nil
}

// eventPages are events in the order of their updates, read a block ahead.
type eventPages struct {
	incoming chan eventPage // closed after the last one
	current  eventPage      // what is left of the block before
	err      error          // why it ended early; set before incoming is closed
}

// eventPage has an event at each position.
type eventPage struct {
	at     []schemas.Position
	events []schemas.Event
}

// read starts to read what a query finds, until ctx ends.
func (p *eventPages) read(ctx context.Context, db *store.DB, q Query) {
	p.incoming = make(chan eventPage)
	guard.Go(func() error {
		block := eventBlocks.Get().(*eventBlock)
		defer block.free()
		return db.SelectLarge(ctx, q.Text, q.Params, block.columns, func() error {
			var page eventPage
			page.at, page.events = block.columns.Decode()
			select {
			case p.incoming <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}, func(err error) {
		p.err = err
		close(p.incoming)
	})
}

// hangOn gives each of the next updates its events. The error is schemas.ErrDamaged where the
// store lacks some, or has events in between whose update it lacks.
func (p *eventPages) hangOn(updates []schemas.Update) error {
	for i := range updates {
		u := &updates[i]
		for {
			if more, err := p.fill(); !more || err != nil {
				if err != nil {
					return err
				}
				break
			}
			order := p.current.at[0].Compare(u.Position())
			if order > 0 {
				break
			}
			if order < 0 {
				return Lost(p.current.at[0])
			}
			if run := p.take(); u.Events == nil {
				u.Events = run
			} else {
				u.Events = append(u.Events, run...) // it goes on in the next block
			}
		}
		if err := u.CheckComplete(); err != nil {
			return err
		}
	}
	return nil
}

// fill makes sure that there are events. more is false when there are none left.
func (p *eventPages) fill() (more bool, err error) {
	for len(p.current.at) == 0 {
		if p.current, more = <-p.incoming; !more {
			if p.err != nil {
				return false, fmt.Errorf("reading events: %w", p.err)
			}
			return false, nil
		}
	}
	return true, nil
}

// end returns an error unless all events were given to updates.
func (p *eventPages) end() error {
	more, err := p.fill()
	if err == nil && more {
		err = Lost(p.current.at[0])
	}
	return err
}

// take returns the events at the next position.
func (p *eventPages) take() []schemas.Event {
	c, n := &p.current, 1
	for n < len(c.at) && c.at[n] == c.at[0] {
		n++
	}
	run := c.events[:n:n]
	c.at, c.events = c.at[n:], c.events[n:]
	return run
}

// drain waits for the end of the reading, once its context has ended.
func (p *eventPages) drain() {
	for range p.incoming {
	}
}
