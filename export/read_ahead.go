package export

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// readAhead hands the pages of read to each, which takes them in order while the next one is
// read.
func readAhead[T any](ctx context.Context, read func(ctx context.Context, page func([]T) error) error, each func(ctx context.Context, page []T) error) error {
	group, ctx := guard.WithContext(ctx)
	pages := make(chan []T)
	group.Go(func() error {
		defer close(pages)
		return read(ctx, func(page []T) error {
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error {
		for page := range pages {
			if err := each(ctx, page); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}
