package parties

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/inventory"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is the pages over a store, with the movements of its busiest party.
type world struct {
	*consoletest.Site
	store *consoletest.Store
	party string
	all   []store.Movement
}

// evil is what a ledger may carry anywhere.
const evil = `<script>alert(1)</script>"'&=`

func TestParties(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 900, Seed: 6, Days: 3})
	reader := history.NewReader(s.DB, schemas.ScanStream)
	pages := New(Config{
		Accounts: accounts.NewReader(s.DB, schemas.ScanStream), Network: network.NewReader(s.DB, reader, values.Default()),
		Explore: explore.NewReader(s.DB, reader), Inventory: inventory.NewReader(s.DB, schemas.ScanStream), Tables: tables.NewReader(s.DB, schemas.ScanStream),
	})
	w := &world{store: s}
	w.busiest(t)
	w.addEvil(t)
	w.Site = consoletest.Serve(t, s, pages.Routes)
	for name, test := range map[string]func(){
		"Overview": w.overview, "Pages": w.pages, "Statement": w.statement, "Long": w.long, "Refusals": w.refusals, "Templates": w.templates, "Times": w.times,
	} {
		t.Run(name, func(t *testing.T) { w.T = t; test() })
	}
}

// busiest reads the movements of the party that has the most.
func (w *world) busiest(t *testing.T) {
	all, err := store.SelectAll(t.Context(), w.store.DB, "SELECT * FROM movements WHERE stream = 'scan' ORDER BY migration_id, record_time, update_id, entry", nil, store.NewMovements())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, m := range all {
		if counts[m.Party]++; counts[m.Party] > counts[w.party] {
			w.party = m.Party
		}
	}
	w.all = slices.DeleteFunc(all, func(m store.Movement) bool { return m.Party != w.party })
	if len(w.all) < 120 {
		t.Fatalf("the busiest party has %d movements", len(w.all))
	}
}

// addEvil adds a movement with markup wherever a movement can carry a text.
func (w *world) addEvil(t *testing.T) {
	last := w.all[len(w.all)-1]
	last.Entry += 1000
	last.Movement = coins.Movement{
		Entry: last.Entry, Party: w.party, Pocket: coins.Unlocked, Amount: decimal.Must("0.0000000001"), Cause: coins.Transfer, Class: evil, Purpose: evil,
		Counterparty: evil + "::1220", Reason: evil, Reference: evil, Choice: evil, Template: evil, Source: coins.FromCoins,
	}
	block := store.NewMovements()
	block.Append(schemas.ScanStream, &last)
	if err := w.store.DB.Insert(t.Context(), "movements", "evil", block); err != nil {
		t.Fatal(err)
	}
	w.all = append(w.all, last)
}

// path is that of a page of the party.
func (w *world) path(tab string) string { return page.PartyPath(w.party) + tab }

// total is what the party holds in a pocket, "" for both.
func (w *world) total(pocket string) (sum decimal.Decimal) {
	for _, m := range w.all {
		if pocket == "" || m.Pocket == pocket {
			sum = sum.Plus(m.Amount)
		}
	}
	return sum
}

func (w *world) overview() {
	body := w.Page(http.StatusOK, w.path(""))
	w.Has("the overview", body, page.Grouped(w.total("").Short()), page.Grouped(w.total(coins.Unlocked).Short()), `data-chart="/party/`, "First seen", "Download Parquet", "<h1>Party "+page.Name(w.party))
	var chart struct {
		Times  []int64
		Series []struct {
			Label  string
			Values []string
		}
	}
	if err := json.Unmarshal([]byte(w.Page(http.StatusOK, w.path("/balance.json"))), &chart); err != nil {
		w.Fatal(err)
	}
	n := len(chart.Times)
	if n < 10 || len(chart.Series) != 3 || len(chart.Series[2].Values) != n || chart.Series[2].Values[n-1] != w.total("").String() || !slices.IsSorted(chart.Times) {
		w.Errorf("the chart is %+v, want it to end with %s", chart, w.total(""))
	}
	// Who governs, operates, validates and holds coins says so.
	roles := map[string]bool{}
	for _, party := range w.parties() {
		body := w.Page(http.StatusOK, page.PartyPath(party))
		for _, role := range []string{">Governance<", ">Operator<", ">Validator<", ">Featured app<", `href="/name/`, "locked</span>"} {
			roles[role] = roles[role] || strings.Contains(body[strings.Index(body, "<main"):], role)
		}
	}
	for role, found := range roles {
		if !found {
			w.Errorf("no party is shown with %s", role)
		}
	}
}

// parties are all that movements or licences name, and the governance party.
func (w *world) parties() (list []string) {
	rows, err := store.SelectAll(w.Context(), w.store.DB, "SELECT DISTINCT arrayJoin(arrayConcat(signatories, observers)) AS name FROM contracts_live WHERE stream = 'scan' ORDER BY name", nil, store.NewRecords[struct {
		Name string `column:"name"`
	}]())
	if err != nil {
		w.Fatal(err)
	}
	for _, row := range rows {
		list = append(list, row.Name)
	}
	return list
}

var (
	next = regexp.MustCompile(`rel="next" href="([^"]+)"`)
	line = regexp.MustCompile(`<tr>`)
)

// walk follows the links to older rows, and returns all pages and how many rows they have.
func (w *world) walk(path string) (bodies string, rows int) {
	w.Helper()
	for n := 0; ; n++ {
		body := w.Page(http.StatusOK, path)
		_, body, _ = strings.Cut(body, "<main")
		bodies += body
		rows += len(line.FindAllString(body, -1)) - 1 // the head
		link := next.FindStringSubmatch(body)
		if link == nil {
			return bodies, rows
		}
		if path = strings.ReplaceAll(link[1], "&amp;", "&"); n > 100 {
			w.Fatalf("%s never ends", path)
		}
	}
}

func (w *world) pages() {
	bodies, rows := w.walk(w.path("/movements"))
	if rows != len(w.all) {
		w.Errorf("the pages have %d movements, want %d", rows, len(w.all))
	}
	if strings.Contains(bodies, "<script>alert") || !strings.Contains(bodies, "&lt;script&gt;alert(1)") {
		w.Error("markup of a reason is not shown as text")
	}
	others := map[string]bool{}
	for _, m := range w.all {
		if m.Cause == coins.Transfer && m.Counterparty != "" && m.Counterparty != w.party {
			others[m.Counterparty] = true
		}
	}
	bodies, rows = w.walk(w.path("/counterparties"))
	if rows != len(others) || strings.Contains(bodies, "<script>alert") {
		w.Errorf("the pages have %d counterparties, want %d", rows, len(others))
	}
	for other := range others {
		if !strings.Contains(bodies, `href="`+strings.ReplaceAll(page.PartyPath(other), "&", "&amp;")) {
			w.Errorf("counterparty %s has no link", other)
		}
	}
	bodies, rows = w.walk(w.path("/updates"))
	if rows < 60 || !strings.Contains(bodies, page.Short(w.all[len(w.all)-1].UpdateID)) {
		w.Errorf("the pages have %d updates, and not the last", rows)
	}
	rounds, minted := map[int64]bool{}, decimal.Decimal{}
	for _, m := range w.all {
		if m.Cause == coins.Mint {
			rounds[m.Round], minted = true, minted.Plus(m.Amount)
		}
	}
	if bodies, rows = w.walk(w.path("/rewards")); len(rounds) > 0 && rows != len(rounds) {
		w.Errorf("the pages have %d rounds, want %d: %s", rows, len(rounds), consoletest.Text(bodies))
	}
}

// statement holds that both forms have every movement, and what is left after each.
func (w *world) statement() {
	answer, body := w.Fetch(w.path("/statement.csv"))
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/csv") || len(records) != len(w.all)+1 || records[0][8] != "balance" {
		w.Fatalf("%d %v %v: %d lines, want %d", answer.StatusCode, answer.Header, err, len(records), len(w.all)+1)
	}
	var balance decimal.Decimal
	for i, m := range w.all {
		balance = balance.Plus(m.Amount)
		got := records[i+1]
		if got[1] != m.UpdateID || got[7] != m.Amount.String() || got[8] != balance.String() || got[9] != m.Reason || got[10] != fmt.Sprint(m.Round) {
			w.Fatalf("line %d is %q, want %+v and %s", i, got, m, balance)
		}
	}
	_, body = w.Fetch(w.path("/statement.parquet"))
	file, err := parquet.OpenFile(bytes.NewReader([]byte(body)), int64(len(body)))
	if err != nil {
		w.Fatal(err)
	}
	if names := file.Schema().Columns(); len(names) != len(columns) || file.NumRows() != int64(len(w.all)) {
		w.Fatalf("the Parquet file has %d rows of %v", file.NumRows(), names)
	}
	for i, c := range file.Schema().Columns() {
		if c[0] != columns[i][0] {
			w.Errorf("column %d is %v, want %s", i, c, columns[i][0])
		}
	}
	w.parts()
}

// long streams statements of more lines than a piece and a row group have.
func (w *world) long() {
	const lines, party = 3*groupLines + 17, "many::1220"
	insert := "INSERT INTO movements SELECT * REPLACE ({party:String} AS party, toInt32(number) AS entry, toDecimal128(if(number % 2 = 0, '1.5', '-0.5'), 10) AS amount, 'unlocked' AS pocket, " +
		"concat('a longer reason, number ', toString(number)) AS reason) FROM (SELECT * FROM movements WHERE stream = 'scan' AND migration_id = 1 ORDER BY record_time DESC LIMIT 1) AS m CROSS JOIN numbers({lines:UInt64}) AS n"
	insert = strings.Replace(insert, "SELECT * REPLACE", "SELECT * EXCEPT (number) REPLACE", 1)
	params := store.Params{"party": store.Text(party), "lines": store.Int(lines)}
	if err := w.store.DB.Exec(w.Context(), insert, "", params); err != nil {
		w.Fatal(err)
	}
	_, body := w.Fetch(page.PartyPath(party) + "/statement.csv")
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(records) != lines+1 {
		w.Fatalf("the statement has %d lines, want %d: %v", len(records), lines, err)
	}
	var balance decimal.Decimal
	for i, record := range records[1:] {
		balance = balance.Plus(decimal.Must(record[7]))
		if record[8] != balance.String() || record[9] != fmt.Sprintf("a longer reason, number %d", i) {
			w.Fatalf("line %d is %q, want a balance of %s", i, record, balance)
		}
	}
	answer, body := w.Fetch(page.PartyPath(party) + "/statement.parquet")
	file, err := parquet.OpenFile(strings.NewReader(body), int64(len(body)))
	if err != nil || answer.StatusCode != http.StatusOK || file.NumRows() != lines || len(file.RowGroups()) != 4 {
		w.Fatalf("the Parquet file is %d: %v", answer.StatusCode, err)
	}
	if chart := w.Page(http.StatusOK, page.PartyPath(party)+"/movements"); !strings.Contains(chart, fmt.Sprintf("number %d", lines-1)) {
		w.Error("the newest movement of many is not on the first page")
	}
}

// parts are statements between two instants: the lines of the whole one, with their balances.
func (w *world) parts() {
	_, whole := w.Fetch(w.path("/statement.csv"))
	from, to := w.all[40].RecordTime, w.all[80].RecordTime
	_, part := w.Fetch(w.path("/statement.csv?" + url.Values{"from": {from.String()}, "to": {to.String()}}.Encode()))
	_, asOf := w.Fetch(w.path("/statement.csv?" + url.Values{"from": {from.String()}, "at": {to.String()}}.Encode()))
	head, lines, _ := strings.Cut(part, "\n")
	if n := strings.Count(lines, "\n"); n < 41 || n > 60 || !strings.Contains(whole, lines) || !strings.HasPrefix(whole, head) || asOf != part {
		w.Errorf("the part has %d lines:\n%.500s", n, part)
	}
}

func (w *world) refusals() {
	for path, want := range map[string]int{
		"/party/nobody::1220":                                 http.StatusNotFound,
		"/party/" + url.PathEscape(evil):                      http.StatusNotFound,
		"/party/" + strings.Repeat("a", 3000):                 http.StatusBadRequest,
		"/party/nobody::1220/statement.csv":                   http.StatusNotFound,
		w.path("?instrument=none"):                            http.StatusNotFound,
		w.path("/movements?before=x"):                         http.StatusBadRequest,
		w.path("/movements?before=1.2.3"):                     http.StatusBadRequest,
		w.path("/updates?before=" + url.QueryEscape(evil)):    http.StatusBadRequest,
		w.path("/counterparties?after=x"):                     http.StatusBadRequest,
		w.path("/counterparties?after=1e999+a"):               http.StatusBadRequest,
		w.path("/rewards?before=%3C"):                         http.StatusBadRequest,
		w.path("?before=1."):                                  http.StatusBadRequest,
		w.path("?at=yesterday"):                               http.StatusBadRequest,
		w.path("/statement.csv?from=never"):                   http.StatusBadRequest,
		"/template/none":                                      http.StatusNotFound,
		"/template/a:b:" + url.PathEscape(evil):               http.StatusNotFound,
		"/template/splice-amulet:Splice.Amulet:Amulet?before": http.StatusOK,
	} {
		answer, body := w.Fetch(path)
		if answer.StatusCode != want || strings.Contains(body, "<script>alert") {
			w.Errorf("%.200s: status %d, want %d: %s", path, answer.StatusCode, want, consoletest.Text(body))
		}
	}
}

func (w *world) templates() {
	body := w.Page(http.StatusOK, "/templates")
	w.Has("the list", body, `href="/template/splice-amulet:Splice.Amulet:Amulet"`, ">Lane<")
	body = w.Page(http.StatusOK, "/templates?filter=LOCKEDamulet")
	w.Has("the filtered list", body, ">LockedAmulet<")
	if strings.Contains(body, ">Lane<") {
		w.Error("the filter lets all through")
	}
	if body := w.Page(http.StatusOK, "/templates?filter="+url.QueryEscape(evil)); strings.Contains(body, "<script>alert") || !strings.Contains(body, "No template has such a name") {
		w.Error("an odd filter is not answered in words")
	}
	coin := w.Page(http.StatusOK, "/template/splice-amulet:Splice.Amulet:Amulet")
	w.Has("the coin", coin, "initialAmount", `href="/contract/00`, "Amulet_Expire", "ledgerlake table add", `rel="next"`)
	if _, rows := w.walk("/template/splice-amulet:Splice.Amulet:Amulet"); rows < 60 {
		w.Errorf("there are %d coins", rows)
	}
	w.Has("the packages", w.Page(http.StatusOK, "/packages"), "harbor-logistics", "not kept")
}

// times are those before history, in it and after its end.
func (w *world) times() {
	if answer, _ := w.Fetch(w.path("?at=1999-01-01")); answer.StatusCode != http.StatusNotFound {
		w.Errorf("before history the party is there: %d", answer.StatusCode)
	}
	at := w.all[len(w.all)/2].RecordTime
	var sum decimal.Decimal
	for _, m := range w.all {
		if m.RecordTime <= at {
			sum = sum.Plus(m.Amount)
		}
	}
	body := w.Page(http.StatusOK, w.path("?at="+url.QueryEscape(at.String())))
	w.Has("the past", body, page.Grouped(sum.Short()), "Show the present", "/movements?at=")
	w.Has("the future", w.Page(http.StatusOK, w.path("?at=2999-01-01")), page.Grouped(w.total("").Short()))
	w.Has("templates of the past", w.Page(http.StatusOK, "/templates?at="+url.QueryEscape(at.String())), ">Amulet<")
	w.Has("no templates", w.Page(http.StatusOK, "/templates?at=1999-01-01"), "No template has such a name")
}
