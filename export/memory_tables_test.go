package export

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
	memoryCatalog        = memoryRows[schemas.SegmentRef, store.SegmentRow]
	memoryNetworkCatalog = memoryRows[schemas.NetworkRef, store.NetworkFolderRow]
)

// memoryRows are Rows that pass the same tests as those in the store.
type memoryRows[R comparable, T any] struct {
	mu   sync.Mutex
	rows []T
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

// bare removes what All leaves out.
func bare[T any](row T) T {
	switch row := any(&row).(type) {
	case *store.SegmentRow:
		row.Manifest, row.LookupIndex = "", ""
	case *store.NetworkFolderRow:
		row.Objects = ""
	}
	return row
}

func (m *memoryRows[R, T]) Append(_ context.Context, row T) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = append(m.rows, row)
	return nil
}

func (m *memoryRows[R, T]) latest() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	byRef := make(map[R]T)
	for _, row := range m.rows {
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

func (m *memoryRows[R, T]) All(context.Context) ([]T, error) {
	rows := m.latest()
	for i := range rows {
		rows[i] = bare(rows[i])
	}
	return rows, nil
}

func (m *memoryRows[R, T]) Some(_ context.Context, refs []R) ([]T, error) {
	return slices.DeleteFunc(m.latest(), func(row T) bool {
		ref, _ := refOf[R](&row)
		return !slices.Contains(refs, ref)
	}), nil
}

// Last returns the latest version of a unit.
func (m *memoryRows[R, T]) Last(ref R) T {
	for _, row := range m.latest() {
		if r, _ := refOf[R](&row); r == ref {
			return row
		}
	}
	var none T
	return none
}

// memoryJournal is a Journal.
type memoryJournal struct {
	mu            sync.Mutex
	recent        []store.PublishedRow
	disagreements []store.ExportDisagreementRow
	last          store.CollectionRow
}

func (m *memoryJournal) Recent(context.Context) ([]store.PublishedRow, error) { return m.recent, nil }

func (m *memoryJournal) RecordDisagreements(_ context.Context, list []store.ExportDisagreementRow) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.disagreements = append(m.disagreements, list...)
	return nil
}

func (m *memoryJournal) RecordCollection(_ context.Context, c store.CollectionRow) error {
	m.last = c
	return nil
}

func (m *memoryJournal) LastCollection(context.Context) (time.Time, error) {
	if m.last.Stream == "" {
		return time.Time{}, nil
	}
	return m.last.EndedAt.Time(), nil
}
