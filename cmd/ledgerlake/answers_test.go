package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// answerPaths are operations that give whole updates.
var answerPaths = []string{"/v2/updates", "/api/scan/v1/updates", "/v0/events"}

// TestAnswersEqualTheUpstreams pages through the same operations of a simulated network
// and of ledgerlake after it has ingested it. The two share no code that renders, and
// ledgerlake has stored protobuf_json only: compact_json goes through its catalogue. That
// lacks some templates of the network, until an operator's files describe them.
func TestAnswersEqualTheUpstreams(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	ours := h.served(t)
	for _, encoding := range []string{"protobuf_json", "compact_json"} {
		for _, path := range answerPaths {
			t.Run(path+" "+encoding, func(t *testing.T) {
				fallbacks := compareAnswers(t, ours, h, path, encoding)
				if encoding == "compact_json" && fallbacks == 0 {
					t.Error("no element is of a template in no catalogue; the fallback went untested")
				}
			})
		}
	}
	server := start(t, "serve", "--data", h.copied(t), "--listen", "127.0.0.1:0", "--catalog", "../../bench/catalog")
	ours = waitForURL(t, server)
	for _, path := range answerPaths {
		t.Run(path+" with an operator's catalogue", func(t *testing.T) {
			if fallbacks := compareAnswers(t, ours, h, path, "compact_json"); fallbacks != 0 {
				t.Errorf("%d elements have a fallback object, though all templates are described", fallbacks)
			}
		})
	}
}

// stop ends a process as a terminal does, and waits for it.
func stop(t *testing.T, l *ledgerlake) {
	t.Helper()
	if err := l.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(); err != nil {
		t.Fatalf("ended with %v\n%s", err, tail(l.stderr.String()))
	}
}

// compareAnswers compares all pages and returns how many elements have a fallback object.
func compareAnswers(t *testing.T, ours string, h *sharedHistory, path, encoding string) (fallbacks int) {
	t.Helper()
	want, got := h.upstreamPages(t, path, encoding), allPages(t, ours, path, encoding)
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d elements, the upstream has %d", len(got), len(want))
	}
	return compareElements(t, got, want, encoding)
}

// compareElements compares canonical elements. In compact_json, an element with a template
// that is in no catalogue must hold the fallback object; they are counted.
func compareElements(t *testing.T, got, want [][]byte, encoding string) (fallbacks int) {
	t.Helper()
	for i := range want {
		if bytes.Equal(got[i], want[i]) {
			continue
		}
		if encoding == "compact_json" && uncatalogued(want[i]) {
			if !bytes.Contains(got[i], []byte(`{"error":`)) {
				t.Fatalf("element %d differs without a fallback:\n got %s\nwant %s", i, got[i], want[i])
			}
			fallbacks++
			continue
		}
		t.Fatalf("element %d differs:\n got %s\nwant %s", i, got[i], want[i])
	}
	return fallbacks
}

// uncatalogued reports whether an element has a template that the built-in catalogue does
// not describe: those of the third-party app.
func uncatalogued(element []byte) bool {
	return bytes.Contains(element, []byte(`"package_name":"harbor-logistics"`))
}

// allPages returns all elements in canonical form.
func allPages(t *testing.T, base, path, encoding string) [][]byte {
	t.Helper()
	const size = 350
	var all [][]byte
	after := ""
	for {
		body := fmt.Sprintf(`{"page_size": %d, "daml_value_encoding": %q%s}`, size, encoding, after)
		page := post(t, base+path, body)
		elements := page["transactions"]
		if strings.HasSuffix(path, "/events") {
			elements = page["events"]
		}
		for _, raw := range elements {
			canonical, err := jsonscan.AppendCanonical(nil, raw)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, canonical)
		}
		if len(elements) < size {
			return all
		}
		migration, time := place(t, elements[len(elements)-1])
		after = fmt.Sprintf(`, "after": {"after_migration_id": %d, "after_record_time": %q}`, migration, time)
	}
}

// place reads the cursor of an element of any of the operations.
func place(t *testing.T, raw []byte) (int64, string) {
	t.Helper()
	type position struct {
		MigrationID *int64 `json:"migration_id"`
		RecordTime  string `json:"record_time"`
		Event       *struct {
			MigrationID int64 `json:"migration_id"`
		} `json:"event"`
	}
	e := parse[struct {
		position
		Update, Verdict *position
	}](t, raw)
	for _, p := range []*position{e.Update, e.Verdict, &e.position} {
		if p == nil {
			continue
		}
		if p.MigrationID != nil {
			return *p.MigrationID, p.RecordTime
		}
		return p.Event.MigrationID, p.RecordTime
	}
	return 0, ""
}

func post(t *testing.T, url, body string) map[string][]json.RawMessage {
	t.Helper()
	response, err := documented(t).Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s answered %d: %s", url, body, response.StatusCode, answer)
	}
	return parse[map[string][]json.RawMessage](t, answer)
}

var loadScanDocument = sync.OnceValues(func() (*openapitest.Document, error) {
	return openapitest.Load(openapi.Scan, scan.Prefixes[:])
})

// documented is a client that holds what it is sent, and answered, against the document of the scan interface.
func documented(t *testing.T) *http.Client {
	t.Helper()
	document, err := loadScanDocument()
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: document.Transport(t, http.DefaultTransport)}
}
