package history

import (
	"iter"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// migrations splits a range at migration borders, because within one migration the sort key of
// the tables can be searched. Empty parts are left out.
func (rg Range) migrations() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for m := max(rg.After.MigrationID, 0); m <= rg.Through.MigrationID; m++ {
			part := Range{
				After:   schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros},
				Through: schemas.Position{MigrationID: m, RecordTime: schemas.MaxMicros},
				Limit:   rg.Limit,
			}
			if m == rg.After.MigrationID {
				part.After = rg.After
			}
			if m == rg.Through.MigrationID {
				part.Through = rg.Through
			}
			if part.After.Before(part.Through) && !yield(part) {
				return
			}
		}
	}
}

// perMigration reads a range migration by migration until its limit is reached.
func perMigration[T any](rg Range, read func(Range) ([]T, error)) (all []T, err error) {
	for part := range rg.migrations() {
		part.Limit -= len(all)
		list, err := read(part)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = list
		} else {
			all = append(all, list...)
		}
		if len(all) >= rg.Limit {
			break
		}
	}
	return all, nil
}
