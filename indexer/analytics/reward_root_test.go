package analytics

import (
	"slices"
	"strings"
	"testing"

	library "github.com/ledgerlake/ledgerlake/docs/analytics"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// TestRewardRootsAreComputedAgain asks the library's question about roots of rewards, of which its example network
// has none.
func TestRewardRootsAreComputedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 1500, Seed: 3, Days: 3, TrafficRewards: true}))
	f.write(t, items, len(items), f.movements())
	questions, err := library.Questions()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(questions, func(q library.Question) bool { return q.Name == "reward_root" })
	values, err := questions[at].Values(questions[at].Example)
	if err != nil {
		t.Fatal(err)
	}
	query := questions[at].ClickHouse
	for _, p := range questions[at].Parameters {
		query = strings.ReplaceAll(query, "{"+p.Name+":"+p.Type+"}", "CAST('"+values[p.Name]+"', '"+p.Type+"')")
	}
	rows := indexertest.Texts(t, f.DSN, "SELECT concat(toString(round), ' ', toString(length(path)), ' ', toString(equal)) FROM ("+query+")")
	longer := 0
	for _, row := range rows {
		if fields := strings.Fields(row); fields[2] != "1" {
			t.Errorf("the root of a round is not as published: round, length of the path, equal: %s", row)
		} else if fields[1] > "1" {
			longer++
		}
	}
	if len(rows) < 3 || longer == 0 {
		t.Errorf("%d rounds have rewards, %d of them with more than one batch: %q", len(rows), longer, rows)
	}
}
