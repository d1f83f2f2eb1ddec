package node

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// generator makes a node's stream.
type generator struct {
	*rand.Rand
	offset int64
	now    schemas.Micros
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, seed)), now: epoch}
}

func (g *generator) hex(prefix string, n int) string {
	const digits = "0123456789abcdef"
	b := []byte(prefix)
	for range n {
		b = append(b, digits[g.IntN(16)])
	}
	return string(b)
}

// elements makes n elements: transactions, and reassignments, topology transactions and
// checkpoints between them.
func (g *generator) elements(n int) []told {
	list := make([]told, 0, n)
	for len(list) < n {
		g.offset += 1 + g.Int64N(3)
		g.now += schemas.Micros(g.IntN(3_000_000))
		switch k := g.IntN(20); k {
		case 0:
			list = append(list, g.assignment())
		case 1:
			list = append(list, g.unassignment())
		case 2:
			list = append(list, g.topology())
		case 3:
			list = append(list, g.checkpoint())
		default:
			list = append(list, g.transaction())
		}
	}
	return list
}

func (g *generator) checkpoint() told {
	return told{offset: g.offset, wire: fmt.Sprintf(
		`{"update":{"OffsetCheckpoint":{"value":{"offset":%d,"synchronizerTimes":[{"synchronizerId":%q,"recordTime":%q}]}}}}`,
		g.offset, synchronizerA, g.now)}
}

// base is an update with what all kinds have in common.
func (g *generator) base(kind schemas.UpdateKind) *schemas.Update {
	return &schemas.Update{
		Kind: kind, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: g.now, UpdateID: g.hex("1220", 64),
		Encoding: schemas.CompactJSON, Local: &schemas.LocalUpdate{Offset: g.offset, PaidTrafficCost: -1},
	}
}

// event makes an event of an update together with how the node tells its members.
func (g *generator) event(u *schemas.Update, kind schemas.EventKind, node int32) (*schemas.Event, string) {
	e := &schemas.Event{
		EventID: schemas.EventID(u.UpdateID, node), Node: node, Kind: kind, ContractID: g.hex("00", 136),
		TemplateID: "abc123:Splice.Amulet:Amulet", PackageName: "splice-amulet",
		Local: &schemas.LocalEvent{Witnesses: []string{"alice::1220", "bob::1220"}, ACSDelta: g.IntN(2) == 0, LastDescendant: node},
	}
	return e, fmt.Sprintf(`"offset":%d,"nodeId":%d,"contractId":%q,"templateId":%q,"packageName":%q,"witnessParties":["bob::1220","alice::1220"]`,
		g.offset, node, e.ContractID, e.TemplateID, e.PackageName)
}

// created makes a created event and its JSON without the brackets of its kind.
func (g *generator) created(u *schemas.Update, node int32) (*schemas.Event, string) {
	e, common := g.event(u, schemas.Created, node)
	e.CreatedAt = g.now - 1000
	e.Signatories, e.Observers = []string{"DSO::1220", "alice::1220"}, []string{"bob::1220"}
	e.Argument = []byte(`{"amount":{"initialAmount":"10.0000000000","ratePerRound":null},"owner":"alice::1220","text":"é\n"}`)
	e.Local.Extras = []byte(`{"createdEventBlob":"CgMyLjE=","interfaceViews":[],"newMember":{"a":1,"b":2},"representativePackageId":"abc123"}`)
	return e, fmt.Sprintf(`{%s,"contractKey":null,"createArgument":{"owner":"alice::1220", "text":"\u00e9\u000a","amount":{"ratePerRound":null,"initialAmount":"10.0000000000"}},`+
		`"createdEventBlob":"CgMyLjE=","interfaceViews":[],"signatories":["alice::1220","DSO::1220"],"observers":["bob::1220"],"createdAt":%q,`+
		`"representativePackageId":"abc123","newMember":{"b":2,"a":1},"acsDelta":%v}`, common, e.CreatedAt, e.Local.ACSDelta)
}

// transaction makes an exercise with some creates below it, and a create of its own.
func (g *generator) transaction() told {
	u := g.base(schemas.Transaction)
	u.WorkflowID, u.EffectiveAt = "workflow", g.now-500
	if g.IntN(3) == 0 {
		u.Local.CommandID, u.Local.PaidTrafficCost = "command", g.Int64N(1000)
		u.Local.TraceContext = []byte(`{"traceparent":"00-1","tracestate":null}`)
	}
	hash := ""
	if g.IntN(4) == 0 {
		u.ExternalTransactionHash = "00ff10"
		hash = fmt.Sprintf(`"externalTransactionHash":%q,`, base64.StdEncoding.EncodeToString([]byte{0, 0xff, 0x10}))
	}
	node := g.Int32N(3) // parts that the node does not see leave holes
	e, common := g.event(u, schemas.Exercised, node)
	e.Choice, e.InterfaceID, e.Consuming = "Amulet_Transfer", "", g.IntN(2) == 0
	e.Argument, e.Result, e.ActingParties = []byte(`{"a":"1","z":{}}`), []byte(`null`), []string{"bob::1220", "alice::1220"}
	result := ""
	if g.IntN(2) == 0 {
		e.InterfaceID, e.Result = "def:Splice.Api:Holding", []byte(`{"x":[],"y":"2"}`)
		result = `"exerciseResult":{"y":"2","x":[]},"interfaceId":"def:Splice.Api:Holding",`
	}
	var below []string
	last := node
	events := []schemas.Event{*e}
	for range g.IntN(4) {
		last += 1 + g.Int32N(2)
		child, wire := g.created(u, last)
		events = append(events, *child)
		below = append(below, fmt.Sprintf(`{"CreatedEvent":%s}`, wire))
	}
	last += g.Int32N(2)
	events[0].Local.LastDescendant = last
	wires := append([]string{fmt.Sprintf(`{"ExercisedEvent":{%s,%s"choice":%q,"choiceArgument":{"z":{},"a":"1"},"actingParties":["bob::1220","alice::1220"],"consuming":%v,"lastDescendantNodeId":%d,"acsDelta":%v}}`,
		common, result, e.Choice, e.Consuming, last, e.Local.ACSDelta)}, below...)
	u.RootEvents = []int32{node}
	if g.IntN(2) == 0 {
		own, wire := g.created(u, last+2)
		events, wires = append(events, *own), append(wires, fmt.Sprintf(`{"CreatedEvent":%s}`, wire))
		u.RootEvents = append(u.RootEvents, last+2)
	}
	u.Events = events
	return told{g.offset, fmt.Sprintf(
		`{"update":{"Transaction":{"value":{"updateId":%q,%s"workflowId":"workflow","effectiveAt":%q,"events":[%s],"offset":%d,%s"synchronizerId":%q,"recordTime":%q}}}}`,
		u.UpdateID, localMembers(u), u.EffectiveAt, strings.Join(wires, ","), g.offset, hash, u.SynchronizerID, u.RecordTime), &schemas.Item{Update: u}}
}

func localMembers(u *schemas.Update) string {
	if u.Local.CommandID == "" {
		return `"commandId":null,`
	}
	return fmt.Sprintf(`"commandId":%q,"paidTrafficCost":%d,"traceContext":{"tracestate":null,"traceparent":"00-1"},`, u.Local.CommandID, u.Local.PaidTrafficCost)
}

func (g *generator) reassignment(kind schemas.UpdateKind, wires []string, u *schemas.Update) told {
	return told{g.offset, fmt.Sprintf(
		`{"update":{"Reassignment":{"value":{"updateId":%q,"commandId":"","offset":%d,"events":[%s],"recordTime":%q,"synchronizerId":%q}}}}`,
		u.UpdateID, g.offset, strings.Join(wires, ","), u.RecordTime, u.SynchronizerID), &schemas.Item{Update: u}}
}

func (g *generator) assignment() told {
	u := g.base(schemas.Assignment)
	u.SynchronizerID = synchronizerB
	var wires []string
	for n := range 1 + g.Int32N(3) {
		e, wire := g.created(u, n)
		id := fmt.Sprint("r", n)
		e.Local.Extras = []byte(fmt.Sprintf(`{"createdEventBlob":"CgMyLjE=","interfaceViews":[],"newMember":{"a":1,"b":2},"reassignmentCounter":%d,"reassignmentId":%q,"representativePackageId":"abc123","submitter":"alice::1220"}`, n+1, id))
		u.Events = append(u.Events, *e)
		wires = append(wires, fmt.Sprintf(`{"JsAssignmentEvent":{"source":%q,"target":%q,"reassignmentId":%q,"submitter":"alice::1220","reassignmentCounter":%d,"createdEvent":%s}}`,
			synchronizerA, synchronizerB, id, n+1, wire))
	}
	u.Reassignment = &schemas.Reassignment{
		Submitter: "alice::1220", SourceSynchronizer: synchronizerA, TargetSynchronizer: synchronizerB,
		UnassignID: "r0", Counter: 1, ContractID: u.Events[0].ContractID,
	}
	return g.reassignment(schemas.Assignment, wires, u)
}

func (g *generator) unassignment() told {
	u := g.base(schemas.Unassignment)
	var wires []string
	for n := range 1 + g.Int32N(3) {
		e, common := g.event(u, schemas.Unassigned, n)
		e.Local.ACSDelta = true
		e.Local.Extras = []byte(fmt.Sprintf(`{"assignmentExclusivity":"2026-07-01T00:00:00Z","reassignmentCounter":%d,"reassignmentId":"u%d"}`, n+4, n))
		u.Events = append(u.Events, *e)
		wires = append(wires, fmt.Sprintf(`{"JsUnassignedEvent":{"value":{"reassignmentId":"u%d","source":%q,"target":%q,"reassignmentCounter":%d,"assignmentExclusivity":"2026-07-01T00:00:00Z",%s}}}`,
			n, synchronizerA, synchronizerB, n+4, common))
	}
	u.Reassignment = &schemas.Reassignment{
		SourceSynchronizer: synchronizerA, TargetSynchronizer: synchronizerB, UnassignID: "u0", Counter: 4, ContractID: u.Events[0].ContractID,
	}
	return g.reassignment(schemas.Unassignment, wires, u)
}

func (g *generator) topology() told {
	u := g.base(schemas.Topology)
	u.Local.Topology = []byte(`[{"event":{"ParticipantAuthorizationAdded":{"value":{"participantId":"PAR::x","participantPermission":"PARTICIPANT_PERMISSION_SUBMISSION","partyId":"carol::1220"}}}}]`)
	return told{g.offset, fmt.Sprintf(
		`{"update":{"TopologyTransaction":{"value":{"updateId":%q,"offset":%d,"synchronizerId":%q,"recordTime":%q,"events":[{"event":{"ParticipantAuthorizationAdded":{"value":{"partyId":"carol::1220","participantId":"PAR::x","participantPermission":"PARTICIPANT_PERMISSION_SUBMISSION"}}}}]}}}}`,
		u.UpdateID, g.offset, u.SynchronizerID, u.RecordTime), &schemas.Item{Update: u}}
}

// active makes the set of n contracts at the generator's offset, in no order, with
// contracts in flight and one that is told by two synchronizers among them.
func (g *generator) active(n int) []activeContract {
	set := make([]activeContract, 0, n)
	g.offset += 10
	for i := range n {
		u := &schemas.Update{
			Kind: schemas.Transaction, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: schemas.MinMicros,
			Encoding: schemas.CompactJSON, WorkflowID: "w", Local: &schemas.LocalUpdate{Offset: g.offset, PaidTrafficCost: -1},
		}
		node := g.Int32N(5)
		at := g.offset
		g.offset -= 1 + g.Int64N(9) // the offset of its activation
		e, wire := g.created(u, node)
		activation := g.offset
		g.offset = at
		u.UpdateID, u.EffectiveAt, u.RootEvents = e.ContractID, e.CreatedAt, []int32{0}
		e.EventID, e.Node, e.Local.LastDescendant, e.Local.ACSDelta = schemas.EventID(u.UpdateID, 0), 0, 0, true
		e.Local.Extras = []byte(fmt.Sprintf(`{"createdEventBlob":"CgMyLjE=","interfaceViews":[],"newMember":{"a":1,"b":2},"nodeId":%d,"offset":%d,"reassignmentCounter":%d,"representativePackageId":"abc123"}`, node, activation, i%3))
		u.Events = []schemas.Event{*e}
		a := activeContract{id: e.ContractID, item: &schemas.Item{Update: u}}
		switch i % 10 {
		case 0:
			u.SynchronizerID = synchronizerB
			e.Local.Extras = []byte(fmt.Sprintf(`{"createdEventBlob":"CgMyLjE=","interfaceViews":[],"newMember":{"a":1,"b":2},"nodeId":%d,"offset":%d,"reassignmentCounter":%d,"reassignmentId":"r","representativePackageId":"abc123","source":%q}`, node, activation, i%3, synchronizerA))
			a.wire = fmt.Sprintf(`{"workflowId":"w","contractEntry":{"JsIncompleteAssigned":{"assignedEvent":{"source":%q,"target":%q,"reassignmentId":"r","reassignmentCounter":%d,"createdEvent":%s}}}}`,
				synchronizerA, synchronizerB, i%3, wire)
		case 1:
			a.item = nil
			a.wire = fmt.Sprintf(`{"contractEntry":{"JsIncompleteUnassigned":{"createdEvent":%s,"unassignedEvent":{}}}}`, wire)
		default:
			e.Local.Extras = []byte(strings.Replace(string(e.Local.Extras), `"interfaceViews"`, `"entry":{"more":7},"interfaceViews"`, 1))
			a.wire = fmt.Sprintf(`{"workflowId":"w","contractEntry":{"JsActiveContract":{"more":7,"createdEvent":%s,"synchronizerId":%q,"reassignmentCounter":%d}}}`, wire, synchronizerA, i%3)
		}
		set = append(set, a)
		if i == 2 { // told twice, before and after its reassignment
			old := a
			old.item = nil
			old.wire = strings.Replace(a.wire, `"reassignmentCounter":2`, `"reassignmentCounter":1`, 1)
			set = append([]activeContract{old}, set...)
		}
	}
	return set
}

// activeLines renders the import items of a set by contract id.
func activeLines(set []activeContract) []string {
	sorted := slices.Clone(set)
	slices.SortFunc(sorted, func(a, b activeContract) int { return strings.Compare(a.id, b.id) })
	var lines []string
	for _, a := range sorted {
		if a.item != nil {
			lines = append(lines, string(schemas.AppendItem(nil, a.item)))
		}
	}
	return lines
}
