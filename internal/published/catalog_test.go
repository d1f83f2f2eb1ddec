package published

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/published/publishedtest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

func TestMemoryTables(t *testing.T) {
	testSegments(t, &publishedtest.Segments{})
	testFolders(t, &publishedtest.Folders{})
}

func TestStoreTables(t *testing.T) {
	engine := enginetest.StartMigrated(t, indexer.MigrateCluster)
	db := storetest.Open(t, engine)
	other := InStore(db, "node:it's").Segments
	if err := other.Append(t.Context(), UnpublishedSegment(schemas.SegmentRef{Stream: "node:it's", MigrationID: 1, Date: "2026-06-30"})); err != nil {
		t.Fatal(err)
	}
	tables := InStore(db, schemas.ScanStream)
	testSegments(t, tables.Segments)
	if rows, err := other.All(t.Context()); err != nil || len(rows) != 1 {
		t.Errorf("the other stream has %d segments, %v", len(rows), err)
	}
	testFolders(t, tables.Folders)
	testJournal(t, db, engine.Conn)
}

// testSegments is the contract of rows that are empty for stream scan.
func testSegments(t *testing.T, c Rows[schemas.SegmentRef, store.SegmentRow]) {
	tuesday := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-06-30"}
	monday := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-06-29"}
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	never := schemas.SegmentRef{Stream: "scan", MigrationID: 2, Date: "2026-06-30"}
	testRows(t, c, tuesday, monday, imports, never, func(ref schemas.SegmentRef, version int64, state string) store.SegmentRow {
		r := UnpublishedSegment(ref)
		r.Version, r.State, r.Manifest = version, state, `{"ä":"'\\"}`
		r.ManifestHash, r.Objects, r.Rows, r.Bytes = "abc", 1, 1<<40, 1<<41
		r.Root, r.Link, r.LookupIndex, r.LookupObjects = "ab", "cd", `{"ü":1}`, 3
		return r
	}, UnpublishedSegment)
	testBetween(t, c, tuesday)
}

// testFolders is testSegments for the network's layout.
func testFolders(t *testing.T, c Rows[schemas.NetworkRef, store.NetworkFolderRow]) {
	second, third := micros(t, "2026-07-02T00:00:00Z"), micros(t, "2026-07-03T00:00:00Z")
	first := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: schemas.MinMicros, End: second}
	set := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkACS, Start: second, End: third}
	next := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: second, End: third}
	never := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkACS, Start: third, End: third + day}
	testRows(t, c, next, set, first, never, func(ref schemas.NetworkRef, version int64, state string) store.NetworkFolderRow {
		r := UnpublishedFolder(ref)
		r.Version, r.State, r.Objects = version, state, `[{"ä":"'\\"}]`
		r.Count, r.Rows, r.Bytes = 1, 1<<40, 1<<41
		return r
	}, UnpublishedFolder)
}

// testRows publishes the references highest, middle and lowest, which have that order, and withdraws the
// middle one.
func testRows[R, T comparable](t *testing.T, c Rows[R, T], highest, middle, lowest, never R, row func(R, int64, string) T, unpublished func(R) T) {
	t.Helper()
	ctx := t.Context()
	if none, err := last(ctx, c, middle, unpublished); err != nil || none != unpublished(middle) {
		t.Fatalf("without rows there is %+v, %v", none, err)
	}
	if none, err := c.Some(ctx, nil); err != nil || len(none) > 0 {
		t.Fatalf("of no references there is %+v, %v", none, err)
	}
	rows := []T{
		row(highest, 1, Published), row(middle, 1, Published), row(middle, 1, Published), // doubled by a repeat
		row(middle, 2, Withdrawn), row(lowest, 1, Published),
	}
	for _, r := range rows {
		if err := c.Append(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := last(ctx, c, middle, unpublished); err != nil || last != rows[3] {
		t.Errorf("the latest row is %+v, %v; want %+v", last, err, rows[3])
	}
	if all, err := c.All(ctx); err != nil || !slices.Equal(all, []T{publishedtest.Bare(rows[4]), publishedtest.Bare(rows[3]), publishedtest.Bare(rows[0])}) {
		t.Errorf("all gives %+v, %v", all, err)
	}
	if some, err := c.Some(ctx, []R{highest, never, lowest, middle, highest}); err != nil || !slices.Equal(some, []T{rows[4], rows[3], rows[0]}) {
		t.Errorf("some gives %+v, %v", some, err)
	}
}

// testBetween is for the segments of testSegments.
func testBetween(t *testing.T, rows Rows[schemas.SegmentRef, store.SegmentRow], tuesday schemas.SegmentRef) {
	t.Helper()
	start, end, err := tuesday.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	c := &Catalog{Tables: Tables{Segments: rows}}
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	for _, tt := range []struct {
		name     string
		from, to schemas.Micros
		want     []schemas.SegmentRef
	}{
		{"all", schemas.MinMicros, schemas.MaxMicros, []schemas.SegmentRef{imports, tuesday}},
		{"a withdrawn segment is not listed", start - day, start, nil},
		{"the end is included", end - 1, end, []schemas.SegmentRef{tuesday}},
		{"after the end", end, end + day, nil},
		{"the start is excluded", start - 5, start, nil},
		{"just after the start", start, start + 1, []schemas.SegmentRef{tuesday}},
	} {
		got, err := c.PublishedSegments(t.Context(), tt.from, tt.to)
		var refs []schemas.SegmentRef
		for i := range got {
			refs = append(refs, got[i].Ref())
			if got[i].Manifest == "" {
				t.Errorf("%s: %s comes without its manifest", tt.name, refs[i])
			}
		}
		if err != nil || !slices.Equal(refs, tt.want) {
			t.Errorf("%s: between %s and %s: got %v, %v; want %v", tt.name, tt.from, tt.to, refs, err, tt.want)
		}
	}
}

// testJournal is for a store in which nothing of stream pace is published.
func testJournal(t *testing.T, db *store.DB, conn driver.Conn) {
	t.Helper()
	tables := InStore(db, "pace")
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
	row := UnpublishedFolder(schemas.NetworkRef{Stream: "pace", Kind: schemas.NetworkUpdates, Start: micros(t, "2026-07-02T00:00:00Z"), End: micros(t, "2026-07-03T00:00:00Z")})
	row.Version, row.State = 1, Published
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
	at := micros(t, "2026-07-02T00:00:00.000007Z")
	for _, ended := range []schemas.Micros{at - 5, at, at - 9} {
		if err := tables.Journal.RecordCollection(t.Context(), store.CollectionRow{Stream: "pace", EndedAt: ended, Expired: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if ended, err := tables.Journal.LastCollection(t.Context()); err != nil || !ended.Equal(at.Time()) {
		t.Errorf("the last collection ended at %s, %v, want %s", ended, err, at)
	}
}

func TestManifestsAreThoseOfTheirVersion(t *testing.T) {
	c := &Catalog{manifests: newManifests()}
	for _, tt := range []struct{ day, version int }{{1, 1}, {2, 1}, {1, 1}, {1, 2}, {2, 1}, {3, 1}} {
		want := fmt.Sprintf("%d.%d", tt.day, tt.version)
		m, err := c.ManifestOf(&store.SegmentRow{
			Stream: "scan", Date: fmt.Sprintf("2026-07-%02d", tt.day), Version: int64(tt.version),
			Manifest: fmt.Sprintf(`{"format_version":"v1","date":%q}`, want),
		})
		if err != nil || m.Date != want {
			t.Fatalf("day %d version %d gives %+v, %v", tt.day, tt.version, m, err)
		}
	}
	if _, err := c.ManifestOf(&store.SegmentRow{Stream: "scan", Version: 9, Manifest: "{"}); err == nil {
		t.Error("a broken manifest is accepted")
	}
}

func micros(t *testing.T, text string) schemas.Micros {
	t.Helper()
	m, err := schemas.ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
