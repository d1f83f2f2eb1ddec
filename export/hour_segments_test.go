package export

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func byHours(c *testConfig) { c.Segments, c.Lookups = schemas.HourSegments, true }

// twoEvenings is a history over midnight, with an hour in which nothing happens. Its second
// migration begins in an hour of the first.
func twoEvenings() *memorySource {
	g, s := newGenerator(91), &memorySource{}
	add := func(migrationID int64, times ...string) {
		for _, at := range times {
			u := g.transaction(migrationID, micros(at), 3)
			s.updates, s.verdicts = append(s.updates, u), append(s.verdicts, g.verdict(u.Position()))
		}
	}
	add(0, "2026-07-01T22:30:00Z", "2026-07-01T22:40:00Z", "2026-07-01T23:00:00Z", "2026-07-02T00:00:00Z", "2026-07-02T00:00:00.000001Z", "2026-07-02T02:05:00Z")
	for range 3 {
		s.imports = append(s.imports, g.importUpdate(1, micros("2026-07-01T22:30:00Z")))
	}
	slices.SortFunc(s.imports, func(a, b schemas.Update) int { return strings.Compare(a.UpdateID, b.UpdateID) })
	add(1, "2026-07-02T02:30:00Z", "2026-07-02T03:10:00Z", "2026-07-02T04:00:00.000001Z")
	s.watermark = schemas.EndOf(1, micros("2026-07-02T04:00:00.000001Z"))
	s.contracts = s.watermark
	return s
}

// hours are the closed segments of twoEvenings.
var hours = []string{"imports", "2026-07-01T22", "2026-07-01T23", "2026-07-02T00", "2026-07-02T01", "2026-07-02T02",
	"1/imports", "1/2026-07-02T02", "1/2026-07-02T03"}

func TestHourSegmentsAreDue(t *testing.T) {
	tests := []struct {
		name      string
		watermark string
		contracts string
		want      []string
	}{
		{"all that is closed", "2026-07-02T04:00:00.000001Z", "2026-07-02T04:00:00.000001Z", hours},
		{"the end of an hour is not past it", "2026-07-02T03:00:00Z", "2026-07-02T03:00:00Z", hours[:7]},
		{"lifetimes that lag hold back what needs them", "2026-07-02T04:00:00.000001Z", "2026-07-02T03:00:00Z", hours[:8]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := twoEvenings()
			src.watermark, src.contracts = schemas.EndOf(1, micros(tt.watermark)), schemas.EndOf(1, micros(tt.contracts))
			due, err := newTestExporter(t, src, &discard{}, &memoryCatalog{}, byHours).DueSegments(t.Context())
			if err != nil || !slices.Equal(names(due), tt.want) {
				t.Errorf("due are %v, %v; want %v", names(due), err, tt.want)
			}
		})
	}
}

// hourDigest is that of all objects of twoEvenings by hours.
const hourDigest = "073c72171fbe41d4f323468d2a46ec510e74b69241784a5f653012565264b01c"

func TestHourSegmentsAreDeterministic(t *testing.T) {
	src, g := twoEvenings(), buckettest.Gateway(t)
	for i, tt := range []struct {
		procs, workers, page int
		backwards            bool
	}{
		{2, 2, 1000, false}, {1, 1, 1, true}, {8, 3, 2, false},
	} {
		previous := runtime.GOMAXPROCS(tt.procs)
		client := buckettest.Open(t, bucketConfig(g, fmt.Sprintf("run-%d/", i)))
		e := newTestExporter(t, jittery{src}, client, &memoryCatalog{}, func(c *testConfig) {
			byHours(c)
			c.Workers, c.PageRows = tt.workers, tt.page
		})
		if err := (combination{backwards: tt.backwards}).run(t, e); err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(previous)
		if got := digestOf(stored(t, client)); got != hourDigest && !*update {
			t.Errorf("%+v: the objects have digest %s, want %s", tt, got, hourDigest)
		}
	}
}

// TestHourSegments goes through all that is done with segments.
func TestHourSegments(t *testing.T) {
	src := twoEvenings()
	client, items := publishedHistory(t, src, byHours)
	keys := slices.Sorted(maps.Keys(stored(t, client)))
	for _, want := range []string{
		"updates/v1/migration_id=0/date=2026-07-01/hour=22/part-00000.parquet",
		"events/v1/migration_id=0/date=2026-07-02/hour=00/part-00000.parquet",
		"acs/v1/migration_id=1/date=2026-07-02/hour=03/part-00000.parquet",
		"verdicts/v1/migration_id=1/date=2026-07-02/hour=02/part-00000.parquet",
		"imports/v1/migration_id=1/part-00000.parquet",
		"manifests/v1/migration_id=0/date=2026-07-02/hour=01.json",
		"manifests/v1/migration_id=1/imports.json",
		"chain/v1/migration_id=1/date=2026-07-02/hour=03.json",
		"lookup/v1/migration_id=0/date=2026-07-01/hour=23/index.json",
	} {
		if !slices.Contains(keys, want) {
			t.Errorf("there is no %s among\n%s", want, strings.Join(keys, "\n"))
		}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, "updates/v1/migration_id=0/date=2026-07-02/hour=01/") || strings.Contains(key, "hour=04") {
			t.Errorf("there is %s: of an hour in which nothing happened, or that is open", key)
		}
	}
	a := openArchive(t, client)
	if err := a.Gap(); err != nil || len(a.Segments()) != len(hours) {
		t.Errorf("the archive has %d segments, %v; want %d", len(a.Segments()), err, len(hours))
	}
	for i := range items {
		u := items[i].Update
		if u == nil {
			continue
		}
		p, err := a.Prove(t.Context(), u.UpdateID)
		if err != nil {
			t.Fatal(err)
		}
		if !u.IsImport() && p.Segment != schemas.HourSegments.Of("scan", u.MigrationID, u.RecordTime) {
			t.Errorf("the update of %s is proven in %s", u.Position(), p.Segment)
		}
		checkProofText(t, p)
	}
	restoreHours(t, src, a, items)
}

// restoreHours restores the archive into an empty store, and makes its objects again.
func restoreHours(t *testing.T, src *memorySource, a *archive.Archive, items []schemas.Item) {
	t.Helper()
	client := openBucket(t)
	byDays := archive.RestoreConfig{Sink: newJournalSink(), Catalog: catalogOf(t, src, "")}
	if err := a.Restore(t.Context(), byDays); !errors.Is(err, published.ErrSegmentLength) {
		t.Errorf("restoring hours where days are exported: %v", err)
	}
	sink := newJournalSink()
	e := newTestExporter(t, src, client, &memoryCatalog{}, byHours)
	if err := a.Restore(t.Context(), archive.RestoreConfig{Sink: sink, Catalog: e.catalog}); err != nil {
		t.Fatal(err)
	}
	if len(sink.items) != len(items) {
		t.Errorf("%d items were restored, want %d", len(sink.items), len(items))
	}
	// Their lookup objects were entered with them, and their links are for the first one.
	if due, err := e.DueSegments(t.Context()); err != nil || !slices.Equal(names(due), []string{"imports"}) {
		t.Errorf("after the restore %v are due, %v", names(due), err)
	}
}

// TestHourSegmentsAreListed publishes, verifies, publishes one hour anew and lets others
// expire.
func TestHourSegmentsAreListed(t *testing.T) {
	src, client := twoEvenings(), openBucket(t)
	e := newTestExporter(t, src, client, &memoryCatalog{}, byHours)
	refs := exportDue(t, e)
	before := stored(t, client)
	v, err := e.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 || !maps.Equal(v.Digests, wantDigests(t, e, src)) {
		t.Errorf("findings %q, digests %v, %v; want those of the source", v.Findings, v.Digests, err)
	}
	expectPublished(t, e, hours, "2026-07-02T04:00:00Z")
	one := refs[slices.Index(names(refs), "2026-07-02T00")]
	if err := e.Reexport(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if due := exportDue(t, e); len(due) > 0 || !maps.Equal(stored(t, client), before) {
		t.Errorf("after %s was exported again %v are due, or other objects are there", one, names(due))
	}
	e.cfg.Now = later
	rules := CollectRules{Grace: oneDay.Grace, Retention: later().Sub(micros("2026-07-02T00:30:00Z").Time())}
	if c, err := e.Collect(t.Context(), client, rules); err != nil || c.Expired != 3 {
		t.Errorf("removed are %+v, %v; want two hours, and the first folder of the network's layout", c, err)
	}
	expectPublished(t, e, hours[3:], "2026-07-02T04:00:00Z")
	if last, err := openArchive(t, client).CheckChain(t.Context()); err != nil || last == "" {
		t.Errorf("the chain ends with %q, %v", last, err)
	}
	p, err := e.catalog.ParquetProgress(t.Context())
	if err != nil || p.Done != len(hours) || p.Total != len(hours) || p.Through != micros("2026-07-02T04:00:00Z") {
		t.Errorf("progress is %+v, %v", p, err)
	}
}

// expectPublished wants segments to be listed, without the imports among them and in the
// order of their times.
func expectPublished(t *testing.T, e *Exporter, want []string, through string) {
	t.Helper()
	periods, published, err := e.catalog.Periods(t.Context())
	if err != nil || published != micros(through) {
		t.Errorf("published through %s, %v; want %s", published, err, through)
	}
	var got []string
	for i, p := range periods {
		got = append(got, names([]schemas.SegmentRef{p.Segment})...)
		if p.End-p.Start != schemas.HourSegments.Micros() || i > 0 && p.Start < periods[i-1].Start {
			t.Errorf("%s stands at (%s, %s]", p.Segment, p.Start, p.End)
		}
	}
	want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return strings.HasSuffix(name, "imports") })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("published are %v, want %v", got, want)
	}
}

// TestOtherSegmentLengthIsRefused: neither a catalog nor a bucket gets segments of two
// lengths.
func TestOtherSegmentLengthIsRefused(t *testing.T) {
	src := twoEvenings()
	// In one more hour the day is over, too.
	src.watermark, src.contracts = schemas.EndOf(1, micros("2026-07-03T00:00:00.000001Z")), schemas.EndOf(1, micros("2026-07-03T00:00:00.000001Z"))
	lengths := map[schemas.SegmentLength]func(*testConfig){
		schemas.DaySegments: nil, schemas.HourSegments: func(c *testConfig) { c.Segments = schemas.HourSegments },
	}
	for first, begin := range lengths {
		client, c := openBucket(t), &memoryCatalog{}
		e := newTestExporter(t, src, client, c, begin)
		refs := exportDue(t, e)
		if err := e.catalog.CheckSegments(t.Context(), client); err != nil {
			t.Errorf("segments of the same length: %v", err)
		}
		before := stored(t, client)
		for second, change := range lengths {
			if first == second {
				continue
			}
			other := newTestExporter(t, src, client, c, change)
			_, dueErr := other.DueSegments(t.Context())
			_, _, publishedErr := other.catalog.Periods(t.Context())
			_, progressErr := other.catalog.ParquetProgress(t.Context())
			fresh := newTestExporter(t, src, client, &memoryCatalog{}, change)
			for name, err := range map[string]error{
				"due": dueErr, "published": publishedErr, "progress": progressErr,
				"check":                     other.catalog.CheckSegments(t.Context(), client),
				"check by the bucket alone": fresh.catalog.CheckSegments(t.Context(), client),
				"export":                    other.ExportSegment(t.Context(), refs[1]),
				"export of ours":            other.ExportSegment(t.Context(), second.Of("scan", 0, micros("2026-07-01T22:30:00Z"))),
				"export again":              other.Reexport(t.Context(), refs[1]),
			} {
				if !errors.Is(err, published.ErrSegmentLength) {
					t.Errorf("%s where there are segments of a %s: %s gives %v", second, first, name, err)
				}
			}
			if !maps.Equal(stored(t, client), before) {
				t.Errorf("%s where there are segments of a %s: objects were written", second, first)
			}
		}
	}
	if err := newTestExporter(t, src, openBucket(t), &memoryCatalog{}, nil).catalog.CheckSegments(t.Context(), openBucket(t)); err != nil {
		t.Errorf("an empty bucket: %v", err)
	}
	e0 := catalogOf(t, src, "")
	if _, err := published.New(published.Config{History: src, Tables: e0.Tables, Segments: "week"}); err == nil {
		t.Error("segments of a week are accepted")
	}
}
