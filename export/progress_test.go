package export

import (
	"errors"
	"reflect"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestProgress(t *testing.T) {
	src := largeDays(71)
	e := newTestExporter(t, src, openMemory(openBucket(t)), &memoryCatalog{}, nil)
	e.catalog.Journal = &memoryJournal{recent: []store.PublishedRow{
		{Pipeline: ParquetPipeline, Count: 4, Seconds: 8}, {Pipeline: NetworkUpdatesPipeline, Count: 1, Seconds: 0.1},
	}}
	segments, err := e.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folders, err := e.catalog.DueFolders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.ExportSegment(t.Context(), segments[0]), e.ExportSegment(t.Context(), segments[1]),
		e.network.Export(t.Context(), folders[0]), e.network.Export(t.Context(), folders[1])); err != nil {
		t.Fatal(err)
	}
	waiting := newOperator(t, "peer", src, nil)
	e.publisher.mustAgree, e.publisher.peers = 1, []Peer{waiting}
	if err := e.network.Export(t.Context(), folders[2]); !errors.Is(err, ErrNotAgreed) {
		t.Fatal(err)
	}
	parquet, err := e.catalog.ParquetProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	network, err := e.catalog.NetworkProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, third := micros("2026-07-02T00:00:00Z"), micros("2026-07-03T00:00:00Z")
	want := []Pipeline{
		{Name: "parquet", Done: 2, Total: len(segments), Through: second, Rate: 0.5, ETA: float64(len(segments)-2) * 2},
		{Name: "network_updates", Done: 1, Staged: 1, Total: 2, Through: second, Rate: 1, ETA: 1},
		{Name: "network_acs", Done: 1, Total: 2, Through: second, ETA: -1},
	}
	if got := append([]Pipeline{parquet}, network...); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v; segments are %v, folders %v", got, want, segments, folders)
	}
	e.publisher.mustAgree = 0
	exportDueNetwork(t, e)
	if network, err = e.catalog.NetworkProgress(t.Context()); err != nil || network[0].ETA != 0 || network[0].Through != third || network[1].ETA != 0 || network[1].Done != 2 {
		t.Errorf("with all done: %+v, %v", network, err)
	}
}

// testJournal is for a store in which nothing of stream pace is published.
func testJournal(t *testing.T, db *store.DB, conn driver.Conn) {
	t.Helper()
	tables := StoreTables(db, "pace")
	if recent, err := tables.Journal.Recent(t.Context()); err != nil || len(recent) > 0 {
		t.Errorf("of a stream without objects: %+v, %v", recent, err)
	}
	for i, date := range []string{"2026-06-29", "2026-06-30"} {
		row := UnpublishedSegment(schemas.SegmentRef{Stream: "pace", MigrationID: 1, Date: date})
		row.Version, row.State = int64(i+1), Published
		if err := tables.Segments.Append(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	row := UnpublishedFolder(crashFolder)
	row.Stream, row.Version, row.State = "pace", 1, Published
	if err := tables.Folders.Append(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	recent, err := tables.Journal.Recent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for _, r := range recent {
		counts[r.Pipeline] = r.Count
		if r.Seconds < 0 || r.Seconds > rateSeconds {
			t.Errorf("%+v was published %f s ago", r, r.Seconds)
		}
	}
	if want := map[string]uint64{ParquetPipeline: 2, NetworkUpdatesPipeline: 1}; !reflect.DeepEqual(counts, want) {
		t.Errorf("published recently are %v, want %v", counts, want)
	}

	d := store.ExportDisagreementRow{Stream: "pace", Unit: "scan:1:2026-07-02", Peer: "http://peer", Key: "updates/v1/x", Ours: "aa", Theirs: "bb"}
	for range 2 { // found again
		if err := tables.Journal.RecordDisagreements(t.Context(), []store.ExportDisagreementRow{d}); err != nil {
			t.Fatal(err)
		}
	}
	var found store.ExportDisagreementRow
	const query = "SELECT stream, unit, peer, object_key, ours, theirs FROM export_disagreements FINAL"
	err = conn.QueryRow(t.Context(), query).Scan(&found.Stream, &found.Unit, &found.Peer, &found.Key, &found.Ours, &found.Theirs)
	if err != nil || found != d {
		t.Errorf("recorded are %+v, %v", found, err)
	}

	if ended, err := tables.Journal.LastCollection(t.Context()); err != nil || !ended.IsZero() {
		t.Errorf("without a collection the last one ended at %s, %v", ended, err)
	}
	at := micros("2026-07-02T00:00:00.000007Z")
	for _, ended := range []schemas.Micros{at - 5, at, at - 9} {
		if err := tables.Journal.RecordCollection(t.Context(), store.CollectionRow{Stream: "pace", EndedAt: ended, Expired: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if ended, err := tables.Journal.LastCollection(t.Context()); err != nil || !ended.Equal(at.Time()) {
		t.Errorf("the last collection ended at %s, %v, want %s", ended, err, at)
	}
}
