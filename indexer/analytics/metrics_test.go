package analytics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// start is that of a bucket of a day, as rollups cut days.
const start = "formatDateTime(toDateTime64(intDiv(toUnixTimestamp64Micro(record_time) - 1, 86400000000) * 86400, 6, 'UTC'), '%Y-%m-%d')"

// TestMetricsAreSumsOfHistory compares metrics with sums over the tables of history, of what is over and of the hour
// that is not, for verdicts that came late, too.
func TestMetricsAreSumsOfHistory(t *testing.T) {
	f := newFixture(t)
	all := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 5, Days: 3}))
	items, later := withoutVerdicts(all, 10, len(all)/5)
	f.write(t, items, len(items), f.movements())
	if err := indexer.NewWriter(f.db, late, f.log).Write(t.Context(), &schemas.Batch{Stream: late, After: schemas.Start, Through: later[len(later)-1].Position(), Items: later}); err != nil {
		t.Fatal(err)
	}
	f.sumUp(t)
	if over := indexertest.Texts(t, f.DSN, "SELECT toString(count() > 0) FROM movements WHERE (migration_id, record_time) > (SELECT (argMax(through_migration, sequence), fromUnixTimestamp64Micro(argMax(through_time, sequence))) FROM batches WHERE stream = 'scan/rollups' AND state = 'commit')"); over[0] != "1" {
		t.Fatal("the history has no hour that is not over")
	}
	day := func(value, rest string) string {
		return "SELECT concat(" + start + " AS day, ' ', toString(" + value + ")) FROM " + rest + " GROUP BY day ORDER BY day"
	}
	for name, history := range map[string]string{
		"minted":              day("sumIf(amount, cause = 'mint')", "movements WHERE cause != 'opening'"),
		"burned":              day("-sumIf(amount, cause = 'burn')", "movements WHERE cause != 'opening'"),
		"transfers":           day("countIf(cause = 'transfer' AND amount > 0 AND party != counterparty)", "movements WHERE cause != 'opening'"),
		"supply":              "SELECT concat(day, ' ', toString(sum(change) OVER (ORDER BY day))) FROM (SELECT " + start + " AS day, sum(amount) AS change FROM movements GROUP BY day) ORDER BY day",
		"rewards":             day("sumIf(amount, cause = 'mint' AND class NOT IN ('tap', 'other', 'development_fund'))", "movements WHERE cause != 'opening'"),
		"received":            day("sumIf(amount, cause = 'transfer' AND amount > 0 AND party != counterparty)", "movements WHERE cause != 'opening'"),
		"updates":             day("count()", "updates"),
		"events":              day("count()", "events"),
		"rejected":            day("countIf(result = 'VERDICT_RESULT_REJECTED')", "verdicts"),
		"private":             day("countIf(result = 'VERDICT_RESULT_ACCEPTED' AND update_id GLOBAL NOT IN (SELECT update_id FROM updates))", "verdicts"),
		"traffic":             day("sumIf(traffic_cost, traffic_cost > 0)", "verdicts"),
		"active_users":        day("uniqExactArrayIf(submitting_parties, result = 'VERDICT_RESULT_ACCEPTED')", "verdicts"),
		"active_users_7d":     "SELECT concat(day, ' ', toString(uniqExact(party))) FROM (SELECT arrayJoin(submitting_parties) AS party, toDate(" + start + ") AS active FROM verdicts WHERE result = 'VERDICT_RESULT_ACCEPTED') ARRAY JOIN arrayMap(n -> toString(active + n), range(7)) AS day WHERE toDate(day) <= (SELECT max(toDate(" + start + ")) FROM updates) GROUP BY day ORDER BY day",
		"holders":             "SELECT concat(day, ' ', toString(countIf(balance > 0))) FROM (SELECT arrayJoin((SELECT groupUniqArray(" + start + ") FROM updates)) AS day, party, sumIf(amount, " + start + " <= day) AS balance FROM movements GROUP BY day, party) GROUP BY day ORDER BY day",
		"updates_peak_minute": "SELECT concat(day, ' ', toString(max(n))) FROM (SELECT " + start + " AS day, count() AS n FROM updates GROUP BY day, toStartOfMinute(record_time)) GROUP BY day ORDER BY day",
	} {
		want := indexertest.Texts(t, f.DSN, history)
		if got := f.metric(t, metrics.Request{Grain: metrics.ByDay}, name); strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) < 3 {
			t.Errorf("%s is\n%s\nby history\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	rounds := indexertest.Texts(t, f.DSN, "SELECT concat(toString(round), ' ', toString(sumIf(amount, cause = 'mint'))) FROM movements WHERE round >= 0 GROUP BY round ORDER BY round")
	from := int64(0)
	if got := f.metric(t, metrics.Request{Grain: metrics.ByRound, From: &from}, "minted"); !strings.Contains(strings.Join(got, "\n"), rounds[3]) || len(got) < len(rounds) {
		t.Errorf("by round is minted %q, by history %q", got, rounds)
	}
}

// metric reads a metric from the beginning, a line for each bucket. All but the last bucket are final.
func (f *fixture) metric(t *testing.T, q metrics.Request, name string) (lines []string) {
	t.Helper()
	q.Metric, _ = metrics.Named(name)
	answer, err := metrics.NewReader(f.db).Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range answer.Rows {
		at := fmt.Sprint(row.Start)
		if q.Grain != metrics.ByRound {
			at = schemas.Micros(row.Start).String()[:10]
		}
		value := fmt.Sprint(row.Value)
		if strings.Contains(value, ".") {
			value = strings.TrimSuffix(strings.TrimRight(value, "0"), ".")
		}
		lines = append(lines, at+" "+value)
		if row.Provisional != (i == len(answer.Rows)-1) {
			t.Errorf("%s of bucket %s: provisional is %v", name, at, row.Provisional)
		}
	}
	return lines
}
