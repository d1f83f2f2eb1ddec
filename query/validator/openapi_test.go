package validator

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
)

// TestMain fails a run of all tests in which some operation never gave a valid answer: its
// description would be unproved. A copy of the test binary is the engine: it runs no tests.
func TestMain(m *testing.M) {
	code := enginetest.Run(m)
	d, err := loadDocument()
	all := flag.Parsed() && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	if code == 0 && all && err == nil {
		// The lookups of the scan proxy are checked against the document in the tests of the scan interface.
		missing := slices.DeleteFunc(d.NeverSucceeded(), func(op string) bool { return strings.Contains(op, proxySegment) })
		if len(missing) > 0 {
			fmt.Println("no test has a valid answer of", strings.Join(missing, ", "))
			code = 1
		}
	}
	os.Exit(code)
}

func TestDocumentAndRoutesAgree(t *testing.T) {
	api, err := New(config(t, newMemory(), nil))
	if err != nil {
		t.Fatal(err)
	}
	document(t).CheckRoutes(t, api.Routes(), nil)
}

// full is a network in which every operation's example has something to say.
func full() *memory {
	m := newMemory()
	m.coin("00coin", alice, "5.0000000000", 6, false)
	m.coin("00locked", alice, "2.0000000000", 8, true)
	fillStatuses(m)
	fillLog(m)
	fillLists(m)
	return m
}

// userFor is who may use an operation.
func userFor(op *openapitest.Operation) string {
	switch op.Extensions["x-access"] {
	case "operator":
		return "admin"
	case "public":
		return ""
	}
	return "alice"
}

func offered(op *openapitest.Operation) bool { return op.Responses.Value("200") != nil }

// The example of each operation is understood, and has the same answer at each path and with an
// unknown member.
func TestExamplesAreUnderstood(t *testing.T) {
	s := serve(t, full(), nil)
	for _, op := range document(t).Operations {
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		user := userFor(op)
		first := s.as(user, op.Method, requests[0].Target, requests[0].Body)
		want := 200
		switch {
		case !offered(op) && strings.Contains(op.Path, proxySegment):
			want = 400 // choices of contracts that the coin never makes
		case !offered(op):
			want = 501
		case strings.Contains(op.Path, "/metadata/v1/instruments"):
			want = 404 // nobody has told the coin's name
		case strings.HasPrefix(op.Path, "/v0/admin/participant/"):
			want = 503 // nobody is asked
		case strings.Contains(op.Path, proxySegment):
			want = 503 // the scan of these tests has no history
		}
		if strings.HasSuffix(op.Path, "/holdings/summary") {
			want = 404 // nor a snapshot
		}
		if first.status != want {
			t.Errorf("%s: its example %s %s has the answer %d %s", op, requests[0].Target, requests[0].Body, first.status, first.body)
		}
		for _, r := range requests[1:] {
			if a := s.as(user, r.Method, r.Target, r.Body); a.status != first.status || !openapitest.SameAnswer(a.body, first.body) {
				t.Errorf("%s: the example %s has the answer %d %s, not %d %s", op, r.Name, a.status, a.body, first.status, first.body)
			}
		}
		shared := s.as(user, op.Method, "/api/validator"+requests[0].Target, requests[0].Body)
		if shared.status != first.status || shared.body != first.body {
			t.Errorf("%s: below /api/validator the answer is %d %s, not %d %s", op, shared.status, shared.body, first.status, first.body)
		}
		if op.Method == http.MethodGet {
			if a := s.as(user, http.MethodHead, requests[0].Target, ""); a.status != first.status {
				t.Errorf("%s: HEAD has the answer %d, GET %d", op, a.status, first.status)
			}
		}
	}
}

// Every parameter and member of every operation refuses what its schema excludes, with a text that
// names it, and nothing is done.
func TestWhatTheDocumentExcludesIsRefused(t *testing.T) {
	m := full()
	refusesWhatIsExcluded(t, serve(t, m, nil))
	if len(m.commands) > 0 {
		t.Errorf("refused requests have led to commands: %v", m.commands)
	}
}

func refusesWhatIsExcluded(t *testing.T, s *served) {
	t.Helper()
	count := 0
	for _, op := range document(t).Operations {
		if !offered(op) || strings.Contains(op.Path, proxySegment) {
			continue
		}
		requests, err := document(t).Refused(op)
		if err != nil {
			t.Fatal(err)
		}
		optional := op.RequestBody != nil && !op.RequestBody.Value.Required
		for _, r := range requests {
			if optional && (r.Body == "" || r.Body == "null") {
				continue
			}
			count++
			a := s.as(userFor(op), r.Method, r.Target, r.Body)
			if a.status != 400 || !r.Names(a.body) {
				t.Errorf("%s: %s = %d %s, want 400 and a text with %q", op, r.Name, a.status, a.body, r.Member)
			}
		}
	}
	if t.Logf("%d requests refused", count); count < 500 {
		t.Errorf("only %d requests", count)
	}
}
