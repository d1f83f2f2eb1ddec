package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	movements "github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const nodeStream = "node:somebody"

// private serves the stream of a node of whom alice and bob are parties.
type private struct {
	*testing.T
	db     *store.DB
	server *querytest.Server
	doc    *openapitest.Document
	end    int64
}

// users are by the token, which is their name here.
var users = map[string]auth.Rights{
	"auditor": {ReadAsAny: true},
	"alice":   {ReadAs: map[string]bool{"alice::1220": true}},
	"both":    {ActAs: map[string]bool{"alice::1220": true}, ReadAs: map[string]bool{"bob::1220": true}},
	"nobody":  {},
	"gone":    {Deactivated: true, ReadAsAny: true, ReadAs: map[string]bool{"alice::1220": true}},
}

func newPrivate(t *testing.T) *private {
	t.Helper()
	p := &private{T: t, db: storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))}
	source := tables.NewReader(p.db, nodeStream)
	api := New(Config{Private: true, Prefixes: []string{""}, TokenKey: []byte("a key of some length, for tests."), Open: Private(func(_ context.Context, r *query.Request) (*auth.Principal, Source, error) {
		rights, ok := users[r.Header("Authorization")]
		if !ok {
			return nil, nil, fmt.Errorf("%w: %q", auth.ErrUnauthenticated, r.Header("Authorization"))
		}
		return &auth.Principal{User: "somebody", Rights: rights}, source, nil
	})})
	p.server = querytest.Serve(t, query.Config{Mounts: []query.Mount{api.Mount()}})
	var err error
	if p.doc, err = document(); err != nil {
		t.Fatal(err)
	}
	return p
}

// write stores updates, of which the record times descend: each creates a contract of alice, one of bob and
// one of both, below an exercise that an outsider's contract saw with bob.
func (p *private) write(updates int64) {
	p.Helper()
	event := func(number int32, kind schemas.EventKind, id string, witnesses ...string) schemas.Event {
		e := schemas.Event{
			Node: number, Kind: kind, ContractID: id, TemplateID: "pkg:Mod:T", PackageName: "package", Argument: []byte(`{"owner":"` + witnesses[0] + `"}`),
			Local: &schemas.LocalEvent{Witnesses: witnesses, ACSDelta: true, LastDescendant: number, Extras: []byte(`{"createdEventBlob":"YQ=="}`)},
		}
		if kind == schemas.Created {
			e.Signatories, e.CreatedAt = witnesses, schematest.FirstTime
			return e
		}
		e.Choice, e.Result, e.ActingParties, e.Local.LastDescendant = "Do", []byte(`{}`), witnesses[:1], 3
		return e
	}
	b := &schemas.Batch{Stream: nodeStream, After: schemas.AtOffset(p.end), Through: schemas.AtOffset(p.end + updates)}
	if p.end == 0 {
		b.After = schemas.Start
	}
	for range updates {
		p.end++
		id := fmt.Sprintf("1220%064x", p.end)
		contract := func(n int64) string { return fmt.Sprintf("00%0136x", 10*p.end+n) }
		u := &schemas.Update{
			Kind: schemas.Transaction, SynchronizerID: "sync::1220", RecordTime: schematest.FirstTime + schemas.Micros(1000-p.end), UpdateID: id,
			Encoding: schemas.CompactJSON, EffectiveAt: schematest.FirstTime, RootEvents: []int32{0},
			Local: &schemas.LocalUpdate{Offset: p.end, CommandID: "secret", PaidTrafficCost: 7},
			Events: []schemas.Event{
				event(0, schemas.Exercised, contract(0), "bob::1220"), event(1, schemas.Created, contract(1), "alice::1220"),
				event(2, schemas.Created, contract(2), "bob::1220"), event(3, schemas.Created, contract(3), "alice::1220", "bob::1220"),
			},
		}
		for i := range u.Events {
			u.Events[i].EventID = schemas.EventID(id, u.Events[i].Node)
		}
		b.Items = append(b.Items, schemas.Item{Update: u})
	}
	if err := indexer.NewWriter(p.db, nodeStream, slog.New(slog.DiscardHandler)).Write(p.Context(), b); err != nil {
		p.Fatal(err)
	}
	if err := indexer.NewLifetimes(p.db, nodeStream, 0, slog.New(slog.DiscardHandler)).CatchUp(p.Context()); err != nil {
		p.Fatal(err)
	}
	if err := movements.NewMovements(p.db, nodeStream, values.Default(), 0, slog.New(slog.DiscardHandler)).CatchUp(p.Context()); err != nil {
		p.Fatal(err)
	}
}

// pay has alice pay bob: the updates of write move no coins.
func (p *private) pay() {
	p.Helper()
	block := store.NewMovements()
	for i, party := range []string{"alice::1220", "bob::1220", "alice::1220"} {
		block.Append(nodeStream, &store.Movement{Position: schemas.Position{UpdateID: fmt.Sprint(i), Offset: int64(i + 1)}, Instrument: "admin/Coin", Movement: coins.Movement{
			Party: party, Pocket: "unlocked", Amount: decimal.FromInt(1), Cause: coins.Transfer, Choice: "Secret", Source: "coins",
		}})
	}
	if err := p.db.Insert(p.Context(), "movements", "", block); err != nil {
		p.Fatal(err)
	}
}

// get asks as a user and holds the answer against the document.
func (p *private) get(user, path string, params ...string) (status int, body []byte) {
	p.Helper()
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Add(params[i], params[i+1])
	}
	request, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.server.URL+"/v0/analytics/private/"+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		p.Fatal(err)
	}
	request.Header.Set("Authorization", user)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		p.Fatal(err)
	}
	if err := p.doc.Check(request, nil, openapitest.Answer{Status: response.StatusCode, Header: response.Header, Body: body}); err != nil {
		p.Errorf("%s as %s: %v\n%.300s", path, user, err, body)
	}
	return response.StatusCode, body
}

type privateAnswer struct {
	Rows       []map[string]any
	Next       string `json:"next_page_token"`
	CompleteTo struct {
		Offset int64 `json:"offset"`
	} `json:"complete_to"`
}

func (p *private) rows(user, table string, params ...string) privateAnswer {
	p.Helper()
	status, body := p.get(user, "tables/"+table, params...)
	var a privateAnswer
	if err := json.Unmarshal(body, &a); err != nil || status != http.StatusOK {
		p.Fatalf("%s as %s: %d %v %.300s", table, user, status, err, body)
	}
	return a
}

// A reader of a node's stream gets the rows that their parties saw, with what these parties saw of them.
func TestPrivateTables(t *testing.T) {
	p := newPrivate(t)
	p.write(5)
	p.pay()
	for _, c := range []struct {
		user, table string
		want        int
	}{
		{"auditor", "updates", 5},
		{"auditor", "events", 20}, {"alice", "events", 10}, {"both", "events", 20},
		{"auditor", "contracts", 15}, {"alice", "contracts", 10}, {"both", "contracts", 15},
		{"auditor", "movements", 3}, {"alice", "movements", 2}, {"both", "movements", 3},
	} {
		a := p.rows(c.user, c.table, "limit", "1000")
		if len(a.Rows) != c.want || a.CompleteTo.Offset != p.end {
			t.Errorf("%s has %d rows of %s up to %d, not %d", c.user, len(a.Rows), c.table, a.CompleteTo.Offset, c.want)
		}
		for _, row := range a.Rows {
			_, told := row["witness_parties"]
			if c.table == "events" && told != (c.user == "auditor") {
				t.Errorf("%s gets witnesses: %v", c.user, told)
			}
			_, told = row["choice"]
			if _, other := row["counterparty"]; c.table == "movements" && (told != (c.user == "auditor") || other != told) {
				t.Errorf("%s gets choices: %v", c.user, told)
			}
			if c.user == "alice" && strings.Contains(fmt.Sprint(row["argument"]), "bob") {
				t.Errorf("alice sees %v", row)
			}
		}
	}
	_, body := p.get("alice", "tables")
	for _, hidden := range []string{"updates", "command_id", "witness_parties", "children", "extras"} {
		if strings.Contains(string(body), `"`+hidden+`"`) {
			t.Errorf("alice is told of %s: %s", hidden, body)
		}
	}
	mustHaveSucceeded(t, p.doc, true)
}

// What may not be read is not told by filters, and not by errors either.
func TestPrivateTablesAreRefused(t *testing.T) {
	p := newPrivate(t)
	p.write(1)
	for _, c := range []struct {
		user, path, param, value string
		status                   int
		want                     string
	}{
		{"stranger", "tables", "", "", 401, "no valid token"},
		{"stranger", "tables/events", "", "", 401, "no valid token"},
		{"nobody", "tables/events", "", "", 403, "may not read as any party"},
		{"gone", "tables/events", "", "", 403, "may not read as any party"},
		{"alice", "tables/updates", "", "", 404, "there are events, contracts, movements"},
		{"alice", "tables/verdicts", "", "", 404, "there are events, contracts, movements"},
		{"alice", "tables/events", "filter", `"bob::1220" in witness_parties`, 400, `no column "witness_parties"`},
		{"alice", "tables/events", "columns", "children", 400, `no column "children"`},
		{"alice", "tables/events", "filter", `stream == "scan"`, 400, `no column "stream"`},
	} {
		params := []string{c.param, c.value}
		if c.param == "" {
			params = nil
		}
		if status, body := p.get(c.user, c.path, params...); status != c.status || !strings.Contains(string(body), strings.ReplaceAll(c.want, `"`, `\"`)) {
			t.Errorf("%s as %s with %q: %d %s", c.path, c.user, c.value, status, body)
		}
	}
}

// Updates that arrive between pages, with record times before those of the first, are not among them.
func TestPrivatePagesAreOfOneOffset(t *testing.T) {
	p := newPrivate(t)
	p.write(5)
	for _, order := range []string{"asc", "desc"} {
		want := p.rows("alice", "events", "order", order, "limit", "1000", "columns", "update_id,node").Rows
		var got []map[string]any
		end := p.end
		for token := ""; ; {
			params := []string{"order", order, "limit", "3", "columns", "update_id,node"}
			if token != "" {
				params = append(params, "page_token", token)
			}
			page := p.rows("alice", "events", params...)
			if page.CompleteTo.Offset != end {
				t.Errorf("a page is complete to %d, the first one to %d", page.CompleteTo.Offset, end)
			}
			got = append(got, page.Rows...)
			if token = page.Next; token == "" {
				break
			}
			p.write(1)
		}
		if !slices.EqualFunc(got, want, func(a, b map[string]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Errorf("%s: pages have\n%v\nwant\n%v", order, got, want)
		}
	}
}
