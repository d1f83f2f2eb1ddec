package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// allTables are all tables.
var allTables = []schemas.ParquetTable{
	schemas.ParquetUpdates, schemas.ParquetEvents, schemas.ParquetACS, schemas.ParquetVerdicts,
	schemas.ParquetTraffic, schemas.ParquetAppActivity, schemas.ParquetImports,
}

// tableOf is the engine's function over an Iceberg table.
func tableOf(g *bucket.Gateway, table schemas.ParquetTable) string {
	return fmt.Sprintf("icebergS3('%s/lake/%s', '%s', '%s')", g.Endpoint, schemas.IcebergFolder("scan", table), g.AccessKey, g.SecretKey)
}

func newIcebergExporter(t *testing.T, src testSource, client *bucket.Client, c segmentRows, change func(*testConfig)) *Exporter {
	t.Helper()
	return newTestExporter(t, src, client, c, func(cfg *testConfig) {
		cfg.Iceberg = client
		if change != nil {
			change(cfg)
		}
	})
}

// contentOf asks for a sum over all columns of all rows, which does not depend on their
// order. It adds no columns that are in keys only.
func contentOf(table string) string {
	return "SELECT sum(cityHash64(formatRow('JSONEachRow', *))) FROM " + table + " SETTINGS use_hive_partitioning = 0"
}

// compareTables holds what the engine reads through the metadata of tables against the
// objects in the bucket.
func compareTables(t *testing.T, conn driver.Conn, g *bucket.Gateway, tables ...schemas.ParquetTable) {
	t.Helper()
	for _, table := range tables {
		got := query[uint64](t, conn, string(table), contentOf(tableOf(g, table)))
		if want := query[uint64](t, conn, string(table), contentOf(objectsAt(g, table))); got != want {
			t.Errorf("Iceberg table %s has other rows than the objects in the bucket", table)
		}
	}
}

// mustBeCurrent checks that the tables have what is published.
func mustBeCurrent(t *testing.T, e *Exporter) {
	t.Helper()
	segments, err := publishedFiles{e.catalog}.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if same, err := e.tables.UpToDate(t.Context(), segments); err != nil || !same {
		t.Errorf("the tables have what is published: %v, %v", same, err)
	}
}

func TestEngineReadsIcebergTables(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src := twoMigrations(71, 120)
	g := buckettest.Gateway(t)
	e := newIcebergExporter(t, src, buckettest.Open(t, bucketConfig(g, "")), &memoryCatalog{}, nil)
	if err := e.tables.Exclude(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := query[uint64](t, conn, "an empty table", "SELECT count() FROM "+tableOf(g, schemas.ParquetUpdates)); rows != 0 {
		t.Errorf("a table without snapshots has %d rows", rows)
	}
	exportDue(t, e)
	want := wantDigests(t, e, src)
	for _, table := range allTables {
		rows := query[uint64](t, conn, string(table), "SELECT count() FROM "+tableOf(g, table))
		if rows != want[string(table)].Rows || rows == 0 {
			t.Errorf("table %s has %d rows, want %d", table, rows, want[string(table)].Rows)
		}
	}
	compareTables(t, conn, g, allTables...)
	types := query[string](t, conn, "types", "SELECT toTypeName(tuple(migration_id, record_time, effective_at, workflow_id, root_events, event_count)) FROM "+
		tableOf(g, schemas.ParquetUpdates)+" LIMIT 1")
	if want := "Tuple(Int64, DateTime64(6, 'UTC'), Nullable(DateTime64(6, 'UTC')), Nullable(String), Array(Int32), Int32)"; types != want {
		t.Errorf("columns of updates are %s, want %s", types, want)
	}
}

// TestIcebergTablesPrune removes the objects of all days but one: a query for that day
// never opens them.
func TestIcebergTablesPrune(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src := twoMigrations(72, 120)
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	exportDue(t, newIcebergExporter(t, src, client, &memoryCatalog{}, nil))
	for _, table := range []schemas.ParquetTable{schemas.ParquetUpdates, schemas.ParquetEvents, schemas.ParquetACS, schemas.ParquetVerdicts} {
		day := "SELECT count(), sum(cityHash64(toString(record_time))) FROM %s WHERE migration_id = 0 AND record_time > '2026-07-03 00:00:00' AND record_time <= '2026-07-04 00:00:00'"
		if table == schemas.ParquetACS {
			day = "SELECT count(), sum(cityHash64(contract_id)) FROM %s WHERE migration_id = 0 AND record_time = '2026-07-03 00:00:00'"
		}
		var want, got [2]uint64
		if err := conn.QueryRow(t.Context(), fmt.Sprintf(day, objectsAt(g, table))).Scan(&want[0], &want[1]); err != nil {
			t.Fatal(err)
		}
		others := deleteOthers(t, client, table, func(ref schemas.SegmentRef) bool { return ref.MigrationID == 0 && ref.Date == "2026-07-03" })
		if err := conn.QueryRow(t.Context(), fmt.Sprintf(day, tableOf(g, table))).Scan(&got[0], &got[1]); err != nil {
			t.Fatalf("reading a day of table %s: %v", table, err)
		}
		if got != want || want[0] == 0 || others == 0 {
			t.Errorf("a day of table %s has %d rows, want %d; %d objects of other days were removed", table, got[0], want[0], others)
		}
	}
}

// deleteOthers removes the objects of a table of all segments but those to be kept, and returns
// how many these were.
func deleteOthers(t *testing.T, client *bucket.Client, table schemas.ParquetTable, keep func(schemas.SegmentRef) bool) (others int) {
	t.Helper()
	for key := range stored(t, client) {
		name, ref, _, ok := schemas.ParseObjectKey(key)
		if !ok || name != table || keep(ref) {
			continue
		}
		others++
		if err := client.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return others
}

// TestIcebergTablesOfHours reads all tables over hour segments, and one hour without the objects
// of any other.
func TestIcebergTablesOfHours(t *testing.T) {
	conn := enginetest.Start(t).Conn
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	e := newIcebergExporter(t, twoEvenings(), client, &memoryCatalog{}, byHours)
	exportDue(t, e)
	mustBeCurrent(t, e)
	compareTables(t, conn, g, allTables...)
	hour := "SELECT count() FROM %s WHERE migration_id = 0 AND record_time > '2026-07-01 22:00:00' AND record_time <= '2026-07-01 23:00:00'"
	want := query[uint64](t, conn, "an hour of the objects", fmt.Sprintf(hour, objectsAt(g, schemas.ParquetUpdates)))
	others := deleteOthers(t, client, schemas.ParquetUpdates, func(ref schemas.SegmentRef) bool {
		return ref.MigrationID == 0 && ref.Date == "2026-07-01T22"
	})
	if got := query[uint64](t, conn, "an hour of the table", fmt.Sprintf(hour, tableOf(g, schemas.ParquetUpdates))); got != want || want != 3 || others == 0 {
		t.Errorf("an hour of the table has %d updates, of the objects %d, want 3; %d objects of other hours were removed", got, want, others)
	}
}

// TestIcebergTablesOfWhatWasPublished turns tables on for segments that are published, and
// repeats what is done.
func TestIcebergTablesOfWhatWasPublished(t *testing.T) {
	src, client, c := twoMigrations(73, 40), openBucket(t), &memoryCatalog{}
	exportDue(t, newTestExporter(t, src, client, c, nil))
	e := newIcebergExporter(t, src, client, c, nil)
	if due := exportDue(t, e); len(due) != 1 {
		t.Fatalf("%v are due for the tables, want one segment", due)
	}
	mustBeCurrent(t, e)
	before := stored(t, client)
	for _, again := range []*Exporter{e, newIcebergExporter(t, src, client, c, nil)} {
		if due := exportDue(t, again); len(due) != 0 {
			t.Errorf("%v are due again", due)
		}
		if err := again.ExportSegment(t.Context(), schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}); err != nil {
			t.Fatal(err)
		}
	}
	if after := stored(t, client); len(after) != len(before) {
		t.Errorf("repeating made %d objects of %d", len(after), len(before))
	}
}

// TestIcebergTablesOfSeveralWorkers has exporters of their own export all segments at once.
func TestIcebergTablesOfSeveralWorkers(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src, c := twoMigrations(74, 20), &memoryCatalog{}
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	var workers sync.WaitGroup
	var last *Exporter
	for range 4 {
		e := newIcebergExporter(t, src, client, c, nil)
		due, err := e.DueSegments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last = e
		workers.Go(func() {
			for _, ref := range due {
				if err := e.ExportSegment(t.Context(), ref); err != nil {
					t.Errorf("exporting %s: %v", ref, err)
				}
			}
		})
	}
	workers.Wait()
	mustBeCurrent(t, last)
	compareTables(t, conn, g, allTables...)
}

// TestIcebergTablesWhileASegmentIsReplaced looks at the tables before an object is
// overwritten, and when all is done.
func TestIcebergTablesWhileASegmentIsReplaced(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src, c := twoMigrations(75, 30), &memoryCatalog{}
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	exportDue(t, newIcebergExporter(t, src, client, c, nil))
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	const rowsOfDay = "SELECT countIf(migration_id = 0 AND record_time <= '2026-07-02 00:00:00') FROM "
	before := query[uint64](t, conn, "the day", rowsOfDay+tableOf(g, schemas.ParquetUpdates))
	watched := &watchedPuts{Objects: client, before: func(key string) {
		if _, of, _, ok := schemas.ParseObjectKey(key); !ok || of != ref {
			return
		}
		var rows uint64
		if err := conn.QueryRow(t.Context(), rowsOfDay+tableOf(g, schemas.ParquetUpdates)).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("when %s is overwritten the table has %d rows of its day, %v", key, rows, err)
		}
	}}
	shorter := newIcebergExporter(t, twoMigrations(75, 10), client, c, nil)
	useObjects(shorter, watched)
	if err := shorter.Reexport(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	after := query[uint64](t, conn, "the day", rowsOfDay+tableOf(g, schemas.ParquetUpdates))
	if watched.seen.Load() == 0 || after == 0 || after >= before {
		t.Errorf("the day has %d rows, before it had %d; %d objects were overwritten", after, before, watched.seen.Load())
	}
	compareTables(t, conn, g, allTables...)
}

// watchedPuts tells of an object before it is overwritten. It counts them.
type watchedPuts struct {
	Objects
	before func(key string)
	seen   atomic.Int64
}

func (w *watchedPuts) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	w.seen.Add(1)
	w.before(key)
	return w.Objects.Put(ctx, key, body, size, sum, contentType)
}

// TestIcebergTablesOfOldDays has a day expire: it leaves the tables before its objects go,
// and all snapshots that are left can be read.
func TestIcebergTablesOfOldDays(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src, c := twoMigrations(76, 20), &memoryCatalog{}
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	e := newIcebergExporter(t, src, client, c, nil)
	exportDue(t, e)
	snapshots := len(snapshotsOf(t, client, schemas.ParquetUpdates))
	e.cfg.Now = later
	useObjects(e, &meddling{Objects: client, before: func(key string) {
		var rows uint64
		if err := conn.QueryRow(t.Context(), contentOf(tableOf(g, schemas.ParquetUpdates))).Scan(&rows); err != nil {
			t.Errorf("when %s is removed the table cannot be read: %v", key, err)
		}
	}})
	rules := oneDay
	rules.Retention = later().Sub(micros("2026-07-02T12:00:00Z").Time())
	done, err := e.Collect(t.Context(), client, rules)
	if err != nil || done.Expired == 0 || done.Objects == 0 {
		t.Fatalf("removed are %+v, %v", done, err)
	}
	mustBeCurrent(t, e)
	compareTables(t, conn, g, allTables...)
	left := snapshotsOf(t, client, schemas.ParquetUpdates)
	if len(left) != 1 || snapshots < 3 {
		t.Errorf("%d snapshots of %d are left, want the one without the day", len(left), snapshots)
	}
	for _, id := range left {
		query[uint64](t, conn, "a snapshot", contentOf(tableOf(g, schemas.ParquetUpdates))+fmt.Sprintf(", iceberg_snapshot_id = %d", id))
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
	again, err := e.Collect(t.Context(), client, rules)
	if err != nil || again.Expired != 0 || again.Objects != 0 {
		t.Errorf("the second time %+v are removed, %v", again, err)
	}
}

// snapshotsOf returns the ids of the snapshots that the latest metadata of a table names.
func snapshotsOf(t *testing.T, client *bucket.Client, table schemas.ParquetTable) []int64 {
	t.Helper()
	var latest int64
	for key := range stored(t, client) {
		if v, ok := schemas.ParseIcebergVersion(key); ok && strings.HasPrefix(key, schemas.IcebergFolder("scan", table)+"/") {
			latest = max(latest, v)
		}
	}
	var m struct {
		Snapshots []struct {
			ID int64 `json:"snapshot-id"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(read(t, client, schemas.IcebergMetadataKey("scan", table, latest)), &m); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, s := range m.Snapshots {
		ids = append(ids, s.ID)
	}
	return ids
}

// TestIcebergTablesOverABadNetwork exports into a store that refuses, answers in part, or
// does what it is asked and loses the answer.
func TestIcebergTablesOverABadNetwork(t *testing.T) {
	conn := enginetest.Start(t).Conn
	g := buckettest.Gateway(t)
	proxy := buckettest.Flaky(t, g.Endpoint, 77, faults.Rates{Errors: 0.02, Lost: 0.01, Truncated: 0.01})
	cfg := bucketConfig(g, "")
	cfg.MaxAttempts = 1
	buckettest.Open(t, cfg)
	cfg.Endpoint = proxy.URL()
	client, err := bucket.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := newIcebergExporter(t, twoMigrations(77, 20), client, &memoryCatalog{}, nil)
	for failures := 0; ; failures++ {
		due, err := e.DueSegments(t.Context())
		if err == nil && len(due) == 0 {
			break
		}
		if err == nil {
			err = e.ExportSegment(t.Context(), due[0])
		}
		if err != nil && failures > 500 {
			t.Fatal(err)
		}
	}
	if _, met := proxy.Counts(); met < 10 {
		t.Errorf("there were only %d faults", met)
	}
	compareTables(t, conn, g, allTables...)
}
