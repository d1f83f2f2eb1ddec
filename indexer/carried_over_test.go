package indexer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestCarriedOverContractsDoNotDependOnHousekeeping: a contract that was reassigned before it was
// carried over has an ended lifetime, which is in the live table until that is tidied. Which update
// its next lifetime is said to begin in must not depend on when: exports would differ.
func TestCarriedOverContractsDoNotDependOnHousekeeping(t *testing.T) {
	f := newFixture(t)
	reassigned := make(map[string]bool) // contracts, before the second migration
	var began [2][]string
	for i, stream := range []string{schemas.ScanStream, "tidied"} {
		h := schematest.New(schematest.Config{Seed: 7, Items: schematest.Rounds(200, 400), Step: 6 * 3600 * 1e6})
		w, l := NewWriter(f.db, stream, f.log), NewLifetimes(f.db, stream, time.Millisecond, f.log)
		if err := l.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.ended = 0 // no housekeeping by itself
		for _, b := range batches(h.Items, 40) {
			b.Stream = stream
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if err := l.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if err := l.Tidy(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		began[i] = indexertest.Texts(t, f.dsn, `SELECT concat(contract_id, ' ', created_in) FROM
			(SELECT * FROM contracts_live UNION ALL SELECT * FROM contracts_archived)
			WHERE stream = '`+stream+`' AND migration_id = 1 AND created_time < toDateTime64('1901-01-01 00:00:00', 6, 'UTC') ORDER BY 1`)
		for _, it := range h.Items {
			if u := it.Update; u != nil && u.Kind == schemas.Unassignment && u.MigrationID == 0 {
				reassigned[u.Reassignment.ContractID] = true
			}
		}
	}
	carried := 0
	for _, contract := range began[0] {
		if id, _, _ := strings.Cut(contract, " "); reassigned[id] {
			carried++
		}
	}
	if carried == 0 {
		t.Fatalf("%d contracts were reassigned, %d carried over, none both: the test proves nothing", len(reassigned), len(began[0]))
	}
	if !slices.Equal(began[0], began[1]) {
		t.Errorf("carried over are\n%q\nand, with housekeeping,\n%q", began[0], began[1])
	}
}
