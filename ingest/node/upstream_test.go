package node

import (
	"context"
	"encoding/json"
	"fmt"
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
	// dropped is closed and replaced to end all websockets, which the server does not know.
	dropped chan struct{}
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
	// rewrite, when set, changes a frame to what a request asks for.
	rewrite func(q *updatesRequest, wire string) string
	// withoutTokens leaves continuation tokens out of the active contract set.
	withoutTokens bool

	asked    map[string]*atomic.Int64
	requests []string // bodies of websocket requests
	sockets  atomic.Int64
}

func newUpstream(t testing.TB, elements []told) *upstream {
	t.Helper()
	u := &upstream{
		t: t, participant: participant, elements: elements, grown: make(chan struct{}), dropped: make(chan struct{}), listLimit: 200,
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

// drop ends all connections, those of websockets included.
func (u *upstream) drop() {
	u.set(func(u *upstream) {
		close(u.dropped)
		u.dropped = make(chan struct{})
	})
	u.CloseClientConnections()
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
	// Taken together: a websocket that is let in before intercept was set ends with the drop after it.
	intercept, dropped, status, token := u.intercept, u.dropped, u.missing[name], u.token
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
		u.socket(w, r, dropped)
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
		parts = append(parts, u.rewritten(&q, e.wire))
	}
	fmt.Fprintf(w, "[%s]", strings.Join(parts, " ,"))
}

func (u *upstream) rewritten(q *updatesRequest, wire string) string {
	if u.rewrite == nil {
		return wire
	}
	return u.rewrite(q, wire)
}

// lastOffset is the offset of the last element.
func (u *upstream) lastOffset() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.elements[len(u.elements)-1].offset
}

func (u *upstream) socket(w http.ResponseWriter, r *http.Request, dropped <-chan struct{}) {
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
	u.updatesSocket(ctx, conn, request, dropped)
}

// updatesSocket tells updates until dropped is closed.
func (u *upstream) updatesSocket(ctx context.Context, conn *websocket.Conn, request []byte, dropped <-chan struct{}) {
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
			wires = append(wires, u.rewritten(&q, e.wire))
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
		case <-dropped:
			conn.CloseNow()
			return
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
