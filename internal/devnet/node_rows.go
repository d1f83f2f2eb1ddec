package devnet

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodeTable numbers the tables of what the node's stream has.
type nodeTable int

const (
	nodeTableUpdates nodeTable = iota
	nodeTableEvents
	nodeTableCount
)

// nodeTables are the digests of the tables of the node's stream.
type nodeTables [nodeTableCount]schemas.Digest

func (t *nodeTables) merge(o *nodeTables) {
	for i := range t {
		t[i].Merge(o[i])
	}
}

// NodeDigests says what the node's stream has had so far for a client that asks for
// ledger effects, reassignments and topology for any party, with blobs. Rows are
//
//	updates  schemas.AppendLocalUpdate of each transaction, reassignment and topology
//	         transaction
//	events   schemas.AppendLocalEvent of each of their events
//
// read as follows: EventID is "<update id>:<node id>"; EffectiveAt is 0 where the update
// has none; unassigned events have ACSDelta; LastDescendant of all but exercised events is
// their own node; of a created event the Extras are createdEventBlob and
// representativePackageId, of one in an assignment also reassignmentCounter,
// reassignmentId and submitter; of an unassigned one those three and
// assignmentExclusivity.
type NodeDigests struct {
	// Stream is what schemas.NodeStream names it.
	Stream        string                 `json:"stream"`
	ParticipantID string                 `json:"participant_id"`
	MigrationID   int64                  `json:"migration_id"`
	LedgerEnd     int64                  `json:"ledger_end"`
	Tables        map[string]TableDigest `json:"tables"`
}

// nodeRows builds the rows of one update along with its bytes, to which the values
// refer. It keeps its memory from update to update.
type nodeRows struct {
	names           *names
	update          schemas.Update
	local           schemas.LocalUpdate
	reassignment    schemas.Reassignment
	events          []schemas.Event
	locals          []schemas.LocalEvent
	places          []eventPlaces
	trace, topology stretch
	row             []byte
}

// eventPlaces says where the values of an event are.
type eventPlaces struct{ argument, result stretch }

func (r *nodeRows) begin(u *update, v *nodeView, id string) {
	r.names, r.trace, r.topology = v.names, stretch{}, stretch{}
	r.events, r.places = r.events[:0], r.places[:0]
	r.local = schemas.LocalUpdate{Offset: v.offsetOf(u.number), PaidTrafficCost: -1}
	r.update = schemas.Update{Kind: schemas.Transaction, MigrationID: v.migration, UpdateID: id,
		SynchronizerID: v.names.synchronizers[u.synchronizer], RecordTime: schemas.Micros(u.recordTime),
		Encoding: schemas.CompactJSON, WorkflowID: u.workflow, Local: &r.local}
	switch u.kind {
	case topologyUpdate:
		r.update.Kind = schemas.Topology
	case assignmentUpdate:
		r.update.Kind = schemas.Assignment
	case unassignmentUpdate:
		r.update.Kind = schemas.Unassignment
	default:
		r.update.EffectiveAt = schemas.Micros(u.effectiveAt)
	}
}

// last returns the places of the event in work.
func (r *nodeRows) last() *eventPlaces { return &r.places[len(r.places)-1] }

func (r *nodeRows) add(e schemas.Event) {
	r.events = append(r.events, e)
	r.places = append(r.places, eventPlaces{})
}

// created describes a created event; its values follow.
func (r *nodeRows) created(c *contract, node int) {
	signatories, observers := c.payload.stakeholders(nil, nil)
	r.add(schemas.Event{Kind: schemas.Created, Node: int32(node), CreatedAt: schemas.Micros(c.createdAt),
		Signatories: r.texts(signatories), Observers: r.texts(observers),
		TemplateID: r.names.templateIDs[c.template.number][c.version], PackageName: c.template.pkg.name,
		ContractID: string(r.names.ids.appendContractID(nil, c.number))})
}

func (r *nodeRows) exercised(u *update, node int) {
	n := &u.nodes[node]
	r.add(schemas.Event{Kind: schemas.Exercised, Node: int32(node), Choice: n.choice, InterfaceID: n.iface,
		Consuming: n.consuming, ActingParties: r.texts(n.actors),
		TemplateID:  r.names.templateIDs[n.contract.template.number][u.version],
		PackageName: n.contract.template.pkg.name,
		ContractID:  string(r.names.ids.appendContractID(nil, n.contract.number))})
}

func (r *nodeRows) reassigned(u *update) {
	re := &u.reassignment
	h := r.names.ids.reassignments.hash(re.pair)
	r.created(re.contract, 0)
	e := &r.events[0]
	r.reassignment = schemas.Reassignment{Submitter: r.names.name(re.submitter),
		SourceSynchronizer: r.names.synchronizers[re.source], TargetSynchronizer: r.names.synchronizers[re.target],
		UnassignID: string(appendHash(nil, h)), Counter: int64(re.counter), ContractID: e.ContractID}
	r.update.Reassignment = &r.reassignment
	if u.kind == unassignmentUpdate {
		*e = schemas.Event{Kind: schemas.Unassigned, ContractID: e.ContractID, TemplateID: e.TemplateID,
			PackageName: e.PackageName}
	}
}

// texts returns the names of parties, sorted.
func (r *nodeRows) texts(ps []party) []string {
	ps = r.names.sortParties(append([]party(nil), ps...))
	list := make([]string, len(ps))
	for i, p := range ps {
		list[i] = r.names.name(p)
	}
	return list
}

// finish digests the rows of an update whose bytes are complete.
func (r *nodeRows) finish(frame []byte, record *nodeRecord, t *nodeTables) {
	u := &r.update
	u.Events = r.events
	u.Local.TraceContext = r.trace.of(frame)
	if u.Kind == schemas.Topology {
		u.Local.Topology = r.topology.of(frame)
	}
	r.locals = append(r.locals[:0], make([]schemas.LocalEvent, len(r.events))...)
	for i := range r.events {
		e, at := &r.events[i], &record.list[i]
		e.EventID = schemas.EventID(u.UpdateID, e.Node)
		e.Argument, e.Result = r.places[i].argument.of(frame), r.places[i].result.of(frame)
		r.locals[i] = schemas.LocalEvent{Witnesses: r.texts(at.witnesses), ACSDelta: at.acsDelta,
			LastDescendant: e.Node, Extras: r.extras(frame, at, e)}
		if at.kind == exercisedKind {
			r.locals[i].LastDescendant = int32(at.last)
		}
		e.Local = &r.locals[i]
	}
	r.row = schemas.AppendLocalUpdate(r.row[:0], u)
	t[nodeTableUpdates].Add(r.row)
	for i := range r.events {
		r.row = schemas.AppendLocalEvent(r.row[:0], u, &r.events[i])
		t[nodeTableEvents].Add(r.row)
	}
}

// extras are the members of an event that are kept as they come.
func (r *nodeRows) extras(frame []byte, at *eventRecord, e *schemas.Event) []byte {
	var dst []byte
	switch at.kind {
	case exercisedKind:
		return nil
	case unassignedKind:
		dst = append(dst, `{"assignmentExclusivity":"`...)
		dst = append(schemas.AppendShortTime(dst, r.update.RecordTime+exclusivity), `",`...)
	default:
		dst = append(append(dst, '{'), at.blob.of(frame)...)
	}
	if at.kind != createdKind {
		dst = strconv.AppendInt(append(dst, `"reassignmentCounter":`...), r.reassignment.Counter, 10)
		dst = append(appendPlain(append(dst, `,"reassignmentId":`...), r.reassignment.UnassignID), ',')
	}
	if at.kind != unassignedKind {
		dst = append(appendPlain(append(dst, `"representativePackageId":`...), e.TemplateID[:packageIDLength]), ',')
	}
	if at.kind != createdKind {
		dst = append(appendPlain(append(dst, `"submitter":`...), r.reassignment.Submitter), ',')
	}
	return closing(dst, '}')
}
