package history

import (
	"context"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ActivePages hands out the whole set that ActiveContracts gives page by page, in the same
// order and in pages of at most q.Limit, like UpdatePages.
//
// Contracts that live on and those that ended later are read side by side and merged. A
// contract that is being moved from the former to the latter meanwhile must not be missed: it
// is in one table or in both if the latter is looked at later. So its reading begins when the
// first rows of the former are there, which the store takes from what it held at that time.
func (r *Reader) ActivePages(ctx context.Context, q ActiveQuery, each func([]ActiveContract) error) error {
	all := q
	all.Limit = math.MaxUint32
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	live := startActive(ctx, r.db, r.active(all, "contracts_live"), q.At)
	defer live.drain(cancel)
	if err := live.fill(); err != nil {
		return err
	}
	ended := startActive(ctx, r.db, r.active(all, "contracts_archived"), q.At)
	defer ended.drain(cancel)
	merged := make([]ActiveContract, 0, q.Limit)
	for {
		c, err := nextActive(live, ended)
		if err != nil {
			return err
		}
		if c != nil {
			merged = append(merged, *c)
		}
		if len(merged) == q.Limit || c == nil && len(merged) > 0 {
			if err := each(merged); err != nil {
				return err
			}
			merged = make([]ActiveContract, 0, q.Limit)
		}
		if c == nil {
			return nil
		}
	}
}

// nextActive takes the contract with the lower key, once if both have it; nil at the end.
func nextActive(live, ended *activeStream) (*ActiveContract, error) {
	for _, s := range []*activeStream{live, ended} {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	a, b := live.head(), ended.head()
	switch {
	case a == nil && b == nil:
		return nil, nil
	case b == nil:
		return live.take(), nil
	case a == nil:
		return ended.take(), nil
	}
	switch order := keyOf(a).Compare(keyOf(b)); {
	case order > 0:
		return ended.take(), nil
	case order == 0:
		ended.take()
	}
	return live.take(), nil
}

// activeStream is one table's part of an active set, read a block ahead.
type activeStream struct {
	incoming chan []ActiveContract // closed after the last one
	rows     []ActiveContract      // what is left of the block before
	err      error                 // why it ended early; set before incoming is closed
}

// startActive starts to read a table's part of an active set, until ctx ends.
func startActive(ctx context.Context, db *store.DB, params store.Params, at schemas.Micros) *activeStream {
	s := &activeStream{incoming: make(chan []ActiveContract)}
	block := store.NewContracts()
	guard.Go(func() error {
		return db.SelectLarge(ctx, activeQuery, params, block, func() error {
			select {
			case s.incoming <- block.AppendTo(make([]ActiveContract, 0, block.Rows())):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}, func(err error) {
		if err != nil {
			s.err = fmt.Errorf("reading contracts active at %s: %w", at, err)
		}
		close(s.incoming)
	})
	return s
}

// fill makes sure that there is a head, unless nothing is left.
func (s *activeStream) fill() error {
	for len(s.rows) == 0 {
		rows, more := <-s.incoming
		if !more {
			return s.err
		}
		s.rows = rows
	}
	return nil
}

// head is the next contract, nil at the end.
func (s *activeStream) head() *ActiveContract {
	if len(s.rows) == 0 {
		return nil
	}
	return &s.rows[0]
}

func (s *activeStream) take() *ActiveContract {
	c := &s.rows[0]
	s.rows = s.rows[1:]
	return c
}

// drain ends the reading and waits until it has ended.
func (s *activeStream) drain(cancel context.CancelFunc) {
	cancel()
	for range s.incoming {
	}
}
