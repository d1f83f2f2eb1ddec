package history

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// NodeRenderer writes updates the way the node's own stream has them for a client that
// asks for everything: ledger effects, reassignments and topology for any party, with
// blobs. One serves one goroutine.
type NodeRenderer struct {
	*Renderer
	View      *NodeView
	Witnesses Witnesses
	record    NodeRecord
	frame     []byte
	rows      nodeRows
}

// nodeRendered is what a batch becomes on the node's stream. Each update is followed by
// a line feed. Offsets and event numbers of entries count from the start of the batch.
type nodeRendered struct {
	entries []nodeEntry
	changes []nodeChange
	tables  NodeTables
}

// nodeChange is one change of the set of contracts active on the node.
type nodeChange struct {
	kind     eventKind
	contract uint64
	template int
	version  uint8
	counter  int32
	domain   uint8 // number of the synchronizer
	entry    int   // of the batch
	event    int   // of the update
}

// Render appends a batch to out.
func (r *NodeRenderer) Render(b *sim.Batch, out *Rendered) {
	for i := range b.Updates {
		u := &b.Updates[i]
		if u.Number == 0 {
			r.allocations(out)
		}
		r.guests(out, u)
		if u.Kind == sim.TopologyUpdate {
			r.added(out, u)
			continue
		}
		r.update(out, u)
	}
}

func (r *NodeRenderer) update(out *Rendered, u *sim.Update) {
	switch {
	case u.Kind == sim.AssignmentUpdate || u.Kind == sim.UnassignmentUpdate:
		c := u.Reassignment.Contract
		r.Witnesses.sig, r.Witnesses.obs = c.Payload.Stakeholders(r.Witnesses.sig[:0], r.Witnesses.obs[:0])
		r.Witnesses.parties = r.Witnesses.parties[:0]
		if seen := r.Witnesses.hosted(r.Witnesses.sig, r.Witnesses.obs); len(seen) > 0 {
			r.begin(u)
			r.reassigned(u, seen)
			r.add(out, u)
		}
	case len(u.Nodes) > 0 && r.Witnesses.of(u):
		r.begin(u)
		r.transacted(u)
		r.add(out, u)
	}
}

// begin starts an update.
func (r *NodeRenderer) begin(u *sim.Update) {
	r.id = r.Names.IDs.AppendUpdateID(r.id[:0], u.Number)
	r.frame = r.frame[:0]
	r.record = NodeRecord{Kind: u.Kind, Submitter: model.NoParty, List: r.record.List[:0]}
	r.rows.begin(u, r.View, string(r.id))
}

// add keeps the update in work and its changes.
func (r *NodeRenderer) add(out *Rendered, u *sim.Update) {
	for i := range r.record.List {
		e := &r.record.List[i]
		if !e.AcsDelta {
			continue
		}
		c := nodeChange{kind: e.Kind, contract: e.Contract, template: e.Template, version: e.ContractVersion,
			domain: u.Synchronizer, entry: len(out.node.entries), event: i}
		if u.Kind == sim.AssignmentUpdate {
			c.counter = u.Reassignment.Counter
		}
		out.node.changes = append(out.node.changes, c)
	}
	r.keep(out, r.View.OffsetOf(u.Number))
	r.rows.finish(r.frame, &r.record, &out.node.tables)
}

// keep appends the bytes in work and their record to the data files.
func (r *NodeRenderer) keep(out *Rendered, offset int64) {
	frames, records := &out.data[NodeFile], &out.data[NodeRecordFile]
	out.node.entries = append(out.node.entries, nodeEntry{Offset: offset,
		frame: int64(len(*frames)), record: int64(len(*records))})
	*frames = append(append(*frames, r.frame...), '\n')
	*records = r.record.append(*records)
}

// submitted writes the member commandId if the update was submitted on this node.
func (r *NodeRenderer) submitted(u *sim.Update, submitter model.Party, participant int) {
	if participant != r.View.Participant {
		return
	}
	start := len(r.frame)
	id := u.Command
	if id == "" {
		h := r.Names.IDs.Commands.Hash(u.Number)
		id = "cmd-" + hex.EncodeToString(h[:16])
	}
	r.rows.update.Local.CommandID = id
	r.frame = model.AppendString(append(r.frame, `"commandId":`...), id)
	r.frame = append(r.frame, ',')
	r.record.Submitter, r.record.Command = submitter, Stretch{start, len(r.frame)}
}

func (r *NodeRenderer) transacted(u *sim.Update) {
	r.frame = append(r.frame, `{"update":{"Transaction":{"value":{`...)
	r.submitted(u, u.Verdict.Submitter, u.Verdict.Participant)
	r.frame = append(r.frame, `"effectiveAt":"`...)
	r.effective = schemas.AppendShortTime(r.effective[:0], schemas.Micros(u.EffectiveAt))
	r.frame = append(append(r.frame, r.effective...), `","events":[`...)
	r.record.Events.Start = len(r.frame)
	for i := range u.Nodes {
		if len(r.Witnesses.seen[i]) == 0 {
			continue
		}
		if len(r.record.List) > 0 {
			r.frame = append(r.frame, ',')
		}
		r.event(u, i)
	}
	r.record.Events.End = len(r.frame)
	r.tail(u, u.Verdict.Total)
	r.frame = model.AppendString(append(r.frame, `,"workflowId":`...), u.Workflow)
	r.frame = append(r.frame, `}}}}`...)
}

// tail writes what transactions and reassignments have behind their events, but for
// the workflow. cost is in bytes, 0 if there was none.
func (r *NodeRenderer) tail(u *sim.Update, cost int64) {
	r.frame = strconv.AppendInt(append(r.frame, `],"offset":`...), r.View.OffsetOf(u.Number), 10)
	r.frame = append(r.frame, ',')
	if r.record.Submitter != model.NoParty && cost > 0 {
		start := len(r.frame)
		r.frame = append(strconv.AppendInt(append(r.frame, `"paidTrafficCost":`...), cost, 10), ',')
		r.record.Cost = Stretch{start, len(r.frame)}
		r.rows.update.Local.PaidTrafficCost = cost
	}
	r.frame = schemas.AppendRecordTime(append(r.frame, `"recordTime":"`...), schemas.Micros(u.RecordTime))
	r.frame = append(append(r.frame, `","synchronizerId":"`...), r.Names.Synchronizers[u.Synchronizer]...)
	r.trace(u.Number)
	r.frame = append(append(append(r.frame, `,"updateId":"`...), r.id...), '"')
}

// trace closes a text and writes the trace context.
func (r *NodeRenderer) trace(number uint64) {
	h := r.Names.IDs.Traces.Hash(number)
	r.frame = append(r.frame, `","traceContext":`...)
	start := len(r.frame)
	r.frame = append(r.frame, `{"traceparent":"00-`...)
	r.frame = append(hex.AppendEncode(r.frame, h[:16]), '-')
	r.frame = append(hex.AppendEncode(r.frame, h[16:24]), `-01"}`...)
	r.rows.trace = Stretch{start, len(r.frame)}
}

// event writes the event of a tree node.
func (r *NodeRenderer) event(u *sim.Update, i int) {
	n := &u.Nodes[i]
	e := EventRecord{Kind: CreatedKind, AcsDelta: r.Witnesses.acsDelta(u, i), Contract: n.Contract.Number,
		Template: n.Contract.Template.Number, Version: n.Contract.Version, ContractVersion: n.Contract.Version,
		Node: i, Witnesses: r.Witnesses.seen[i], Stakeholders: r.Witnesses.stakes[i]}
	e.All.Start = len(r.frame)
	if n.Choice == "" {
		r.rows.created(n.Contract, i)
		r.frame = append(r.frame, `{"CreatedEvent":`...)
		r.createdEvent(u, n.Contract, &e, r.effective)
	} else {
		e.Kind, e.Version, e.last = ExercisedKind, u.Version, int(n.End)-1
		r.rows.exercised(u, i)
		r.frame = append(r.frame, `{"ExercisedEvent":`...)
		r.exercisedEvent(u, i, &e)
	}
	r.frame = append(r.frame, '}')
	e.All.End = len(r.frame)
	r.record.List = append(r.record.List, e)
}

func (r *NodeRenderer) createdEvent(u *sim.Update, c *model.Contract, e *EventRecord, createdAt []byte) {
	rows := r.rows.last()
	r.frame = strconv.AppendBool(append(r.frame, `{"acsDelta":`...), e.AcsDelta)
	r.frame = r.Names.IDs.AppendContractID(append(r.frame, `,"contractId":"`...), c.Number)
	r.frame = append(r.frame, `","createArgument":`...)
	rows.argument.Start = len(r.frame)
	r.Arena.Reset()
	arguments := c.Payload.Arguments(&r.Arena, c.Version)
	r.frame = model.CompactJSON.AppendValue(r.frame, r.Names, &arguments)
	rows.argument.End = len(r.frame)
	r.frame = append(append(append(r.frame, `,"createdAt":"`...), createdAt...), `",`...)
	e.Blob.Start = len(r.frame)
	r.frame = append(model.AppendBlob(append(r.frame, `"createdEventBlob":"`...), &r.Names.IDs, c.Number), `",`...)
	e.Blob.End = len(r.frame)
	r.frame = strconv.AppendInt(append(r.frame, `"nodeId":`...), int64(e.Node), 10)
	r.Sig, r.Obs = c.Payload.Stakeholders(r.Sig[:0], r.Obs[:0])
	r.frame = r.Parties(append(r.frame, `,"observers":`...), r.Names.SortParties(r.Obs))
	r.frame = strconv.AppendInt(append(r.frame, `,"offset":`...), r.View.OffsetOf(u.Number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), c.Template.Pkg.Name...)
	id := r.Names.TemplateIDs[c.Template.Number][c.Version]
	r.frame = append(append(r.frame, `","representativePackageId":"`...), id[:model.PackageIDLength]...)
	r.frame = r.Parties(append(r.frame, `","signatories":`...), r.Names.SortParties(r.Sig))
	r.frame = append(append(r.frame, `,"templateId":"`...), id...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, '}')
}

// witnessParties writes the last member of an event.
func (r *NodeRenderer) witnessParties(dst []byte, e *EventRecord) {
	dst = append(dst, `,"witnessParties":`...)
	e.Witness.Start = len(dst)
	r.frame = r.Parties(dst, e.Witnesses)
	e.Witness.End = len(r.frame)
}

func (r *NodeRenderer) exercisedEvent(u *sim.Update, i int, e *EventRecord) {
	n, rows := &u.Nodes[i], r.rows.last()
	r.frame = strconv.AppendBool(append(r.frame, `{"acsDelta":`...), e.AcsDelta)
	r.frame = r.Parties(append(r.frame, `,"actingParties":`...), n.Actors)
	r.frame = append(append(r.frame, `,"choice":"`...), n.Choice...)
	r.frame = append(r.frame, `","choiceArgument":`...)
	rows.argument.Start = len(r.frame)
	r.frame = model.CompactJSON.AppendValue(r.frame, r.Names, &n.Argument)
	rows.argument.End = len(r.frame)
	r.frame = strconv.AppendBool(append(r.frame, `,"consuming":`...), n.Consuming)
	r.frame = r.Names.IDs.AppendContractID(append(r.frame, `,"contractId":"`...), n.Contract.Number)
	r.frame = append(r.frame, `","exerciseResult":`...)
	rows.result.Start = len(r.frame)
	r.frame = model.CompactJSON.AppendValue(r.frame, r.Names, &n.Result)
	rows.result.End = len(r.frame)
	if n.Iface != "" {
		r.frame = append(append(append(r.frame, `,"interfaceId":"`...), n.Iface...), '"')
	}
	r.frame = strconv.AppendInt(append(r.frame, `,"lastDescendantNodeId":`...), int64(e.last), 10)
	r.frame = strconv.AppendInt(append(r.frame, `,"nodeId":`...), int64(i), 10)
	r.frame = strconv.AppendInt(append(r.frame, `,"offset":`...), r.View.OffsetOf(u.Number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), n.Contract.Template.Pkg.Name...)
	r.frame = append(append(r.frame, `","templateId":"`...), r.Names.TemplateIDs[n.Contract.Template.Number][u.Version]...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, '}')
}

// reassigned writes one half of a reassignment.
func (r *NodeRenderer) reassigned(u *sim.Update, seen []model.Party) {
	re := &u.Reassignment
	c := re.Contract
	e := EventRecord{Kind: AssignedKind, AcsDelta: true, Contract: c.Number, Template: c.Template.Number,
		Version: c.Version, ContractVersion: c.Version, Witnesses: seen, Stakeholders: seen}
	r.frame = append(r.frame, `{"update":{"Reassignment":{"value":{`...)
	r.submitted(u, re.Submitter, r.Names.ParticipantOf(re.Submitter, 0))
	r.frame = append(r.frame, `"events":[`...)
	r.record.Events.Start = len(r.frame)
	e.All.Start = len(r.frame)
	r.rows.reassigned(u)
	if u.Kind == sim.AssignmentUpdate {
		r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.CreatedAt))
		r.frame = append(r.frame, `{"JsAssignmentEvent":{"createdEvent":`...)
		r.createdEvent(u, c, &e, r.row)
		r.frame = append(r.frame, ',')
		r.reassignmentMembers(re)
		r.frame = append(append(r.frame, `,"target":"`...), r.Names.Synchronizers[re.Target]...)
		r.frame = append(r.frame, `"}}`...)
	} else {
		e.Kind = unassignedKind
		r.unassignedEvent(u, &e)
	}
	e.All.End = len(r.frame)
	r.record.Events.End = len(r.frame)
	r.record.List = append(r.record.List, e)
	r.tail(u, 0)
	r.frame = append(r.frame, `,"workflowId":""}}}}`...)
}

func (r *NodeRenderer) unassignedEvent(u *sim.Update, e *EventRecord) {
	re := &u.Reassignment
	r.frame = append(r.frame, `{"JsUnassignedEvent":{"value":{"assignmentExclusivity":"`...)
	r.frame = schemas.AppendShortTime(r.frame, schemas.Micros(u.RecordTime+exclusivity))
	r.frame = r.Names.IDs.AppendContractID(append(r.frame, `","contractId":"`...), re.Contract.Number)
	r.frame = strconv.AppendInt(append(r.frame, `","nodeId":0,"offset":`...), r.View.OffsetOf(u.Number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), re.Contract.Template.Pkg.Name...)
	r.frame = append(r.frame, `",`...)
	r.reassignmentMembers(re)
	r.frame = append(append(r.frame, `,"target":"`...), r.Names.Synchronizers[re.Target]...)
	r.frame = append(append(r.frame, `","templateId":"`...), r.Names.TemplateIDs[re.Contract.Template.Number][re.Contract.Version]...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, `}}}`...)
}

// exclusivity is the time (µs) in which only the submitter may assign a contract.
const exclusivity = 60e6

// reassignmentMembers writes the members that both halves have in a row.
func (r *NodeRenderer) reassignmentMembers(re *sim.Reassignment) {
	r.frame = strconv.AppendInt(append(r.frame, `"reassignmentCounter":`...), int64(re.Counter), 10)
	r.frame = model.AppendHash(append(r.frame, `,"reassignmentId":"`...), r.Names.IDs.Reassignments.Hash(re.Pair))
	r.frame = append(append(r.frame, `","source":"`...), r.Names.Synchronizers[re.Source]...)
	r.frame = append(append(r.frame, `","submitter":"`...), r.Names.Name(re.Submitter)...)
	r.frame = append(r.frame, '"')
}

// allocations tells of the parties that the node hosts from the start.
func (r *NodeRenderer) allocations(out *Rendered) {
	for i, p := range r.View.Parties {
		before := int64(len(r.View.Parties)-i) * 1e6
		r.topology(out, "allocation", uint64(i), int64(i)+1, r.View.start-before, "Added",
			r.Names.Name(p), "SUBMISSION")
	}
}

// added tells of a party that was added to the node.
func (r *NodeRenderer) added(out *Rendered, u *sim.Update) {
	if r.View.HostsParty(u.Allocated) {
		r.topology(out, "added", u.Number, r.View.OffsetOf(u.Number), u.RecordTime, "Added", r.Names.Name(u.Allocated), "SUBMISSION")
	}
}

// entriesPerGuest is how often the node's hosting changes: a guest party, that takes
// part in nothing, comes and goes in four steps.
const entriesPerGuest = 512

var guestSteps = []struct{ change, permission string }{
	{"Onboarding", "OBSERVATION"}, {"Added", "CONFIRMATION"}, {"Changed", "SUBMISSION"}, {"Revoked", ""},
}

// guests tells of a step of a guest before the entry u, if one is due.
func (r *NodeRenderer) guests(out *Rendered, u *sim.Update) {
	if u.Number == 0 || u.Number%entriesPerGuest != 0 {
		return
	}
	n := u.Number / entriesPerGuest
	step, guest := guestSteps[(n-1)%4], (n-1)/4
	h := r.Names.IDs.Updates.Hash(1<<63 | guest)
	name := fmt.Sprintf("guest-%d::1220%x", guest+1, h)
	r.topology(out, "guest", u.Number, r.View.OffsetOf(u.Number)-1, u.RecordTime-1, step.change, name, step.permission)
}

// topology writes a topology transaction of one event.
func (r *NodeRenderer) topology(out *Rendered, space string, number uint64, offset, recordTime int64, change, partyID, permission string) {
	id := fmt.Sprintf("1220%x", model.NewIDSpace(r.Names.IDs.Traces.Key, space).Hash(number))
	u := sim.Update{Number: 1<<63 | number, Kind: sim.TopologyUpdate, RecordTime: recordTime}
	r.frame = append(r.frame[:0], `{"update":{"TopologyTransaction":{"value":{"events":[`...)
	r.record = NodeRecord{Kind: sim.TopologyUpdate, Submitter: model.NoParty, List: r.record.List[:0]}
	r.rows.begin(&u, r.View, id)
	r.record.Events.Start = len(r.frame)
	r.frame = append(append(r.frame, `{"event":{"ParticipantAuthorization`...), change...)
	r.frame = append(r.frame, `":{"value":{"participantId":"`...)
	r.frame = append(append(r.frame, r.View.Uid()...), '"')
	if permission != "" {
		r.frame = append(append(r.frame, `,"participantPermission":"PARTICIPANT_PERMISSION_`...), permission...)
		r.frame = append(r.frame, '"')
	}
	r.frame = model.AppendPlain(append(r.frame, `,"partyId":`...), partyID)
	r.frame = append(r.frame, `}}}}`...)
	r.record.Events.End = len(r.frame)
	r.rows.topology = Stretch{r.record.Events.Start - 1, r.record.Events.End + 1}
	r.frame = strconv.AppendInt(append(r.frame, `],"offset":`...), offset, 10)
	r.frame = schemas.AppendRecordTime(append(r.frame, `,"recordTime":"`...), schemas.Micros(recordTime))
	r.frame = append(append(r.frame, `","synchronizerId":"`...), r.Names.Synchronizers[0]...)
	r.trace(u.Number)
	r.frame = append(model.AppendPlain(append(r.frame, `,"updateId":`...), id), `}}}}`...)
	r.rows.update.Local.Offset = offset
	r.keep(out, offset)
	r.rows.finish(r.frame, &r.record, &out.node.tables)
}
