package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Places are result rows of where items stand in any migration.
type Places struct {
	migration proto.ColInt64
	Positions
}

// NewPlaces returns a block without rows.
func NewPlaces() *Places { return &Places{Positions: *NewPositions(0)} }

func (b *Places) columns() []column {
	return append([]column{{"migration_id", &b.migration}}, b.Positions.columns()...)
}

// AppendTo appends the block's rows to list.
func (b *Places) AppendTo(list []schemas.Position) []schemas.Position {
	first := len(list)
	list = b.Positions.AppendTo(list)
	for i := range b.Rows() {
		list[first+i].MigrationID = b.migration.Row(i)
	}
	return list
}
