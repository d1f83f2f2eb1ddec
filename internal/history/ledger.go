package history

import "github.com/ledgerlake/ledgerlake/schemas"

// LedgerSelection is a superset filter over a node's stream, pushed down to the store: an
// update is read when any of its events may be of interest. The zero value selects nothing.
type LedgerSelection struct {
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

// LedgerRange is a stretch of a node's stream between two offsets, After exclusive and
// Through inclusive whatever the direction.
type LedgerRange struct {
	After, Through int64
	Descending     bool
	// Limit caps the number of updates and must be positive.
	Limit int
}

// LedgerPage is a part of a stretch of a node's stream.
type LedgerPage struct {
	// Updates are in the order asked for, whole: all events of each, ascending by node.
	Updates []schemas.Update
	// Covered says how far the stretch was looked through: to go on, ascending, it is the next
	// After; descending, the next Through. When it is the other end of the stretch there is
	// nothing more. A page may be empty and yet not the last.
	Covered int64
}

// LedgerContract is an element of the active set of a node's stream at an offset.
type LedgerContract struct {
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
	Unassigned *LedgerEvent
}

// LedgerEvent is one event of an update of a node's stream.
type LedgerEvent struct {
	// Update is the update without its other events; Events has the one.
	Update schemas.Update
}

// Event returns the event.
func (e *LedgerEvent) Event() *schemas.Event { return &e.Update.Events[0] }

// LedgerKey is where an element stands in the order of an active set, which is that of
// creation times and contract ids. The zero value stands before all.
type LedgerKey struct {
	CreatedAt  schemas.Micros
	ContractID string
}

// LedgerActiveQuery selects a page of the active set of a node's stream, contracts in
// flight between two synchronizers included.
type LedgerActiveQuery struct {
	// Offset must not lie above LedgerActiveEnd, nor below LedgerBegin.
	Offset int64
	// Selection matches entries against stakeholders and templates; it is a superset filter.
	Selection EventSelection
	// After is the key of the last element of the page before, exclusive.
	After LedgerKey
	// Limit caps the number of contracts and must be positive.
	Limit int
}

// LedgerActivePage is a page of an active set.
type LedgerActivePage struct {
	// Contracts ascend by LedgerKey.
	Contracts []LedgerContract
	// More says that the set may go on after the last of them.
	More bool
}

// Key returns where c stands in its set.
func (c *LedgerContract) Key() LedgerKey { return LedgerKey{c.Event.CreatedAt, c.Event.ContractID} }

// SynchronizerTime is the latest record time of a synchronizer in a part of history.
type SynchronizerTime struct {
	SynchronizerID string
	RecordTime     schemas.Micros
}
