package memo

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// maxWait is how long a lookup waits for others while many arrive at once: half as many
	// queries are worth more to all of them than the wait costs one. Many arrive at once when
	// the query before had at least minBatch keys. Otherwise a lookup does not wait, and those
	// that arrive while a query runs share the next one.
	maxWait  = 4 * time.Millisecond
	minBatch = 8
	// maxBatch is the number of keys with which a batch is sent without further waiting.
	maxBatch = 256
)

// Batcher joins lookups that arrive together into few queries.
type Batcher[K comparable, V any] struct {
	find func(ctx context.Context, keys []K) (map[K]V, error)
	// running holds one token per query under way.
	running chan struct{}

	mu   sync.Mutex
	open *batch[K, V] // takes further keys; nil when none does
	last int          // keys of the batch before
}

type batch[K comparable, V any] struct {
	keys []K
	full chan struct{} // closed when no key fits any more
	read *Read[map[K]V]
}

// NewBatcher returns a Batcher of a query that leaves out keys it does not know.
func NewBatcher[K comparable, V any](find func(context.Context, []K) (map[K]V, error)) *Batcher[K, V] {
	return &Batcher[K, V]{find: find, running: make(chan struct{}, maxQueries())}
}

// maxQueries is how many queries run at once. Each keeps three or four threads of the store
// busy, and under load keys gather in the meantime: a large batch takes less work than the same
// keys in two halves, which would read much of the same.
func maxQueries() int { return max(1, runtime.GOMAXPROCS(0)/4) }

// Get returns the value of a key; ok is false if there is none. Other callers get the same
// value, so it must not be changed. The first caller's context carries the values of the query's
// and no caller's end cancels it.
func (b *Batcher[K, V]) Get(ctx context.Context, key K) (value V, ok bool, err error) {
	found, err := b.join(ctx, key).Wait(ctx)
	value, ok = found[key]
	return value, ok, err
}

// join puts a key into the open batch.
func (b *Batcher[K, V]) join(ctx context.Context, key K) *Read[map[K]V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open
	if g == nil {
		g = &batch[K, V]{full: make(chan struct{})}
		b.open = g
		// The query serves several requests, so no single one may cancel it.
		g.read = Start(context.WithoutCancel(ctx), func(ctx context.Context) (map[K]V, error) { return b.run(ctx, g) }, nil)
	}
	g.keys = append(g.keys, key)
	if len(g.keys) == maxBatch {
		b.open = nil
		close(g.full)
	}
	return g.read
}

func (b *Batcher[K, V]) run(ctx context.Context, g *batch[K, V]) (map[K]V, error) {
	if wait := b.wait(); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-g.full:
		}
	}
	b.running <- struct{}{} // waits at most loadTimeout for each batch before
	defer func() { <-b.running }()
	b.mu.Lock()
	if b.open == g {
		b.open = nil
	}
	b.last = len(g.keys)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	return b.find(ctx, g.keys)
}

// wait is how long a batch stays open before it queues for its turn.
func (b *Batcher[K, V]) wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last >= minBatch {
		return maxWait
	}
	return 0
}
