package node

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/ingest/internal/ingesttest"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	participant   = "PAR::validator-1::1220ab"
	synchronizerA = "global-domain::1220aa"
	synchronizerB = "second-domain::1220bb"
	migrationID   = 3
)

// epoch is the record time at which generated history begins.
var epoch = schemas.MicrosOf(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))

// told is an element as the node tells it, and what it should become.
type told struct {
	offset int64
	wire   string        // the frame
	item   *schemas.Item // nil for a checkpoint
}

// activeContract is an element of the active contract set.
type activeContract struct {
	id   string
	wire string
	item *schemas.Item // nil for contracts that are not active
}

// upstream is a node that serves generated updates.
type upstream struct {
	*httptest.Server
	t testing.TB

	mu          sync.Mutex
	participant string
	elements    []told
	end         int64
	pruned      int64
	active      []activeContract
	activeAt    int64
	// grown is closed and replaced when elements were added.
	grown chan struct{}
	// listLimit is the node's limit for lists.
	listLimit int
	// token is the only one accepted, "" for all.
	token string
	// missing paths answer with the status; "WS " before a path stands for its websocket.
	missing map[string]int
	// intercept, when set, may answer a request itself and then returns true.
	intercept func(w http.ResponseWriter, r *http.Request) bool
	// frame, when set, may change or replace a frame that goes out by websocket, or end
	// the stream with an error.
	frame func(n int, wire string) (string, error)
	// withoutTokens leaves continuation tokens out of the active contract set.
	withoutTokens bool

	asked    map[string]*atomic.Int64
	requests []string // bodies of websocket requests
	sockets  atomic.Int64
}

func newUpstream(t testing.TB, elements []told) *upstream {
	t.Helper()
	u := &upstream{
		t: t, participant: participant, elements: elements, grown: make(chan struct{}), listLimit: 200,
		missing: map[string]int{}, asked: map[string]*atomic.Int64{},
	}
	if n := len(elements); n > 0 {
		u.end = elements[n-1].offset
	}
	u.Server = httptest.NewServer(u)
	t.Cleanup(func() {
		u.Server.CloseClientConnections()
		u.Server.Close()
	})
	return u
}

func (u *upstream) set(change func(u *upstream)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(u)
}

// grow adds elements, which the node then tells at once.
func (u *upstream) grow(elements ...told) {
	u.set(func(u *upstream) {
		u.elements = append(u.elements, elements...)
		u.end = u.elements[len(u.elements)-1].offset
		close(u.grown)
		u.grown = make(chan struct{})
	})
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	socket := r.Header.Get("Upgrade") != ""
	if socket {
		name = "WS " + name
	}
	u.mu.Lock()
	if u.asked[name] == nil {
		u.asked[name] = new(atomic.Int64)
	}
	u.asked[name].Add(1)
	intercept, status, token := u.intercept, u.missing[name], u.token
	u.mu.Unlock()
	switch {
	case intercept != nil && intercept(w, r):
	case status != 0:
		w.WriteHeader(status)
		fmt.Fprint(w, "nothing here")
	case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized, codeUnauthenticated, 6, "no or bad token "+r.Header.Get("Authorization"))
	case socket && token != "" && !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), protocolToken+token):
		refuse(w, http.StatusUnauthorized, codeUnauthenticated, 6, "no token among the subprotocols")
	case socket:
		u.socket(w, r)
	default:
		u.answer(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, code string, category int, cause string) {
	w.WriteHeader(status)
	fmt.Fprint(w, errorFrame(code, category, cause))
}

func errorFrame(code string, category int, cause string) string {
	return fmt.Sprintf(`{"code":%q,"cause":%q,"context":{"participant":"p"},"errorCategory":%d,"grpcCodeValue":9,"resources":[],"retryInfo":null,"traceId":null}`, code, cause, category)
}

func (u *upstream) answer(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch r.URL.Path {
	case participantOperation:
		fmt.Fprintf(w, `{"participantId":%q}`, u.participant)
	case ledgerEndOperation:
		fmt.Fprintf(w, `{"offset":%d}`, u.end)
	case prunedOperation:
		fmt.Fprintf(w, `{"participantPrunedUpToInclusive":%d,"allDivulgedContractsPrunedUpToInclusive":0}`, u.pruned)
	case updatesOperation, flatsOperation:
		u.list(w, r)
	case activeOperation:
		u.activeList(w, r)
	case activePagesOperation:
		u.activePage(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// span returns the elements asked for, or what is wrong with the request.
func (u *upstream) span(q *updatesRequest) (from, to int, code, cause string) {
	end := u.end
	if q.EndInclusive != nil {
		end = *q.EndInclusive
	}
	switch {
	case q.UpdateFormat == nil || q.UpdateFormat.Transactions.Shape != "TRANSACTION_SHAPE_LEDGER_EFFECTS":
		return 0, 0, "INVALID_ARGUMENT", "the update format is missing or wrong"
	case q.UpdateFormat.Transactions.Events.AnyParty == nil && len(q.UpdateFormat.Transactions.Events.ByParty) == 0:
		return 0, 0, "INVALID_ARGUMENT", "both filters are empty"
	case q.BeginExclusive < u.pruned:
		return 0, 0, codePruned, fmt.Sprintf("pruned up to %d", u.pruned)
	case q.BeginExclusive > u.end || end > u.end:
		return 0, 0, codeAfterEnd, fmt.Sprintf("the ledger end is %d", u.end)
	}
	from, _ = slices.BinarySearchFunc(u.elements, q.BeginExclusive+1, func(e told, at int64) int { return int(e.offset - at) })
	to, _ = slices.BinarySearchFunc(u.elements, end+1, func(e told, at int64) int { return int(e.offset - at) })
	return from, to, "", ""
}

// list answers list calls by the rules of the interface.
func (u *upstream) list(w http.ResponseWriter, r *http.Request) {
	var q updatesRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	from, to, code, cause := u.span(&q)
	if code != "" {
		refuse(w, http.StatusBadRequest, code, 9, cause)
		return
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit > u.listLimit {
		if to-from > u.listLimit {
			refuse(w, http.StatusRequestEntityTooLarge, codeListTooLong, 2, "too many elements")
			return
		}
		limit = u.listLimit
	}
	to = min(to, from+limit)
	var parts []string
	for _, e := range u.elements[from:to] {
		parts = append(parts, e.wire)
	}
	fmt.Fprintf(w, "[%s]", strings.Join(parts, " ,"))
}

func (u *upstream) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocolAuth}})
	if err != nil {
		u.t.Errorf("upgrading: %v", err)
		return
	}
	defer conn.CloseNow()
	u.sockets.Add(1)
	ctx := r.Context()
	_, request, err := conn.Read(ctx)
	if err != nil {
		return
	}
	ctx = conn.CloseRead(ctx)
	u.set(func(u *upstream) { u.requests = append(u.requests, string(request)) })
	if r.URL.Path == activeOperation {
		u.activeSocket(ctx, conn, request)
		return
	}
	u.updatesSocket(ctx, conn, request)
}

func (u *upstream) updatesSocket(ctx context.Context, conn *websocket.Conn, request []byte) {
	var q updatesRequest
	if err := json.Unmarshal(request, &q); err != nil {
		conn.Close(websocket.StatusProtocolError, err.Error())
		return
	}
	for n := 0; ; {
		u.mu.Lock()
		from, to, code, cause := u.span(&q)
		var wires []string
		for _, e := range u.elements[min(from, to):to] {
			wires = append(wires, e.wire)
			q.BeginExclusive = e.offset
		}
		grown, change := u.grown, u.frame
		u.mu.Unlock()
		if code != "" {
			wires = []string{errorFrame(code, 9, cause)}
		}
		for _, wire := range wires {
			if change != nil {
				var err error
				if wire, err = change(n, wire); err != nil {
					conn.CloseNow()
					return
				}
			}
			n++
			if wire != "" && conn.Write(ctx, websocket.MessageText, []byte(wire)) != nil {
				return
			}
		}
		switch {
		case code != "":
			conn.Close(websocket.StatusInternalError, "error")
			return
		case q.EndInclusive != nil:
			conn.Close(websocket.StatusNormalClosure, "")
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// activeElements returns the set from the continuation on, or why not.
func (u *upstream) activeElements(q *activeRequest) (elements []string, code string) {
	if q.ActiveAtOffset < u.pruned {
		return nil, codePruned
	}
	if q.ActiveAtOffset != u.activeAt {
		return nil, codeAfterEnd
	}
	from := 0
	if q.Continuation != "" {
		n, err := strconv.Atoi(q.Continuation)
		if err != nil || n >= len(u.active) {
			return nil, "INVALID_ARGUMENT"
		}
		from = n + 1
	}
	for i, a := range u.active[from:] {
		wire := a.wire
		if !u.withoutTokens {
			wire = fmt.Sprintf(`{"streamContinuationToken":"%d",%s`, from+i, wire[1:])
		}
		elements = append(elements, wire)
	}
	return elements, ""
}

func (u *upstream) activeSocket(ctx context.Context, conn *websocket.Conn, request []byte) {
	var q activeRequest
	if err := json.Unmarshal(request, &q); err != nil {
		conn.Close(websocket.StatusProtocolError, err.Error())
		return
	}
	u.mu.Lock()
	elements, code := u.activeElements(&q)
	change := u.frame
	u.mu.Unlock()
	if code != "" {
		elements = []string{errorFrame(code, 9, "no such set")}
	}
	for n, wire := range elements {
		if change != nil {
			var err error
			if wire, err = change(n, wire); err != nil {
				conn.CloseNow()
				return
			}
		}
		if conn.Write(ctx, websocket.MessageText, []byte(wire)) != nil {
			return
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
}

func (u *upstream) activeList(w http.ResponseWriter, r *http.Request) {
	var q activeRequest
	_ = json.NewDecoder(r.Body).Decode(&q)
	elements, code := u.activeElements(&q)
	if code != "" {
		refuse(w, http.StatusBadRequest, code, 9, "no such set")
		return
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit > u.listLimit {
		if len(elements) > u.listLimit {
			refuse(w, http.StatusRequestEntityTooLarge, codeListTooLong, 2, "too many elements")
			return
		}
		limit = u.listLimit
	}
	fmt.Fprintf(w, "[%s]", strings.Join(elements[:min(limit, len(elements))], ","))
}

func (u *upstream) activePage(w http.ResponseWriter, r *http.Request) {
	var q activeRequest
	_ = json.NewDecoder(r.Body).Decode(&q)
	q.Continuation = q.PageToken
	elements, code := u.activeElements(&q)
	if code != "" {
		refuse(w, http.StatusBadRequest, code, 9, "no such set")
		return
	}
	next := ""
	if n := min(q.PageSize, u.listLimit); len(elements) > n {
		elements = elements[:n]
		at, _ := strconv.Atoi(q.PageToken)
		if q.PageToken != "" {
			at++
		}
		next = fmt.Sprintf(`,"nextPageToken":"%d"`, at+n-1)
	}
	fmt.Fprintf(w, `{"activeAtOffset":%d,"activeContracts":[%s]%s}`, u.activeAt, strings.Join(elements, ","), next)
}

// lines renders what a correct ingest hands over of (after, through], one line an item.
func (u *upstream) lines(after, through int64) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return linesOf(u.elements, after, through)
}

func linesOf(elements []told, after, through int64) []string {
	var lines []string
	for _, e := range elements {
		if e.item != nil && e.offset > after && e.offset <= through {
			lines = append(lines, string(schemas.AppendItem(nil, e.item)))
		}
	}
	return lines
}

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

// memorySink keeps what it is given and checks that batches join.
type memorySink struct {
	mu      sync.Mutex
	resume  schemas.Resume
	at      schemas.Position
	batches []schemas.Batch
	lines   []string
	// fail, when set, may fail a write before it is applied.
	fail func(b *schemas.Batch) error
	// forget drops the items once they are counted, for tests of memory and speed.
	forget bool
	items  int
	wrote  chan struct{} // closed and replaced with each batch
}

func newSink() *memorySink {
	return &memorySink{resume: schemas.Resume{Committed: schemas.Start}, at: schemas.Start, wrote: make(chan struct{})}
}

// sinkAt is a sink that has everything through p.
func sinkAt(p schemas.Position) *memorySink {
	s := newSink()
	s.at, s.resume.Committed = p, p
	return s
}

func (s *memorySink) Resume(_ context.Context, stream string) (schemas.Resume, error) {
	if !strings.HasPrefix(stream, "node:PAR::") {
		return schemas.Resume{}, fmt.Errorf("%w: stream %q", schemas.ErrDiverged, stream)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resume, nil
}

func (s *memorySink) Write(_ context.Context, b *schemas.Batch) error {
	if s.fail != nil {
		if err := s.fail(b); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.After != s.at || !b.After.Before(b.Through) {
		return fmt.Errorf("%w: batch after %s through %s with %d items follows %s", schemas.ErrDiverged, b.After, b.Through, len(b.Items), s.at)
	}
	last := b.After
	for i := range b.Items {
		p := b.Items[i].Position()
		if !last.Before(p) || b.Through.Before(p) || b.Items[i].Update.IsImport() != b.Items[0].Update.IsImport() {
			return fmt.Errorf("%w: item %d at %s is outside (%s, %s] or of another kind", schemas.ErrDiverged, i, p, last, b.Through)
		}
		last = p
	}
	s.at, s.resume.Committed = b.Through, b.Through
	s.items += len(b.Items)
	close(s.wrote)
	s.wrote = make(chan struct{})
	if s.forget {
		return nil
	}
	for i := range b.Items {
		s.lines = append(s.lines, string(schemas.AppendItem(nil, &b.Items[i])))
	}
	s.batches = append(s.batches, *b)
	return nil
}

// await waits until done is true of s, which it must not change.
func (s *memorySink) await(t testing.TB, done func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		ok, wrote := done(), s.wrote
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-wrote:
		case <-deadline:
			t.Fatalf("the sink has %d items at %s and waits for more", s.items, s.at)
		}
	}
}

// testLog writes to the test's log.
func testLog(t testing.TB) *slog.Logger { return ingesttest.Log(t, slog.LevelWarn) }

func newIngester(t testing.TB, u *upstream, sink stream.Sink, change func(*Config)) *Ingester {
	t.Helper()
	// A checkpoint behind the last update is written at once: tests wait for the end of the stream.
	cfg := Config{BaseURL: u.URL, Settings: stream.Settings{Sink: sink, Log: testLog(t)}, MigrationID: migrationID, Poll: 5 * time.Millisecond, TempDir: t.TempDir(), CheckpointEvery: 1}
	if change != nil {
		change(&cfg)
	}
	ing, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return ing
}

// running starts ing.Run and returns a function that ends it and gives its error.
func running(t testing.TB, ing *Ingester) (stop func() error) {
	ctx, cancel := context.WithCancelCause(testContext(t))
	done := make(chan error, 1)
	go func() { done <- ing.Run(ctx) }()
	return func() error {
		cancel(errTestOver)
		select {
		case err := <-done:
			return err
		case <-time.After(2 * time.Minute):
			t.Fatal("Run does not end")
			return nil
		}
	}
}

var errTestOver = errors.New("the test is over")

// testContext ends a test that hangs with a message rather than a panic.
func testContext(t testing.TB) context.Context { return ingesttest.Context(t, 30*time.Second) }

// sameLines compares what arrived with what should have.
func sameLines(t testing.TB, got, want []string) { t.Helper(); ingesttest.SameLines(t, got, want) }
