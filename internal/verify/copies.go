package verify

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Copies are the items of a stream by update id, with what they are made of; *history.Copies
// is one.
type Copies interface {
	Journal(ctx context.Context) ([]history.JournalRow, error)
	Originals(ctx context.Context, rg history.Range) ([]schemas.Item, error)
	ByID(ctx context.Context, ids []string) (map[string]history.Copy, error)
	Rows(ctx context.Context) (uint64, error)
}

// copiesPage is how many items are compared at once.
const copiesPage = 512

// compareCopies looks every item up that its journal says is copied, and then counts the
// copies, to see those that no item has.
func (v *verification) compareCopies(ctx context.Context) error {
	rows, err := v.cfg.Copies.Journal(ctx)
	if err != nil {
		return err
	}
	j := v.checkJournal(history.LookupsStream(v.cfg.Source.Stream()), rows)
	for n := len(j.commits); n > 0 && v.mark.Before(j.commits[n-1].Through); n-- {
		j.commits, j.pending = j.commits[:n-1], true
	}
	walk := copiesWalk{copies: v.cfg.Copies, check: v.checks[Lookups]}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(v.cfg.Workers)
	for _, c := range j.commits {
		group.Go(func() error { return walk.compare(groupCtx, c.After, c.Through) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	walk.check.Count("copies", walk.found.Load())
	return v.countCopies(ctx, j, &walk)
}

// copiesWalk goes through history and its copies.
type copiesWalk struct {
	copies Copies
	check  *Check
	// found counts the items that have a copy, right or not.
	found atomic.Int64
}

func (w *copiesWalk) compare(ctx context.Context, after, through schemas.Position) error {
	if through.RecordTime == schemas.MinMicros {
		return nil // imports have no copies
	}
	for rg := (history.Range{After: after, Through: through, Limit: copiesPage}); ; {
		items, err := w.copies.Originals(ctx, rg)
		if err != nil {
			return err
		}
		if err := w.page(ctx, items); err != nil {
			return err
		}
		if len(items) < rg.Limit {
			return nil
		}
		rg.After = items[len(items)-1].Position()
	}
}

func (w *copiesWalk) page(ctx context.Context, items []schemas.Item) error {
	if len(items) == 0 {
		return nil
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].Position().UpdateID
	}
	copies, err := w.copies.ByID(ctx, ids)
	if err != nil {
		return err
	}
	for i := range items {
		copied, ok := copies[ids[i]]
		if !ok {
			w.check.Add(Finding{What: "has no copy by its id", Where: "update " + ids[i]})
			continue
		}
		same, ok, err := copied.IsOf(ctx, &items[i])
		switch {
		case err != nil:
			w.found.Add(1)
			w.check.Add(Finding{What: "its copy cannot be read", Where: "update " + ids[i], Found: err.Error()})
		case !ok:
			// Another item with the same key has taken its place; who looks it up is given the
			// original.
		default:
			w.found.Add(1)
			if !same {
				w.check.Add(Finding{What: "its copy has other content, or was made with another catalogue", Where: "update " + ids[i]})
			}
		}
	}
	return nil
}

// countCopies looks for copies of nothing. While some are being written nobody can tell.
func (v *verification) countCopies(ctx context.Context, j *journal, walk *copiesWalk) error {
	if j.pending {
		return nil
	}
	n, err := v.cfg.Copies.Rows(ctx)
	if err != nil || int64(n) == walk.found.Load() {
		return err
	}
	rows, err := v.cfg.Copies.Journal(ctx)
	if err != nil {
		return err
	}
	if last := len(j.commits); len(rows) > 0 && (last == 0 || rows[len(rows)-1].Sequence > j.commits[last-1].Sequence) {
		return nil // more are being written
	}
	if int64(n) > walk.found.Load() {
		walk.check.Add(Finding{
			What: "copies of updates that history does not have", Where: "table lookup_rows",
			Expected: fmt.Sprintf("%d rows", walk.found.Load()), Found: fmt.Sprintf("%d rows", n),
		})
	}
	return nil
}
