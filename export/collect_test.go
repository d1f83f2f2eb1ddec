package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// later is a clock that is two days ahead: all objects are old by it.
func later() time.Time { return time.Now().Add(48 * time.Hour) }

var oneDay = CollectRules{Grace: 24 * time.Hour}

func putText(t *testing.T, c *bucket.Client, key string) {
	t.Helper()
	content := []byte("left over")
	if err := c.Put(t.Context(), key, bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err != nil {
		t.Fatal(err)
	}
}

// TestCollect leaves what is published, what a run may finish and what is not ours, and
// removes the rest.
func TestCollect(t *testing.T) {
	src := withMovements(largeDays(61))
	client := openBucket(t)
	e := newTestExporter(t, src, client, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut, c.Lookups = smallCut, true })
	exportDueNetwork(t, e)
	exportDue(t, e)
	want := stored(t, client)

	day := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-02"}
	never := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2027-01-01"}
	neverFolder := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkACS, Start: micros("2027-01-01T00:00:00Z"), End: micros("2027-01-02T00:00:00Z")}
	stays := []string{
		schemas.ObjectKey(schemas.ParquetUpdates, never, 0), schemas.NetworkKey(neverFolder, schemas.CompactJSON, 3),
		schemas.ObjectKey(schemas.ParquetUpdates, schemas.SegmentRef{Stream: "node:a", MigrationID: 1, Date: "2026-07-02"}, 77),
		schemas.LookupKey(never, 0), schemas.LookupIndexKey(never), schemas.ChainKey(never), schemas.DerivedKey(never),
		"somebody/else's", "manifests/v1/migration_id=9/date=2026-07-02.json",
	}
	goes := []string{
		schemas.ObjectKey(schemas.ParquetUpdates, day, 77), schemas.LookupKey(day, 77), schemas.ObjectKey(schemas.ParquetMovements, day, 77), schemas.NetworkKey(crashFolder, schemas.ProtobufJSON, 77),
		schemas.StagingKey(schemas.ObjectKey(schemas.ParquetUpdates, day, 0)), schemas.StagingKey(schemas.NetworkKey(crashFolder, schemas.CompactJSON, 0)),
		schemas.StagingKey(schemas.ObjectKey(schemas.ParquetUpdates, never, 0)),
	}
	for _, key := range slices.Concat(stays, goes) {
		putText(t, client, key)
	}
	for _, key := range stays {
		want[key] = ""
	}
	if c, err := e.Collect(t.Context(), client, oneDay); err != nil || c.Objects != 0 {
		t.Fatalf("of young objects %+v were removed, %v", c, err)
	}
	e.cfg.Now = later
	c, err := e.Collect(t.Context(), client, oneDay)
	if err != nil || c.Objects != int64(len(goes)) || c.Bytes != int64(len(goes)*len("left over")) || c.Expired != 0 {
		t.Errorf("removed are %+v, want %d objects; %v", c, len(goes), err)
	}
	if got := slices.Sorted(maps.Keys(stored(t, client))); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("left are %q, want %q", got, slices.Sorted(maps.Keys(want)))
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("after the collection: %q, %v", v.Findings, err)
	}
	if _, err := e.Collect(t.Context(), client, CollectRules{}); err == nil {
		t.Error("a collection without grace is not refused")
	}
}

// TestCollectAbortsUploads removes what a crash left of an upload.
func TestCollectAbortsUploads(t *testing.T) {
	g := buckettest.Gateway(t)
	cfg := bucketConfig(g, "")
	client := buckettest.Open(t, cfg)
	e := newTestExporter(t, &memorySource{}, client, &memoryCatalog{}, nil)
	buckettest.OpenUpload(t, cfg, schemas.NetworkKey(crashFolder, schemas.CompactJSON, 0))
	for _, tt := range []struct {
		grace time.Duration
		want  int64
	}{{time.Hour, 0}, {time.Nanosecond, 1}} {
		c, err := e.Collect(t.Context(), client, CollectRules{Grace: tt.grace})
		if left := buckettest.Uploads(t, cfg); err != nil || c.Uploads != tt.want || int64(len(left)) != 1-tt.want {
			t.Errorf("with a grace of %s %d uploads were aborted, left are %q; %v", tt.grace, c.Uploads, left, err)
		}
		time.Sleep(1100 * time.Millisecond) // stores keep the time of uploads in seconds
	}
}

// TestCollectLeavesWhatIsStaged waits for a peer over a collection.
func TestCollectLeavesWhatIsStaged(t *testing.T) {
	src := largeDays(62)
	client := openBucket(t)
	peer := newOperator(t, "peer", src, nil)
	e := newTestExporter(t, src, client, &memoryCatalog{}, func(c *testConfig) { c.Agree, c.Peers = 1, []Peer{peer} })
	e.cfg.Now = later
	for _, run := range []func(*Exporter) error{
		func(e *Exporter) error { return e.ExportSegment(t.Context(), crashSegment) },
		func(e *Exporter) error { return e.network.Export(t.Context(), crashFolder) },
	} {
		if err := run(e); !errors.Is(err, ErrNotAgreed) {
			t.Fatal(err)
		}
	}
	want := stored(t, client)
	putText(t, client, schemas.StagingKey(schemas.ObjectKey(schemas.ParquetUpdates, crashSegment, 77)))
	if c, err := e.Collect(t.Context(), client, oneDay); err != nil || c.Objects != 1 {
		t.Errorf("removed are %+v, %v; want the one that nobody waits for", c, err)
	}
	if got := stored(t, client); !maps.Equal(got, want) || len(want) < 5 {
		t.Errorf("left are %v, want %v", got, want)
	}
}

// TestRetention removes old days and keeps the listings free of gaps.
func TestRetention(t *testing.T) {
	src := withMovements(largeDays(63))
	client := openBucket(t)
	e := newTestExporter(t, src, client, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut, c.Lookups = smallCut, true })
	exportDueNetwork(t, e)
	refs := exportDue(t, e)
	before, linked := len(stored(t, client)), links(t, client)
	rules := oneDay
	rules.Retention = later().Sub(micros("2026-07-02T12:00:00Z").Time())
	e.cfg.Now = later
	c, err := e.Collect(t.Context(), client, rules)
	if err != nil || c.Expired != 2 || c.Objects == 0 { // the first day, and the first folder of updates
		t.Fatalf("removed are %+v, %v", c, err)
	}
	for _, ref := range refs {
		_, there := stored(t, client)[schemas.LookupIndexKey(ref)]
		if _, end, err := ref.Bounds(); err != nil || there == (!ref.IsImports() && end < micros("2026-07-02T12:00:00Z")) {
			t.Errorf("segment %s has lookup objects: %v, %v", ref, there, err)
		}
	}
	if last, err := openArchive(t, client).CheckChain(t.Context()); err != nil || last == "" || links(t, client) != linked {
		t.Errorf("the chain ends with %q, %v, and has %d links of %d", last, err, links(t, client), linked)
	}
	days, through, err := e.catalog.Periods(t.Context())
	if err != nil || len(days) == 0 || days[0].Start < micros("2026-07-02T00:00:00Z") || through < micros("2026-07-03T00:00:00Z") {
		t.Errorf("listed are %+v through %s, %v", days, through, err)
	}
	folders, through, err := e.catalog.NetworkFolders(t.Context())
	if err != nil || len(folders) != 1 || through != micros("2026-07-03T00:00:00Z") {
		t.Errorf("listed are %v through %s, %v", folders, through, err)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 || len(stored(t, client)) != before-int(c.Objects) {
		t.Errorf("%d of %d objects are left, %+v; %v", len(stored(t, client)), before, v, err)
	}
	if due := exportDue(t, e); len(due) > 0 {
		t.Errorf("%v are due again", due)
	}
	if due := exportDueNetwork(t, e); len(due) > 0 {
		t.Errorf("%v are due again", due)
	}
	if err := e.network.Export(t.Context(), schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: schemas.MinMicros, End: micros("2026-07-02T00:00:00Z")}); err != nil {
		t.Error(err)
	}
	if again, err := e.Collect(t.Context(), client, rules); err != nil || again.Objects != 0 || again.Expired != 0 {
		t.Errorf("the second time %+v are removed, %v", again, err)
	}
}

// TestCollectWhileExportingAgain has a segment published again, with one object more, in
// between the look at the catalog and the deletion of what was left over under its key.
func TestCollectWhileExportingAgain(t *testing.T) {
	src, more := twoMigrations(64, 20), twoMigrations(65, 200)
	client := openBucket(t)
	c := &memoryCatalog{}
	e := newTestExporter(t, src, client, c, nil)
	e.cfg.Now = later
	if err := e.ExportSegment(t.Context(), crashRef); err != nil {
		t.Fatal(err)
	}
	writer := newTestExporter(t, more, client, c, nil)
	row := c.Last(crashRef)
	m, err := published.DecodeManifest([]byte(row.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	orphan := m.Batch().Next[0]
	putText(t, client, orphan)
	useObjects(e, &meddling{Objects: client, before: func(key string) {
		if key == orphan {
			if err := writer.Reexport(context.Background(), crashRef); err != nil {
				t.Error(err)
			}
		}
	}})
	if _, err := e.Collect(t.Context(), client, oneDay); err != nil {
		t.Fatal(err)
	}
	if row := c.Last(crashRef); row.State != published.Withdrawn {
		t.Fatalf("a segment of which an object was deleted is %s", row.State)
	}
	if err := writer.ExportSegment(t.Context(), crashRef); err != nil {
		t.Fatal(err)
	}
	if v, err := writer.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("after the next export: %q, %v", v.Findings, err)
	}
}

// meddling does something before an object is deleted.
type meddling struct {
	Objects
	before func(key string)
}

func (m *meddling) Delete(ctx context.Context, key string) error {
	m.before(key)
	return m.Objects.Delete(ctx, key)
}
