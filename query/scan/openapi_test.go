package scan

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
)

var loadDocument = sync.OnceValues(func() (*openapitest.Document, error) {
	return openapitest.Load(openapi.Scan, Prefixes[:])
})

var loadNetworkDocument = sync.OnceValues(func() (*openapitest.Document, error) {
	text, err := openapi.NetworkSpelling(openapi.Scan)
	if err != nil {
		return nil, err
	}
	return openapitest.Load(text, Prefixes[:])
})

// document is the description of the interface, which every answer in these tests is
// held against.
func document(t testing.TB) *openapitest.Document {
	t.Helper()
	return documentIn(t, query.Neutral)
}

// documentIn is document in a spelling.
func documentIn(t testing.TB, naming query.Naming) *openapitest.Document {
	t.Helper()
	load := loadDocument
	if naming == query.Network {
		load = loadNetworkDocument
	}
	d, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMain fails a run of all tests in which some operation never gave a valid answer: its
// description would be unproved.
func TestMain(m *testing.M) {
	flag.Parse()
	code := enginetest.Run(m)
	d, err := loadDocument()
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == ""
	if code == 0 && all && err == nil {
		if missing := d.NeverSucceeded(append(notServed, neverSucceed...)...); len(missing) > 0 {
			fmt.Println("no test has a valid answer of", strings.Join(missing, ", "))
			code = 1
		}
	}
	os.Exit(code)
}

// neverSucceed are the operations that refuse everything.
var neverSucceed = []string{
	"POST /v0/state/acs/force", "POST /registry/allocation-instruction/v2/{allocation_instruction_id}/choice-contexts/accept",
	"POST /registry/allocation-instruction/v2/{allocation_instruction_id}/choice-contexts/withdraw",
}

// notServed are the operations of the document without a route so far.
var notServed = []string{}

// Every route is documented and, but for notServed, every operation has a route.
func TestDocumentAndRoutesAgree(t *testing.T) {
	api, err := New(Config{Source: world(), Health: &health{}, Log: quiet(t), TokenKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	document(t).CheckRoutes(t, api.Routes(), notServed)
}

// servedOperations are those of the document that have a route.
func servedOperations(t *testing.T) []*openapitest.Operation {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(document(t).Operations), func(op *openapitest.Operation) bool {
		return slices.Contains(notServed, op.String())
	})
}

// The example of each operation is understood, and has the same answer but for its spelling at each path, with
// each name, and for GET as for HEAD.
func TestExamplesAreUnderstood(t *testing.T) {
	still := time.Now()
	s := serve(t, world(), func(c *Config) { c.Now = func() time.Time { return still } })
	library(s)
	for _, op := range servedOperations(t) {
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		first := s.do(op.Method, requests[0].Target, requests[0].Body)
		if first.status != 200 && first.status != 404 && !slices.Contains(neverSucceed, op.String()) && op.OperationID != "exportActiveContracts" {
			t.Errorf("%s: its example %s %s has the answer %d %s", op, requests[0].Target, requests[0].Body, first.status, first.body)
		}
		for _, r := range requests[1:] {
			if a := s.do(r.Method, r.Target, r.Body); a.status != first.status || !openapitest.SameAnswer(a.body, first.body) {
				t.Errorf("%s: the example %s has the answer %d %s, not %d %s", op, r.Name, a.status, a.body, first.status, first.body)
			}
		}
		if op.Method == http.MethodGet {
			a := s.do(http.MethodHead, requests[0].Target, "")
			if a.status != first.status || a.header.Get("Content-Type") != first.header.Get("Content-Type") || a.header.Get("ETag") != first.header.Get("ETag") {
				t.Errorf("%s: HEAD has the answer %d %v, GET %d %v", op, a.status, a.header, first.status, first.header)
			}
		}
	}
}

// Every path with a parameter refuses one that is not well encoded.
func TestMalformedEscapesAreRefused(t *testing.T) {
	s := serve(t, world())
	for _, op := range servedOperations(t) {
		before, after, ok := strings.Cut(op.Path, "{")
		if !ok {
			continue
		}
		_, after, _ = strings.Cut(after, "}")
		target := before + "%zz" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(after, "x")
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", op.Method, target); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400") || !strings.Contains(string(text), `{"error":"`) {
			t.Errorf("%s %s: answer %s, %v", op.Method, target, text, err)
		}
	}
}

// Every parameter and member of every operation refuses what its schema excludes, with a
// text that names it.
func TestWhatTheDocumentExcludesIsRefused(t *testing.T) {
	s := serve(t, world())
	library(s)
	count := 0
	for _, op := range servedOperations(t) {
		requests, err := document(t).Refused(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			count++
			a := s.do(r.Method, r.Target, r.Body)
			if a.status != 400 || !r.Names(a.body) {
				t.Errorf("%s: %s = %d %s, want 400 and a text with %q", op, r.Name, a.status, a.body, r.Member)
			}
		}
	}
	t.Logf("%d requests refused", count)
}

// repeated is an endless text.
type repeated struct{ text string }

func (r repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], r.text)
	}
	return n, nil
}

// Bodies of 100 MB are refused by every operation, whether they announce their length or
// not, without being taken in.
func TestHugeBodiesAreRefused(t *testing.T) {
	const size = 100 << 20
	s := serve(t, world())
	client := &http.Client{Transport: document(t).Transport(t, &http.Transport{DisableKeepAlives: true})}
	for _, op := range servedOperations(t) {
		if op.Method != http.MethodPost {
			continue
		}
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int64{size, -1} {
			r, err := http.NewRequest(op.Method, s.url+requests[0].Target, io.LimitReader(repeated{`{"a":[["`}, size))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			response, err := client.Do(r)
			if err != nil {
				t.Errorf("%s with %d bytes: %v", op, length, err)
				continue
			}
			response.Body.Close()
			runtime.ReadMemStats(&after)
			if response.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("%s with a body of 100 MB = %d", op, response.StatusCode)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
				t.Errorf("%s with a body of 100 MB allocates %d bytes", op, allocated)
			}
		}
	}
}
