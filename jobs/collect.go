package jobs

import (
	"context"
	"fmt"
	"time"
)

// collect removes what nobody needs from the bucket.
var collect = Kind{Name: "collect", Lane: Bulk, Timeout: 12 * time.Hour}

// Collector collects garbage.
type Collector interface {
	// Collect is harmless to repeat, and beside running exports.
	Collect(ctx context.Context) error
	// CollectionDue reports whether the last one is so long ago that it is time again.
	CollectionDue(ctx context.Context) (bool, error)
}

// Collections is the handler of the one task of this kind, "collect".
func Collections(c Collector) Handler {
	return Handler{
		Kind: collect,
		Run: func(ctx context.Context, _ []byte, _ ProgressFunc) error {
			if err := c.Collect(ctx); err != nil {
				return fmt.Errorf("collecting garbage: %w", err)
			}
			return nil
		},
		Due: func(ctx context.Context) ([]Task, error) {
			due, err := c.CollectionDue(ctx)
			if err != nil || !due {
				return nil, err
			}
			return []Task{{Kind: collect, ID: collect.Name}}, nil
		},
	}
}
