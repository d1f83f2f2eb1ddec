package history_test

import (
	"log/slog"
	"os"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// Pages of any size hold the import updates of each migration, then its history.
func TestUpdatesWithImports(t *testing.T) {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	reader := history.NewReader(db, schemas.ScanStream)
	writer := indexer.NewWriter(db, schemas.ScanStream, slog.New(slog.DiscardHandler))
	var want []schemas.Position
	after := schemas.Start
	for _, b := range batches(schematest.New(schematest.Config{Seed: 4, Items: 60, Migrations: 3}).Items) {
		through := b[len(b)-1].Position()
		if err := writer.Write(t.Context(), &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through, Items: b}); err != nil {
			t.Fatal(err)
		}
		after = through
		for _, it := range b {
			if it.Update != nil {
				want = append(want, it.Position())
			}
		}
	}
	if n := len(want); !slices.ContainsFunc(want, func(p schemas.Position) bool { return p.RecordTime == schemas.MinMicros }) || want[n-1].MigrationID != 2 {
		t.Fatalf("%d updates without imports, or of too few migrations", n)
	}
	for _, limit := range []int{1, 7, 1000} {
		for rg := (history.Range{After: schemas.Start, Through: after, Limit: limit}); ; {
			page, err := reader.UpdatesWithImports(t.Context(), rg)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.Index(want, rg.After) + 1 // 0 at the start
			for i := range page {
				if at+i >= len(want) || page[i].Position() != want[at+i] {
					t.Fatalf("in pages of %d: update %d after %s is at %s", limit, i, rg.After, page[i].Position())
				}
			}
			if len(page) != min(limit, len(want)-at) {
				t.Fatalf("in pages of %d: %d updates after %s, want %d", limit, len(page), rg.After, min(limit, len(want)-at))
			}
			if len(page) < limit {
				break
			}
			rg.After = page[len(page)-1].Position()
		}
	}
}

// batches cuts items where import updates begin and end.
func batches(items []schemas.Item) (list [][]schemas.Item) {
	for len(items) > 0 {
		imports := items[0].Position().RecordTime == schemas.MinMicros
		n := 1
		for n < len(items) && items[n].Position().MigrationID == items[0].Position().MigrationID && (items[n].Position().RecordTime == schemas.MinMicros) == imports {
			n++
		}
		list, items = append(list, items[:n]), items[n:]
	}
	return list
}
