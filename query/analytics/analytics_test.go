package analytics

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/ledgerlake/ledgerlake/indexer"
	derived "github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

var document = sync.OnceValues(func() (*openapitest.Document, error) { return openapitest.Load(openapi.Analytics, PublicPrefixes) })

// world serves a random history with migrations, reassignments and private updates.
type world struct {
	*testing.T
	items  []schemas.Item
	server *querytest.Server
	doc    *openapitest.Document
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	w := &world{T: t, items: schematest.New(schematest.Config{Seed: 11, Items: 100, Migrations: 2}).Items}
	writer := indexer.NewWriter(db, schemas.ScanStream, slog.New(slog.DiscardHandler))
	after := schemas.Start
	for items := w.items; len(items) > 0; {
		n := 1
		for n < min(60, len(items)) && items[n].Position().MigrationID == items[0].Position().MigrationID && (items[n].Position().RecordTime == schemas.MinMicros) == (items[0].Position().RecordTime == schemas.MinMicros) {
			n++
		}
		through := items[n-1].Position()
		if err := writer.Write(t.Context(), &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through, Items: items[:n]}); err != nil {
			t.Fatal(err)
		}
		after, items = through, items[n:]
	}
	if err := indexer.NewLifetimes(db, schemas.ScanStream, 0, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := derived.NewMovements(db, schemas.ScanStream, values.Default(), 0, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := derived.NewRollups(db, schemas.ScanStream, 0, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	api := New(Config{Open: Public(tables.NewReader(db, schemas.ScanStream)), Metrics: metrics.NewReader(db), Prefixes: PublicPrefixes, TokenKey: []byte("a key of some length, for tests.")})
	w.server = querytest.Serve(t, query.Config{Mounts: []query.Mount{api.Mount()}})
	var err error
	if w.doc, err = document(); err != nil {
		t.Fatal(err)
	}
	w.doc.CheckRoutes(t, append(api.Routes(), New(Config{Private: true}).Routes()...), nil)
	return w
}

// metricParameters are those of metrics.
var metricParameters = []string{"from", "to", "grain", "group_by"}

// get asks for a path with parameters and holds the answer against the document.
func (w *world) get(path string, params ...string) (int, []byte, http.Header) {
	w.Helper()
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Add(params[i], params[i+1])
	}
	address := w.server.URL + "/v0/analytics/" + path + "?" + values.Encode()
	response, err := http.Get(address)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	documented := *response.Request
	for name := range values { // of comparisons the document knows no names
		if !slices.Contains(append(metricParameters, reserved...), name) {
			values.Del(name)
		}
	}
	at := *documented.URL
	at.RawQuery, documented.URL = values.Encode(), &at
	if err := w.doc.Check(&documented, nil, openapitest.Answer{Status: response.StatusCode, Header: response.Header, Body: body}); err != nil {
		w.Errorf("%s: %v\n%.300s", address, err, body)
	}
	return response.StatusCode, body, response.Header
}

// answer is a page in JSON.
type answer struct {
	Rows       []map[string]any
	Next       string `json:"next_page_token"`
	CompleteTo struct {
		Migration  int64  `json:"migration_id"`
		RecordTime string `json:"record_time"`
	} `json:"complete_to"`
}

// all reads a table page by page.
func (w *world) all(table string, params ...string) (rows []map[string]any) {
	w.Helper()
	for token := ""; ; {
		with := params
		if token != "" {
			with = append(slices.Clip(params), "page_token", token)
		}
		status, body, _ := w.get("tables/"+table, with...)
		var page answer
		if err := json.Unmarshal(body, &page); err != nil || status != http.StatusOK {
			w.Fatalf("%s %q: %d %v %.300s", table, with, status, err, body)
		}
		rows = append(rows, page.Rows...)
		if token = page.Next; token == "" {
			return rows
		}
	}
}

// events are those of the history, as table events has them.
func (w *world) events() (list []schemas.Event, updates []*schemas.Update) {
	for _, it := range w.items {
		if u := it.Update; u != nil && u.RecordTime != schemas.MinMicros {
			for _, e := range u.Events {
				list, updates = append(list, e), append(updates, u)
			}
		}
	}
	return list, updates
}

func keyOf(u *schemas.Update, node int32) string {
	return fmt.Sprintf("%d %s %s %d", u.MigrationID, u.RecordTime, u.UpdateID, node)
}

func keyOfRow(row map[string]any) string {
	return fmt.Sprintf("%.0f %s %s %.0f", row["migration_id"], row["record_time"], row["update_id"], row["node"])
}

func TestTables(t *testing.T) {
	w := newWorld(t)
	t.Run("Described", func(t *testing.T) { w.T = t; w.described() })
	t.Run("Pages", func(t *testing.T) { w.T = t; w.pages() })
	t.Run("Filters", func(t *testing.T) { w.T = t; w.filters() })
	t.Run("Formats", func(t *testing.T) { w.T = t; w.formats() })
	t.Run("Contracts", func(t *testing.T) { w.T = t; w.contracts() })
	t.Run("Metrics", func(t *testing.T) { w.T = t; w.metrics() })
	t.Run("Documented", func(t *testing.T) { w.T = t; w.documented() })
	t.Run("Refused", func(t *testing.T) { w.T = t; w.refused() })
	mustHaveSucceeded(t, w.doc, false)
}

// mustHaveSucceeded reports operations of public history, or of private streams, without a valid answer.
func mustHaveSucceeded(t *testing.T, doc *openapitest.Document, private bool) {
	t.Helper()
	for _, operation := range doc.NeverSucceeded() {
		if strings.Contains(operation, "/private/") == private {
			t.Errorf("no test has a valid answer of %s", operation)
		}
	}
}

func (w *world) described() {
	_, body, _ := w.get("tables")
	var list struct{ Tables []tableAnswer }
	if err := json.Unmarshal(body, &list); err != nil || len(list.Tables) < 6 {
		w.Fatalf("%d tables, %v", len(list.Tables), err)
	}
	for _, table := range list.Tables {
		for _, key := range table.Order {
			if !slices.ContainsFunc(table.Columns, func(c columnAnswer) bool { return c.Name == key && len(c.Operators) > 0 }) {
				w.Errorf("%s is in the order of %s, which is no column that can be compared", table.Name, key)
			}
		}
		for _, c := range table.Columns {
			w.get("tables/"+table.Name, "columns", c.Name, "limit", "1")
		}
	}
}

// pages of any size hold every event once, in either direction.
func (w *world) pages() {
	events, updates := w.events()
	var want []string
	for i, e := range events {
		want = append(want, keyOf(updates[i], e.Node))
	}
	for _, limit := range []string{"1000", "57"} {
		for _, order := range []string{"asc", "desc"} {
			var got []string
			for _, row := range w.all("events", "limit", limit, "order", order, "columns", "update_id,node,record_time,migration_id") {
				got = append(got, keyOfRow(row))
			}
			if order == "desc" {
				slices.Reverse(got)
			}
			if !slices.Equal(got, want) {
				w.Errorf("%d events in pages of %s %s, want %d", len(got), limit, order, len(want))
			}
		}
	}
}

// filters give what the same condition gives in memory.
func (w *world) filters() {
	events, updates := w.events()
	party := ""
	for _, e := range events {
		if len(e.Signatories) > 0 {
			party = e.Signatories[0]
		}
	}
	middle := updates[len(updates)/2].RecordTime
	for name, f := range map[string]struct {
		params []string
		holds  func(e *schemas.Event, u *schemas.Update) bool
	}{
		"kind": {[]string{"kind", "created"}, func(e *schemas.Event, _ *schemas.Update) bool { return e.Kind == schemas.Created }},
		"comparison": {[]string{"record_time.ge", middle.String(), "node.in", "0,2"}, func(e *schemas.Event, u *schemas.Update) bool {
			return u.RecordTime >= middle && (e.Node == 0 || e.Node == 2)
		}},
		"expression": {[]string{"filter", fmt.Sprintf(`%q in signatories || consuming && record_time < timestamp(%q)`, party, middle)}, func(e *schemas.Event, u *schemas.Update) bool {
			return slices.Contains(e.Signatories, party) || e.Consuming && u.RecordTime < middle
		}},
		"lists": {[]string{"filter", `acting_parties.exists(p, p.contains("::")) && size(children) > 0`}, func(e *schemas.Event, _ *schemas.Update) bool {
			return len(e.Children) > 0 && slices.ContainsFunc(e.ActingParties, func(p string) bool { return strings.Contains(p, "::") })
		}},
		"both":    {[]string{"consuming", "true", "filter", `!(choice == "Archive")`}, func(e *schemas.Event, _ *schemas.Update) bool { return e.Consuming && e.Choice != "Archive" }},
		"nothing": {[]string{"filter", `template_id == null`}, func(*schemas.Event, *schemas.Update) bool { return false }},
		"payload": {[]string{"filter", `contract_id.startsWith("00")`}, func(e *schemas.Event, _ *schemas.Update) bool { return strings.HasPrefix(e.ContractID, "00") }},
	} {
		var want, got []string
		for i, e := range events {
			if f.holds(&e, updates[i]) {
				want = append(want, keyOf(updates[i], e.Node))
			}
		}
		for _, row := range w.all("events", append(f.params, "limit", "50")...) {
			got = append(got, keyOfRow(row))
		}
		if !slices.Equal(got, want) || (len(want) == 0) != (name == "nothing") {
			w.Errorf("%s: %d events, want %d", name, len(got), len(want))
		}
	}
}

// formats have the same rows in them.
func (w *world) formats() {
	rows := w.all("updates", "limit", "10000")
	_, text, header := w.get("tables/updates", "limit", "10000", "format", "csv")
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(records) != len(rows)+1 || header.Get("Ledger-Next-Page") != "" {
		w.Fatalf("%d lines for %d rows, %v", len(records), len(rows), err)
	}
	for i, row := range rows {
		for j, name := range records[0] {
			want := fmt.Sprint(row[name])
			if _, ok := row[name].([]any); ok {
				text, _ := json.Marshal(row[name])
				want = string(text)
			}
			if records[i+1][j] != want {
				w.Fatalf("row %d: %s is %q in CSV and %q in JSON", i, name, records[i+1][j], want)
			}
		}
	}
	_, stream, header := w.get("tables/updates", "limit", "20", "format", "arrow")
	if header.Get("Ledger-Next-Page") == "" {
		w.Error("no token for the next page of Arrow")
	}
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		w.Fatal(err)
	}
	defer r.Release()
	batch, err := r.Read()
	if err != nil || batch.NumRows() != 20 || int(batch.NumCols()) != len(records[0]) {
		w.Fatalf("%v", err)
	}
	for j, name := range records[0] {
		for i := range 20 {
			want := records[i+1][j]
			got := batch.Column(j).ValueStr(i)
			if strings.HasSuffix(name, "_time") || name == "effective_at" {
				got = strings.Replace(got, " ", "T", 1)
				want, got = strings.TrimRight(strings.TrimSuffix(want, "Z"), ".0"), strings.TrimRight(strings.TrimSuffix(got, "Z"), ".0")
			}
			if got != want {
				w.Fatalf("row %d: %s is %q in Arrow and %q in CSV", i, name, got, want)
			}
		}
	}
}

// contracts stand once, and argument is JSON. Those that end in the update that creates them were never
// active.
func (w *world) contracts() {
	created := map[string]bool{}
	for _, it := range w.items {
		if it.Update != nil {
			for _, e := range it.Update.Events {
				ends := func(other schemas.Event) bool { return other.Consuming && other.ContractID == e.ContractID }
				if e.Kind == schemas.Created && !slices.ContainsFunc(it.Update.Events, ends) {
					created[fmt.Sprint(it.Update.MigrationID, e.ContractID)] = true
				}
			}
		}
	}
	seen := map[string]bool{}
	rows := w.all("contracts", "limit", "30")
	for _, row := range rows {
		contract := fmt.Sprint(row["migration_id"], row["contract_id"])
		lifetime := fmt.Sprint(contract, row["created_time"]) // a reassigned contract has several
		if _, ok := row["argument"].(map[string]any); !ok || seen[lifetime] {
			w.Fatalf("contract %s twice, or with argument %v", lifetime, row["argument"])
		}
		seen[lifetime] = true
		delete(created, contract)
	}
	if len(created) > 0 {
		w.Errorf("%d contracts are missing", len(created))
	}
	if !slices.IsSortedFunc(rows, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(a["migration_id"].(float64), b["migration_id"].(float64)), cmp.Compare(a["created_at"].(string), b["created_at"].(string)))
	}) {
		w.Error("contracts do not stand in the order of their creation")
	}
}

func (w *world) refused() {
	_, body, _ := w.get("tables/updates", "limit", "1")
	var page answer
	if err := json.Unmarshal(body, &page); err != nil || page.Next == "" {
		w.Fatal(err)
	}
	for _, c := range []struct {
		status int
		want   string
		path   string
		params []string
	}{
		{404, "there are updates, events", "tables/nothing", nil},
		{400, `There is no column "templat"; the nearest is`, "tables/events", []string{"filter", `templat == "a"`}},
		{400, `There is no column "kinds"; the nearest is "kind"`, "tables/events", []string{"kinds", `created`}},
		{400, `the nearest is "node"`, "tables/events", []string{"columns", `nodes`}},
		{400, `is no integer`, "tables/events", []string{"node", `x`}},
		{400, `no operator "like"`, "tables/events", []string{"kind.like", `x`}},
		{400, `at character`, "tables/events", []string{"filter", `kind = "created"`}},
		{400, `page_token does not belong`, "tables/updates", []string{"page_token", page.Next, "order", "desc"}},
		{400, `page_token does not belong`, "tables/verdicts", []string{"page_token", page.Next}},
		{400, `page_token does not belong`, "tables/updates", []string{"page_token", "x"}},
		{400, `Exceeded limit maximum`, "tables/updates", []string{"limit", "10001"}},
		{400, `one of json, csv, arrow`, "tables/updates", []string{"format", "xml"}},
		{400, `one of asc, desc`, "tables/updates", []string{"order", "up"}},
	} {
		status, body, _ := w.get(c.path, c.params...)
		var refused struct{ Error string }
		if err := json.Unmarshal(body, &refused); err != nil || status != c.status || !strings.Contains(refused.Error, c.want) {
			w.Errorf("%s %q: %d %s, want %d %q", c.path, c.params, status, body, c.status, c.want)
		}
	}
}

var (
	documentedRequest  = regexp.MustCompile(`(?m)^curl -G \S+/v0/analytics/(tables/\S+)((?:\\\n|[^\n])*)`)
	documentedArgument = regexp.MustCompile(`(?:-d|--data-urlencode) (?:'([^']*)'|(\S+))`)
)

// documented runs the examples of the page about the interface.
func (w *world) documented() {
	page, err := os.ReadFile("../../docs/api-analytics.md")
	if err != nil {
		w.Fatal(err)
	}
	requests := documentedRequest.FindAllStringSubmatch(string(page), -1)
	if len(requests) < 2 {
		w.Fatalf("%d examples", len(requests))
	}
	for _, request := range requests {
		var params []string
		for _, argument := range documentedArgument.FindAllStringSubmatch(request[2], -1) {
			name, value, _ := strings.Cut(argument[1]+argument[2], "=")
			params = append(params, name, value)
		}
		if status, body, _ := w.get(request[1], params...); status != http.StatusOK || len(params) < 6 {
			w.Errorf("%s %q: %d %.300s", request[1], params, status, body)
		}
	}
}
