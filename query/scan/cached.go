package scan

import (
	"context"
	"sync"
	"time"
)

// loadTimeout bounds one load of a cached value: no caller's deadline does, because
// other callers wait for the same load.
const loadTimeout = 10 * time.Second

// cached remembers a value for a short time. Callers that find it stale share one
// load.
type cached[T any] struct {
	load func(context.Context) (T, error)
	ttl  time.Duration
	now  func() time.Time

	mu      sync.Mutex
	value   T
	until   time.Time
	running *loading[T]
}

type loading[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get returns the value or the error of the load, or ctx's error if that ends first.
func (c *cached[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	if c.now().Before(c.until) {
		defer c.mu.Unlock()
		return c.value, nil
	}
	l := c.running
	if l == nil {
		l = &loading[T]{done: make(chan struct{})}
		c.running = l
		go c.run(context.WithoutCancel(ctx), l)
	}
	c.mu.Unlock()
	select {
	case <-l.done:
		return l.value, l.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

func (c *cached[T]) run(ctx context.Context, l *loading[T]) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	// Freshness counts from before the load: the value may be as old as that.
	start := c.now()
	l.value, l.err = c.load(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.err == nil {
		c.value, c.until = l.value, start.Add(c.ttl)
	}
	c.running = nil
	close(l.done)
}
