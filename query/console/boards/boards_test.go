package boards

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/docs/analytics"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// TestTopicsHaveAllMetrics compares the topics with the catalogue.
func TestTopicsHaveAllMetrics(t *testing.T) {
	var listed, all []string
	for _, topic := range topics {
		listed = append(listed, topic.metrics...)
	}
	for _, m := range metrics.Catalog {
		all = append(all, m.Name)
	}
	slices.Sort(listed)
	slices.Sort(all)
	if !slices.Equal(listed, all) {
		t.Errorf("the topics have %q, the catalogue %q", listed, all)
	}
}

func TestBoards(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 400, Seed: 3, Days: 2}) // as the answers beside the library
	boards := New(Config{Metrics: metrics.NewReader(s.DB), Answers: answers.NewReader(s.DB)})
	site := consoletest.Serve(t, s, boards.Routes)
	t.Run("Series", func(t *testing.T) { site.T = t; testSeries(site) })
	t.Run("Metrics", func(t *testing.T) { site.T = t; testMetrics(site) })
	t.Run("Questions", func(t *testing.T) { site.T = t; testQuestions(site) })
}

// testMetrics looks at the pages of metrics: their values are those of the chart, and what was asked for wrongly is
// said beside the form.
func testMetrics(site *consoletest.Site) {
	overview := site.Page(http.StatusOK, "/analytics")
	for _, m := range metrics.Catalog {
		site.Has("/analytics", overview, `href="/analytics/`+m.Name+`"`)
	}
	site.Has("/analytics", overview, "so far", `href="/analytics/boards/supply-and-burn"`)
	drawn := seriesAt(site, "/analytics/series/minted?group_by=class")
	body := site.Page(http.StatusOK, "/analytics/minted?group_by=class")
	site.Has("minted", body, page.Grouped(*drawn.Series[0].Values[0]), drawn.Series[0].Label, "provisional", "final", "/v0/analytics/metrics/minted?format=csv&amp;grain=day&amp;group_by=class",
		`data-chart="/analytics/series/minted?grain=day&amp;group_by=class"`)
	at := time.Unix(drawn.Times[1], 0).UTC().Format(time.RFC3339)
	if past := site.Page(http.StatusOK, "/analytics/minted?at="+at); strings.Count(past, "<tr>") != 2 || strings.Contains(past, time.Unix(drawn.Times[1], 0).UTC().Format("<td>2006-01-02</td>")) {
		site.Errorf("at the end of the first day minted is %s", consoletest.Text(past))
	}
	if past := site.Page(http.StatusOK, "/analytics?at="+at); past == overview || !strings.Contains(past, "?at=") {
		site.Errorf("the overview of the end of the first day is that of the present, or forgets the instant: %s", consoletest.Text(past))
	}
	odd := site.Page(http.StatusBadRequest, "/analytics/minted?from=%22%3E%3Cscript%3E&grain=day")
	if site.Has("an odd day", odd, "is no day such as", "<form"); strings.Contains(odd, "><script>") {
		site.Errorf("markup of a parameter is on the page: %s", odd)
	}
	site.Has("an unknown metric", site.Page(http.StatusNotFound, "/analytics/suply"), "There is no metric")
	site.Page(http.StatusNotFound, "/analytics/boards/nothing")
	site.Page(http.StatusBadRequest, "/analytics/boards/traffic?days=5")
	for _, topic := range topics {
		board := site.Page(http.StatusOK, "/analytics/boards/"+topic.slug()+"?days=90")
		if charts := strings.Count(board, "data-chart="); charts != len(topic.metrics) {
			site.Errorf("board %s has %d charts", topic.slug(), charts)
		}
	}
}

// testSeries holds that the lines of a chart add up, and that odd requests are refused in words.
func testSeries(site *consoletest.Site) {
	whole, parts := seriesAt(site, "/analytics/series/minted?grain=day&from=&to="), seriesAt(site, "/analytics/series/minted?group_by=class&compare=previous")
	if len(whole.Times) < 2 || whole.Times[0]%86400 != 0 || whole.Round || len(whole.Series) != 1 || whole.Series[0].Label != "Minted" || !slices.Equal(whole.Times, parts.Times) {
		site.Fatalf("minted is %+v", whole)
	}
	if last := parts.Series[len(parts.Series)-1]; last.Label != "the period before" || len(parts.Series) < 3 {
		site.Fatalf("by class minted is %+v", parts.Series)
	}
	for i := range whole.Times {
		sum := new(big.Rat)
		for _, line := range parts.Series[:len(parts.Series)-1] {
			sum.Add(sum, number(site, line.Values[i]))
		}
		if want := number(site, whole.Series[0].Values[i]); sum.Cmp(want) != 0 {
			site.Errorf("the classes of %d add up to %s, want %s", whole.Times[i], sum, want)
		}
	}
	if byParty := seriesAt(site, "/analytics/series/rewards?grain=round&group_by=party"); !byParty.Round || len(byParty.Times) < 3 || len(byParty.Series) < 2 {
		site.Errorf("rewards by round and party are %+v", byParty)
	}
	for path, want := range map[string]string{
		"nothing":                              `There is no metric \"nothing\"`,
		"minted?grain=year":                    `no grain \"year\"`,
		"minted?group_by=party":                `not told apart by \"party\"`,
		"minted?from=2026-07-09&to=2026-07-09": "must be before",
		"minted?from=%3Cscript%3E":             "is no day such as",
		"minted?grain=round&from=x":            "no number of a round",
		"minted?compare=next":                  "compare may be previous",
	} {
		answer, body := site.Fetch("/analytics/series/" + path)
		if answer.StatusCode/100 != 4 || !strings.Contains(body, want) {
			site.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
}

func seriesAt(site *consoletest.Site, path string) (s seriesAnswer) {
	site.Helper()
	if err := json.Unmarshal([]byte(site.Page(http.StatusOK, path)), &s); err != nil {
		site.Fatalf("%s: %v", path, err)
	}
	return s
}

func number(site *consoletest.Site, text *string) *big.Rat {
	site.Helper()
	if text == nil {
		return new(big.Rat)
	}
	n, ok := new(big.Rat).SetString(*text)
	if !ok {
		site.Fatalf("%q is no number", *text)
	}
	return n
}

// testQuestions asks all questions of the library, and compares their answers with those that stand beside them.
func testQuestions(site *consoletest.Site) {
	questions, err := analytics.Questions()
	if err != nil {
		site.Fatal(err)
	}
	library := site.Page(http.StatusOK, "/questions")
	for _, q := range questions {
		site.Has("/questions", library, `href="/questions/`+q.Name+`"`, html.EscapeString(q.Title))
		with := url.Values{}
		for name, value := range q.Example {
			with.Set("p_"+name, value)
		}
		path := "/questions/" + q.Name + "?" + with.Encode()
		body := site.Page(http.StatusOK, path)
		if answer, text := site.Fetch("/questions/" + q.Name + "/answer.csv?" + with.Encode()); answer.StatusCode != http.StatusOK {
			site.Errorf("%s: %d %s", q.Name, answer.StatusCode, text)
		} else if err := sameAnswer(q.Name, text); err != nil {
			site.Errorf("%s: %v", q.Name, err)
		} else if rows := strings.Count(text, "\n") - 1; rows > 0 && rows <= shownRows {
			site.Has(path, body, strconv.Itoa(rows)+" rows", "ledgerlake sql --run "+q.Name)
		}
	}
	site.Has("a question without a party", site.Page(http.StatusOK, "/questions/statement"), "Fill in the form")
	site.Has("a question to nobody", site.Page(http.StatusOK, "/questions/statement?p_party=%22%3E%3Cb%3E%27%29%20OR%201%3D1--%00"), "The answer has no rows", "&#34;&gt;&lt;b&gt;")
	site.Has("a day that is none", site.Page(http.StatusBadRequest, "/questions/statement?p_party=x&p_from=%3Cscript%3E"), "not of the type", "from is a Date")
	site.Page(http.StatusBadRequest, "/questions/statement?p_party="+strings.Repeat("x", 500))
	site.Has("an unknown question", site.Page(http.StatusNotFound, "/questions/nothing"), "has no question")
	if answer, text := site.Fetch("/questions/statement/answer.csv"); answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, "p_party") {
		site.Errorf("a file without a party: %d %s", answer.StatusCode, text)
	}
}

// sameAnswer compares the columns, the rows and the first values of an answer with those that are kept, which write
// times and lists in another way.
func sameAnswer(name, text string) error {
	if name == "supply_proof" || name == "party_package" { // they read what is published, and this store has not published anything
		return nil
	}
	kept, err := os.ReadFile("../../../docs/analytics/questions/" + name + ".tsv")
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	want := strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n")
	if got := strings.Join(rows[0], "\t"); got != want[0] || len(rows) != len(want) {
		return fmt.Errorf("columns %q and %d rows, want %q and %d", got, len(rows)-1, want[0], len(want)-1)
	}
	for i := range rows {
		for j, value := range strings.Split(want[i], "\t") {
			if decimal.MatchString(value) && decimal.MatchString(rows[i][j]) && strings.TrimSuffix(strings.TrimRight(value, "0"), ".") != strings.TrimSuffix(strings.TrimRight(rows[i][j], "0"), ".") {
				return fmt.Errorf("row %d has %s, want %s", i, rows[i][j], value)
			}
		}
	}
	return nil
}

var decimal = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)

// TestOpenData fills in commands for a bucket at a given place, and for one that is a folder.
func TestOpenData(t *testing.T) {
	boards := New(Config{Instance: Instance{Address: "https://lake.example", Endpoint: "https://s3.example:9000", Region: "eu-1", Bucket: "ledgers", Prefix: "a/"}})
	site := consoletest.Serve(t, nil, boards.Routes)
	site.Has("/open-data", html.UnescapeString(site.Page(http.StatusOK, "/open-data")),
		"s3('https://s3.example:9000/ledgers/a/events/v1/**/*.parquet', 'KEY', 'SECRET', 'Parquet')", "ENDPOINT 's3.example:9000', REGION 'eu-1', USE_SSL true",
		`scan_parquet("s3://ledgers/a/events/v1/**/*.parquet", storage_options={"aws_endpoint_url": "https://s3.example:9000"`, `spark.read.parquet("s3a://ledgers/a/events/v1")`,
		"curl 'https://lake.example/v0/analytics/tables/movements?format=csv&limit=1000'", "updates, events, acs", "movements, imports")
	local := consoletest.Serve(t, nil, New(Config{Instance: Instance{Address: "http://127.0.0.1:1", Bucket: "ledgers"}}).Routes)
	text := html.UnescapeString(local.Page(http.StatusOK, "/open-data"))
	local.Has("/open-data", text, "file('lake/events/v1/**/*.parquet', 'Parquet')", "read_parquet('lake/movements/v1/**/*.parquet')", "bucket/objects/ledgers")
	if strings.Contains(text, "SECRET") {
		t.Errorf("a folder needs no keys: %s", text)
	}
}
