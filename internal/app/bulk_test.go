package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// openTestApp opens a store in the tests' engine and an embedded bucket, in this process.
func openTestApp(t *testing.T, args ...string) *App {
	t.Helper()
	cfg := new(settings.Config)
	args = append([]string{"--data", t.TempDir(), "--listen", "127.0.0.1:0", "--clickhouse-dsn", enginetest.Start(t).DSN}, args...)
	if err := cfg.Flags().All().Parse(args); err != nil {
		t.Fatal(err)
	}
	a := New(cfg, Build{Version: "test"}, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() {
		if err := a.p.close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// ingestItems writes a history the way ingest does.
func ingestItems(t *testing.T, s *App, items []schemas.Item) {
	t.Helper()
	writer := indexer.NewWriter(s.db.db, schemas.ScanStream, s.p.log)
	after := schemas.Start
	for len(items) > 0 {
		first, n := items[0].Position(), 1
		for n < len(items) && sameRun(first, items[n].Position()) {
			n++
		}
		batch := schemas.Batch{Stream: schemas.ScanStream, After: after, Through: items[n-1].Position(), Items: items[:n]}
		if err := writer.Write(t.Context(), &batch); err != nil {
			t.Fatal(err)
		}
		after, items = batch.Through, items[n:]
	}
	if err := indexer.NewLifetimes(s.db.db, schemas.ScanStream, time.Second, s.p.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sameRun reports whether two positions may stand in one batch.
func sameRun(a, b schemas.Position) bool {
	return a.MigrationID == b.MigrationID && (a.RecordTime == schemas.MinMicros) == (b.RecordTime == schemas.MinMicros)
}

func exportAll(t *testing.T, e *export.Exporter) {
	t.Helper()
	due, err := e.DueSegments(t.Context())
	if err != nil || len(due) == 0 {
		t.Fatalf("%d segments are due, %v", len(due), err)
	}
	for _, ref := range due {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
}

// withdraw takes a segment back, as docs/operations.md says.
func withdraw(t *testing.T, s *App, ref schemas.SegmentRef) {
	t.Helper()
	conn, err := engine.Open(t.Context(), s.db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO segments (stream, migration_id, segment_date, version, state, start_time, end_time,
		manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes)
		SELECT stream, migration_id, segment_date, version + 1, 'withdrawn', start_time, end_time,
		manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes
		FROM segments WHERE stream = 'scan' AND migration_id = %d AND segment_date = '%s' ORDER BY version DESC LIMIT 1`, ref.MigrationID, ref.Date))
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBulkOfOverlappingMigrations publishes two migrations, of which the second begins
// on the day on which the first one ends, with days on which nothing happens.
func TestBulkOfOverlappingMigrations(t *testing.T) {
	s := openTestApp(t)
	const hours = 3600 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 4, Items: 12, Migrations: 2, Step: 30 * hours}).Items)
	b, err := s.objects.newBulk()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.objects.newExporter()
	if err != nil {
		t.Fatal(err)
	}
	exportAll(t, e)
	all, published, err := b.Segments(t.Context(), scan.Parquet, 0, schemas.MaxMicros, 1000)
	if err != nil {
		t.Fatal(err)
	}
	checkSegments(t, all, published)
	shared := slices.IndexFunc(all, func(x scan.Segment) bool { return x.MigrationID == 1 })
	if shared < 2 || all[shared].Start != all[shared-1].Start {
		t.Fatalf("the migrations share no day: the test proves nothing")
	}
	checkActiveSets(t, b, all)

	hole := all[shared-2]
	withdraw(t, s, schemas.DaySegments.Of(schemas.ScanStream, hole.MigrationID, hole.End))
	rest, published, err := b.Segments(t.Context(), scan.Parquet, 0, schemas.MaxMicros, 1000)
	if err != nil || len(rest) != shared-2 || published != hole.Start {
		t.Errorf("with %s withdrawn %d segments are listed through %s, want %d; %v", hole.Start, len(rest), published, shared-2, err)
	}
	if through, err := b.Published(t.Context(), scan.Parquet); err != nil || through != hole.Start {
		t.Errorf("published through %s, %v; want %s", through, err, hole.Start)
	}
	if at, _, err := b.ActiveSet(t.Context(), scan.Parquet, schemas.MaxMicros); err != nil || at != rest[len(rest)-1].Start {
		t.Errorf("the latest set before the hole is that of %s, %v; want %s", at, err, rest[len(rest)-1].Start)
	}
	if found, err := b.Objects(t.Context(), hole.Objects[0].Key); err != nil || len(found) > 0 {
		t.Errorf("an object of a withdrawn segment is found: %v, %v", found, err)
	}
}

// checkSegments makes sure that segments are in order, without gaps, and partly empty.
func checkSegments(t *testing.T, all []scan.Segment, published schemas.Micros) {
	t.Helper()
	empty := 0
	for i, x := range all {
		if len(x.Objects) == 0 {
			empty++
		}
		if i == 0 {
			continue
		}
		p := all[i-1]
		if next := p.End == x.Start; !next && (p.Start != x.Start || p.MigrationID >= x.MigrationID) {
			t.Errorf("segment %d of %s stands after %d of %s", x.MigrationID, x.Start, p.MigrationID, p.Start)
		}
	}
	if len(all) < 10 || empty == 0 || published != all[len(all)-1].End {
		t.Fatalf("%d segments, %d without updates, through %s: want empty days and the end of the last one", len(all), empty, published)
	}
}

// checkActiveSets asks for the set of every start: its objects are of one migration,
// the lowest that has that day.
func checkActiveSets(t *testing.T, b bulk, all []scan.Segment) {
	t.Helper()
	lowest := make(map[schemas.Micros]int64)
	for _, x := range slices.Backward(all) {
		lowest[x.Start] = x.MigrationID
	}
	for start, migration := range lowest {
		for _, at := range []schemas.Micros{start, start + 1} {
			got, objects, err := b.ActiveSet(t.Context(), scan.Parquet, at)
			if err != nil || got != start {
				t.Errorf("the set at %s is that of %s, %v", at, got, err)
			}
			for _, o := range objects {
				if want := fmt.Sprintf("acs/v1/migration_id=%d/", migration); !strings.HasPrefix(o.Key, want) {
					t.Errorf("the set of %s has object %s, want %s", start, o.Key, want)
				}
			}
		}
	}
	if _, _, err := b.ActiveSet(t.Context(), scan.Parquet, all[0].Start-1); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("a set before history: %v", err)
	}
}

// TestChecksumsOfManySegmentsAreQuick asks for as many digests as a request may, from
// more segments than decoded manifests are kept.
func TestChecksumsOfManySegmentsAreQuick(t *testing.T) {
	s := openTestApp(t)
	const segments, asked = 740, 1000
	sums := publishRows(t, s, segments)
	server, err := s.servers.newServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	var keys, want []string
	for i := range asked {
		ref := dayRef(i % segments)
		table := []schemas.ParquetTable{schemas.ParquetUpdates, schemas.ParquetEvents}[i/segments]
		keys = append(keys, schemas.ObjectKey(table, ref, 0))
		want = append(want, sums[keys[i]])
	}
	keys[500], want[500] = schemas.ObjectKey(schemas.ParquetUpdates, dayRef(500), 99), "" // unknown
	got, elapsed := askChecksums(t, server.Addr(), keys)
	if !slices.Equal(got, want) {
		t.Errorf("the digests of %d keys differ from those published", asked)
	}
	t.Logf("%d keys over %d segments in %s", asked, segments, elapsed)
	_, one := askChecksums(t, server.Addr(), keys[:1])
	if limit := max(time.Second, 200*one); elapsed > limit { // the second, unless the machine is that busy
		t.Errorf("%d keys took %s, want at most %s: one takes %s", asked, elapsed, limit, one)
	}
}

// askChecksums asks for the digests of objects and says how long that took.
func askChecksums(t *testing.T, address string, keys []string) (sums []string, took time.Duration) {
	t.Helper()
	body, err := json.Marshal(map[string][]string{"object_keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	client := documented(t)
	begun := time.Now()
	response, err := client.Post("http://"+address+"/v0/history/bulk/checksums", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	took = time.Since(begun)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("checksums answered %d %s, %v", response.StatusCode, raw, err)
	}
	var answer struct{ Checksums []struct{ Value string } }
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.Checksums {
		sums = append(sums, c.Value)
	}
	return sums, took
}

func dayRef(i int) schemas.SegmentRef {
	at := schematest.FirstTime + 1 + schemas.Micros(i)*24*3600*1e6
	return schemas.DaySegments.Of(schemas.ScanStream, 3, at)
}

// publishRows puts segments with manifests of the usual size into the catalog and
// returns the base64 digests by key. There are no objects: a lookup reads none.
func publishRows(t *testing.T, s *App, segments int) map[string]string {
	t.Helper()
	conn, err := engine.Open(t.Context(), s.db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	batch, err := conn.PrepareBatch(t.Context(), `INSERT INTO segments (stream, migration_id, segment_date, version, state,
		start_time, end_time, manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes)`)
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]string)
	for i := range segments {
		ref := dayRef(i)
		m := published.Manifest{FormatVersion: schemas.ParquetVersion, Stream: ref.Stream, MigrationID: ref.MigrationID, Date: ref.Date}
		for _, table := range ref.Tables() {
			key := schemas.ObjectKey(table, ref, 0)
			sum := sha256.Sum256([]byte(key))
			sums[key] = base64.StdEncoding.EncodeToString(sum[:])
			part := published.Part{Key: key, Bytes: 1000, SHA256: fmt.Sprintf("%x", sum), SHA256Base64: sums[key], Rows: 10, RowGroups: 1}
			m.Tables = append(m.Tables, published.Table{Name: table, Rows: 10, Parts: []published.Part{part}})
		}
		text, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		start, end, err := ref.Bounds()
		if err != nil {
			t.Fatal(err)
		}
		err = batch.Append(ref.Stream, ref.MigrationID, ref.Date, int64(1), "published", int64(start), int64(end),
			schemas.ManifestKey(ref), "", string(text), int64(len(m.Tables)), int64(60), int64(6000))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	return sums
}
