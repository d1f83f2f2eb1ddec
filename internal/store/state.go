package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// StateRow is a lifetime as the state of the network shows it: where the contract is and
// when it ended, NeverArchived if it has not.
type StateRow struct {
	ContractRow
	MigrationID    int64
	SynchronizerID string
	ArchivedAt     schemas.Micros
}

// StateContracts are result rows over the tables of lifetimes.
type StateContracts struct {
	Contracts
	synchronizer *lowCardinality
	migration    proto.ColInt64
	archivedAt   *proto.ColDateTime64
}

// NewStateContracts returns a block without rows.
func NewStateContracts() *StateContracts {
	return &StateContracts{Contracts: *NewContracts(), synchronizer: newLowCardinality(), archivedAt: newTime()}
}

func (b *StateContracts) columns() []column {
	return append(b.Contracts.columns(),
		column{"migration_id", &b.migration}, column{"synchronizer_id", b.synchronizer}, column{"archived_at", b.archivedAt})
}

// AppendTo appends the block's rows to list.
func (b *StateContracts) AppendTo(list []StateRow) []StateRow {
	for i, row := range b.Contracts.AppendTo(make([]ContractRow, 0, b.Rows())) {
		list = append(list, StateRow{
			ContractRow: row, MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i), ArchivedAt: timeAt(b.archivedAt, i),
		})
	}
	return list
}
