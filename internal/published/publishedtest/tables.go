// Package publishedtest keeps the tables of published objects in memory, for tests.
package publishedtest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

type (
	// Segments are the versions of segments.
	Segments = Rows[schemas.SegmentRef, store.SegmentRow]
	// Folders are the versions of folders.
	Folders = Rows[schemas.NetworkRef, store.NetworkFolderRow]
)

// Rows are published.Rows that pass the same tests as those in the store.
type Rows[R comparable, T any] struct {
	mu sync.Mutex
	// Rows are all versions in the order in which they were appended.
	Rows []T
}

func refOf[R comparable, T any](row *T) (ref R, version int64) {
	switch row := any(row).(type) {
	case *store.SegmentRow:
		return any(row.Ref()).(R), row.Version
	case *store.NetworkFolderRow:
		return any(row.Ref()).(R), row.Version
	}
	panic("rows of no table")
}

func compareRows[T any](a, b T) int {
	switch a := any(a).(type) {
	case store.SegmentRow:
		b := any(b).(store.SegmentRow)
		return cmp.Or(cmp.Compare(a.MigrationID, b.MigrationID), strings.Compare(a.Date, b.Date))
	case store.NetworkFolderRow:
		b := any(b).(store.NetworkFolderRow)
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Kind, b.Kind))
	}
	panic("rows of no table")
}

// Bare removes what All leaves out.
func Bare[T any](row T) T {
	switch row := any(&row).(type) {
	case *store.SegmentRow:
		row.Manifest, row.LookupIndex, row.Derived = "", "", ""
	case *store.NetworkFolderRow:
		row.Objects = ""
	}
	return row
}

// Append implements published.Rows.
func (m *Rows[R, T]) Append(_ context.Context, row T) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Rows = append(m.Rows, row)
	return nil
}

// Latest returns the latest version of every unit, in order.
func (m *Rows[R, T]) Latest() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	byRef := make(map[R]T)
	for _, row := range m.Rows {
		ref, version := refOf[R](&row)
		if last, ok := byRef[ref]; ok {
			if _, newest := refOf[R](&last); version < newest {
				continue
			}
		}
		byRef[ref] = row
	}
	var rows []T
	for _, row := range byRef {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, compareRows[T])
	return rows
}

// All implements published.Rows.
func (m *Rows[R, T]) All(context.Context) ([]T, error) {
	rows := m.Latest()
	for i := range rows {
		rows[i] = Bare(rows[i])
	}
	return rows, nil
}

// Some implements published.Rows.
func (m *Rows[R, T]) Some(_ context.Context, refs []R) ([]T, error) {
	return slices.DeleteFunc(m.Latest(), func(row T) bool {
		ref, _ := refOf[R](&row)
		return !slices.Contains(refs, ref)
	}), nil
}

// Last returns the latest version of a unit.
func (m *Rows[R, T]) Last(ref R) T {
	for _, row := range m.Latest() {
		if r, _ := refOf[R](&row); r == ref {
			return row
		}
	}
	var none T
	return none
}

// Journal is a published.Journal.
type Journal struct {
	mu sync.Mutex
	// Published is what Recent returns.
	Published []store.PublishedRow
	// Disagreements are those that were recorded.
	Disagreements []store.ExportDisagreementRow
	last          store.CollectionRow
}

// Recent implements published.Journal.
func (m *Journal) Recent(context.Context) ([]store.PublishedRow, error) { return m.Published, nil }

// RecordDisagreements implements published.Journal.
func (m *Journal) RecordDisagreements(_ context.Context, list []store.ExportDisagreementRow) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Disagreements = append(m.Disagreements, list...)
	return nil
}

// Disagreed implements published.Journal.
func (m *Journal) Disagreed(_ context.Context, most int) ([]store.ExportDisagreementRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.Disagreements[:min(most, len(m.Disagreements))]), nil
}

// RecordCollection implements published.Journal.
func (m *Journal) RecordCollection(_ context.Context, c store.CollectionRow) error {
	m.last = c
	return nil
}

// LastCollection implements published.Journal.
func (m *Journal) LastCollection(context.Context) (time.Time, error) {
	if m.last.Stream == "" {
		return time.Time{}, nil
	}
	return m.last.EndedAt.Time(), nil
}
