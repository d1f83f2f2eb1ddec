package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Positions are result rows of where items stand within one migration.
type Positions struct {
	migration  int64
	recordTime *proto.ColDateTime64
	updateID   proto.ColStr
}

// NewPositions returns a block without rows, for positions in a migration.
func NewPositions(migration int64) *Positions {
	return &Positions{migration: migration, recordTime: newTime()}
}

func (b *Positions) columns() []column {
	return []column{{"record_time", b.recordTime}, {"update_id", &b.updateID}}
}

// Rows returns the number of rows.
func (b *Positions) Rows() int { return b.updateID.Rows() }

// AppendTo appends the block's rows to list.
func (b *Positions) AppendTo(list []schemas.Position) []schemas.Position {
	for i := range b.Rows() {
		list = append(list, schemas.Position{MigrationID: b.migration, RecordTime: timeAt(b.recordTime, i), UpdateID: b.updateID.Row(i)})
	}
	return list
}

// Offsets are result rows: node_offset.
type Offsets struct{ offset proto.ColInt64 }

// NewOffsets returns a block without rows.
func NewOffsets() *Offsets { return new(Offsets) }

func (b *Offsets) columns() []column { return []column{{"node_offset", &b.offset}} }

// Rows returns the number of rows.
func (b *Offsets) Rows() int { return b.offset.Rows() }

// AppendTo appends the block's rows to list.
func (b *Offsets) AppendTo(list []int64) []int64 { return append(list, b.offset...) }
