package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// SynchronizerRange is the span of record times of one synchronizer in a migration.
type SynchronizerRange struct {
	MigrationID    int64
	SynchronizerID string
	Min, Max       schemas.Micros
}

// SynchronizerRanges are result rows: migration_id, synchronizer_id, first_time, last_time.
type SynchronizerRanges struct {
	migration    proto.ColInt64
	synchronizer *lowCardinality
	first, last  *proto.ColDateTime64
}

// NewSynchronizerRanges returns a block without rows.
func NewSynchronizerRanges() *SynchronizerRanges {
	return &SynchronizerRanges{synchronizer: newLowCardinality(), first: newTime(), last: newTime()}
}

func (b *SynchronizerRanges) columns() []column {
	return []column{
		{"migration_id", &b.migration}, {"synchronizer_id", b.synchronizer}, {"first_time", b.first}, {"last_time", b.last},
	}
}

// Rows returns the number of rows.
func (b *SynchronizerRanges) Rows() int { return b.migration.Rows() }

// AppendTo appends the block's rows to list.
func (b *SynchronizerRanges) AppendTo(list []SynchronizerRange) []SynchronizerRange {
	for i := range b.Rows() {
		list = append(list, SynchronizerRange{b.migration.Row(i), b.synchronizer.Row(i), timeAt(b.first, i), timeAt(b.last, i)})
	}
	return list
}

// ImportCount counts the import updates of a migration.
type ImportCount struct {
	MigrationID int64
	Imports     uint64
	LastID      string
}

// ImportCounts are result rows: migration_id, imports, last_id.
type ImportCounts struct {
	migration proto.ColInt64
	imports   proto.ColUInt64
	lastID    proto.ColStr
}

// NewImportCounts returns a block without rows.
func NewImportCounts() *ImportCounts { return &ImportCounts{} }

func (b *ImportCounts) columns() []column {
	return []column{{"migration_id", &b.migration}, {"imports", &b.imports}, {"last_id", &b.lastID}}
}

// Rows returns the number of rows.
func (b *ImportCounts) Rows() int { return b.migration.Rows() }

// AppendTo appends the block's rows to list.
func (b *ImportCounts) AppendTo(list []ImportCount) []ImportCount {
	for i := range b.Rows() {
		list = append(list, ImportCount{b.migration.Row(i), b.imports.Row(i), b.lastID.Row(i)})
	}
	return list
}
