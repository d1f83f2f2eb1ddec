package scan

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// gatherTime is how long a lookup waits for others to share its queries, each of which
	// costs several milliseconds whether it is for one id or for a few.
	gatherTime = time.Millisecond
	// gatherIDs is how many ids go at once without waiting any longer.
	gatherIDs = 256
)

// lookups joins concurrent lookups by update id into few queries.
type lookups struct {
	find func(ctx context.Context, ids []string) (map[string]schemas.Item, error)

	// running holds one token per gathering under way.
	running chan struct{}

	mu   sync.Mutex
	open *gathering // takes further ids; nil when none does
}

type gathering struct {
	ids   []string
	full  chan struct{} // closed when no id fits any more
	done  chan struct{} // closed when items or err is set
	items map[string]schemas.Item
	err   error
}

func newLookups(find func(context.Context, []string) (map[string]schemas.Item, error)) *lookups {
	return &lookups{find: find, running: make(chan struct{}, gatherings())}
}

// gatherings is how many run at once. Each keeps up to three or four threads of the store
// busy, and under load ids gather while these are under way: many ids together take less
// work than the same ids by halves, because they share what is read.
func gatherings() int { return max(1, runtime.GOMAXPROCS(0)/4) }

// item returns what is known by an update id; ok is false for nothing. The item is
// shared with other callers and must not be changed.
func (l *lookups) item(ctx context.Context, id string) (it schemas.Item, ok bool, err error) {
	g := l.join(ctx, id)
	select {
	case <-g.done:
		it, ok = g.items[id]
		return it, ok, g.err
	case <-ctx.Done():
		return it, false, ctx.Err()
	}
}

func (l *lookups) join(ctx context.Context, id string) *gathering {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.open
	if g == nil {
		g = &gathering{full: make(chan struct{}), done: make(chan struct{})}
		l.open = g
		// The query serves several requests, so no single one may cancel it.
		go l.run(context.WithoutCancel(ctx), g)
	}
	g.ids = append(g.ids, id)
	if len(g.ids) == gatherIDs {
		l.open = nil
		close(g.full)
	}
	return g
}

func (l *lookups) run(ctx context.Context, g *gathering) {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.full:
	}
	l.running <- struct{}{} // never for longer than loadTimeout for each gathering before
	defer func() { <-l.running }()
	l.mu.Lock()
	if l.open == g {
		l.open = nil
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	g.items, g.err = l.find(ctx, g.ids)
	close(g.done)
}
