package history

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// UpdatePages hands out all that Updates finds in rg, in the same order and in pages of at
// most rg.Limit. It asks the store once, and not once a page: for reading much. Pages and what
// they refer to are the caller's.
func (r *Reader) UpdatePages(ctx context.Context, rg Range, each func([]schemas.Update) error) error {
	for part := range rg.migrations() {
		if err := rows.EachUpdates(ctx, r.db, r.span(part), rg.Limit, each); err != nil {
			return err
		}
	}
	return nil
}

// VerdictPages hands out all that Verdicts finds in rg, in the same order and in pages of at
// most rg.Limit, like UpdatePages. What became known later is left out: see WithSide.
func (r *Reader) VerdictPages(ctx context.Context, rg Range, each func([]schemas.Item) error) error {
	for part := range rg.migrations() {
		q := r.span(part).Verdicts(math.MaxUint32)
		block := store.NewVerdicts()
		err := r.db.SelectLarge(ctx, q.Text, q.Params, block, func() error {
			return inPages(block.AppendTo(nil), part.Limit, each)
		})
		if err != nil {
			return fmt.Errorf("reading verdicts after %s: %w", part.After, err)
		}
	}
	return nil
}

// ImportPages hands out the import updates of a migration that Imports finds, in the same
// order and in pages of at most limit, like UpdatePages.
func (r *Reader) ImportPages(ctx context.Context, migrationID int64, limit int, each func([]schemas.Update) error) error {
	through, err := r.lastImport(ctx, migrationID)
	if err != nil || through == "" {
		return err
	}
	q := rows.Imports(r.stream, migrationID, "", through, math.MaxUint32)
	block := store.NewImports()
	err = r.db.SelectLarge(ctx, q.Text, q.Params, block, func() error {
		return inPages(block.AppendTo(nil), limit, each)
	})
	if err != nil {
		return fmt.Errorf("reading imports of migration %d: %w", migrationID, err)
	}
	return nil
}

func inPages[T any](list []T, limit int, each func([]T) error) error {
	for page := range slices.Chunk(list, limit) {
		if err := each(page); err != nil {
			return err
		}
	}
	return nil
}
