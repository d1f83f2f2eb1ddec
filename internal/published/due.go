package published

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// DueSegments lists the segments that are closed and not published, oldest first. Among
// them are those that are published and lack something beside: lookup objects, where they
// are wanted, derived tables, once they are derived, and for at most one the link in the chain.
func (c *Catalog) DueSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	closed, final, err := c.closed.segments(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.AllSegments(ctx)
	if err != nil {
		return nil, err
	}
	derived, err := c.closed.history.MovementsWatermark(ctx)
	if err != nil {
		return nil, err
	}
	done := make(map[schemas.SegmentRef]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		done[r.Ref()] = (r.State == Published || r.State == Expired) && !c.LacksLookups(r) && !lacksDerived(r, derived)
	}
	if linkable := newChain(closed[:final], rows).Linkable(); len(linkable) > 0 {
		done[linkable[0]] = false // the others go with it
	}
	return not(done, closed), nil
}

// LacksLookups reports whether a segment is published without the lookup objects that are
// wanted.
func (c *Catalog) LacksLookups(row *store.SegmentRow) bool {
	return c.lookups && row.State == Published && row.LookupObjects == 0
}

// LacksDerived reports whether a segment is published without derived tables that can be.
func (c *Catalog) LacksDerived(ctx context.Context, row *store.SegmentRow) (bool, error) {
	derived, err := c.closed.history.MovementsWatermark(ctx)
	return lacksDerived(row, derived), err
}

// lacksDerived is LacksDerived where tables are derived up to a position.
func lacksDerived(row *store.SegmentRow, derived schemas.Position) bool {
	end := schemas.EndOf(row.MigrationID, schemas.Micros(row.End))
	return row.State == Published && row.DerivedHash == "" && end.Before(derived)
}

// DueFolders lists what is closed and not published in the network's layout, by (start,
// kind).
func (c *Catalog) DueFolders(ctx context.Context) ([]schemas.NetworkRef, error) {
	units, err := c.ClosedFolders(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.Folders.All(ctx)
	if err != nil {
		return nil, err
	}
	done := make(map[schemas.NetworkRef]bool, len(rows))
	for i := range rows {
		done[rows[i].Ref()] = rows[i].State == Published || rows[i].State == Expired
	}
	refs := make([]schemas.NetworkRef, len(units))
	for i, u := range units {
		refs[i] = u.Ref
	}
	return not(done, refs), nil
}

// not returns the references that are not done.
func not[R comparable](done map[R]bool, refs []R) []R {
	var due []R
	for _, ref := range refs {
		if !done[ref] {
			due = append(due, ref)
		}
	}
	return due
}

// MustBeClosed returns ErrNotClosed if a segment may still grow.
func (c *Catalog) MustBeClosed(ctx context.Context, ref schemas.SegmentRef) error {
	return c.closed.mustBe(ctx, ref)
}

// ClosedSegments lists the segments that can no longer change, by migration and time.
func (c *Catalog) ClosedSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	refs, _, err := c.closed.segments(ctx)
	return refs, err
}

// ClosedFolders lists the folders that can no longer change, by (start, kind).
func (c *Catalog) ClosedFolders(ctx context.Context) ([]Folder, error) { return c.closed.folders(ctx) }

// Periods lists the published segments by (Start, migration), those with empty tables
// included and imports left out, up to the first one that has history and is not
// published; what has expired is left out. through is the record time up to which nothing
// is missing, schemas.MinMicros if there is nothing: while the last segment of one
// migration is published and that of the next one at the same time is not, it is their
// start.
func (c *Catalog) Periods(ctx context.Context) (periods []Period, through schemas.Micros, err error) {
	held, err := c.closed.periods(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	rows, err := c.AllSegments(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	states := make(map[schemas.SegmentRef]string, len(rows))
	for i := range rows {
		states[rows[i].Ref()] = rows[i].State
	}
	through = schemas.MinMicros
	for _, p := range held {
		switch states[p.Segment] {
		case Published:
			periods = append(periods, p)
		case Expired: // no gap: it was there
		default:
			return periods, min(through, p.Start), nil
		}
		through = max(through, p.End)
	}
	return periods, through, nil
}

// Chain returns the chain as the catalogue knows it.
func (c *Catalog) Chain(ctx context.Context) (Chain, error) {
	closed, final, err := c.closed.segments(ctx)
	if err != nil {
		return Chain{}, err
	}
	rows, err := c.AllSegments(ctx)
	if err != nil {
		return Chain{}, err
	}
	return newChain(closed[:final], rows), nil
}

// FirstAfter is the least record time that history after a position may have: record times go
// back where a migration begins.
func (c *Catalog) FirstAfter(ctx context.Context, at schemas.Position) (schemas.Micros, error) {
	first := at.RecordTime
	if first == schemas.MinMicros {
		first = schemas.MaxMicros
	}
	migrations, err := c.closed.history.Migrations(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range migrations {
		if m.ID < at.MigrationID || m.ID == at.MigrationID && at.RecordTime != schemas.MinMicros {
			continue
		}
		for _, s := range m.Synchronizers {
			first = min(first, s.Min)
		}
	}
	return first, nil
}
