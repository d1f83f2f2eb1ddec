package scan

import (
	"context"
	"errors"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// factTTL is how long a fact, or that there is none, is remembered. Facts change by the
// minute at most, as upstreams are polled.
const factTTL = time.Second

// cachedFacts remembers facts of operations without parameters that come from requests, nil for
// those that the store does not have.
func cachedFacts(source State, now func() time.Time) *memo.Values[facts.Key, *facts.Fact] {
	return &memo.Values[facts.Key, *facts.Fact]{New: func(key facts.Key) *memo.Value[*facts.Fact] {
		return &memo.Value[*facts.Fact]{TTL: factTTL, Now: now, Load: func(ctx context.Context) (*facts.Fact, error) {
			fact, err := source.Fact(ctx, key)
			if errors.Is(err, schemas.ErrNotFound) {
				return nil, nil
			}
			return &fact, err
		}}
	}}
}
