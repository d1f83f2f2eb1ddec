package schemas

// EventRow is a row of table events: a node of a transaction, or a reassignment with
// the contract that it moves.
//
// Payloads are texts and not of Parquet's type JSON: some readers take that for
// objects only, and fail on a result that is a list or a number.
type EventRow struct {
	MigrationID    int64    `parquet:"migration_id,delta" doc:"Migration that the update belongs to."`
	RecordTime     int64    `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time of the update."`
	UpdateID       string   `parquet:"update_id,dict" doc:"Update that the event belongs to."`
	Node           int32    `parquet:"node,delta" doc:"Number of the event within its update, from 0 in preorder."`
	Kind           string   `parquet:"kind,dict" doc:"created, exercised, assignment or unassignment."`
	SynchronizerID string   `parquet:"synchronizer_id,dict" doc:"Synchronizer that sequenced the update."`
	EventID        *string  `parquet:"event_id,plain" doc:"Id of the event where it is not <update_id>:<node>, else null."`
	ContractID     string   `parquet:"contract_id,dict" doc:"Contract that was created, exercised or moved."`
	TemplateName   string   `parquet:"template_name,optional,dict" doc:"PACKAGE_NAME:Module.Name:Entity, the same for all versions of a package."`
	TemplateID     string   `parquet:"template_id,optional,dict" doc:"<package id>:Module.Name:Entity; null for unassignments."`
	PackageName    string   `parquet:"package_name,optional,dict" doc:"Name of the template's package; null for unassignments."`
	Choice         string   `parquet:"choice,optional,dict" doc:"Choice of an exercised event."`
	InterfaceID    string   `parquet:"interface_id,optional,dict" doc:"Interface that the choice belongs to, null if it is the template's own."`
	Consuming      *bool    `parquet:"consuming" doc:"Whether an exercised event archived the contract."`
	ActingParties  []string `parquet:"acting_parties,list" parquet-element:",dict" doc:"Parties that exercised the choice."`
	Children       []int32  `parquet:"children,list" parquet-element:",delta" doc:"Nodes directly below an exercised event, in execution order."`
	CreatedAt      *int64   `parquet:"created_at,timestamp(microsecond:utc),dict" doc:"Ledger effective time of the contract's creation; created events and assignments."`
	Signatories    []string `parquet:"signatories,list" parquet-element:",dict" doc:"Signatories of the created contract, sorted."`
	Observers      []string `parquet:"observers,list" parquet-element:",dict" doc:"Observers of the created contract, sorted."`
	Arguments      []byte   `parquet:"create_arguments,string,optional,plain" doc:"Create arguments as canonical JSON in the given encoding."`
	Argument       []byte   `parquet:"choice_argument,string,optional,plain" doc:"Choice argument as canonical JSON in the given encoding."`
	Result         []byte   `parquet:"exercise_result,string,optional,plain" doc:"Result of the choice as canonical JSON in the given encoding."`
	Encoding       string   `parquet:"encoding,dict" doc:"Encoding of the contract values: protobuf_json or compact_json."`

	Submitter           string `parquet:"submitter,optional,dict" doc:"Party that asked for the reassignment."`
	SourceSynchronizer  string `parquet:"source_synchronizer,optional,dict" doc:"Synchronizer that a reassigned contract leaves."`
	TargetSynchronizer  string `parquet:"target_synchronizer,optional,dict" doc:"Synchronizer that a reassigned contract goes to."`
	UnassignID          string `parquet:"unassign_id,optional,plain" doc:"Pairs the two halves of a reassignment."`
	ReassignmentCounter *int64 `parquet:"reassignment_counter,plain" doc:"Number of unassignments of the contract so far; reassignments only."`
}

// SetEvent fills the row with node i of the transaction u.
func (r *EventRow) SetEvent(u *Update, i int) {
	e := &u.Events[i]
	*r = eventRow(u)
	r.Kind, r.Node = string(e.Kind), e.Node
	r.setNode(u.UpdateID, e)
}

// SetReassignment fills the row with the reassignment u.
func (r *EventRow) SetReassignment(u *Update) {
	*r = eventRow(u)
	r.Kind, r.ContractID = string(u.Kind), u.Reassignment.ContractID
	r.Submitter, r.UnassignID = u.Reassignment.Submitter, u.Reassignment.UnassignID
	r.SourceSynchronizer, r.TargetSynchronizer = u.Reassignment.SourceSynchronizer, u.Reassignment.TargetSynchronizer
	r.ReassignmentCounter = pointer(u.Reassignment.Counter)
	if u.Kind == Assignment {
		r.Node = u.Events[0].Node
		r.setNode(u.UpdateID, &u.Events[0])
	}
}

func eventRow(u *Update) EventRow {
	return EventRow{
		MigrationID: u.MigrationID, RecordTime: int64(u.RecordTime), UpdateID: u.UpdateID,
		SynchronizerID: u.SynchronizerID, Encoding: string(u.Encoding),
	}
}

// setNode fills in the members of e.
func (r *EventRow) setNode(updateID string, e *Event) {
	if !isEventID(e.EventID, updateID, e.Node) {
		r.EventID = &e.EventID
	}
	r.ContractID, r.TemplateID, r.PackageName = e.ContractID, e.TemplateID, e.PackageName
	r.TemplateName = TemplateName(e.PackageName, e.TemplateID)
	if e.Kind == Created {
		r.CreatedAt = pointer(int64(e.CreatedAt))
		r.Signatories, r.Observers, r.Arguments = e.Signatories, e.Observers, e.Argument
		return
	}
	r.Choice, r.InterfaceID, r.Consuming = e.Choice, e.InterfaceID, pointer(e.Consuming)
	r.ActingParties, r.Children, r.Argument, r.Result = e.ActingParties, e.Children, e.Argument, e.Result
}

// isEventID reports whether id is EventID(updateID, node), without making that text.
func isEventID(id, updateID string, node int32) bool {
	n := len(updateID)
	return len(id) > n+1 && id[:n] == updateID && id == EventID(updateID, node)
}

// Key returns the row's sort key.
func (r *EventRow) Key() RowKey {
	return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID, Node: r.Node}
}

// Size returns about how many bytes the row takes before encoding.
func (r *EventRow) Size() int {
	return rowOverhead + len(r.UpdateID) + len(r.ContractID) + len(r.TemplateID) + len(r.UnassignID) +
		textBytes(r.ActingParties, r.Signatories, r.Observers) + 4*len(r.Children) +
		len(r.Arguments) + len(r.Argument) + len(r.Result)
}

// Event rebuilds the node, or the created event of an assignment. Empty lists come
// back as nil.
func (r *EventRow) Event() Event {
	e := Event{
		Node: r.Node, Kind: EventKind(r.Kind), ContractID: r.ContractID,
		TemplateID: r.TemplateID, PackageName: r.PackageName,
	}
	if r.EventID != nil {
		e.EventID = *r.EventID
	} else {
		e.EventID = EventID(r.UpdateID, r.Node)
	}
	if e.Kind != Exercised {
		e.Kind, e.Argument, e.CreatedAt = Created, r.Arguments, Micros(valueOr(r.CreatedAt, 0))
		e.Signatories, e.Observers = listOrNil(r.Signatories), listOrNil(r.Observers)
		return e
	}
	e.Choice, e.InterfaceID, e.Consuming = r.Choice, r.InterfaceID, valueOr(r.Consuming, false)
	e.Argument, e.Result = r.Argument, r.Result
	e.ActingParties, e.Children = listOrNil(r.ActingParties), listOrNil(r.Children)
	return e
}

// Reassignment rebuilds the particulars of a reassignment.
func (r *EventRow) Reassignment() *Reassignment {
	return &Reassignment{
		Submitter: r.Submitter, SourceSynchronizer: r.SourceSynchronizer, TargetSynchronizer: r.TargetSynchronizer,
		UnassignID: r.UnassignID, Counter: valueOr(r.ReassignmentCounter, 0), ContractID: r.ContractID,
	}
}
