package history

import (
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Range is a stretch of history in ascending order: After is exclusive, Through
// inclusive. Limit caps the number of results and must be positive.
type Range struct {
	After, Through schemas.Position
	Limit          int
}

// Before is a stretch of one synchronizer's history in descending order.
type Before struct {
	MigrationID    int64
	SynchronizerID string // "" for all
	// Before is exclusive, AtOrAfter inclusive.
	Before, AtOrAfter schemas.Micros
	Limit             int
}

// Migration sums up what the store holds of one migration.
type Migration struct {
	ID            int64
	Synchronizers []SynchronizerRange
	// Imports counts import updates; LastImportID is the greatest id among them.
	Imports      uint64
	LastImportID string
}

// SynchronizerRange is the span of record times held for one synchronizer, both
// ends inclusive, import updates left out.
type SynchronizerRange struct {
	SynchronizerID string
	Min, Max       schemas.Micros
}

// ActiveContract is one contract of an active set; Node and EventID of its event are not set.
type ActiveContract = store.ContractRow

// ActiveQuery selects a page of the contracts that are active at an instant:
// those whose creation has a record time at or before At and whose end, if any,
// is later. Order is (created_at, contract id).
type ActiveQuery struct {
	MigrationID int64
	// At must not lie above ContractsWatermark.
	At schemas.Micros
	// AfterCreatedAt and AfterContractID are the key of the last contract of the
	// page before, exclusive; AfterContractID "" starts from the beginning.
	AfterCreatedAt  schemas.Micros
	AfterContractID string
	// Through is the key of the last contract of the page, inclusive, if that is known;
	// ContractID "" leaves it open.
	Through ContractKey
	// Parties keeps contracts with any of these as stakeholder; empty keeps all.
	Parties []string
	// Templates keeps contracts of any of these, "PACKAGE_NAME:Module:Entity".
	Templates []string
	// HideCarried leaves CreatedIn empty for contracts that an import update carried over.
	HideCarried bool
	Limit       int
}

// ContractKey is the place of a contract in the order of an active set; see store.ContractKey.
type ContractKey = store.ContractKey

// From is q for a page of at most limit contracts after the one with a key; contractID ""
// starts from the beginning.
func (q ActiveQuery) From(createdAt schemas.Micros, contractID string, limit int) ActiveQuery {
	q.AfterCreatedAt, q.AfterContractID, q.Limit = createdAt, contractID, limit
	return q
}
