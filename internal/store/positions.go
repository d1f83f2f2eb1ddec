package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Positions are result rows of where items stand within one migration.
type Positions struct {
	recordTime *proto.ColDateTime64
	updateID   proto.ColStr
}

// NewPositions returns a block without rows.
func NewPositions() *Positions { return &Positions{recordTime: newTime()} }

func (b *Positions) columns() []column {
	return []column{{"record_time", b.recordTime}, {"update_id", &b.updateID}}
}

// Rows returns the number of rows.
func (b *Positions) Rows() int { return b.updateID.Rows() }

// AppendTo appends the block's rows to list as positions of a migration.
func (b *Positions) AppendTo(list []schemas.Position, migration int64) []schemas.Position {
	for i := range b.Rows() {
		list = append(list, schemas.Position{MigrationID: migration, RecordTime: timeAt(b.recordTime, i), UpdateID: b.updateID.Row(i)})
	}
	return list
}
