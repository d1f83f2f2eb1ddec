package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/published/publishedtest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// smallLayout makes several groups and parts of little data.
var smallLayout = published.Layout{RowsPerGroup: 50, BytesPerGroup: 40 << 10, GroupsPerPart: 2}

// openBucket returns a client of a new bucket.
func openBucket(t testing.TB) *bucket.Client {
	t.Helper()
	return buckettest.Open(t, buckettest.NewBucket(t))
}

func bucketConfig(g *bucket.Gateway, prefix string) bucket.Config {
	return bucket.Config{
		Endpoint: g.Endpoint, AccessKey: g.AccessKey, SecretKey: g.SecretKey, Bucket: "lake", PathStyle: true, Prefix: prefix,
	}
}

type (
	memoryCatalog        = publishedtest.Segments
	memoryNetworkCatalog = publishedtest.Folders
	memoryJournal        = publishedtest.Journal

	segmentRows = published.Rows[schemas.SegmentRef, store.SegmentRow]
	folderRows  = published.Rows[schemas.NetworkRef, store.NetworkFolderRow]
)

// testConfig is the configuration of an exporter and its catalogue.
type testConfig struct {
	Config
	catalogConfig
}

type catalogConfig = published.Config

// newTestExporter returns an exporter with a catalogue in memory, but for c if that is not nil.
func newTestExporter(t testing.TB, src testSource, objects Objects, c segmentRows, change func(*testConfig)) *Exporter {
	t.Helper()
	cfg := testConfig{
		Config: Config{
			Source: src, Objects: objects, TempDir: t.TempDir(), Layout: smallLayout, PageRows: 37,
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		},
		catalogConfig: published.Config{
			History: src, Tables: published.Tables{Segments: c, Folders: &memoryNetworkCatalog{}, Journal: &memoryJournal{}},
		},
	}
	if c == nil {
		cfg.Tables.Segments = &memoryCatalog{}
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if cfg.Config.Catalog, err = published.New(cfg.catalogConfig); err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustBeEmpty(t, cfg.TempDir) })
	return e
}

// catalogOf returns a catalogue in memory of segments of a length.
func catalogOf(t testing.TB, src published.History, length schemas.SegmentLength) *published.Catalog {
	t.Helper()
	c, err := published.New(published.Config{
		History: src, Segments: length,
		Tables: published.Tables{Segments: &memoryCatalog{}, Folders: &memoryNetworkCatalog{}, Journal: &memoryJournal{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listedPart is a published object of a segment.
type listedPart struct {
	published.Part
	Segment schemas.SegmentRef
	Table   schemas.ParquetTable
}

// listed returns all published objects of segments, in order.
func listed(t testing.TB, e *Exporter) []listedPart {
	t.Helper()
	rows, err := e.catalog.PublishedSegments(context.Background(), schemas.MinMicros, schemas.MaxMicros)
	if err != nil {
		t.Error(err)
	}
	var parts []listedPart
	for i := range rows {
		m, err := e.catalog.ManifestOf(&rows[i])
		if err != nil {
			t.Error(err)
			continue
		}
		for _, table := range m.Tables {
			for _, p := range table.Parts {
				parts = append(parts, listedPart{p, m.Ref(), table.Name})
			}
		}
	}
	return parts
}

// folderSums returns the SHA-256 of all published objects of folders.
func folderSums(t testing.TB, e *Exporter) map[string]string {
	t.Helper()
	rows, err := e.catalog.PublishedFolders(context.Background())
	if err != nil {
		t.Error(err)
	}
	sums := make(map[string]string)
	for i := range rows {
		lines, err := published.LinesOf(&rows[i])
		if err != nil {
			t.Error(err)
		}
		for _, o := range published.FolderBatch(rows[i].Ref(), lines).Objects {
			sums[o.Key] = o.SHA256
		}
	}
	return sums
}

// useObjects has an exporter use another bucket from now on.
func useObjects(e *Exporter, objects Objects) {
	e.cfg.Objects, e.publisher.objects, e.network.Objects = objects, objects, objects
}

// testSource is what an exporter and its catalogue read.
type testSource interface {
	Source
	published.History
}

func mustBeEmpty(t testing.TB, dir string) {
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// exportDue exports all due segments and returns them.
func exportDue(t testing.TB, e *Exporter) []schemas.SegmentRef {
	t.Helper()
	due, err := e.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range due {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	return due
}

// stored returns the SHA-256 of every object in the bucket by key.
func stored(t testing.TB, c *bucket.Client) map[string]string {
	t.Helper()
	sums := make(map[string]string)
	for o, err := range c.All(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		head, err := c.Head(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		sums[o.Key] = fmt.Sprintf("%x", head.SHA256)
	}
	return sums
}

// jittery is a Source whose pages take a random time.
type jittery struct{ testSource }

func (j jittery) UpdatePages(ctx context.Context, rg history.Range, page func([]schemas.Update) error) error {
	return j.testSource.UpdatePages(ctx, rg, slowly(page))
}

func (j jittery) VerdictPages(ctx context.Context, rg history.Range, page func([]schemas.Item) error) error {
	return j.testSource.VerdictPages(ctx, rg, slowly(page))
}

func slowly[T any](page func([]T) error) func([]T) error {
	return func(rows []T) error {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		return page(rows)
	}
}

func TestExportIsDeterministic(t *testing.T) {
	src := twoMigrations(1, 100)
	g := buckettest.Gateway(t)
	var want map[string]string
	for i, tt := range []struct{ procs, workers, page int }{
		{2, 2, 1000}, {1, 1, 1}, {2, 8, 7}, {8, 3, 128}, {2, 2, 1000},
	} {
		previous := runtime.GOMAXPROCS(tt.procs)
		client := buckettest.Open(t, bucketConfig(g, fmt.Sprintf("run-%d/", i)))
		e := newTestExporter(t, jittery{src}, client, &memoryCatalog{}, func(c *testConfig) { c.Workers, c.PageRows = tt.workers, tt.page })
		exportDue(t, e)
		runtime.GOMAXPROCS(previous)
		got := stored(t, client)
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v: objects differ: got %v, want %v", tt, got, want)
		}
	}
	parts := 0
	for key := range want {
		if strings.HasSuffix(key, "/part-00001.parquet") {
			parts++
		}
	}
	if parts < 3 {
		t.Errorf("only %d tables have a second part: the test proves nothing about parts; keys %v", parts, slices.Sorted(maps.Keys(want)))
	}
}

func TestVerifyReadsBackWhatWasExported(t *testing.T) {
	src := twoMigrations(2, 200)
	e := newTestExporter(t, src, openBucket(t), &memoryCatalog{}, nil)
	exportDue(t, e)
	var last Progress
	v, err := e.VerifyObjects(t.Context(), func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Findings) > 0 {
		t.Errorf("findings in untouched objects: %q", v.Findings)
	}
	want := wantDigests(t, e, src)
	for name, digest := range want {
		if v.Digests[name] != digest {
			t.Errorf("table %s: read back %s, the source has %s", name, v.Digests[name], digest)
		}
	}
	if len(v.Digests) != len(want) {
		t.Errorf("digests of %v, want %v", slices.Sorted(maps.Keys(v.Digests)), slices.Sorted(maps.Keys(want)))
	}
	if last.Objects != last.TotalObjects || last.Bytes != last.TotalBytes || v.ObjectsChecked != last.TotalObjects || last.Objects == 0 {
		t.Errorf("the last progress is %+v, %d objects were checked", last, v.ObjectsChecked)
	}
}

// wantDigests digests the closed part of the source without going through the writer.
func wantDigests(t testing.TB, e *Exporter, src *memorySource) map[string]schemas.Digest {
	t.Helper()
	refs, err := e.catalog.ClosedSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]*published.Digester{
		"updates": {}, "events": {}, "imports": {}, "acs": {}, "verdicts": {}, "traffic": {}, "app_activity": {},
	}
	for _, ref := range refs {
		if ref.IsImports() {
			for i := range src.imports {
				if src.imports[i].MigrationID == ref.MigrationID {
					sums["imports"].AddImport(&src.imports[i])
				}
			}
			continue
		}
		digestDay(t, src, ref, sums)
	}
	digests := make(map[string]schemas.Digest)
	for name, sum := range sums {
		digests[name] = sum.Sum
	}
	return digests
}

// addUpdate takes in an update alone, made apart from its events.
func addUpdate(d *published.Digester, u *schemas.Update) {
	d.Add(u.UpdateID, schemas.AppendUpdate(nil, u, schemas.UpdateForm{}))
}

// addEvents takes in the events of an update, each made by itself.
func addEvents(d *published.Digester, u *schemas.Update) {
	if u.Kind != schemas.Transaction {
		d.Add(u.UpdateID, schemas.AppendReassignmentEvent(nil, u))
		return
	}
	for i := range u.Events {
		d.Add(u.UpdateID, schemas.AppendEvent(nil, u, &u.Events[i]))
	}
}

func digestDay(t testing.TB, src *memorySource, ref schemas.SegmentRef, sums map[string]*published.Digester) {
	start, end, err := ref.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	in := func(p schemas.Position) bool {
		return p.MigrationID == ref.MigrationID && p.RecordTime > start && p.RecordTime <= end
	}
	for i := range src.updates {
		if u := &src.updates[i]; in(u.Position()) {
			addUpdate(sums["updates"], u)
			addEvents(sums["events"], u)
		}
	}
	for _, it := range src.verdicts {
		if !in(it.Position()) {
			continue
		}
		sums["verdicts"].AddVerdict(it.Verdict)
		if it.Traffic != nil {
			sums["traffic"].AddTraffic(it.Verdict.UpdateID, it.Traffic)
		}
		if it.AppActivity != nil {
			sums["app_activity"].AddAppActivity(it.Verdict.UpdateID, it.AppActivity)
		}
	}
	active := src.active(history.ActiveQuery{MigrationID: ref.MigrationID, At: start})
	for i := range active {
		sums["acs"].AddActiveContract(&active[i].Event)
	}
}

func TestExportTwiceChangesNothing(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	e := newTestExporter(t, twoMigrations(3, 40), client, c, nil)
	due := exportDue(t, e)
	before, rows := stored(t, client), len(c.Rows)
	for _, ref := range due {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := e.DueSegments(t.Context()); err != nil || len(again) > 0 {
		t.Errorf("still due: %v, %v", again, err)
	}
	if len(c.Rows) != rows || !maps.Equal(before, stored(t, client)) {
		t.Errorf("a repeat wrote %d more rows or other objects", len(c.Rows)-rows)
	}
}

func TestOtherBytesAreNeverOverwritten(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	if err := newTestExporter(t, twoMigrations(4, 40), client, c, nil).ExportSegment(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	before := stored(t, client)
	// Another history, and a store that has lost its catalog.
	lost := &memoryCatalog{}
	other := newTestExporter(t, twoMigrations(5, 20), client, lost, nil)
	if err := other.ExportSegment(t.Context(), ref); !errors.Is(err, published.ErrConflict) {
		t.Fatalf("exporting another history under the same keys: %v", err)
	}
	if !maps.Equal(before, stored(t, client)) || len(lost.Rows) > 0 {
		t.Fatal("objects were overwritten or the segment was published")
	}
	if err := other.Reexport(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	v, err := other.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 {
		t.Fatalf("after exporting again: %q, %v", v.Findings, err)
	}
}

func TestReexportRemovesPartsThatAreNoLongerThere(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	if err := newTestExporter(t, twoMigrations(4, 200), client, c, nil).ExportSegment(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	before := len(stored(t, client))
	shorter := newTestExporter(t, twoMigrations(4, 10), client, c, nil)
	if err := shorter.Reexport(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	objects := len(listed(t, shorter))
	if after := len(stored(t, client)); after != objects+1 || after >= before {
		t.Errorf("%d objects before, %d after, of which %d and a manifest are listed", before, after, objects)
	}
}

func TestObjectsOfSegments(t *testing.T) {
	e := newTestExporter(t, twoMigrations(6, 40), openBucket(t), &memoryCatalog{}, nil)
	due := exportDue(t, e)
	never := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-04"}
	found, err := e.catalog.ObjectsOf(t.Context(), append(due, never), schemas.ParquetUpdates, schemas.ParquetACS)
	if err != nil || len(found) != len(due) {
		t.Fatalf("of %d segments %d are found, %v", len(due), len(found), err)
	}
	sums := stored(t, e.cfg.Objects.(*bucket.Client))
	updates, sets := 0, 0
	for _, ref := range due {
		for _, o := range found[ref] {
			table, of, _, ok := schemas.ParseObjectKey(o.Key)
			if !ok || of != ref || table != schemas.ParquetUpdates && table != schemas.ParquetACS || sums[o.Key] != fmt.Sprintf("%x", o.SHA256) || o.Size == 0 {
				t.Errorf("object %+v is listed for %s", o, ref)
			}
			if table == schemas.ParquetUpdates {
				updates++
			} else {
				sets++
			}
		}
	}
	if updates == 0 || sets == 0 {
		t.Errorf("listed are %d objects of updates and %d of active sets", updates, sets)
	}
}

func TestSourceOutOfOrderIsRefused(t *testing.T) {
	src := twoMigrations(7, 40)
	src.updates[3], src.updates[4] = src.updates[4], src.updates[3]
	c := &memoryCatalog{}
	e := newTestExporter(t, src, openBucket(t), c, nil)
	err := e.ExportSegment(t.Context(), schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"})
	if !errors.Is(err, ErrOrder) || len(c.Rows) > 0 {
		t.Errorf("exporting updates out of order: %v", err)
	}
}

func TestExportStopsWithItsContext(t *testing.T) {
	e := newTestExporter(t, twoMigrations(8, 100), openBucket(t), &memoryCatalog{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := e.ExportSegment(ctx, schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled export says %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration is accepted")
	}
	cfg := Config{Source: &memorySource{}, Catalog: catalogOf(t, &memorySource{}, ""), Objects: &bucket.Client{}, Log: slog.Default(), Workers: -1}
	if _, err := New(cfg); err == nil {
		t.Error("negative workers are accepted")
	}
}
