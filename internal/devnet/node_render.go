package devnet

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodeRenderer writes updates the way the node's own stream has them for a client that
// asks for everything: ledger effects, reassignments and topology for any party, with
// blobs. One serves one goroutine.
type nodeRenderer struct {
	*renderer
	view      *nodeView
	witnesses witnesses
	record    nodeRecord
	frame     []byte
	rows      nodeRows
}

// nodeRendered is what a batch becomes on the node's stream. Each update is followed by
// a line feed. Offsets and event numbers of entries count from the start of the batch.
type nodeRendered struct {
	entries []nodeEntry
	changes []nodeChange
	tables  nodeTables
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

func (r *nodeRenderer) render(b *batch, out *rendered) {
	for i := range b.updates {
		u := &b.updates[i]
		if u.number == 0 {
			r.allocations(out)
		}
		r.guests(out, u)
		if u.kind == topologyUpdate {
			r.added(out, u)
			continue
		}
		r.update(out, u)
	}
}

func (r *nodeRenderer) update(out *rendered, u *update) {
	switch {
	case u.kind == assignmentUpdate || u.kind == unassignmentUpdate:
		c := u.reassignment.contract
		r.witnesses.sig, r.witnesses.obs = c.payload.stakeholders(r.witnesses.sig[:0], r.witnesses.obs[:0])
		r.witnesses.parties = r.witnesses.parties[:0]
		if seen := r.witnesses.hosted(r.witnesses.sig, r.witnesses.obs); len(seen) > 0 {
			r.begin(u)
			r.reassigned(u, seen)
			r.add(out, u)
		}
	case len(u.nodes) > 0 && r.witnesses.of(u):
		r.begin(u)
		r.transacted(u)
		r.add(out, u)
	}
}

// begin starts an update.
func (r *nodeRenderer) begin(u *update) {
	r.id = r.names.ids.appendUpdateID(r.id[:0], u.number)
	r.frame = r.frame[:0]
	r.record = nodeRecord{kind: u.kind, submitter: noParty, list: r.record.list[:0]}
	r.rows.begin(u, r.view, string(r.id))
}

// add keeps the update in work and its changes.
func (r *nodeRenderer) add(out *rendered, u *update) {
	for i := range r.record.list {
		e := &r.record.list[i]
		if !e.acsDelta {
			continue
		}
		c := nodeChange{kind: e.kind, contract: e.contract, template: e.template, version: e.contractVersion,
			domain: u.synchronizer, entry: len(out.node.entries), event: i}
		if u.kind == assignmentUpdate {
			c.counter = u.reassignment.counter
		}
		out.node.changes = append(out.node.changes, c)
	}
	r.keep(out, r.view.offsetOf(u.number))
	r.rows.finish(r.frame, &r.record, &out.node.tables)
}

// keep appends the bytes in work and their record to the data files.
func (r *nodeRenderer) keep(out *rendered, offset int64) {
	frames, records := &out.data[nodeFile], &out.data[nodeRecordFile]
	out.node.entries = append(out.node.entries, nodeEntry{offset: offset,
		frame: int64(len(*frames)), record: int64(len(*records))})
	*frames = append(append(*frames, r.frame...), '\n')
	*records = r.record.append(*records)
}

// submitted writes the member commandId if the update was submitted on this node.
func (r *nodeRenderer) submitted(u *update, submitter party, participant int) {
	if participant != r.view.participant {
		return
	}
	start := len(r.frame)
	id := u.command
	if id == "" {
		h := r.names.ids.commands.hash(u.number)
		id = "cmd-" + hex.EncodeToString(h[:16])
	}
	r.rows.update.Local.CommandID = id
	r.frame = appendString(append(r.frame, `"commandId":`...), id)
	r.frame = append(r.frame, ',')
	r.record.submitter, r.record.command = submitter, stretch{start, len(r.frame)}
}

func (r *nodeRenderer) transacted(u *update) {
	r.frame = append(r.frame, `{"update":{"Transaction":{"value":{`...)
	r.submitted(u, u.verdict.submitter, u.verdict.participant)
	r.frame = append(r.frame, `"effectiveAt":"`...)
	r.effective = schemas.AppendShortTime(r.effective[:0], schemas.Micros(u.effectiveAt))
	r.frame = append(append(r.frame, r.effective...), `","events":[`...)
	r.record.events.start = len(r.frame)
	for i := range u.nodes {
		if len(r.witnesses.seen[i]) == 0 {
			continue
		}
		if len(r.record.list) > 0 {
			r.frame = append(r.frame, ',')
		}
		r.event(u, i)
	}
	r.record.events.end = len(r.frame)
	r.tail(u, u.verdict.total)
	r.frame = appendString(append(r.frame, `,"workflowId":`...), u.workflow)
	r.frame = append(r.frame, `}}}}`...)
}

// tail writes what transactions and reassignments have behind their events, but for
// the workflow. cost is in bytes, 0 if there was none.
func (r *nodeRenderer) tail(u *update, cost int64) {
	r.frame = strconv.AppendInt(append(r.frame, `],"offset":`...), r.view.offsetOf(u.number), 10)
	r.frame = append(r.frame, ',')
	if r.record.submitter != noParty && cost > 0 {
		start := len(r.frame)
		r.frame = append(strconv.AppendInt(append(r.frame, `"paidTrafficCost":`...), cost, 10), ',')
		r.record.cost = stretch{start, len(r.frame)}
		r.rows.update.Local.PaidTrafficCost = cost
	}
	r.frame = schemas.AppendRecordTime(append(r.frame, `"recordTime":"`...), schemas.Micros(u.recordTime))
	r.frame = append(append(r.frame, `","synchronizerId":"`...), r.names.synchronizers[u.synchronizer]...)
	r.trace(u.number)
	r.frame = append(append(append(r.frame, `,"updateId":"`...), r.id...), '"')
}

// trace closes a text and writes the trace context.
func (r *nodeRenderer) trace(number uint64) {
	h := r.names.ids.traces.hash(number)
	r.frame = append(r.frame, `","traceContext":`...)
	start := len(r.frame)
	r.frame = append(r.frame, `{"traceparent":"00-`...)
	r.frame = append(hex.AppendEncode(r.frame, h[:16]), '-')
	r.frame = append(hex.AppendEncode(r.frame, h[16:24]), `-01"}`...)
	r.rows.trace = stretch{start, len(r.frame)}
}

// event writes the event of a tree node.
func (r *nodeRenderer) event(u *update, i int) {
	n := &u.nodes[i]
	e := eventRecord{kind: createdKind, acsDelta: r.witnesses.acsDelta(u, i), contract: n.contract.number,
		template: n.contract.template.number, version: n.contract.version, contractVersion: n.contract.version,
		node: i, witnesses: r.witnesses.seen[i], stakeholders: r.witnesses.stakes[i]}
	e.all.start = len(r.frame)
	if n.choice == "" {
		r.rows.created(n.contract, i)
		r.frame = append(r.frame, `{"CreatedEvent":`...)
		r.createdEvent(u, n.contract, &e, r.effective)
	} else {
		e.kind, e.version, e.last = exercisedKind, u.version, int(n.end)-1
		r.rows.exercised(u, i)
		r.frame = append(r.frame, `{"ExercisedEvent":`...)
		r.exercisedEvent(u, i, &e)
	}
	r.frame = append(r.frame, '}')
	e.all.end = len(r.frame)
	r.record.list = append(r.record.list, e)
}

func (r *nodeRenderer) createdEvent(u *update, c *contract, e *eventRecord, createdAt []byte) {
	rows := r.rows.last()
	r.frame = strconv.AppendBool(append(r.frame, `{"acsDelta":`...), e.acsDelta)
	r.frame = r.names.ids.appendContractID(append(r.frame, `,"contractId":"`...), c.number)
	r.frame = append(r.frame, `","createArgument":`...)
	rows.argument.start = len(r.frame)
	r.arena.reset()
	arguments := c.payload.arguments(&r.arena, c.version)
	r.frame = compactJSON.appendValue(r.frame, r.names, &arguments)
	rows.argument.end = len(r.frame)
	r.frame = append(append(append(r.frame, `,"createdAt":"`...), createdAt...), `",`...)
	e.blob.start = len(r.frame)
	r.frame = append(appendBlob(append(r.frame, `"createdEventBlob":"`...), &r.names.ids, c.number), `",`...)
	e.blob.end = len(r.frame)
	r.frame = strconv.AppendInt(append(r.frame, `"nodeId":`...), int64(e.node), 10)
	r.sig, r.obs = c.payload.stakeholders(r.sig[:0], r.obs[:0])
	r.frame = r.parties(append(r.frame, `,"observers":`...), r.names.sortParties(r.obs))
	r.frame = strconv.AppendInt(append(r.frame, `,"offset":`...), r.view.offsetOf(u.number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), c.template.pkg.name...)
	id := r.names.templateIDs[c.template.number][c.version]
	r.frame = append(append(r.frame, `","representativePackageId":"`...), id[:packageIDLength]...)
	r.frame = r.parties(append(r.frame, `","signatories":`...), r.names.sortParties(r.sig))
	r.frame = append(append(r.frame, `,"templateId":"`...), id...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, '}')
}

// witnessParties writes the last member of an event.
func (r *nodeRenderer) witnessParties(dst []byte, e *eventRecord) {
	dst = append(dst, `,"witnessParties":`...)
	e.witness.start = len(dst)
	r.frame = r.parties(dst, e.witnesses)
	e.witness.end = len(r.frame)
}

func (r *nodeRenderer) exercisedEvent(u *update, i int, e *eventRecord) {
	n, rows := &u.nodes[i], r.rows.last()
	r.frame = strconv.AppendBool(append(r.frame, `{"acsDelta":`...), e.acsDelta)
	r.frame = r.parties(append(r.frame, `,"actingParties":`...), n.actors)
	r.frame = append(append(r.frame, `,"choice":"`...), n.choice...)
	r.frame = append(r.frame, `","choiceArgument":`...)
	rows.argument.start = len(r.frame)
	r.frame = compactJSON.appendValue(r.frame, r.names, &n.argument)
	rows.argument.end = len(r.frame)
	r.frame = strconv.AppendBool(append(r.frame, `,"consuming":`...), n.consuming)
	r.frame = r.names.ids.appendContractID(append(r.frame, `,"contractId":"`...), n.contract.number)
	r.frame = append(r.frame, `","exerciseResult":`...)
	rows.result.start = len(r.frame)
	r.frame = compactJSON.appendValue(r.frame, r.names, &n.result)
	rows.result.end = len(r.frame)
	if n.iface != "" {
		r.frame = append(append(append(r.frame, `,"interfaceId":"`...), n.iface...), '"')
	}
	r.frame = strconv.AppendInt(append(r.frame, `,"lastDescendantNodeId":`...), int64(e.last), 10)
	r.frame = strconv.AppendInt(append(r.frame, `,"nodeId":`...), int64(i), 10)
	r.frame = strconv.AppendInt(append(r.frame, `,"offset":`...), r.view.offsetOf(u.number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), n.contract.template.pkg.name...)
	r.frame = append(append(r.frame, `","templateId":"`...), r.names.templateIDs[n.contract.template.number][u.version]...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, '}')
}

// reassigned writes one half of a reassignment.
func (r *nodeRenderer) reassigned(u *update, seen []party) {
	re := &u.reassignment
	c := re.contract
	e := eventRecord{kind: assignedKind, acsDelta: true, contract: c.number, template: c.template.number,
		version: c.version, contractVersion: c.version, witnesses: seen, stakeholders: seen}
	r.frame = append(r.frame, `{"update":{"Reassignment":{"value":{`...)
	r.submitted(u, re.submitter, r.names.participantOf(re.submitter, 0))
	r.frame = append(r.frame, `"events":[`...)
	r.record.events.start = len(r.frame)
	e.all.start = len(r.frame)
	r.rows.reassigned(u)
	if u.kind == assignmentUpdate {
		r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.createdAt))
		r.frame = append(r.frame, `{"JsAssignmentEvent":{"createdEvent":`...)
		r.createdEvent(u, c, &e, r.row)
		r.frame = append(r.frame, ',')
		r.reassignmentMembers(re)
		r.frame = append(append(r.frame, `,"target":"`...), r.names.synchronizers[re.target]...)
		r.frame = append(r.frame, `"}}`...)
	} else {
		e.kind = unassignedKind
		r.unassignedEvent(u, &e)
	}
	e.all.end = len(r.frame)
	r.record.events.end = len(r.frame)
	r.record.list = append(r.record.list, e)
	r.tail(u, 0)
	r.frame = append(r.frame, `,"workflowId":""}}}}`...)
}

func (r *nodeRenderer) unassignedEvent(u *update, e *eventRecord) {
	re := &u.reassignment
	r.frame = append(r.frame, `{"JsUnassignedEvent":{"value":{"assignmentExclusivity":"`...)
	r.frame = schemas.AppendShortTime(r.frame, schemas.Micros(u.recordTime+exclusivity))
	r.frame = r.names.ids.appendContractID(append(r.frame, `","contractId":"`...), re.contract.number)
	r.frame = strconv.AppendInt(append(r.frame, `","nodeId":0,"offset":`...), r.view.offsetOf(u.number), 10)
	r.frame = append(append(r.frame, `,"packageName":"`...), re.contract.template.pkg.name...)
	r.frame = append(r.frame, `",`...)
	r.reassignmentMembers(re)
	r.frame = append(append(r.frame, `,"target":"`...), r.names.synchronizers[re.target]...)
	r.frame = append(append(r.frame, `","templateId":"`...), r.names.templateIDs[re.contract.template.number][re.contract.version]...)
	r.witnessParties(append(r.frame, '"'), e)
	r.frame = append(r.frame, `}}}`...)
}

// exclusivity is the time (µs) in which only the submitter may assign a contract.
const exclusivity = 60e6

// reassignmentMembers writes the members that both halves have in a row.
func (r *nodeRenderer) reassignmentMembers(re *reassignment) {
	r.frame = strconv.AppendInt(append(r.frame, `"reassignmentCounter":`...), int64(re.counter), 10)
	r.frame = appendHash(append(r.frame, `,"reassignmentId":"`...), r.names.ids.reassignments.hash(re.pair))
	r.frame = append(append(r.frame, `","source":"`...), r.names.synchronizers[re.source]...)
	r.frame = append(append(r.frame, `","submitter":"`...), r.names.name(re.submitter)...)
	r.frame = append(r.frame, '"')
}

// allocations tells of the parties that the node hosts from the start.
func (r *nodeRenderer) allocations(out *rendered) {
	for i, p := range r.view.parties {
		before := int64(len(r.view.parties)-i) * 1e6
		r.topology(out, "allocation", uint64(i), int64(i)+1, r.view.start-before, "Added",
			r.names.name(p), "SUBMISSION")
	}
}

// added tells of a party that was added to the node.
func (r *nodeRenderer) added(out *rendered, u *update) {
	if r.view.hostsParty(u.allocated) {
		r.topology(out, "added", u.number, r.view.offsetOf(u.number), u.recordTime, "Added", r.names.name(u.allocated), "SUBMISSION")
	}
}

// entriesPerGuest is how often the node's hosting changes: a guest party, that takes
// part in nothing, comes and goes in four steps.
const entriesPerGuest = 512

var guestSteps = []struct{ change, permission string }{
	{"Onboarding", "OBSERVATION"}, {"Added", "CONFIRMATION"}, {"Changed", "SUBMISSION"}, {"Revoked", ""},
}

// guests tells of a step of a guest before the entry u, if one is due.
func (r *nodeRenderer) guests(out *rendered, u *update) {
	if u.number == 0 || u.number%entriesPerGuest != 0 {
		return
	}
	n := u.number / entriesPerGuest
	step, guest := guestSteps[(n-1)%4], (n-1)/4
	h := r.names.ids.updates.hash(1<<63 | guest)
	name := fmt.Sprintf("guest-%d::1220%x", guest+1, h)
	r.topology(out, "guest", u.number, r.view.offsetOf(u.number)-1, u.recordTime-1, step.change, name, step.permission)
}

// topology writes a topology transaction of one event.
func (r *nodeRenderer) topology(out *rendered, space string, number uint64, offset, recordTime int64, change, partyID, permission string) {
	id := fmt.Sprintf("1220%x", newIDSpace(r.names.ids.traces.key, space).hash(number))
	u := update{number: 1<<63 | number, kind: topologyUpdate, recordTime: recordTime}
	r.frame = append(r.frame[:0], `{"update":{"TopologyTransaction":{"value":{"events":[`...)
	r.record = nodeRecord{kind: topologyUpdate, submitter: noParty, list: r.record.list[:0]}
	r.rows.begin(&u, r.view, id)
	r.record.events.start = len(r.frame)
	r.frame = append(append(r.frame, `{"event":{"ParticipantAuthorization`...), change...)
	r.frame = append(r.frame, `":{"value":{"participantId":"`...)
	r.frame = append(append(r.frame, r.view.uid()...), '"')
	if permission != "" {
		r.frame = append(append(r.frame, `,"participantPermission":"PARTICIPANT_PERMISSION_`...), permission...)
		r.frame = append(r.frame, '"')
	}
	r.frame = appendPlain(append(r.frame, `,"partyId":`...), partyID)
	r.frame = append(r.frame, `}}}}`...)
	r.record.events.end = len(r.frame)
	r.rows.topology = stretch{r.record.events.start - 1, r.record.events.end + 1}
	r.frame = strconv.AppendInt(append(r.frame, `],"offset":`...), offset, 10)
	r.frame = schemas.AppendRecordTime(append(r.frame, `,"recordTime":"`...), schemas.Micros(recordTime))
	r.frame = append(append(r.frame, `","synchronizerId":"`...), r.names.synchronizers[0]...)
	r.trace(u.number)
	r.frame = append(appendPlain(append(r.frame, `,"updateId":`...), id), `}}}}`...)
	r.rows.update.Local.Offset = offset
	r.keep(out, offset)
	r.rows.finish(r.frame, &r.record, &out.node.tables)
}
