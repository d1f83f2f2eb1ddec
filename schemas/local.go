package schemas

import "strconv"

// Topology is an update that changes who hosts which party. Only a node's own stream
// has it; its events are in LocalUpdate.Topology.
const Topology UpdateKind = "topology"

// Unassigned is a contract's leaving for another synchronizer, as a node's own stream
// tells it. Public history names the contract in the update only.
const Unassigned EventKind = "unassigned"

// LocalUpdate is what only the node's own stream tells of an update: nothing of it may
// be compared between nodes.
type LocalUpdate struct {
	// Offset is positive and grows from update to update. Contracts that a stream began
	// with, read from the active contract set, carry the offset of that set.
	Offset int64
	// CommandID is "" unless a user of this node submitted the update.
	CommandID string
	// PaidTrafficCost is in bytes, -1 when not told.
	PaidTrafficCost int64
	// TraceContext is canonical JSON, nil when not told.
	TraceContext []byte
	// Topology is the canonical JSON array of a topology transaction's events, nil otherwise.
	Topology []byte
	// Extras is a canonical JSON object with the members that have no place elsewhere, as
	// they came, nil without any: a node may be newer than this.
	Extras []byte
}

// LocalEvent is what only the node's own stream tells of an event.
type LocalEvent struct {
	// Witnesses are the parties of this node that saw the event, sorted.
	Witnesses []string
	// ACSDelta says that the event changed the set of contracts active on this node.
	ACSDelta bool
	// LastDescendant is the highest node number below an exercised event, or its own.
	LastDescendant int32
	// Extras is a canonical JSON object with the members that are kept as they came, nil
	// without any: createdEventBlob, contractKey, contractKeyHash, implementedInterfaces,
	// interfaceViews, representativePackageId; of reassignments also reassignmentId,
	// reassignmentCounter, submitter and assignmentExclusivity.
	Extras []byte
	// Contract is, in a consuming exercise that was read back from the store together with
	// it, the contract that the exercise ended. It is no part of the event and nil otherwise.
	Contract *EndedContract
}

// EndedContract is what the exercise that ends a contract does not tell of it.
type EndedContract struct {
	// TemplateID is that of the creation, maybe of another version of the package than
	// that of the choice.
	TemplateID string
	// Signatories and Observers are sorted.
	Signatories, Observers []string
}

// NodeStream names the stream of what a participant's parties see.
func NodeStream(participantID string) string { return "node:" + participantID }

// AtOffset is the position of what a node's stream has at an offset, and after the
// contracts that the stream began with there.
func AtOffset(offset int64) Position { return Position{Offset: offset} }

// localPosition is that of an update of a node's stream.
func (u *Update) localPosition() Position {
	if u.IsImport() {
		return Position{RecordTime: MinMicros, UpdateID: u.UpdateID, Offset: u.Local.Offset}
	}
	return AtOffset(u.Local.Offset)
}

// AppendLocalUpdate appends an update of a node's stream as canonical JSON, all of it:
// the row that its hash and digest are taken over.
func AppendLocalUpdate(dst []byte, u *Update) []byte {
	l := u.Local
	dst = append(dst, '{')
	if l.CommandID != "" {
		dst = append(dst, `"command_id":`...)
		dst = append(appendString(dst, l.CommandID), ',')
	}
	dst = append(dst, `"effective_at":"`...)
	dst = AppendRecordTime(dst, u.EffectiveAt)
	dst = append(dst, `","events":[`...)
	for i := range u.Events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendLocalEvent(dst, u, &u.Events[i])
	}
	dst = append(dst, ']')
	if u.ExternalTransactionHash != "" {
		dst = appendMember(dst, "external_transaction_hash", u.ExternalTransactionHash)
	}
	dst = appendRaw(dst, "extras", l.Extras)
	dst = appendMember(dst, "kind", string(u.Kind))
	dst = append(dst, `,"migration_id":`...)
	dst = strconv.AppendInt(dst, u.MigrationID, 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, l.Offset, 10)
	if l.PaidTrafficCost >= 0 {
		dst = append(dst, `,"paid_traffic_cost":`...)
		dst = strconv.AppendInt(dst, l.PaidTrafficCost, 10)
	}
	dst = append(dst, `,"record_time":"`...)
	dst = AppendRecordTime(dst, u.RecordTime)
	dst = append(dst, '"')
	if r := u.Reassignment; r != nil {
		dst = appendMember(dst, "source_synchronizer", r.SourceSynchronizer)
		dst = appendMember(dst, "submitter", r.Submitter)
	}
	dst = appendMember(dst, "synchronizer_id", u.SynchronizerID)
	if r := u.Reassignment; r != nil {
		dst = appendMember(dst, "target_synchronizer", r.TargetSynchronizer)
	}
	dst = appendRaw(dst, "topology", l.Topology)
	dst = appendRaw(dst, "trace_context", l.TraceContext)
	if r := u.Reassignment; r != nil {
		dst = appendMember(dst, "unassign_id", r.UnassignID)
	}
	dst = appendMember(dst, "update_id", u.UpdateID)
	dst = appendMember(dst, "workflow_id", u.WorkflowID)
	return append(dst, '}')
}

// AppendLocalEvent appends an event of a node's stream as canonical JSON: the row that
// digests of its events are taken over.
func AppendLocalEvent(dst []byte, u *Update, e *Event) []byte {
	l := e.Local
	if l == nil {
		l = &LocalEvent{LastDescendant: e.Node}
	}
	dst = append(dst, `{"acs_delta":`...)
	dst = strconv.AppendBool(dst, l.ACSDelta)
	dst = append(dst, `,"event":`...)
	dst = AppendEventForm(dst, u.UpdateID, e, UpdateForm{})
	dst = appendRaw(dst, "extras", l.Extras)
	dst = appendMember(dst, "kind", string(e.Kind))
	dst = append(dst, `,"last_descendant":`...)
	dst = strconv.AppendInt(dst, int64(l.LastDescendant), 10)
	dst = append(dst, `,"node":`...)
	dst = strconv.AppendInt(dst, int64(e.Node), 10)
	dst = append(dst, `,"witnesses":`...)
	return append(appendStrings(dst, l.Witnesses), '}')
}

// appendRaw appends a member whose value is JSON already, unless there is none.
func appendRaw(dst []byte, key string, value []byte) []byte {
	if value == nil {
		return dst
	}
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return append(dst, value...)
}
