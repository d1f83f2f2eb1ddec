package schemas

// Encoding says how the contract values of an update are written.
type Encoding string

const (
	// ProtobufJSON carries types but usually no field labels; it is lossless.
	ProtobufJSON Encoding = "protobuf_json"
	// CompactJSON carries labels but no types.
	CompactJSON Encoding = "compact_json"
)

// UpdateKind tells the three kinds of update in history apart.
type UpdateKind string

const (
	// Transaction is a tree of created and exercised events.
	Transaction UpdateKind = "transaction"
	// Assignment takes a contract in from another synchronizer.
	Assignment UpdateKind = "assignment"
	// Unassignment sends a contract off to another synchronizer.
	Unassignment UpdateKind = "unassignment"
)

// Update is one update of history: a transaction or one half of a reassignment.
// Its position, (MigrationID, RecordTime, UpdateID), orders all history.
type Update struct {
	Kind        UpdateKind
	MigrationID int64
	// SynchronizerID is the one that sequenced the update; for a reassignment the
	// target of an assignment and the source of an unassignment.
	SynchronizerID string
	// RecordTime is the sequencing time, or MinMicros for an import update.
	RecordTime Micros
	UpdateID   string
	Encoding   Encoding

	// WorkflowID, EffectiveAt, ExternalTransactionHash (hex, "" = none) and
	// RootEvents (node numbers in execution order) belong to transactions.
	WorkflowID              string
	EffectiveAt             Micros
	ExternalTransactionHash string
	RootEvents              []int32

	// Events are the transaction's nodes by ascending node number. An assignment
	// has one created event, an unassignment none.
	Events []Event

	// Reassignment is set for assignments and unassignments only. On a node's own stream
	// one update may reassign several contracts: it describes the first of them.
	Reassignment *Reassignment

	// Local is set on a node's own stream only.
	Local *LocalUpdate
}

// Reassignment holds what the two halves of a reassignment have in common.
type Reassignment struct {
	Submitter          string
	SourceSynchronizer string
	TargetSynchronizer string
	// UnassignID pairs the two halves.
	UnassignID string
	// Counter is 0 at creation and grows by one with each unassignment.
	Counter    int64
	ContractID string
}

// EventKind tells the nodes of a transaction apart.
type EventKind string

const (
	// Created is the creation of a contract.
	Created EventKind = "created"
	// Exercised is the exercise of a choice, plain archival included.
	Exercised EventKind = "exercised"
)

// Event is one node of a transaction tree.
type Event struct {
	// EventID is "<update id>:<node>" for transactions; the created event of an
	// assignment keeps whatever id the upstream gave it.
	EventID string
	// Node is the event's number within its update, dense from 0 in preorder.
	Node        int32
	Kind        EventKind
	ContractID  string
	TemplateID  string
	PackageName string

	// Argument is canonical JSON: the create arguments or the choice argument.
	Argument []byte

	// CreatedAt, Signatories and Observers (both sorted) belong to created events.
	CreatedAt   Micros
	Signatories []string
	Observers   []string

	// The rest belongs to exercised events. Result is canonical JSON.
	// InterfaceID is "" when the choice is the template's own.
	Choice        string
	InterfaceID   string
	Result        []byte
	Consuming     bool
	ActingParties []string
	Children      []int32

	// Local is set on a node's own stream only. There node numbers may have holes, where
	// this node's parties see nothing, and Children is empty: Local.LastDescendant says
	// what is below an event.
	Local *LocalEvent
}

// Verdict is the mediator's decision on one transaction, also for rejected and
// private ones.
type Verdict struct {
	UpdateID                 string
	MigrationID              int64
	SynchronizerID           string
	RecordTime               Micros
	FinalizationTime         Micros
	SubmittingParties        []string
	SubmittingParticipantUID string
	// Result is VERDICT_RESULT_ACCEPTED, VERDICT_RESULT_REJECTED or VERDICT_RESULT_UNSPECIFIED.
	Result        string
	MediatorGroup int32
	// RoundNumber is -1 when the upstream names no round.
	RoundNumber int64
	// Views is the canonical JSON of transaction_views.
	Views []byte
}

// TrafficSummary is what one transaction cost in traffic.
type TrafficSummary struct {
	// TotalCost is in bytes.
	TotalCost int64
	// Envelopes is the canonical JSON of envelope_traffic_summaries.
	Envelopes []byte
}

// AppActivity is the app activity record of one transaction.
type AppActivity struct {
	RoundNumber int64
	// Records is the canonical JSON of records.
	Records []byte
}

// Item is one element of the event history: an update, a verdict or both, with
// side data that only ever comes with a verdict. At least one of Update and
// Verdict is set.
type Item struct {
	Update      *Update
	Verdict     *Verdict
	Traffic     *TrafficSummary
	AppActivity *AppActivity
}

// Position returns where the item stands in history.
func (it *Item) Position() Position {
	if it.Update != nil {
		return it.Update.Position()
	}
	return Position{MigrationID: it.Verdict.MigrationID, RecordTime: it.Verdict.RecordTime, UpdateID: it.Verdict.UpdateID}
}

// Position returns where the update stands in history.
func (u *Update) Position() Position {
	if u.Local != nil {
		return u.localPosition()
	}
	return Position{MigrationID: u.MigrationID, RecordTime: u.RecordTime, UpdateID: u.UpdateID}
}

// IsImport reports whether u carries a contract over into a new migration.
func (u *Update) IsImport() bool { return u.RecordTime == MinMicros }
