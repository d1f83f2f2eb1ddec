package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Items returns the event history in rg, ascending: updates joined with verdicts and
// their side data. When more than rg.Limit items exist, exactly rg.Limit come back.
func (r *Reader) Items(ctx context.Context, rg Range) ([]schemas.Item, error) {
	return perMigration(rg, func(rg Range) ([]schemas.Item, error) {
		var updates []schemas.Update
		var verdicts []schemas.Item
		group, ctx := guard.WithContext(ctx)
		group.Go(func() (err error) {
			updates, err = rows.Updates(ctx, r.db, r.span(rg), int64(rg.Limit))
			return err
		})
		group.Go(func() (err error) {
			verdicts, err = r.migrationVerdicts(ctx, rg)
			return err
		})
		if err := group.Wait(); err != nil {
			return nil, err
		}
		return mergeItems(updates, verdicts, rg.Limit), nil
	})
}

// Verdicts returns the verdicts in rg with their side data and without updates, ascending.
func (r *Reader) Verdicts(ctx context.Context, rg Range) ([]schemas.Item, error) {
	return perMigration(rg, func(rg Range) ([]schemas.Item, error) { return r.migrationVerdicts(ctx, rg) })
}

// NextVerdict returns where the first verdict after a position and up to another one of the
// same migration stands; ok is false if there is none.
func (r *Reader) NextVerdict(ctx context.Context, after, through schemas.Position) (at schemas.Position, ok bool, err error) {
	rg := Range{After: after, Through: through, Limit: 1}
	list, err := r.positions(ctx, verdictPositionsQuery, rg)
	if err != nil {
		return at, false, fmt.Errorf("looking for a verdict after %s: %w", after, err)
	}
	if len(list) == 0 {
		return at, false, nil
	}
	return list[0], true, nil
}

func (r *Reader) migrationVerdicts(ctx context.Context, rg Range) ([]schemas.Item, error) {
	q := r.span(rg).Verdicts(int64(rg.Limit))
	verdicts, err := store.SelectAll(ctx, r.db, q.Text, q.Params, store.NewVerdicts())
	if err != nil {
		return nil, fmt.Errorf("reading verdicts after %s: %w", rg.After, err)
	}
	return r.lateVerdicts(ctx, rg, verdicts)
}

// mergeItems joins ascending updates and verdicts by position and cuts to limit. Both
// were read with that limit, so whatever is beyond a cut list cannot be among the first.
func mergeItems(updates []schemas.Update, verdicts []schemas.Item, limit int) []schemas.Item {
	items := make([]schemas.Item, 0, min(len(updates)+len(verdicts), limit))
	for len(items) < limit && len(updates)+len(verdicts) > 0 {
		order := 0
		switch {
		case len(verdicts) == 0:
			order = -1
		case len(updates) == 0:
			order = 1
		default:
			order = updates[0].Position().Compare(verdicts[0].Position())
		}
		var it schemas.Item
		if order >= 0 {
			it, verdicts = verdicts[0], verdicts[1:]
		}
		if order <= 0 {
			it.Update, updates = &updates[0], updates[1:]
		}
		items = append(items, it)
	}
	return items
}
