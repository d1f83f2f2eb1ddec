package verify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Copies are the items of a stream by update id, or by offset; *copies.Items and
// *copies.Updates are.
type Copies interface {
	Journal(ctx context.Context) ([]journals.Row, error)
	Compare(ctx context.Context, after, through schemas.Position, each func(copies.Compared)) error
	// Rows counts the copies, unless they cannot be counted.
	Rows(ctx context.Context) (n uint64, ok bool, err error)
}

// compareCopies looks every item up that its journal says is copied, and then counts the
// copies, to see those that no item has.
func (v *verification) compareCopies(ctx context.Context) error {
	rows, err := v.cfg.Copies.Journal(ctx)
	if err != nil {
		return err
	}
	j := v.checkJournal(journals.LookupsStream(v.cfg.Source.Stream()), rows)
	for n := len(j.commits); n > 0 && v.mark.Before(j.commits[n-1].Through); n-- {
		j.commits, j.pending = j.commits[:n-1], true
	}
	walk := copiesWalk{copies: v.cfg.Copies, check: v.checks[Lookups]}
	group, groupCtx := guard.WithContext(ctx)
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

// compare compares what one range has. Items that the store has lost have no copy to be compared
// with: the finding is one of the range.
func (w *copiesWalk) compare(ctx context.Context, after, through schemas.Position) error {
	err := w.copies.Compare(ctx, after, through, func(c copies.Compared) {
		f := Finding{Where: "update " + c.At.UpdateID}
		if c.At.Offset > 0 {
			f.Where = fmt.Sprintf("offset %d", c.At.Offset)
		}
		switch c.State {
		case copies.Same, copies.Replaced:
		case copies.Missing:
			f.What = "has no copy by its id"
		case copies.Unreadable:
			f.What, f.Found = "its copy cannot be read", c.Err.Error()
		case copies.Differs:
			f.What = "its copy has other content, or was made with another catalogue"
		}
		if c.State != copies.Missing && c.State != copies.Replaced {
			w.found.Add(1)
		}
		if f.What != "" {
			w.check.Add(f)
		}
	})
	if errors.Is(err, schemas.ErrDamaged) {
		w.check.Add(Finding{What: "cannot be compared with its copies", Where: fmt.Sprintf("after %s through %s", after, through), Found: err.Error()})
		return nil
	}
	return err
}

// countCopies looks for copies of nothing. While some are being written nobody can tell.
func (v *verification) countCopies(ctx context.Context, j *journal, walk *copiesWalk) error {
	if j.pending {
		return nil
	}
	n, ok, err := v.cfg.Copies.Rows(ctx)
	if err != nil || !ok || int64(n) == walk.found.Load() {
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
