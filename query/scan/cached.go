package scan

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// loadTimeout bounds one load of a cached value: no caller's deadline does, because
// other callers wait for the same load.
const loadTimeout = 10 * time.Second

// cached remembers a value for a short time. Callers that find it stale share one
// load.
type cached[T any] struct {
	load func(context.Context) (T, error)
	ttl  time.Duration
	// stale is for how much longer a value is good enough while the next one is loaded, once a
	// caller has waited for that for patience; usually 0.
	stale, patience time.Duration
	// timeout bounds a load; 0 is loadTimeout.
	timeout time.Duration
	now     func() time.Time

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
		c.start(context.WithoutCancel(ctx), l)
	}
	last := c.value
	var enough <-chan time.Time
	if c.now().Before(c.until.Add(c.stale)) {
		enough = time.After(c.patience)
	}
	c.mu.Unlock()
	select {
	case <-l.done:
		if l.err != nil && enough != nil {
			return last, nil
		}
		return l.value, l.err
	case <-enough:
		return last, nil
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// start begins a load.
func (c *cached[T]) start(ctx context.Context, l *loading[T]) {
	// Freshness counts from before the load: the value may be as old as that.
	begun := c.now()
	guard.Go(func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.timeout, loadTimeout))
		defer cancel()
		l.value, err = c.load(ctx)
		return err
	}, func(err error) {
		l.err = err
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.value, c.until = l.value, begun.Add(c.ttl)
		}
		c.running = nil
		close(l.done)
	})
}
