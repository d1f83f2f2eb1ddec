package devnet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

const (
	wildcard = `{"cumulative":[{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}}]}`
	anyParty = `{"filtersForAnyParty":` + wildcard + `,"verbose":true}`
	// everything is the format for which the stream's digests are.
	everything = `{"includeTransactions":{"eventFormat":` + anyParty + `,"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS"},` +
		`"includeReassignments":` + anyParty + `,"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`
	acsDeltas = `{"includeTransactions":{"eventFormat":` + anyParty + `,"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA"},` +
		`"includeReassignments":` + anyParty + `}`
)

// updatesBody is a request for updates; end 0 leaves it open.
func updatesBody(begin, end int64, format string) string {
	bounds := ""
	if end > 0 {
		bounds = fmt.Sprintf(`,"endInclusive":%d`, end)
	}
	return fmt.Sprintf(`{"beginExclusive":%d%s,"updateFormat":%s}`, begin, bounds, format)
}

// startNode executes a ledger with a participant's view and serves that until the test ends.
func startNode(t testing.TB, c sim.Config, o nodeapi.NodeOptions) (*ledger.Ledger, nodeClient) {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.Node == nil {
		c.Node = &sim.NodeConfig{}
	}
	l, err := ledger.New(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, serveNode(t, l, o)
}

func serveNode(t testing.TB, l *ledger.Ledger, o nodeapi.NodeOptions) nodeClient {
	t.Helper()
	h, err := nodeapi.NodeHandler(l, o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return nodeClient{t: t, url: srv.URL}
}

// nodeClient asks a served node.
type nodeClient struct {
	t     testing.TB
	url   string
	token string
}

func (c nodeClient) do(method, path, body string) (int, http.Header, []byte) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(resp.Body); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, resp.Header, answer.Bytes()
}

// list sends a request for a list that must succeed.
func (c nodeClient) list(path, body string) []json.RawMessage {
	c.t.Helper()
	status, _, answer := c.do("POST", path, body)
	var elements []json.RawMessage
	if status != http.StatusOK {
		c.t.Fatalf("POST %s %s: status %d, %s", path, body, status, answer)
	}
	if list, ok := elementsOf(answer, ""); ok {
		return list
	}
	if err := json.Unmarshal(answer, &elements); err != nil {
		c.t.Fatalf("POST %s %s: %v in %.200s", path, body, err, answer)
	}
	return elements
}

func (c nodeClient) ledgerEnd() int64 {
	c.t.Helper()
	_, _, answer := c.do("GET", "/v2/state/ledger-end", "")
	var end struct{ Offset int64 }
	if err := json.Unmarshal(answer, &end); err != nil {
		c.t.Fatalf("ledger end: %v in %s", err, answer)
	}
	return end.Offset
}

// dial opens a websocket and sends the request.
func (c nodeClient) dial(path, body string) *websocket.Conn {
	c.t.Helper()
	protocols := []string{"daml.ws.auth"}
	if c.token != "" {
		protocols = append(protocols, "jwt.token."+c.token)
	}
	conn, _, err := websocket.Dial(context.Background(), c.url+path, &websocket.DialOptions{Subprotocols: protocols})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	if conn.Subprotocol() != "daml.ws.auth" {
		c.t.Fatalf("subprotocol %q", conn.Subprotocol())
	}
	if err := conn.Write(context.Background(), websocket.MessageText, []byte(body)); err != nil {
		c.t.Fatal(err)
	}
	return conn
}

// frame reads one frame; it fails the test after a while without one.
func (c nodeClient) frame(conn *websocket.Conn) ([]byte, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, frame, err := conn.Read(ctx)
	if ctx.Err() != nil {
		c.t.Fatal("no frame within 10 s")
	}
	return frame, err
}

// frames reads all frames of a bounded request.
func (c nodeClient) frames(path, body string) [][]byte {
	c.t.Helper()
	conn := c.dial(path, body)
	var all [][]byte
	for {
		frame, err := c.frame(conn)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			return all
		}
		if err != nil {
			c.t.Fatalf("%s %s: after %d frames: %v", path, body, len(all), err)
		}
		all = append(all, frame)
	}
}

// failure sends a request over a websocket that must end with an error.
func (c nodeClient) failure(path, body string) nodeapi.LedgerError {
	c.t.Helper()
	frame, err := c.frame(c.dial(path, body))
	if err != nil {
		c.t.Fatalf("%s %s: %v", path, body, err)
	}
	return c.decodeError(frame)
}

func (c nodeClient) decodeError(b []byte) (e nodeapi.LedgerError) {
	c.t.Helper()
	if err := json.Unmarshal(b, &e); err != nil || e.Code == "" || e.Category == 0 {
		c.t.Fatalf("not an error: %v, %.200s", err, b)
	}
	return e
}

// nodeUpdate is an update of the node's stream as far as tests look into it.
type nodeUpdate struct {
	Kind       string
	Value      nodeValue
	Events     []nodeEvent
	Topology   json.RawMessage
	HasCommand bool
	frame      []byte
}

type nodeValue struct {
	UpdateID        string            `json:"updateId"`
	CommandID       *string           `json:"commandId"`
	WorkflowID      string            `json:"workflowId"`
	Offset          int64             `json:"offset"`
	EffectiveAt     string            `json:"effectiveAt"`
	RecordTime      string            `json:"recordTime"`
	SynchronizerID  string            `json:"synchronizerId"`
	PaidTrafficCost *int64            `json:"paidTrafficCost"`
	TraceContext    json.RawMessage   `json:"traceContext"`
	Events          []json.RawMessage `json:"events"`
	Times           []struct {
		SynchronizerID string `json:"synchronizerId"`
		RecordTime     string `json:"recordTime"`
	} `json:"synchronizerTimes"`
}

type nodeEvent struct {
	Kind           string          `json:"-"`
	ACSDelta       bool            `json:"acsDelta"`
	Offset         int64           `json:"offset"`
	Node           int32           `json:"nodeId"`
	Last           *int32          `json:"lastDescendantNodeId"`
	ContractID     string          `json:"contractId"`
	TemplateID     string          `json:"templateId"`
	PackageName    string          `json:"packageName"`
	Witnesses      []string        `json:"witnessParties"`
	CreateArgument json.RawMessage `json:"createArgument"`
	Blob           *string         `json:"createdEventBlob"`
	Signatories    []string        `json:"signatories"`
	Observers      []string        `json:"observers"`
	CreatedAt      string          `json:"createdAt"`
	PackageID      string          `json:"representativePackageId"`
	Choice         string          `json:"choice"`
	InterfaceID    string          `json:"interfaceId"`
	Argument       json.RawMessage `json:"choiceArgument"`
	Result         json.RawMessage `json:"exerciseResult"`
	Consuming      bool            `json:"consuming"`
	Acting         []string        `json:"actingParties"`

	ReassignmentID string          `json:"reassignmentId"`
	Counter        int64           `json:"reassignmentCounter"`
	Submitter      string          `json:"submitter"`
	Source         string          `json:"source"`
	Target         string          `json:"target"`
	Exclusivity    string          `json:"assignmentExclusivity"`
	Created        json.RawMessage `json:"createdEvent"`
}

// single returns the only member of an object.
func single(t testing.TB, raw []byte) (key string, value json.RawMessage) {
	t.Helper()
	if key, value, ok := onlyMember(raw); ok {
		return key, value
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || len(object) != 1 {
		t.Fatalf("want one member: %v in %.300s", err, raw)
	}
	for key, value = range object {
	}
	return key, value
}

func unwrap(t testing.TB, raw []byte, key string) json.RawMessage {
	t.Helper()
	got, value := single(t, raw)
	if got != key {
		t.Fatalf("member %q, want %q", got, key)
	}
	return value
}

func decodeNodeUpdate(t testing.TB, frame []byte) nodeUpdate {
	t.Helper()
	u := nodeUpdate{frame: frame}
	var body json.RawMessage
	u.Kind, body = single(t, unwrap(t, frame, "update"))
	decodeStrictly(t, unwrap(t, body, "value"), &u.Value)
	for _, raw := range u.Value.Events {
		if u.Kind == "TopologyTransaction" {
			continue
		}
		kind, value := single(t, raw)
		if kind == "JsUnassignedEvent" {
			value = unwrap(t, value, "value")
		}
		var e nodeEvent
		decodeStrictly(t, value, &e)
		if kind == "JsAssignmentEvent" {
			decodeStrictly(t, e.Created, &e)
		}
		e.Kind = kind
		u.Events = append(u.Events, e)
	}
	return u
}

// decodeStrictly refuses members that the target does not know.
func decodeStrictly(t testing.TB, raw []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
}

func decodeNodeUpdates(t testing.TB, frames [][]byte) []nodeUpdate {
	t.Helper()
	updates := make([]nodeUpdate, 0, len(frames))
	for _, f := range frames {
		if u := decodeNodeUpdate(t, f); u.Kind != "OffsetCheckpoint" {
			updates = append(updates, u)
		}
	}
	return updates
}

func micros(t testing.TB, text string) schemas.Micros {
	t.Helper()
	if text == "" {
		return 0
	}
	m, err := schemas.ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// asSchema reads an update the way NodeDigests says.
func (u *nodeUpdate) asSchema(t testing.TB, migration int64) *schemas.Update {
	t.Helper()
	v := &u.Value
	s := &schemas.Update{Kind: schemas.Transaction, MigrationID: migration, SynchronizerID: v.SynchronizerID,
		RecordTime: micros(t, v.RecordTime), EffectiveAt: micros(t, v.EffectiveAt), UpdateID: v.UpdateID,
		WorkflowID: v.WorkflowID, Encoding: schemas.CompactJSON,
		Local: &schemas.LocalUpdate{Offset: v.Offset, PaidTrafficCost: -1, TraceContext: v.TraceContext}}
	if v.CommandID != nil {
		s.Local.CommandID = *v.CommandID
	}
	if v.PaidTrafficCost != nil {
		s.Local.PaidTrafficCost = *v.PaidTrafficCost
	}
	if u.Kind == "TopologyTransaction" {
		s.Kind = schemas.Topology
		topology, err := json.Marshal(v.Events)
		if err != nil {
			t.Fatal(err)
		}
		if s.Local.Topology, err = jsonscan.AppendCanonical(nil, topology); err != nil {
			t.Fatal(err)
		}
	}
	for i := range u.Events {
		s.Events = append(s.Events, u.Events[i].asSchema(t, s))
	}
	return s
}

func (e *nodeEvent) asSchema(t testing.TB, u *schemas.Update) schemas.Event {
	t.Helper()
	s := schemas.Event{EventID: schemas.EventID(u.UpdateID, e.Node), Node: e.Node, Kind: schemas.Created,
		ContractID: e.ContractID, TemplateID: e.TemplateID, PackageName: e.PackageName,
		Local: &schemas.LocalEvent{Witnesses: sorted(e.Witnesses), ACSDelta: e.ACSDelta, LastDescendant: e.Node}}
	extras := map[string]any{}
	switch e.Kind {
	case "ExercisedEvent":
		s.Kind, s.Choice, s.InterfaceID, s.Consuming = schemas.Exercised, e.Choice, e.InterfaceID, e.Consuming
		s.Argument, s.Result, s.ActingParties = e.Argument, e.Result, sorted(e.Acting)
		s.Local.LastDescendant = *e.Last
		return s
	case "JsUnassignedEvent":
		s.Kind, s.Local.ACSDelta, u.Kind = schemas.Unassigned, true, schemas.Unassignment
		extras["assignmentExclusivity"] = e.Exclusivity
	default:
		s.Argument, s.CreatedAt = e.CreateArgument, micros(t, e.CreatedAt)
		s.Signatories, s.Observers = sorted(e.Signatories), sorted(e.Observers)
		extras["representativePackageId"] = e.PackageID
		if e.Blob != nil {
			extras["createdEventBlob"] = *e.Blob
		}
	}
	if e.Kind != "CreatedEvent" {
		extras["reassignmentCounter"], extras["reassignmentId"], extras["submitter"] = e.Counter, e.ReassignmentID, e.Submitter
		u.Reassignment = &schemas.Reassignment{Submitter: e.Submitter, SourceSynchronizer: e.Source,
			TargetSynchronizer: e.Target, UnassignID: e.ReassignmentID, Counter: e.Counter, ContractID: e.ContractID}
	}
	if e.Kind == "JsAssignmentEvent" {
		u.Kind = schemas.Assignment
	}
	raw, err := json.Marshal(extras)
	if err == nil {
		s.Local.Extras, err = jsonscan.AppendCanonical(nil, raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// digestsOf computes the digests of a stream from what a client was sent.
func digestsOf(t testing.TB, updates []nodeUpdate, migration int64) map[string]history.TableDigest {
	t.Helper()
	var tables history.NodeTables
	for i := range updates {
		s := updates[i].asSchema(t, migration)
		tables[history.NodeTableUpdates].Add(schemas.AppendLocalUpdate(nil, s))
		for j := range s.Events {
			tables[history.NodeTableEvents].Add(schemas.AppendLocalEvent(nil, s, &s.Events[j]))
		}
	}
	return map[string]history.TableDigest{
		"updates": {Rows: tables[0].Rows, Hash: tables[0].Hash()}, "events": {Rows: tables[1].Rows, Hash: tables[1].Hash()},
	}
}

var errNoFrame = errors.New("no frame")

// frameWithin reads a frame if one comes in time.
func frameWithin(conn *websocket.Conn, d time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_, frame, err := conn.Read(ctx)
	if ctx.Err() != nil {
		return nil, errNoFrame
	}
	return frame, err
}

// drain reads all that a websocket sends, as cheaply as possible: it parses frame
// headers only.
func (c nodeClient) drain(path, body string) (frames int, size int64) {
	c.t.Helper()
	raw, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer raw.Close()
	fmt.Fprintf(raw, "GET %s HTTP/1.1\r\nHost: devnet\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path)
	in := bufio.NewReaderSize(raw, 256<<10)
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		c.t.Fatalf("no upgrade: %v", err)
	}
	request := []byte{0x81, 0x80 | 126, byte(len(body) >> 8), byte(len(body)), 0, 0, 0, 0} // masked with zeros
	if _, err := raw.Write(append(request, body...)); err != nil {
		c.t.Fatal(err)
	}
	for {
		opcode, length, err := frameHeader(in)
		if err != nil {
			c.t.Fatal(err)
		}
		if _, err := in.Discard(length); err != nil {
			c.t.Fatal(err)
		}
		switch opcode {
		case 1:
			frames++
			size += int64(length)
		case 8:
			return frames, size
		}
	}
}

func frameHeader(in *bufio.Reader) (opcode byte, length int, err error) {
	var head [8]byte
	if _, err = io.ReadFull(in, head[:2]); err != nil {
		return 0, 0, err
	}
	opcode = head[0] & 15
	switch length = int(head[1] & 127); length {
	case 126:
		_, err = io.ReadFull(in, head[:2])
		length = int(binary.BigEndian.Uint16(head[:]))
	case 127:
		_, err = io.ReadFull(in, head[:8])
		length = int(binary.BigEndian.Uint64(head[:]))
	}
	return opcode, length, err
}
