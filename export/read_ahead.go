package export

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// readAhead fetches pages one after the other, one page ahead of each, which takes
// them in order. fetch gets the last row of the page before, nil at first; a page with
// fewer rows than limit is the last one.
func readAhead[T any](ctx context.Context, limit int, fetch func(ctx context.Context, last *T) ([]T, error), each func(ctx context.Context, page []T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	pages := make(chan []T)
	group.Go(func() error {
		defer close(pages)
		var last *T
		for {
			page, err := fetch(ctx, last)
			if err != nil {
				return err
			}
			select {
			case pages <- page:
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(page) < limit {
				return nil
			}
			last = &page[len(page)-1]
		}
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
