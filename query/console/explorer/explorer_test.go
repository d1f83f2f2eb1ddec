package explorer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	derived "github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	catalog "github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world serves the explorer of a random history, at whose end are updates that we know.
type world struct {
	*testing.T
	server   *querytest.Server
	explorer *Explorer
	writer   *indexer.Writer
	steps    []func(context.Context) error
	items    []schemas.Item
	last     schemas.Position
}

const (
	governance = "DSO::1220aa00000000000000000000000000000000000000000000000000000000000000"
	alice      = "alice::1220bb00000000000000000000000000000000000000000000000000000000000000"
	mallory    = "<script>alert(1)</script>::1220cc"
	coinID     = "aa:Splice.Amulet:Amulet"
)

var (
	firstCoin  = "00" + strings.Repeat("c1", 68)
	secondCoin = "00" + strings.Repeat("c2", 68)
	minted     = "1220" + strings.Repeat("d1", 32)
	merged     = "1220" + strings.Repeat("d2", 32)
	refused    = "1220" + strings.Repeat("d3", 32)
	busy       = "00" + strings.Repeat("c3", 68)
	poked      = "1220" + strings.Repeat("d4", 32)
)

// pokes is how many exercises there are on contract busy.
const pokes = 2*pageRows + 7

// newWorld also waits for everything that is derived.
func newWorld(t *testing.T) *world {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	log := slog.New(slog.DiscardHandler)
	w := &world{T: t, writer: indexer.NewWriter(db, schemas.ScanStream, log), last: schemas.Start}
	w.steps = []func(context.Context) error{
		indexer.NewLifetimes(db, schemas.ScanStream, 0, log).CatchUp,
		derived.NewMovements(db, schemas.ScanStream, catalog.Default(), 0, log).CatchUp,
		derived.NewRollups(db, schemas.ScanStream, 0, log).CatchUp,
	}
	items := schematest.New(schematest.Config{Seed: 3, Items: 70, Migrations: 2}).Items
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Position().MigrationID == items[0].Position().MigrationID && (items[n].Position().RecordTime == schemas.MinMicros) == (items[0].Position().RecordTime == schemas.MinMicros) {
			n++
		}
		w.write(items[:n])
		items = items[n:]
	}
	w.write(known(w.last.RecordTime))
	w.derive()
	reader := history.NewReader(db, schemas.ScanStream)
	w.explorer = New(Config{History: reader.WithSide(), Explore: explore.NewReader(db, reader), Metrics: metrics.NewReader(db), Labels: values.NewLabels(catalog.Default()), Scan: "/api/scan"})
	status := func(ctx context.Context) (page.Status, error) {
		at, err := reader.Watermark(ctx)
		return page.Status{Through: at.RecordTime, Migration: at.MigrationID}, err
	}
	pages, err := page.New(page.Config{Key: []byte("a key of some length, for tests."), Status: status, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	w.server = querytest.Serve(t, query.Config{Mounts: []query.Mount{{Prefixes: []string{""}, Routes: w.explorer.Routes(pages)}}, Errors: pages.Unrouted})
	return w
}

// write adds items to history.
func (w *world) write(items []schemas.Item) {
	w.Helper()
	through := items[len(items)-1].Position()
	if err := w.writer.Write(w.Context(), &schemas.Batch{Stream: schemas.ScanStream, After: w.last, Through: through, Items: items}); err != nil {
		w.Fatal(err)
	}
	w.items, w.last = append(w.items, items...), through
}

func (w *world) derive() {
	w.Helper()
	for _, step := range w.steps {
		if err := step(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
}

// known are a coin that is created, its merge into another one by a choice with markup in its argument, and a
// transaction that is refused.
func known(after schemas.Micros) []schemas.Item {
	coin := func(id string, node int32, contract string, at schemas.Micros, amount string) schemas.Event {
		return schemas.Event{
			EventID: schemas.EventID(id, node), Node: node, Kind: schemas.Created, ContractID: contract, TemplateID: coinID, PackageName: "splice-amulet", CreatedAt: at,
			Argument:    fmt.Appendf(nil, `{"amount":{"createdAt":{"number":"7"},"initialAmount":"%s","ratePerRound":{"rate":"0.0001902590"}},"dso":"%s","owner":"%s"}`, amount, governance, alice),
			Signatories: []string{governance, alice}, Observers: []string{},
		}
	}
	update := func(id string, at schemas.Micros, roots []int32, events ...schemas.Event) *schemas.Update {
		return &schemas.Update{
			Kind: schemas.Transaction, MigrationID: 1, SynchronizerID: "global::1220dd", RecordTime: at, UpdateID: id, Encoding: schemas.CompactJSON,
			WorkflowID: "<b>work</b>", EffectiveAt: at, RootEvents: roots, Events: events,
		}
	}
	first, second, third := after+60e6, after+120e6, after+180e6
	verdict := func(id string, at schemas.Micros, result string) *schemas.Verdict {
		return &schemas.Verdict{
			UpdateID: id, MigrationID: 1, SynchronizerID: "global::1220dd", RecordTime: at, FinalizationTime: at, SubmittingParties: []string{mallory}, SubmittingParticipantUID: "PAR::p::1220ee",
			Result: result, RoundNumber: -1, Views: fmt.Appendf(nil, `{"root_views":[0],"views":[{"view_id":0,"informees":["%s"],"confirming_parties":[{"parties":["%s"],"threshold":1}],"sub_views":[]}]}`, alice, governance),
		}
	}
	choose := schemas.Event{
		EventID: schemas.EventID(merged, 0), Node: 0, Kind: schemas.Exercised, ContractID: "00" + strings.Repeat("ab", 68), TemplateID: "bb:Some.App:Rules", PackageName: "some-app", Choice: "Merge",
		Argument: []byte(`{"memo":"<img src=x onerror=alert(2)>","url":"javascript:alert(3)"}`), Result: []byte(`{}`), ActingParties: []string{alice}, Children: []int32{1, 2},
	}
	archive := schemas.Event{
		EventID: schemas.EventID(merged, 1), Node: 1, Kind: schemas.Exercised, ContractID: firstCoin, TemplateID: coinID, PackageName: "splice-amulet", Choice: "Archive", Consuming: true,
		Argument: []byte(`{}`), Result: []byte(`{}`), ActingParties: []string{governance, alice}, Children: []int32{},
	}
	busily := []schemas.Event{coin(poked, 0, busy, first-1e6, "1.0000000000")}
	roots := []int32{0}
	for i := range int32(pokes) {
		busily = append(busily, schemas.Event{
			EventID: schemas.EventID(poked, i+1), Node: i + 1, Kind: schemas.Exercised, ContractID: busy, TemplateID: coinID, PackageName: "splice-amulet", Choice: "Poke",
			Argument: []byte(`{}`), Result: []byte(`{}`), ActingParties: []string{governance}, Children: []int32{},
		})
		roots = append(roots, i+1)
	}
	return []schemas.Item{
		{Update: update(poked, first-1e6, roots, busily...)},
		{Update: update(minted, first, []int32{0}, coin(minted, 0, firstCoin, first, "12.5000000000")), Verdict: verdict(minted, first, "VERDICT_RESULT_ACCEPTED")},
		{
			Update: update(merged, second, []int32{0}, choose, archive, coin(merged, 2, secondCoin, second, "12.4000000000")), Verdict: verdict(merged, second, "VERDICT_RESULT_ACCEPTED"),
			Traffic:     &schemas.TrafficSummary{TotalCost: 12345, Envelopes: []byte(`[{"traffic_cost":12345,"view_ids":[0]}]`)},
			AppActivity: &schemas.AppActivity{RoundNumber: 7, Records: fmt.Appendf(nil, `[{"party":"%s","weight":99}]`, alice)},
		},
		{Verdict: verdict(refused, third, "VERDICT_RESULT_REJECTED")},
	}
}

// client follows no redirects.
var client = &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// answer is one to a request.
type answer struct {
	status int
	body   string
	header http.Header
}

// get asks for a page. No page has markup of what the ledger carries.
func (w *world) get(path string) answer {
	w.Helper()
	response, err := client.Get(w.server.URL + path)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	for _, markup := range []string{"<script>", "<img", "<b>work", `href="javascript:`} {
		if strings.Contains(string(body), markup) {
			w.Errorf("%s has %s of the ledger as markup", path, markup)
		}
	}
	return answer{response.StatusCode, string(body), response.Header}
}

// page asks for a page that is there, and compares what it shows.
func (w *world) page(path string, want ...string) string {
	w.Helper()
	a := w.get(path)
	if a.status != 200 || strings.Count(a.body, "<h1>") != 1 {
		w.Fatalf("%s: %d %.500s", path, a.status, a.body)
	}
	for _, text := range want {
		if !strings.Contains(a.body, text) {
			w.Errorf("%s lacks %s", path, text)
		}
	}
	return a.body
}

func TestExplorer(t *testing.T) {
	w := newWorld(t)
	w.updatePages()
	w.updateLists()
	w.contractPages()
	w.searches()
	w.oddInput()
}

func (w *world) updatePages() {
	w.Helper()
	body := w.page("/update/"+merged, "<strong>Merge</strong>", ">Rules</a>", "ends it", `href="/contract/`+firstCoin+`"`, `href="/contract/`+secondCoin+`"`, `href="/party/`+alice+`"`,
		"&lt;img src=x onerror=alert(2)&gt;", "javascript:alert(3)", "&lt;b&gt;work&lt;/b&gt;", `<span class="tag good">accepted</span>`, "12,345 bytes",
		`href="/api/scan/v2/updates/`+merged+`"`, `href="/update/`+minted+`">Previous</a>`, `<dt>initialAmount</dt>`, "12.4", "Counted in round 7", ">99<", "1 of ")
	if !strings.Contains(body, "&lt;script&gt;alert(1)") {
		w.Error("the submitting party is not shown")
	}
	w.page("/update/"+minted, `href="/update/`+merged+`">Next</a>`, "12.5")
	w.page("/update/"+refused, "Verdict without a public update", `<span class="tag bad">rejected</span>`, "Public history has no content")
	kinds := map[schemas.UpdateKind]bool{}
	for i := range w.items {
		if u := w.items[i].Update; u != nil && !u.IsImport() && !kinds[u.Kind] {
			kinds[u.Kind] = true
			w.page("/update/"+u.UpdateID, "<dd>"+string(u.Kind)+"</dd>")
			if u.Kind != schemas.Transaction {
				w.page("/update/"+u.UpdateID, "From synchronizer", `href="/contract/`+u.Reassignment.ContractID+`"`)
			}
		}
	}
	if len(kinds) != 3 {
		w.Errorf("history has updates of %d kinds", len(kinds))
	}
}

var updateLink = regexp.MustCompile(`<td>\s*<span class="id"><a href="/update/([0-9a-f]+)`)

// updateLists goes through all updates, there and back.
func (w *world) updateLists() {
	w.Helper()
	var want []string
	for i := range w.items {
		if u := w.items[i].Update; u != nil && !u.IsImport() {
			want = append(want, u.UpdateID)
		}
	}
	slices.Reverse(want)
	for _, way := range []struct{ start, rel string }{{"/updates", "next"}, {"/updates?after=-1.-62135596800000000.", "prev"}} {
		link := regexp.MustCompile(`rel="` + way.rel + `" href="([^"]*)"`)
		var got []string
		for path, pages := way.start, 0; path != ""; pages++ {
			body := w.page(path)
			var ids []string
			for _, match := range updateLink.FindAllStringSubmatch(body, -1) {
				ids = append(ids, match[1])
			}
			if way.rel == "next" {
				got = append(got, ids...)
			} else {
				got = append(slices.Clone(ids), got...)
			}
			path = ""
			if next := link.FindStringSubmatch(body); next != nil && pages < 20 {
				path = strings.ReplaceAll(next[1], "&amp;", "&")
			}
		}
		if !slices.Equal(got, want) {
			w.Errorf("the list of updates by %s has %d, want %d", way.rel, len(got), len(want))
		}
	}
	w.page("/updates", "Merge on Rules", "creates Amulet", `title="`+alice+`">alice</a>`)
	for path, want := range map[string][]string{
		"/updates?party=" + alice: {merged, minted, poked}, "/updates?choice=Merge": {merged}, "/updates?template=some-app:Some.App:Rules": {merged}, "/updates?template=Rules&kind=assignment": nil,
		"/updates?kind=rejected&from=" + (w.last.RecordTime - 1).Time().Format("2006-01-02T15:04:05"):          {refused},
		"/updates?party=" + alice + "&at=" + (w.last.RecordTime - 100e6).Time().Format("2006-01-02T15:04:05Z"): {minted, poked},
	} {
		var got []string
		for _, match := range updateLink.FindAllStringSubmatch(w.page(path), -1) {
			got = append(got, match[1])
		}
		if !slices.Equal(got, want) {
			w.Errorf("%s lists %q, want %q", path, got, want)
		}
	}
}

func (w *world) contractPages() {
	w.Helper()
	w.page("/contract/"+firstCoin, `<span class="tag bad">ended</span>`, "Amount at its creation", "12.5", `href="/party/`+alice+`"`, `href="/contract/`+secondCoin+`"`, "ends it", "Merge", `href="/update/`+merged+`"`, `href="/update/`+minted+`"`, "a command itself", "/api/scan/v0/contracts/")
	w.page("/contract/"+secondCoin, `<span class="tag good">active</span>`, `href="/contract/`+firstCoin+`"`, "Consumed for it")
	time := (w.last.RecordTime - 100e6).Time().Format("2006-01-02T15:04:05Z")
	w.page("/contract/"+firstCoin+"?at="+time, `<span class="tag good">active</span>`, "State then", "at="+time[:10])
	w.page("/contract/"+secondCoin+"?at="+time, `<span class="tag warn">not created yet</span>`)
	seen := map[string]bool{}
	for i := range w.items {
		u := w.items[i].Update
		if u == nil || u.Kind != schemas.Unassignment && !u.IsImport() {
			continue
		}
		kind, id := string(u.Kind), ""
		if u.IsImport() {
			kind, id = "carried over", u.UpdateID
		} else {
			id = u.Reassignment.ContractID
		}
		if !seen[kind] {
			seen[kind] = true
			w.page("/contract/"+id, map[bool]string{true: "carried over", false: "unassigned"}[u.IsImport()])
		}
	}
	if len(seen) != 2 {
		w.Errorf("history has only %v", seen)
	}
	if a := w.get("/update/" + w.imported()); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/contract/") {
		w.Errorf("an import update: %d %v", a.status, a.header)
	}
	w.busyContract()
}

// imported is the id of an import update that has the form of a contract's.
func (w *world) imported() string {
	for i := range w.items {
		if u := w.items[i].Update; u != nil && u.IsImport() && values.IsContract(u.UpdateID) {
			return u.UpdateID
		}
	}
	w.Fatal("history has no imports")
	return ""
}

// busyContract goes through the history of a contract with many exercises.
func (w *world) busyContract() {
	w.Helper()
	seen := 0
	for path := "/contract/" + busy; path != ""; {
		body := w.page(path)
		seen += strings.Count(body, "<strong>Poke</strong>")
		path = ""
		if next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(body); next != nil {
			path = next[1]
		}
	}
	if seen != pokes {
		w.Errorf("the contract has %d exercises, want %d", seen, pokes)
	}
}

// searches lead to a page, or list what is similar, or say politely that there is nothing.
func (w *world) searches() {
	w.Helper()
	for text, want := range map[string]string{
		merged: "/update/" + merged, strings.ToUpper(refused): "/update/" + refused, firstCoin: "/contract/" + firstCoin, " " + alice + " ": "/party/" + alice,
	} {
		if a := w.get("/search?q=" + url.QueryEscape(text)); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), want) {
			w.Errorf("%q: %d %s, want %s", text, a.status, a.header.Get("Location"), want)
		}
	}
	for text, want := range map[string][]string{
		merged[:12]: {"<h2>Updates</h2>", merged}, refused[:12]: {refused, "private"}, firstCoin[:12]: {"<h2>Contracts</h2>", firstCoin}, "party2": {"<h2>Parties</h2>", "party2::1220"}, "AMULET": {"<h2>Templates</h2>", "splice-amulet:Splice.Amulet:Amulet"},
		"<script>alert(1)</script>": {"&lt;script&gt;", "Nothing has the id"}, strings.Repeat("y", 10_000): {"too long"}, "": {"Type an id"}, "%'; DROP TABLE": {"Nothing has the id"}, "99999999": {"Nothing has the id"}, "dead0beef0dead0beef0": {"Nothing has the id"},
	} {
		w.page("/search?q="+url.QueryEscape(text), want...)
	}
}

func (w *world) oddInput() {
	w.Helper()
	long := strings.Repeat("x", 5000)
	for path, want := range map[string]int{
		"/update/nothing": 404, "/update/" + long: 404, "/update/%3Cscript%3E": 404, "/updates?party=" + long: 400, "/updates?kind=odd": 400, "/updates?migration=-1": 400,
		"/updates?from=yesterday": 400, "/updates?before=1.x.y": 400, "/updates?before=1.2.3&after=1.2.3": 400, "/updates?at=%3Cscript%3E": 400, "/updates?party=%3Cscript%3E": 200,
		"/updates?template='%20OR%201": 200, "/updates?choice=%00": 200, "/contract/nothing": 404, "/contract/" + long: 404, "/contract/" + firstCoin + "?after=x": 400, "/contract/" + firstCoin + "?after=1.1.9999999.z": 200, "/updates?at=1900-01-01": 200, "/updates?at=2200-01-01": 200,
	} {
		if a := w.get(path); a.status != want || !strings.Contains(a.body, "<h1>") {
			w.Errorf("%.80s: %d, want %d: %.200s", path, a.status, want, a.body)
		}
	}
}
