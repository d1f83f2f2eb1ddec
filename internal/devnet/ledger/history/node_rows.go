package history

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodeTable numbers the tables of what the node's stream has.
type nodeTable int

const (
	NodeTableUpdates nodeTable = iota
	NodeTableEvents
	NodeTableCount
)

// NodeTables are the digests of the tables of the node's stream.
type NodeTables [NodeTableCount]schemas.Digest

func (t *NodeTables) merge(o *NodeTables) {
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
	names           *model.Names
	update          schemas.Update
	local           schemas.LocalUpdate
	reassignment    schemas.Reassignment
	events          []schemas.Event
	locals          []schemas.LocalEvent
	places          []eventPlaces
	trace, topology Stretch
	row             []byte
}

// eventPlaces says where the values of an event are.
type eventPlaces struct{ argument, result Stretch }

func (r *nodeRows) begin(u *sim.Update, v *NodeView, id string) {
	r.names, r.trace, r.topology = v.Names, Stretch{}, Stretch{}
	r.events, r.places = r.events[:0], r.places[:0]
	r.local = schemas.LocalUpdate{Offset: v.OffsetOf(u.Number), PaidTrafficCost: -1}
	r.update = schemas.Update{Kind: schemas.Transaction, MigrationID: v.Migration, UpdateID: id,
		SynchronizerID: v.Names.Synchronizers[u.Synchronizer], RecordTime: schemas.Micros(u.RecordTime),
		Encoding: schemas.CompactJSON, WorkflowID: u.Workflow, Local: &r.local}
	switch u.Kind {
	case sim.TopologyUpdate:
		r.update.Kind = schemas.Topology
	case sim.AssignmentUpdate:
		r.update.Kind = schemas.Assignment
	case sim.UnassignmentUpdate:
		r.update.Kind = schemas.Unassignment
	default:
		r.update.EffectiveAt = schemas.Micros(u.EffectiveAt)
	}
}

// last returns the places of the event in work.
func (r *nodeRows) last() *eventPlaces { return &r.places[len(r.places)-1] }

func (r *nodeRows) add(e schemas.Event) {
	r.events = append(r.events, e)
	r.places = append(r.places, eventPlaces{})
}

// created describes a created event; its values follow.
func (r *nodeRows) created(c *model.Contract, node int) {
	signatories, observers := c.Payload.Stakeholders(nil, nil)
	r.add(schemas.Event{Kind: schemas.Created, Node: int32(node), CreatedAt: schemas.Micros(c.CreatedAt),
		Signatories: r.texts(signatories), Observers: r.texts(observers),
		TemplateID: r.names.TemplateIDs[c.Template.Number][c.Version], PackageName: c.Template.Pkg.Name,
		ContractID: string(r.names.IDs.AppendContractID(nil, c.Number))})
}

func (r *nodeRows) exercised(u *sim.Update, node int) {
	n := &u.Nodes[node]
	r.add(schemas.Event{Kind: schemas.Exercised, Node: int32(node), Choice: n.Choice, InterfaceID: n.Iface,
		Consuming: n.Consuming, ActingParties: r.texts(n.Actors),
		TemplateID:  r.names.TemplateIDs[n.Contract.Template.Number][u.Version],
		PackageName: n.Contract.Template.Pkg.Name,
		ContractID:  string(r.names.IDs.AppendContractID(nil, n.Contract.Number))})
}

func (r *nodeRows) reassigned(u *sim.Update) {
	re := &u.Reassignment
	h := r.names.IDs.Reassignments.Hash(re.Pair)
	r.created(re.Contract, 0)
	e := &r.events[0]
	r.reassignment = schemas.Reassignment{Submitter: r.names.Name(re.Submitter),
		SourceSynchronizer: r.names.Synchronizers[re.Source], TargetSynchronizer: r.names.Synchronizers[re.Target],
		UnassignID: string(model.AppendHash(nil, h)), Counter: int64(re.Counter), ContractID: e.ContractID}
	r.update.Reassignment = &r.reassignment
	if u.Kind == sim.UnassignmentUpdate {
		*e = schemas.Event{Kind: schemas.Unassigned, ContractID: e.ContractID, TemplateID: e.TemplateID,
			PackageName: e.PackageName}
	}
}

// texts returns the names of parties, sorted.
func (r *nodeRows) texts(ps []model.Party) []string {
	ps = r.names.SortParties(append([]model.Party(nil), ps...))
	list := make([]string, len(ps))
	for i, p := range ps {
		list[i] = r.names.Name(p)
	}
	return list
}

// finish digests the rows of an update whose bytes are complete.
func (r *nodeRows) finish(frame []byte, record *NodeRecord, t *NodeTables) {
	u := &r.update
	u.Events = r.events
	u.Local.TraceContext = r.trace.Of(frame)
	if u.Kind == schemas.Topology {
		u.Local.Topology = r.topology.Of(frame)
	}
	r.locals = append(r.locals[:0], make([]schemas.LocalEvent, len(r.events))...)
	for i := range r.events {
		e, at := &r.events[i], &record.List[i]
		e.EventID = schemas.EventID(u.UpdateID, e.Node)
		e.Argument, e.Result = r.places[i].argument.Of(frame), r.places[i].result.Of(frame)
		r.locals[i] = schemas.LocalEvent{Witnesses: r.texts(at.Witnesses), ACSDelta: at.AcsDelta,
			LastDescendant: e.Node, Extras: r.extras(frame, at, e)}
		if at.Kind == ExercisedKind {
			r.locals[i].LastDescendant = int32(at.last)
		}
		e.Local = &r.locals[i]
	}
	r.row = schemas.AppendLocalUpdate(r.row[:0], u)
	t[NodeTableUpdates].Add(r.row)
	for i := range r.events {
		r.row = schemas.AppendLocalEvent(r.row[:0], u, &r.events[i])
		t[NodeTableEvents].Add(r.row)
	}
}

// extras are the members of an event that are kept as they come.
func (r *nodeRows) extras(frame []byte, at *EventRecord, e *schemas.Event) []byte {
	var dst []byte
	switch at.Kind {
	case ExercisedKind:
		return nil
	case unassignedKind:
		dst = append(dst, `{"assignmentExclusivity":"`...)
		dst = append(schemas.AppendShortTime(dst, r.update.RecordTime+exclusivity), `",`...)
	default:
		dst = append(append(dst, '{'), at.Blob.Of(frame)...)
	}
	if at.Kind != CreatedKind {
		dst = strconv.AppendInt(append(dst, `"reassignmentCounter":`...), r.reassignment.Counter, 10)
		dst = append(model.AppendPlain(append(dst, `,"reassignmentId":`...), r.reassignment.UnassignID), ',')
	}
	if at.Kind != unassignedKind {
		dst = append(model.AppendPlain(append(dst, `"representativePackageId":`...), e.TemplateID[:model.PackageIDLength]), ',')
	}
	if at.Kind != CreatedKind {
		dst = append(model.AppendPlain(append(dst, `"submitter":`...), r.reassignment.Submitter), ',')
	}
	return model.Closing(dst, '}')
}
