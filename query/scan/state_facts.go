package scan

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// factTTL is how long a fact, or that there is none, is remembered. Facts change by the
// minute at most, as upstreams are polled.
const factTTL = time.Second

// factCache remembers facts of operations without parameters that come from requests; the
// few keys there are bound it.
type factCache struct {
	source State
	now    func() time.Time
	mu     sync.Mutex
	all    map[facts.Key]*cached[*facts.Fact]
}

func newFactCache(source State, now func() time.Time) *factCache {
	return &factCache{source: source, now: now, all: map[facts.Key]*cached[*facts.Fact]{}}
}

// get returns the latest fact of a key, schemas.ErrNotFound for none.
func (f *factCache) get(ctx context.Context, key facts.Key) (facts.Fact, error) {
	f.mu.Lock()
	c := f.all[key]
	if c == nil {
		c = &cached[*facts.Fact]{ttl: factTTL, now: f.now, load: func(ctx context.Context) (*facts.Fact, error) {
			fact, err := f.source.Fact(ctx, key)
			if errors.Is(err, schemas.ErrNotFound) {
				return nil, nil
			}
			return &fact, err
		}}
		f.all[key] = c
	}
	f.mu.Unlock()
	fact, err := c.get(ctx)
	switch {
	case err != nil:
		return facts.Fact{}, err
	case fact == nil:
		return facts.Fact{}, schemas.ErrNotFound
	}
	return *fact, nil
}
