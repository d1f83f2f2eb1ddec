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
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
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
		"burn_mint_ratio":     day("intDiv(toInt256(-sumIf(amount, cause = 'burn') * toInt128(10000000000)) * 1000, toInt256(sumIf(amount, cause = 'mint') * toInt128(10000000000)))", "movements WHERE cause != 'opening'"),
		"rejected_share":      day("intDiv(1000 * countIf(result = 'VERDICT_RESULT_REJECTED'), countIf(result IN ('VERDICT_RESULT_REJECTED', 'VERDICT_RESULT_ACCEPTED')))", "verdicts"),
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
	for name, group := range map[string]string{"minted": "class", "rewards": "party", "supply": "pocket"} {
		f.series(t, name, group)
	}
}

// series compares the lines of a metric with its rows by group, and the whole of them with the rows without.
func (f *fixture) series(t *testing.T, name, group string) {
	t.Helper()
	r := metrics.NewReader(f.db)
	metric, _ := metrics.Named(name)
	q := metrics.Request{Metric: metric, Grain: metrics.ByDay}
	whole, err := r.Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	from := whole.Rows[1].Start
	q.From, q.GroupBy = &from, []string{group}
	grouped, err := r.Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	totals := make(map[string]decimal.Decimal)
	for _, row := range grouped.Rows {
		totals[row.Groups[0]] = totals[row.Groups[0]].Plus(row.Value.(decimal.Decimal))
	}
	drawn, err := r.Series(t.Context(), metrics.SeriesRequest{Request: q, Most: 2, Compare: true})
	if err != nil {
		t.Fatal(err)
	}
	lines, before := drawn.Lines[:len(drawn.Lines)-1], drawn.Lines[len(drawn.Lines)-1]
	if len(drawn.Starts) != len(whole.Rows)-1 || drawn.Starts[0] != from || len(lines) != min(len(totals), 3) || lines[len(lines)-1].Others != (len(totals) > 2) || !before.Before {
		t.Fatalf("%s of %d groups by %s has %d buckets from %d and lines %+v", name, len(totals), group, len(drawn.Starts), drawn.Starts[0], drawn.Lines)
	}
	if last := len(drawn.Starts) - 1; before.Values[last] == nil || fmt.Sprint(before.Values[last]) != fmt.Sprint(whole.Rows[0].Value) || !drawn.Provisional[last] || drawn.Provisional[0] {
		t.Errorf("before %s was %v, want %v at the end; provisional %v", name, before.Values, whole.Rows[0].Value, drawn.Provisional)
	}
	for i, start := range drawn.Starts {
		var sum decimal.Decimal
		for _, line := range lines {
			sum = sum.Plus(line.Values[i].(decimal.Decimal))
		}
		if sum != whole.Rows[i+1].Value {
			t.Errorf("the lines of %s by %s add up to %s at %d, want %s", name, group, sum, start, whole.Rows[i+1].Value)
		}
	}
	for i, line := range lines[:min(2, len(lines))] {
		var sum decimal.Decimal
		for _, value := range line.Values {
			sum = sum.Plus(value.(decimal.Decimal))
		}
		if larger := totals[lines[0].Group]; sum != totals[line.Group] || i > 0 && larger.Less(sum) {
			t.Errorf("line %d of %s is %s with %s, by rows %s", i, name, line.Group, sum, totals[line.Group])
		}
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

// TestMissingVerdictsAreNoZeros reads metrics of who submits from a history whose first day has no verdicts, and whose
// second one lacks some.
func TestMissingVerdictsAreNoZeros(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 5, Days: 3}))
	day := func(item schemas.Item) string { return (item.Position().RecordTime - 1).String()[:10] }
	first, days := "", map[string]bool{}
	kept := items[:0]
	for i, item := range items {
		if item.Update != nil && item.Update.IsImport() {
			kept = append(kept, item)
			continue
		}
		if first == "" {
			first = day(item)
		}
		days[day(item)] = true
		if item.Update != nil && (day(item) == first || len(days) == 2 && i%2 == 0) {
			item = schemas.Item{Update: item.Update}
		}
		if day(item) != first || item.Update != nil {
			kept = append(kept, item)
		}
	}
	f.write(t, kept, len(kept), f.movements())
	f.sumUp(t)
	for _, name := range []string{"active_users", "active_users_7d", "active_users_30d", "submitted", "submitted_traffic", "accepted", "active_addresses"} {
		q := metrics.Request{Grain: metrics.ByDay}
		q.Metric, _ = metrics.Named(name)
		answer, err := metrics.NewReader(f.db).Read(t.Context(), q)
		if err != nil || len(answer.Rows) < 3 {
			t.Fatalf("%s: %d rows, %v", name, len(answer.Rows), err)
		}
		rows, known := answer.Rows, name == "active_addresses"
		if (rows[0].Value != nil) != known || rows[0].Provisional == known {
			t.Errorf("%s of a day without verdicts is %v, provisional: %v", name, rows[0].Value, rows[0].Provisional)
		}
		if value, ok := rows[1].Value.(int64); !ok || value == 0 || rows[1].Provisional == known {
			t.Errorf("%s of a day with some verdicts is %v, provisional: %v", name, rows[1].Value, rows[1].Provisional)
		}
	}
}
