package scan

import (
	"context"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// gatherTime is how long a lookup waits for others to share its query: a query
	// costs 2 to 3 ms whether it is for one id or for many.
	gatherTime = time.Millisecond
	// gatherIDs is how many ids go at once without waiting any longer.
	gatherIDs = 256
	// gatherQueries is how many queries run at once. Under load ids gather while these are
	// under way: a query for 32 ids costs hardly more than one for a single id.
	gatherQueries = 2
)

// lookups joins concurrent lookups by update id into few queries.
type lookups struct {
	find func(ctx context.Context, ids []string) (map[string]schemas.Item, error)

	// running holds one token per query under way.
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
	return &lookups{find: find, running: make(chan struct{}, gatherQueries)}
}

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
	l.running <- struct{}{} // never for longer than loadTimeout for each query before
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
