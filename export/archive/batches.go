package archive

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Batches reads some ranges of history, ascending and apart, and calls each for each of which the
// objects have something: with all that they have of it, which is not the whole range where a segment
// is missing. bounds have no items.
func (a *Archive) Batches(ctx context.Context, bounds []schemas.Batch, each func(b *schemas.Batch) error) error {
	r := ranges{bounds: bounds, each: each}
	for _, s := range a.segments {
		start, end, err := s.Ref().Bounds()
		if err != nil {
			return err
		}
		m := s.Manifest.MigrationID
		if !s.Ref().IsImports() {
			if err := r.passed(schemas.EndOf(m, start)); err != nil {
				return err
			}
		}
		last := schemas.EndOf(m, end)
		if !r.reach(schemas.EndOf(m, start), last) {
			continue
		}
		if err := EachItem(ctx, a.parts(), s.Manifest, r.add); err != nil {
			return fmt.Errorf("reading segment %s: %w", s.Ref(), err)
		}
		if err := r.passed(last); err != nil {
			return err
		}
	}
	return r.flush()
}

// ranges collects the items of ranges that are met one after another.
type ranges struct {
	bounds []schemas.Batch // the first is under way
	each   func(b *schemas.Batch) error
	items  []schemas.Item
}

// reach reports whether the range under way has something of a segment.
func (r *ranges) reach(start, last schemas.Position) bool {
	if len(r.bounds) == 0 || !r.bounds[0].After.Before(last) {
		return false
	}
	return start.Before(r.bounds[0].Through) || start.RecordTime == schemas.MinMicros
}

func (r *ranges) add(it schemas.Item) error {
	at := it.Position()
	for len(r.bounds) > 0 && r.bounds[0].Through.Before(at) {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if len(r.bounds) > 0 && r.bounds[0].After.Before(at) {
		r.items = append(r.items, it)
	}
	return nil
}

// passed ends the ranges that end at or before a position, behind which the reading is.
func (r *ranges) passed(at schemas.Position) error {
	for len(r.bounds) > 0 && !at.Before(r.bounds[0].Through) {
		if err := r.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush ends the range under way.
func (r *ranges) flush() error {
	if len(r.bounds) == 0 {
		return nil
	}
	b := r.bounds[0]
	b.Items, r.items, r.bounds = r.items, nil, r.bounds[1:]
	if len(b.Items) == 0 {
		return nil
	}
	return r.each(&b)
}
