package indexer

import (
	"slices"
	"strconv"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// largeGranules gives events and verdicts the granules that version 0.1.0 gave them.
func (f *fixture) largeGranules(t *testing.T) {
	t.Helper()
	for table, key := range map[string]string{"events": ", node", "verdicts": ""} {
		for _, statement := range []string{
			"CREATE TABLE before AS " + table + ` ENGINE = MergeTree PARTITION BY (migration_id, toYYYYMM(record_time))
				ORDER BY (stream, migration_id, record_time, update_id` + key + `)
				SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000`,
			"EXCHANGE TABLES before AND " + table,
			"DROP TABLE before SYNC",
		} {
			if err := f.db.Exec(t.Context(), statement, "", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGranulesOfAStoreThatIsWrittenTo has a store with large granules and a batch whose rows were
// written and which was not committed: what is stored stays, and the batch is stored once.
func TestGranulesOfAStoreThatIsWrittenTo(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	f.largeGranules(t)
	h := schematest.New(schematest.Config{Seed: 8, Items: 200})
	list := batches(h.Items, 30)
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range list[:len(list)-1] {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	last := list[len(list)-1]
	row := store.BatchRow{
		Stream: schemas.ScanStream, Sequence: w.sequence + 1, After: last.After, Through: last.Through, Items: uint64(len(last.Items)),
		Hash: w.rows.Fill(last), Writer: w.name, Epoch: w.epoch,
	}
	if err := journal.Announce(t.Context(), f.db, row); err != nil {
		t.Fatal(err)
	}
	if err := w.insert(t.Context(), row.Sequence); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := smallGranules(t.Context(), f.dsn, cluster.Tables{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"events", "verdicts"} {
		if got := indexertest.Texts(t, f.dsn, "SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ('"+table+"', '"+table+"_next') AND engine_full LIKE '%index_granularity = 1024,%'"); !slices.Equal(got, []string{table}) {
			t.Errorf("tables with small granules are %q", got)
		}
	}
	if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Errorf("stored is %s, want %s", got, want)
	}
	rows := 0
	for i := range h.Items {
		if u := h.Items[i].Update; u != nil && !u.IsImport() {
			rows += len(u.Events)
		}
	}
	if got := indexertest.Texts(t, f.dsn, "SELECT toString(count()) FROM events"); len(got) != 1 || got[0] != strconv.Itoa(rows) {
		t.Errorf("%s rows of events, want %d", got, rows)
	}
}
