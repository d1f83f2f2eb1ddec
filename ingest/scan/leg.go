package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// leg reads a track from one position to its end as of now: it fetches slices in
// parallel and delivers what is in them in order.
type leg struct {
	track track
	pages *pageSizer
	// start is exclusive, bound inclusive; last is the coordinate up to which items
	// are expected. Beyond last the rest is read as one slice.
	start, bound schemas.Position
	last         int64
	workers      int
	budget       *budget
}

// legEnd says how a leg ended.
type legEnd struct {
	// items counts what was delivered.
	items int
	// next is the first item seen beyond the track, schemas.Start if none was: then
	// the upstream has nothing more at present.
	next schemas.Position
}

// slice is a part of a leg, fetched page by page.
type slice struct {
	number      int64
	after, upTo schemas.Position
	// parts is closed at the end, after which err is set if the slice is not whole.
	parts chan part
	err   error
}

// part is a chunk together with what it holds of the budget, to be released by
// the receiver.
type part struct {
	chunk
	cost int64
}

// run calls take for all parts, one at a time and in order. It stops at the first
// error, of a slice whose turn has come or of take.
func (l *leg) run(ctx context.Context, take func(context.Context, part) error) (legEnd, error) {
	end := legEnd{next: schemas.Start}
	if !l.start.Before(l.bound) {
		return end, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	workers := guard.NewGroup()
	defer func() {
		cancel()
		_ = workers.Wait() // the queue and the slices have the errors
	}()
	queue := make(chan *slice, l.workers)
	var unplanned error
	workers.Go(func() error {
		defer close(queue)
		unplanned = guard.Call(func() error { l.dispatch(ctx, queue, workers); return nil })
		return nil
	})
	for s := range queue {
		l.budget.advance(s.number)
		for p := range s.parts {
			if err := take(ctx, p); err != nil {
				return end, err
			}
			end.items += len(p.items)
			switch {
			case p.end:
				// What later slices found has come up meanwhile: something between may
				// have come up too, so they do not count.
				return end, nil
			case l.bound.Before(p.next):
				end.next = p.next
				return end, nil
			}
		}
		if s.err != nil {
			return end, s.err
		}
	}
	if unplanned != nil { // the queue ended early
		return end, unplanned
	}
	return end, remote.Ended(ctx)
}

// dispatch plans slices and has them fetched until the leg or ctx ends. The first one
// is a single page that shows how dense the track is.
func (l *leg) dispatch(ctx context.Context, queue chan<- *slice, workers *guard.Group) {
	plan := &planner{track: l.track, last: l.last, bound: l.bound, at: l.bound, gapAfter: schemas.Start, gapBefore: schemas.Start}
	first := &slice{after: l.start, upTo: l.bound, parts: make(chan part, 1)}
	queue <- first // has room
	p, err := l.fetch(ctx, first, plan, l.start)
	if err == nil {
		first.parts <- p // has room
	}
	first.err = err
	close(first.parts)
	if err != nil || p.done {
		return
	}
	plan.at = p.covered
	slots := make(chan struct{}, l.workers)
	for number := int64(1); ; number++ {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		after, upTo, ok := plan.next(l.pages.size())
		if !ok {
			return
		}
		s := &slice{number: number, after: after, upTo: upTo, parts: make(chan part, 1)}
		select {
		case queue <- s:
		case <-ctx.Done():
			return
		}
		workers.Go(func() error {
			defer func() { <-slots }()
			l.fetchSlice(ctx, s, plan)
			return nil
		})
	}
}

// fetchSlice fetches all of s.
func (l *leg) fetchSlice(ctx context.Context, s *slice, plan *planner) {
	defer close(s.parts)
	for after := s.after; ; {
		p, err := l.fetch(ctx, s, plan, after)
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.parts <- p:
		case <-ctx.Done():
			s.err = context.Cause(ctx)
			return
		}
		if p.done {
			return
		}
		after = p.covered
	}
}

// fetch fetches one page of s within the budget.
func (l *leg) fetch(ctx context.Context, s *slice, plan *planner, after schemas.Position) (part, error) {
	size := plan.pageSize(after, s.upTo, l.pages.size())
	held := l.pages.bytes(size)
	held += held / 8 // so that most pages fit what was taken for them
	expect := held
	if err := l.budget.acquire(ctx, s.number, held); err != nil {
		return part{}, err
	}
	reserve := func(size int64) error {
		if size <= held {
			return nil
		}
		err := l.budget.acquire(ctx, s.number, size-held)
		if err == nil {
			held = size
		}
		return err
	}
	var c chunk
	err := guard.Call(func() (err error) {
		c, err = l.track.fetch(ctx, after, s.upTo, fetchOptions{size: size, reserve: reserve, expect: expect, stripe: s.number / stripeSlices})
		return err
	})
	if err != nil {
		l.budget.release(held)
		return part{}, err
	}
	plan.observe(after, &c)
	l.budget.release(held - c.bytes)
	return part{chunk: c, cost: c.bytes}, nil
}
