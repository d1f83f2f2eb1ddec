package export

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// pages reads a source in pages of so many rows, each while the one before is used.
type pages struct {
	source Source
	rows   int
}

// Updates calls each with the updates after a position and up to another one, in order.
func (p pages) Updates(ctx context.Context, after, through schemas.Position, each func(context.Context, []schemas.Update) error) error {
	return readAhead(ctx, func(ctx context.Context, page func([]schemas.Update) error) error {
		return p.source.UpdatePages(ctx, history.Range{After: after, Through: through, Limit: p.rows}, page)
	}, each)
}

// Contracts calls each with the contracts of a migration that are active at an instant, in
// order. Where those that were carried over were created is not said: that depends on how far back
// a store goes, and the network does not say it.
func (p pages) Contracts(ctx context.Context, migrationID int64, at schemas.Micros, each func(context.Context, []history.ActiveContract) error) error {
	query := history.ActiveQuery{MigrationID: migrationID, At: at, HideCarried: true, Limit: p.rows}
	return readAhead(ctx, func(ctx context.Context, page func([]history.ActiveContract) error) error {
		return p.source.ActivePages(ctx, query, page)
	}, each)
}

// verdicts is Updates for items with a verdict.
func (p pages) verdicts(ctx context.Context, after, through schemas.Position, each func(context.Context, []schemas.Item) error) error {
	return readAhead(ctx, func(ctx context.Context, page func([]schemas.Item) error) error {
		return p.source.VerdictPages(ctx, history.Range{After: after, Through: through, Limit: p.rows}, page)
	}, each)
}

// imports calls each with the import updates of a migration, in order.
func (p pages) imports(ctx context.Context, migrationID int64, each func(context.Context, []schemas.Update) error) error {
	return readAhead(ctx, func(ctx context.Context, page func([]schemas.Update) error) error {
		return p.source.ImportPages(ctx, migrationID, p.rows, page)
	}, each)
}

// movements calls each with the movements of a segment, in order.
func (p pages) movements(ctx context.Context, ref schemas.SegmentRef, each func(context.Context, []schemas.MovementRow) error) error {
	return readAhead(ctx, func(ctx context.Context, page func([]schemas.MovementRow) error) error {
		return p.source.MovementPages(ctx, ref, p.rows, page)
	}, each)
}

// readAhead calls each with the pages of read, in order, while read reads the next one.
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
