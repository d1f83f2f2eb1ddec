package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

var loadDocument = sync.OnceValues(func() (*openapitest.Document, error) { return openapitest.Load(openapi.Ledger, []string{""}) })

func document(t testing.TB) *openapitest.Document {
	t.Helper()
	d, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var testKey = []byte("a key for tests, 32 bytes long..")

// served is the interface under test. Every answer that its methods get is checked against the
// document.
type served struct {
	t      testing.TB
	source *memory
	url    string
	log    *logLines
	stop   func()
}

// logLines gathers the log as JSON lines.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func healthy(context.Context) error { return nil }

func serve(t testing.TB, source *memory, change func(*Config, *query.Config)) *served {
	t.Helper()
	s := &served{t: t, source: source, log: &logLines{}}
	log := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := Config{
		Node: func(context.Context) (Node, error) { return Node{Participant: participant, Source: source}, nil }, Health: healthy, Log: log, TokenKey: testKey,
		ListIdle: 50 * time.Millisecond, EndInterval: time.Millisecond, Version: "1.2.3",
	}
	tier := query.Config{Log: log}
	if change != nil {
		change(&cfg, &tier)
	}
	api, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tier.Mounts, tier.Errors = []query.Mount{api.Mount()}, api.Errors
	server := querytest.Serve(t, tier)
	s.url, s.stop = server.URL, server.Stop
	t.Cleanup(func() {
		s.stop()
		source.mu.Lock()
		defer source.mu.Unlock()
		if source.violation != nil {
			t.Errorf("the source was asked for %v", source.violation)
		}
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	return s
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (s *served) do(method, path, body string, headers ...string) reply {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := document(s.t).Transport(s.t, transport).RoundTrip(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{response.StatusCode, response.Header, string(text)}
}

// post sends a request that must succeed and reads its answer.
func (s *served) post(path, body string, into any, headers ...string) {
	s.t.Helper()
	a := s.do("POST", path, body, headers...)
	if a.status != 200 {
		s.t.Fatalf("POST %s %s = %d %s", path, body, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		s.t.Fatalf("POST %s %s: %v in %s", path, body, err, a.body)
	}
}

// refused sends a request that must be refused with a code.
func (s *served) refused(method, path, body string, status int, code Code, headers ...string) JsLedgerError {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	var e JsLedgerError
	if err := json.Unmarshal([]byte(a.body), &e); a.status != status || err != nil || e.Code != string(code) {
		s.t.Errorf("%s %s %.200s = %d %s, want %d and %s", method, path, body, a.status, a.body, status, code)
	}
	return e
}

// element is what tests look at in an element.
type element struct {
	Update struct {
		Transaction *struct {
			Value struct {
				Offset int64
				Events []map[string]struct {
					ContractID     string `json:"contractId"`
					WitnessParties []string
				}
			}
		}
		TransactionTree *struct {
			Value struct{ Offset int64 }
		}
		OffsetCheckpoint *struct {
			Value struct {
				Offset            int64
				SynchronizerTimes []struct{ SynchronizerID, RecordTime string }
			}
		}
	}
	Entry map[string]struct {
		CreatedEvent struct {
			ContractID string `json:"contractId"`
		} `json:"createdEvent"`
	} `json:"contractEntry"`
	Token string `json:"streamContinuationToken"`
}

func (e *element) contract() string { return e.Entry["JsActiveContract"].CreatedEvent.ContractID }

// offsets are those of the transactions in a list.
func offsets(list []element) (all []int64) {
	for _, e := range list {
		if e.Update.Transaction != nil {
			all = append(all, e.Update.Transaction.Value.Offset)
		}
		if e.Update.TransactionTree != nil {
			all = append(all, e.Update.TransactionTree.Value.Offset)
		}
	}
	return all
}

// span are the offsets of updates from a number to another one, in either direction.
func span(from, to int) (all []int64) {
	step := 1
	if from > to {
		step = -1
	}
	for n := from; n != to+step; n += step {
		all = append(all, offsetOf(n))
	}
	return all
}

const anyParty = `{"filtersForAnyParty":{}}`

func byParty(party string) string { return `{"filtersByParty":{"` + party + `":{}}}` }

// updates is a request; end -1 leaves it open.
func updates(begin, end int64, events string, more ...string) string {
	bounds := fmt.Sprintf(`"beginExclusive":%d`, begin)
	if end >= 0 {
		bounds += fmt.Sprintf(`,"endInclusive":%d`, end)
	}
	return fmt.Sprintf(`{%s,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":%s}}%s}`, bounds, events, strings.Join(more, ""))
}

func activeAt(offset int64, events string, more ...string) string {
	return fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s%s}`, offset, events, strings.Join(more, ""))
}

// socket is the client's end of a websocket. Every frame is checked against the document.
type socket struct {
	*websocket.Conn
	t      testing.TB
	schema string
}

func (s *served) dial(path string, o *websocket.DialOptions) (*socket, *http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, s.url+path, o)
	if err != nil {
		return nil, response, err
	}
	conn.SetReadLimit(-1)
	s.t.Cleanup(func() { conn.CloseNow() })
	schema := "JsGetUpdatesResponse"
	switch {
	case strings.Contains(path, "active"):
		schema = "JsGetActiveContractsResponse"
	case strings.Contains(path, "trees"):
		schema = "JsGetUpdateTreesResponse"
	}
	return &socket{conn, s.t, schema}, response, nil
}

// open begins a websocket with a request.
func (s *served) open(path, request string, headers ...string) *socket {
	s.t.Helper()
	o := &websocket.DialOptions{Subprotocols: []string{"daml.ws.auth"}, HTTPHeader: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		o.HTTPHeader.Set(headers[i], headers[i+1])
	}
	c, _, err := s.dial(path, o)
	if err != nil {
		s.t.Fatal(err)
	}
	c.send(request)
	return c
}

func (c *socket) send(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a frame; err says how the websocket was closed.
func (c *socket) next() (e element, refused *JsLedgerError, err error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	kind, text, err := c.Read(ctx)
	if err != nil {
		return e, nil, err
	}
	if kind != websocket.MessageText {
		c.t.Errorf("a frame is not text: %s", text)
	}
	if bytes.Contains(text, []byte(`"errorCategory"`)) {
		if err := document(c.t).CheckText("JsLedgerError", text); err != nil {
			c.t.Error(err)
		}
		return e, refused, json.Unmarshal(text, &refused)
	}
	if err := document(c.t).CheckText(c.schema, text); err != nil {
		c.t.Error(err)
	}
	return e, nil, json.Unmarshal(text, &e)
}

// rest reads to the end: the elements without checkpoints, the error if there is one, and
// the code of the close.
func (c *socket) rest() (list []element, refused *JsLedgerError, code int) {
	c.t.Helper()
	for {
		e, failed, err := c.next()
		switch {
		case err != nil:
			return list, refused, int(websocket.CloseStatus(err))
		case failed != nil:
			refused = failed
		case e.Update.OffsetCheckpoint == nil:
			list = append(list, e)
		}
	}
}

// transactions reads as many transactions.
func (c *socket) transactions(n int) (all []int64) {
	c.t.Helper()
	for len(all) < n {
		e, refused, err := c.next()
		if err != nil || refused != nil {
			c.t.Fatalf("after %d transactions: %+v, %v", len(all), refused, err)
		}
		all = append(all, offsets([]element{e})...)
	}
	return all
}
