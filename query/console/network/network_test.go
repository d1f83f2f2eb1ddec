package network

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is the pages over a store in which texts of some contracts are markup.
type world struct {
	*consoletest.Site
	store  *consoletest.Store
	reader *network.Reader
	now    network.Instant
}

func TestNetwork(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 1500, Seed: 3, Days: 4})
	w := &world{store: s, reader: network.NewReader(s.DB, history.NewReader(s.DB, schemas.ScanStream), values.Default())}
	w.addEvil(t)
	pages := New(Config{Network: w.reader, Accounts: accounts.NewReader(s.DB, schemas.ScanStream), Metrics: metrics.NewReader(s.DB)})
	w.Site = consoletest.Serve(t, s, pages.Routes)
	var err error
	if w.now, _, err = w.reader.Instant(t.Context(), schemas.MaxMicros); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(){
		"Rounds": w.rounds, "Rewards": w.rewards, "Members": w.members, "Names": w.names, "Governance": w.governance, "Refusals": w.refusals, "Times": w.times,
	} {
		t.Run(name, func(t *testing.T) { w.T = t; test() })
	}
}

const (
	script = "<script>alert(1)</script>"
	image  = "<img src=x onerror=alert(1)>"
)

// addEvil adds contracts whose texts are markup and addresses of scripts: a name, a licence and an open request.
func (w *world) addEvil(t *testing.T) {
	const live = "INSERT INTO contracts_live SELECT * REPLACE (concat('00ee', contract_id) AS contract_id, toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS archived_at, " +
		"replaceAll(argument_scalars, {old:String}, {new:String}) AS argument_scalars) FROM (SELECT * FROM TABLE WHERE stream = 'scan' AND migration_id = (SELECT max(migration_id) FROM updates) " +
		"AND template LIKE {template:String} AND position(argument_scalars, {old:String}) > 0 LIMIT 1)"
	for _, c := range []struct{ table, template, old, new string }{
		{"contracts_live", "%:AnsEntry", "https", script + "javascript:"},
		{"contracts_live", "%:ValidatorLicense", "ops@", image},
		{"contracts_archived", "%:VoteRequest", "Proposal", script + image},
	} {
		statement := strings.ReplaceAll(live, "TABLE", c.table)
		params := store.Params{"old": store.Text(c.old), "new": store.Text(c.new), "template": store.Text(c.template)}
		if err := w.store.DB.Exec(t.Context(), statement, "", params); err != nil {
			t.Fatal(err)
		}
	}
}

// safe holds that a page shows a markup as text.
func (w *world) safe(path, body string, markup ...string) {
	w.Helper()
	for _, m := range []string{script, image, `href="javascript:`, `href="https://`, `href="http://`} {
		if _, main, _ := strings.Cut(body, "<main"); strings.Contains(main, m) {
			w.Errorf("%s has %s", path, m)
		}
	}
	for _, m := range markup {
		w.Has(path, body, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(m))
	}
}

var (
	next = regexp.MustCompile(`rel="next" href="([^"]+)"`)
	line = regexp.MustCompile(`<tr>`)
)

// walk follows the links to older rows, and returns all pages.
func (w *world) walk(path string) (bodies string, rows int) {
	w.Helper()
	for n := 0; ; n++ {
		_, body, _ := strings.Cut(w.Page(http.StatusOK, path), "<main")
		bodies += body
		rows += len(line.FindAllString(body, -1)) - 1
		link := next.FindStringSubmatch(body)
		if link == nil {
			return bodies, rows
		}
		if path = strings.ReplaceAll(link[1], "&amp;", "&"); n > 50 {
			w.Fatalf("%s never ends", path)
		}
	}
}

func (w *world) rounds() {
	active, err := w.reader.Rounds(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	newest := active[len(active)-1]
	body := w.Page(http.StatusOK, "/rounds")
	w.Has("/rounds", body, fmt.Sprintf(`href="/round/%d"`, newest.Number), page.Grouped(newest.Price), ">open<", ">issuing<", `data-chart="/rounds/price.json"`)
	bodies, _ := w.walk("/rounds")
	for n := range newest.Number {
		if !strings.Contains(bodies, fmt.Sprintf(`href="/round/%d"`, n)) {
			w.Errorf("round %d is in no list", n)
		}
	}
	var chart chartAnswer
	if err := json.Unmarshal([]byte(w.Page(http.StatusOK, "/rounds/price.json")), &chart); err != nil {
		w.Fatal(err)
	}
	if n := len(chart.Times); n < 10 || !chart.Round || chart.Times[n-1] != newest.Number || chart.Series[0].Values[n-1] != newest.Price || !slices.IsSorted(chart.Times) {
		w.Errorf("the chart is %+v", chart)
	}
	w.sums(newest.Number / 2)
}

// sums compares what a round's page says that was minted and burnt with its movements.
func (w *world) sums(number int64) {
	body := w.Page(http.StatusOK, fmt.Sprintf("/round/%d", number))
	w.Has("a round", body, fmt.Sprintf("<h1>Round %d</h1>", number), ">open<", ">closed<", ">summarizing<", "Featured app", fmt.Sprintf(`href="/round/%d"`, number-1))
	rows, err := store.SelectAll(w.Context(), w.store.DB, "SELECT class, sum(amount) AS amount FROM movements WHERE stream = 'scan' AND round = {round:Int64} AND cause IN ('mint', 'burn') GROUP BY class", store.Params{"round": store.Int(number)}, store.NewRecords[struct {
		Class  string          `column:"class,low"`
		Amount decimal.Decimal `column:"amount"`
	}]())
	if err != nil || len(rows) < 2 {
		w.Fatal(rows, err)
	}
	for _, row := range rows {
		amount := row.Amount
		if amount.Sign() < 0 {
			amount = amount.Neg()
		}
		w.Has("the sums of a round", body, "<dt>"+words(row.Class)+"</dt>", `title="`+amount.String()+`"`)
	}
}

func (w *world) rewards() {
	body := w.Page(http.StatusOK, "/rewards?days=30")
	w.Has("/rewards", body, `data-chart="/analytics/series/minted?`, "validator liveness", "App providers", "Validators", "Operators", "so far")
	all, err := accounts.NewReader(w.store.DB, schemas.ScanStream).TopMinters(w.Context(), []string{"app"}, 0, w.now.At, 1)
	if err != nil || len(all) == 0 {
		w.Fatal(all, err)
	}
	w.Has("the ranks of 30 days", body, page.Grouped(all[0].Amount.Short()))
	if one := w.Page(http.StatusOK, "/rewards?days=1"); strings.Contains(one, page.Grouped(all[0].Amount.Short())) {
		w.Error("the ranks of a day are those of 30")
	}
}

func (w *world) members() {
	bodies, rows := w.walk("/validators")
	licenses, err := w.reader.Licenses(w.Context(), w.now, network.Newest, 1000)
	if err != nil || rows != len(licenses) || rows == 0 {
		w.Errorf("there are %d licences in lists, want %d: %v", rows, len(licenses), err)
	}
	w.safe("/validators", bodies, image)
	for _, l := range licenses {
		w.Has("/validators", bodies, `href="`+page.PartyPath(l.Validator), `href="`+page.PartyPath(l.Sponsor))
	}
	body := w.Page(http.StatusOK, "/traffic")
	list, err := w.reader.Traffic(w.Context(), w.now, "", network.Newest, 1)
	if err != nil {
		w.Fatal(err)
	}
	used, err := w.reader.Used(w.Context(), w.now, []string{list[0].Member})
	if err != nil {
		w.Fatal(err)
	}
	w.Has("/traffic", body, page.Grouped(list[0].Bought), page.Grouped(fmt.Sprint(used[list[0].Member].Bytes)))
	w.Has("/traffic of nobody", w.Page(http.StatusOK, "/traffic?member="+url.QueryEscape(script)), "No member has bought", "&lt;script&gt;")
}

func (w *world) names() {
	bodies, rows := w.walk("/names?prefix=name-")
	all, err := w.reader.Names(w.Context(), w.now, "", network.Newest, 1000)
	if err != nil || rows != len(all) {
		w.Errorf("there are %d names in lists, want %d: %v", rows, len(all), err)
	}
	w.safe("/names", bodies, script)
	for _, n := range all {
		body := w.Page(http.StatusOK, namePath(n.Name))
		w.Has(n.Name, body, "<h1>"+n.Name+"</h1>", `href="`+page.PartyPath(n.Owner))
		w.safe(n.Name, body)
	}
	if body := w.Page(http.StatusOK, "/names?prefix=%25"); !strings.Contains(body, "Nobody has such a name") {
		w.Error("a prefix is a pattern")
	}
}

func (w *world) governance() {
	body := w.Page(http.StatusOK, "/governance")
	rules, err := w.reader.Rules(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	w.Has("/governance", body, fmt.Sprintf("%d of %d operators", rules.Threshold, len(rules.Operators)), page.Grouped(fmt.Sprint(rules.Operators[0].Weight)), "Votes on the price")
	w.safe("/governance", body, script+image)
	bodies, _ := w.walk("/governance")
	results, _, err := w.reader.Results(w.Context(), w.now, schemas.Position{MigrationID: 1 << 40}, 1000)
	if err != nil || len(results) == 0 {
		w.Fatal(results, err)
	}
	for _, r := range results {
		w.Has("/governance", bodies, actionText(r.Action), `href="`+page.UpdatePath(r.Update.UpdateID)+`"`, r.Reason)
	}
}

func (w *world) refusals() {
	for path, want := range map[string]int{
		"/round/x": http.StatusNotFound, "/round/-1": http.StatusNotFound, "/round/123456789": http.StatusNotFound, "/round/99999999999999999999": http.StatusNotFound,
		"/round/" + url.PathEscape(script): http.StatusNotFound, "/name/nothing": http.StatusNotFound, "/name/" + url.PathEscape(script): http.StatusNotFound,
		"/name/" + strings.Repeat("n", 5000): http.StatusNotFound, "/rounds?before=x": http.StatusBadRequest, "/names?before=" + url.QueryEscape(script): http.StatusBadRequest,
		"/names?prefix=" + strings.Repeat("n", 5000): http.StatusBadRequest, "/validators?before=1": http.StatusBadRequest, "/traffic?before=.": http.StatusBadRequest,
		"/traffic?member=" + strings.Repeat("n", 5000): http.StatusBadRequest, "/governance?before=1.2": http.StatusBadRequest, "/governance?before=-1.2.3.": http.StatusBadRequest,
		"/rewards?days=2": http.StatusBadRequest, "/rounds?at=never": http.StatusBadRequest,
	} {
		answer, body := w.Fetch(path)
		if answer.StatusCode != want || strings.Contains(body, script) {
			w.Errorf("%.100s: status %d, want %d: %.500s", path, answer.StatusCode, want, consoletest.Text(body))
		}
	}
}

// times are those before history, in it and after its end.
func (w *world) times() {
	for _, path := range []string{"/rounds", "/rewards", "/validators", "/traffic", "/names", "/governance"} {
		if before := w.Page(http.StatusOK, path+"?at=1999-01-01"); !strings.Contains(before, `class="nothing"`) || len(line.FindAllString(before, -1)) > 0 {
			w.Errorf("before history %s has %s", path, consoletest.Text(before))
		}
		if after := w.Page(http.StatusOK, path+"?at=2999-01-01"); len(line.FindAllString(after, -1)) < 2 {
			w.Errorf("after its end %s has %s", path, consoletest.Text(after))
		}
	}
	opened, err := w.reader.Opened(w.Context(), w.now, schemas.MaxMicros, 10)
	if err != nil {
		w.Fatal(err)
	}
	then := opened[5]
	at := "?at=" + url.QueryEscape((then.Contract.Event.CreatedAt + 1e6).String())
	body := w.Page(http.StatusOK, "/rounds"+at)
	w.Has("/rounds of the past", body, fmt.Sprintf("/round/%d?at=", then.Number), "Show the present")
	if strings.Contains(body, fmt.Sprintf("/round/%d?at=", opened[0].Number)) {
		w.Error("/rounds of the past has a round of the future")
	}
	w.Has("a round of the past", w.Page(http.StatusOK, fmt.Sprintf("/round/%d%s", then.Number, at)), ">active<")
	if answer, _ := w.Fetch(fmt.Sprintf("/round/%d%s", opened[0].Number, at)); answer.StatusCode != http.StatusNotFound {
		w.Errorf("a round of the future has status %d", answer.StatusCode)
	}
}
