package export

import (
	"log/slog"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// fill writes a history into the store the way ingest does.
func fill(t *testing.T, db *store.DB, items []schemas.Item) {
	t.Helper()
	fillFrom(t, db, schemas.Start, items, 50)
}

// fillFrom writes what follows a position in batches of a size, and derives lifetimes.
func fillFrom(t *testing.T, db *store.DB, after schemas.Position, items []schemas.Item, size int) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	writer := indexer.NewWriter(db, schemas.ScanStream, log)
	for len(items) > 0 {
		n := 1
		for n < min(size, len(items)) && sameRun(items[0].Position(), items[n].Position()) {
			n++
		}
		batch := schemas.Batch{Stream: schemas.ScanStream, After: after, Through: items[n-1].Position(), Items: items[:n]}
		if err := writer.Write(t.Context(), &batch); err != nil {
			t.Fatal(err)
		}
		after, items = batch.Through, items[n:]
	}
	if err := indexer.NewLifetimes(db, schemas.ScanStream, time.Second, log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func sameRun(a, b schemas.Position) bool {
	return a.MigrationID == b.MigrationID && (a.RecordTime == schemas.MinMicros) == (b.RecordTime == schemas.MinMicros)
}

// TestStoreToBucketAndBack exports from a real store and compares what the objects
// hold, segment by segment, with a digest of the store that shares no code with it.
func TestStoreToBucketAndBack(t *testing.T) {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	fill(t, db, schematest.New(schematest.Config{Seed: 5, Items: 90, Migrations: 2, Step: 45 * 60 * 1e6}).Items)
	reader := history.NewReader(db, schemas.ScanStream)
	e := newTestExporter(t, reader, openBucket(t), nil, nil)
	e.catalog.Tables = published.InStore(db, schemas.ScanStream)

	due := exportDue(t, e)
	if left, err := e.DueSegments(t.Context()); err != nil || len(left) > 0 || len(due) < 5 {
		t.Fatalf("%d segments were due, still due are %v, %v", len(due), left, err)
	}
	v, err := e.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 {
		t.Fatalf("findings %q, %v", v.Findings, err)
	}
	report, err := digests(t, db, reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range due {
		compareSegment(t, reader, ref, v.Segments[ref], report.Segments[ref])
	}
}

func compareSegment(t *testing.T, reader *history.Reader, ref schemas.SegmentRef, got map[string]schemas.Digest, want verify.Tables) {
	t.Helper()
	for _, table := range ref.Tables() {
		digest := want[string(table)]
		if table == schemas.ParquetACS {
			start, _, err := ref.Bounds()
			if err != nil {
				t.Fatal(err)
			}
			if digest, err = verify.ActiveAt(t.Context(), reader, ref.MigrationID, start); err != nil {
				t.Fatal(err)
			}
		}
		if got[string(table)] != digest {
			t.Errorf("table %s of %s: the objects hold %s, the store %s", table, ref, got[string(table)], digest)
		}
	}
}
