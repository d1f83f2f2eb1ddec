package scan

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// crowdTime is how long a lookup waits for others when many come at the same time: half as
	// many queries are worth more to all of them than the wait costs one. There is a crowd when
	// the query before was for so many ids. Without one a lookup does not wait, and those that
	// come while a query runs share the next.
	crowdTime = 4 * time.Millisecond
	crowd     = 8
	// gatherIDs is how many ids go at once without waiting any longer.
	gatherIDs = 256
)

// lookups joins concurrent lookups by update id into few queries.
type lookups[T any] struct {
	find func(ctx context.Context, ids []string) (map[string]T, error)

	// running holds one token per gathering under way.
	running chan struct{}

	mu   sync.Mutex
	open *gathering[T] // takes further ids; nil when none does
	last int           // ids of the gathering that went before
}

type gathering[T any] struct {
	ids   []string
	full  chan struct{} // closed when no id fits any more
	done  chan struct{} // closed when found or err is set
	found map[string]T
	err   error
}

func newLookups[T any](find func(context.Context, []string) (map[string]T, error)) *lookups[T] {
	return &lookups[T]{find: find, running: make(chan struct{}, gatherings())}
}

// gatherings is how many run at once. Each keeps up to three or four threads of the store
// busy, and under load ids gather while these are under way: many ids together take less
// work than the same ids by halves, because they share what is read.
func gatherings() int { return max(1, runtime.GOMAXPROCS(0)/4) }

// get returns what is known by an update id; ok is false for nothing. It is shared with
// other callers and must not be changed.
func (l *lookups[T]) get(ctx context.Context, id string) (found T, ok bool, err error) {
	g := l.join(ctx, id)
	select {
	case <-g.done:
		found, ok = g.found[id]
		return found, ok, g.err
	case <-ctx.Done():
		return found, false, ctx.Err()
	}
}

func (l *lookups[T]) join(ctx context.Context, id string) *gathering[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.open
	if g == nil {
		g = &gathering[T]{full: make(chan struct{}), done: make(chan struct{})}
		l.open = g
		// The query serves several requests, so no single one may cancel it.
		guard.Go(func() error { return l.run(context.WithoutCancel(ctx), g) }, func(err error) {
			g.err = err
			close(g.done)
		})
	}
	g.ids = append(g.ids, id)
	if len(g.ids) == gatherIDs {
		l.open = nil
		close(g.full)
	}
	return g
}

func (l *lookups[T]) run(ctx context.Context, g *gathering[T]) (err error) {
	if wait := l.patience(); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-g.full:
		}
	}
	l.running <- struct{}{} // never for longer than loadTimeout for each gathering before
	defer func() { <-l.running }()
	l.mu.Lock()
	if l.open == g {
		l.open = nil
	}
	l.last = len(g.ids)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	g.found, err = l.find(ctx, g.ids)
	return err
}

// patience is how long a gathering is open.
func (l *lookups[T]) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last >= crowd {
		return crowdTime
	}
	return 0
}

// copied returns the copy of an item by update id; ok is false if there is none, or none that
// has all that may be known of the item: a verdict that came late is not in it.
// It is unpacked into memory of the answer.
func (a *API) copied(ctx context.Context, r *query.Request, id string) (p copies.Piece, ok bool, err error) {
	if a.copies == nil {
		return p, false, nil
	}
	found, ok, err := shared(ctx, r, a.copies, id)
	if err != nil || !ok {
		return p, false, err
	}
	p, ok, err = found.Piece(ctx, r.Buffer()) // by this goroutine: many are unpacked at once
	return p, ok && !p.MayGrow(), err
}

// item returns what is known by an update id, by way of its copy if that is not nil; ok is
// false for nothing. The item must not be changed.
func (a *API) item(ctx context.Context, r *query.Request, id string, copied *copies.Piece) (it schemas.Item, ok bool, err error) {
	if copied != nil {
		it, ok, err = copied.Item(a.cfg.Catalog)
		r.PutBack(copied.Text)
		if ok || err != nil {
			return it, ok, err
		}
	}
	return shared(ctx, r, a.lookups, id)
}

// shared looks an id up together with others. While it waits for them the request takes no
// slot: they could not come else.
func shared[T any](ctx context.Context, r *query.Request, l *lookups[T], id string) (found T, ok bool, err error) {
	err = r.Await(ctx, func() (err error) {
		found, ok, err = l.get(ctx, id)
		return err
	})
	return found, ok, err
}
