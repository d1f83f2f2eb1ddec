package metrics

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of metrics")

// TestCatalogIsDocumented compares docs/analytics/metrics.md with the catalogue.
func TestCatalogIsDocumented(t *testing.T) {
	const name = "../../../docs/analytics/metrics.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	list := "| Metric | Unit | Grains | Groups | Meaning |\n| --- | --- | --- | --- | --- |\n"
	for _, m := range Catalog {
		list += fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", m.Name, m.Unit, strings.Join(m.Grains, ", "), strings.Join(m.GroupBy, ", "), m.Meaning)
	}
	want := regexp.MustCompile(`\| Metric \|[^\n]*\n(\|[^\n]*\n)*`).ReplaceAllLiteralString(string(page), list)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) || len(Catalog) < 30 {
		t.Errorf("%s has another table of metrics than the catalogue: go test ./internal/history/metrics -update", name)
	}
}

// TestBuckets goes through buckets of each grain, and back.
func TestBuckets(t *testing.T) {
	const at = 1_783_566_123_456_789 // Thursday, 2026-07-09 03:02:03.456789
	for grain, want := range map[string][2]int64{
		ByHour: {1_783_566_000_000_000, 1_783_569_600_000_000}, ByDay: {1_783_555_200_000_000, 1_783_641_600_000_000},
		ByWeek: {1_783_296_000_000_000, 1_783_900_800_000_000}, ByMonth: {1_782_864_000_000_000, 1_785_542_400_000_000}, ByRound: {at, at + 1},
	} {
		start := begin(grain, at)
		if next := step(grain, start, 1); start != want[0] || next != want[1] || step(grain, next, -1) != start || begin(grain, next-1) != start && grain != ByRound {
			t.Errorf("the %s of %d is from %d to %d, want %v", grain, int64(at), start, next, want)
		}
	}
}
