package node

import (
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Selection is a superset filter over a node's stream, pushed down to the store: an
// update is read when any of its events may be of interest. The zero value selects nothing.
type Selection struct {
	// Transactions and Reassignments say which events make an update of that kind
	// interesting. nil means none of the kind.
	Transactions, Reassignments *EventSelection
	// Topology asks for topology transactions, all of them.
	Topology bool
	// Contracts asks for LocalEvent.Contract in consuming exercises.
	Contracts bool
}

// EventSelection selects events: one is interesting when any entry matches it. Without
// entries none is.
type EventSelection struct{ Entries []SelectionEntry }

// SelectionEntry matches events that have one of the parties as signatory, observer, actor
// or witness, and one of the templates. Of Parties, empty means any party.
type SelectionEntry struct {
	Parties []string
	// Templates are "PACKAGE_NAME:Module:Entity" or "<package id>:Module:Entity"; empty means
	// any template.
	Templates []string
}

// Range is a stretch of a node's stream between two offsets, After exclusive and
// Through inclusive whatever the direction.
type Range struct {
	After, Through int64
	Descending     bool
	// Limit caps the number of updates and must be positive.
	Limit int
}

// Page is a part of a stretch of a node's stream.
type Page struct {
	// Updates are in the order asked for, whole: all events of each, ascending by node.
	Updates []schemas.Update
	// Covered says how far the stretch was looked through: to go on, ascending, it is the next
	// After; descending, the next Through. When it is the other end of the stretch there is
	// nothing more. A page may be empty and yet not the last.
	Covered int64
}

// Contract is an element of the active set of a node's stream at an offset.
type Contract struct {
	// Event is the create, whole, with the node number that it has in its update.
	Event    schemas.Event
	Encoding schemas.Encoding
	// WorkflowID is that of the update that activated the contract, "" when it is not told.
	WorkflowID string
	// SynchronizerID is where the contract is active, or was until it left.
	SynchronizerID string
	// Offset is that of the activation: of the creation, or of the last assignment.
	Offset int64
	// Counter is how often the contract was reassigned before it was activated.
	Counter int64
	// Assigned is set when the contract has arrived by an assignment whose unassignment the
	// node had not yet told of at the offset of the set.
	Assigned *schemas.Reassignment
	// Unassigned is set when the contract has left by an unassignment and not arrived yet.
	Unassigned *Event
}

// Event is one event of an update of a node's stream.
type Event struct {
	// Update is the update without its other events; Events has the one.
	Update schemas.Update
}

// Event returns the event.
func (e *Event) Event() *schemas.Event { return &e.Update.Events[0] }

// ActiveQuery selects a page of the active set of a node's stream, contracts in
// flight between two synchronizers included.
type ActiveQuery struct {
	// Offset must not lie above LedgerActiveEnd, nor below LedgerBegin.
	Offset int64
	// Selection matches entries against stakeholders and templates; it is a superset filter.
	Selection EventSelection
	// After is the key of the last element of the page before, exclusive.
	After history.ContractKey
	// Limit caps the number of contracts and must be positive.
	Limit int
}

// ActivePage is a page of an active set.
type ActivePage struct {
	// Contracts ascend by Key.
	Contracts []Contract
	// More says that the set may go on after the last of them.
	More bool
}

// Key returns where c stands in its set.
func (c *Contract) Key() history.ContractKey {
	return history.ContractKey{CreatedAt: c.Event.CreatedAt, ContractID: c.Event.ContractID}
}

// SynchronizerTime is the latest record time of a synchronizer in a part of history.
type SynchronizerTime struct {
	SynchronizerID string
	RecordTime     schemas.Micros
}

// ActiveLifetime is the lifetime of an active contract. It does not tell when it ends;
// CreatedOffset of a contract that the stream began with is the offset of that set.
type ActiveLifetime = store.Lifetime

// ActiveAtQuery is history.ActiveQuery for a node's own stream, whose history is ordered by offset.
type ActiveAtQuery struct {
	// Offset must not lie above that of ContractsWatermark, nor below that of the set of
	// contracts that the stream began with, if it did.
	Offset int64
	// The rest is as in history.ActiveQuery, and so is the order.
	AfterCreatedAt     schemas.Micros
	AfterContractID    string
	Parties, Templates []string
	Limit              int
}
