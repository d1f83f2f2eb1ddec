package ledger

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ledgerlake/ledgerlake/query/openapi"
)

// TestMain fails a run of all tests in which some operation never gave a valid answer: its
// description would be unproved.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	d, err := loadDocument()
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	if code == 0 && all && err == nil {
		if missing := d.NeverSucceeded(); len(missing) > 0 {
			fmt.Println("no test has a valid answer of", strings.Join(missing, ", "))
			code = 1
		}
	}
	os.Exit(code)
}

func TestDocumentAndRoutesAgree(t *testing.T) {
	api, err := New(Config{Node: nodeOf(&memory{}), Health: healthy, Log: quiet(t), TokenKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	document(t).CheckRoutes(t, api.Routes(), nil)
}

// The example of each operation is understood, and an unknown member changes nothing.
func TestExamplesAreUnderstood(t *testing.T) {
	source := &memory{}
	source.grow(4)
	source.updates[0].UpdateID, source.updates[0].Events[0].ContractID = "1220000000", "00aa"
	source.updates[0].Local.Offset = 1
	s := serve(t, source, nil)
	for _, op := range document(t).Operations {
		if op.IsSocket() || isPassed(op) {
			continue
		}
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		first := s.do(op.Method, requests[0].Target, requests[0].Body)
		if first.status != 200 {
			t.Errorf("%s: its example %s %s has the answer %d %s", op, requests[0].Target, requests[0].Body, first.status, first.body)
		}
		for _, r := range requests[1:] {
			if a := s.do(r.Method, r.Target, r.Body); a.status != first.status || a.body != first.body {
				t.Errorf("%s: the example %s has the answer %d %s, not %d %s", op, r.Name, a.status, a.body, first.status, first.body)
			}
		}
		if op.Method == "GET" && op.RequestBody == nil {
			if a := s.do("HEAD", requests[0].Target, ""); a.status != first.status || a.header.Get("Content-Type") != first.header.Get("Content-Type") {
				t.Errorf("%s: HEAD has the answer %d %v, GET %d %v", op, a.status, a.header, first.status, first.header)
			}
		}
	}
}

// Every parameter and member of every operation refuses what its schema excludes: with a text
// if it cannot be decoded, else with a JsLedgerError.
func TestWhatTheDocumentExcludesIsRefused(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := serve(t, source, nil)
	count, texts := 0, 0
	for _, op := range document(t).Operations {
		requests, err := document(t).Refused(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if op.OperationID == "getConnectedSynchronizers" || isPassed(op) || op.IsSocket() {
				continue
			}
			count++
			a := s.do(r.Method, r.Target, r.Body)
			switch kind := a.header.Get("Content-Type"); {
			case a.status != 400:
				t.Errorf("%s: %s = %d %s, want 400", op, r.Name, a.status, a.body)
			case strings.HasPrefix(kind, "text/plain"):
				texts++
				if !r.Names(a.body) && r.Member != "body" {
					t.Errorf("%s: %s = %s, which does not name %q", op, r.Name, a.body, r.Member)
				}
			default:
				var e JsLedgerError
				if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.ErrorCategory != 8 || e.GRPCCodeValue != 3 {
					t.Errorf("%s: %s = %s", op, r.Name, a.body)
				}
			}
		}
	}
	if t.Logf("%d requests refused, %d with a text", count, texts); count < 500 || texts < 400 {
		t.Errorf("only %d requests, %d with a text", count, texts)
	}
}

var reference = regexp.MustCompile(`ledger\.yaml#/components/schemas/(\w+)`)

// The AsyncAPI document speaks of the channels that there are, with schemas of the other one.
func TestAsyncDocument(t *testing.T) {
	var async struct {
		Channels map[string]struct {
			Address  string
			Messages map[string]any
		}
	}
	if err := yaml.Unmarshal(openapi.LedgerAsync, &async); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for _, c := range async.Channels {
		addresses[c.Address] = true
	}
	for _, op := range document(t).Operations {
		if op.IsSocket() != (op.Method == "GET" && addresses[op.Path]) {
			t.Errorf("%s is a websocket in one document only", op)
		}
	}
	var ledger struct {
		Components struct{ Schemas map[string]any }
	}
	if err := yaml.Unmarshal(openapi.Ledger, &ledger); err != nil {
		t.Fatal(err)
	}
	found := reference.FindAllStringSubmatch(string(openapi.LedgerAsync), -1)
	for _, ref := range found {
		if ledger.Components.Schemas[ref[1]] == nil {
			t.Errorf("there is no schema %s", ref[1])
		}
	}
	if len(found) != 10 {
		t.Errorf("%d references", len(found))
	}
}

// Bodies that cannot be decoded, and 10,000 parties, which can.
func TestBodies(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := serve(t, source, nil)
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf(`"party-%d::1220":{}`, i))
	}
	var list []element
	s.post("/v2/updates", updates(0, 8, `{"filtersByParty":{`+strings.Join(many, ",")+`,"`+alice+`":{}}}`), &list)
	if len(list) != 3 {
		t.Errorf("%d updates of alice among 10,000 parties", len(list))
	}
	huge := s.do("POST", "/v2/updates", `{"a":"`+strings.Repeat("x", 2<<20)+`"}`)
	var e JsLedgerError
	if err := json.Unmarshal([]byte(huge.body), &e); err != nil || huge.status != 413 || e.Code != string(requestTooLarge) {
		t.Errorf("a body of 2 MiB: %d %s", huge.status, huge.body)
	}
}
