package export

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// overlapping is a history whose second migration begins on the last day but one of
// the first: (07-01, 0), (07-02, 0), (07-03, 0) and (07-02, 1), (07-03, 1), (07-04, 1).
func overlapping() *memorySource {
	g, s := newGenerator(31), &memorySource{}
	for _, at := range []string{"2026-07-01T05:00:00Z", "2026-07-02T23:00:00Z", "2026-07-03T00:10:00Z"} {
		s.updates = append(s.updates, g.transaction(0, micros(at), 2))
	}
	for _, at := range []string{"2026-07-02T23:50:00Z", "2026-07-03T12:00:00Z", "2026-07-04T12:00:00Z"} {
		s.updates = append(s.updates, g.transaction(1, micros(at), 2))
	}
	s.watermark = schemas.EndOf(1, micros("2026-07-04T12:00:00Z"))
	s.contracts = s.watermark
	return s
}

func TestPublishedEndsAtTheFirstHole(t *testing.T) {
	src, empty := overlapping(), twoMigrations(32, 10) // 07-02 of the second is without history
	long := overlapping()
	long.watermark = schemas.EndOf(1, micros("2026-07-02T23:50:00Z"))
	long.contracts = long.watermark
	tests := []struct {
		name      string
		src       *memorySource
		published []string
		want      []string
		through   string
	}{
		{"nothing", src, nil, nil, ""},
		{"imports alone are not history", src, []string{"imports", "1/imports"}, nil, ""},
		{"everything closed", src, []string{"2026-07-01", "2026-07-02", "2026-07-03", "1/2026-07-02", "1/2026-07-03"},
			[]string{"2026-07-01", "2026-07-02", "1/2026-07-02", "2026-07-03", "1/2026-07-03"}, "2026-07-04T00:00:00Z"},
		{"a hole", src, []string{"2026-07-01", "2026-07-03", "1/2026-07-02", "1/2026-07-03"}, []string{"2026-07-01"}, "2026-07-02T00:00:00Z"},
		{"the first day is missing", src, []string{"2026-07-02", "2026-07-03", "1/2026-07-02"}, nil, ""},
		{"the later migration lacks a day that the earlier one has", src, []string{"2026-07-01", "2026-07-02", "2026-07-03"},
			[]string{"2026-07-01", "2026-07-02"}, "2026-07-02T00:00:00Z"},
		{"that day is still open", long, []string{"2026-07-01", "2026-07-02", "2026-07-03"},
			[]string{"2026-07-01", "2026-07-02"}, "2026-07-02T00:00:00Z"},
		{"the earlier migration lacks one", src, []string{"2026-07-01", "1/2026-07-02", "1/2026-07-03"}, []string{"2026-07-01"}, "2026-07-02T00:00:00Z"},
		{"a day without history counts", empty, []string{"2026-07-01", "2026-07-02"}, []string{"2026-07-01", "2026-07-02"}, "2026-07-03T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &memoryCatalog{}
			for _, ref := range refsNamed(t, tt.published) {
				row := published.UnpublishedSegment(ref)
				row.Version, row.State = 1, published.Published
				c.Rows = append(c.Rows, row)
			}
			// A withdrawn segment is a hole like one that never was.
			gone := published.UnpublishedSegment(schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-02"})
			if !slices.Contains(tt.published, gone.Date) {
				gone.Version = 2
				c.Rows = append(c.Rows, gone)
			}
			days, through, err := newTestExporter(t, tt.src, &discard{}, c, nil).catalog.Periods(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var refs []schemas.SegmentRef
			for _, d := range days {
				refs = append(refs, d.Segment)
				if start, end, err := d.Segment.Bounds(); err != nil || d.Start != start || d.End != end {
					t.Errorf("%s is said to hold (%s, %s], it holds (%s, %s], %v", d.Segment, d.Start, d.End, start, end, err)
				}
			}
			wantThrough := schemas.MinMicros
			if tt.through != "" {
				wantThrough = micros(tt.through)
			}
			if got := names(refs); !slices.Equal(got, tt.want) || through != wantThrough {
				t.Errorf("published are %v through %s, want %v through %s", got, through, tt.want, wantThrough)
			}
		})
	}
}

// refsNamed is the inverse of names.
func refsNamed(t *testing.T, list []string) []schemas.SegmentRef {
	t.Helper()
	var refs []schemas.SegmentRef
	for _, name := range list {
		ref := schemas.SegmentRef{Stream: "scan"}
		if _, err := fmt.Sscanf(name, "%d/%s", &ref.MigrationID, &ref.Date); err != nil {
			ref.MigrationID, ref.Date = 0, name
		}
		if ref.Date == "imports" {
			ref.Date = ""
		}
		refs = append(refs, ref)
	}
	return refs
}

func TestFindByKey(t *testing.T) {
	c := &memoryCatalog{}
	e := newTestExporter(t, twoMigrations(33, 40), openMemory(openBucket(t)), c, nil)
	due := exportDue(t, e)
	exportDueNetwork(t, e)
	want := make(map[string]string)
	keys := []string{"", "secrets.json", schemas.ManifestKey(due[0]),
		schemas.ObjectKey(schemas.ParquetUpdates, due[1], 4321),
		schemas.ObjectKey(schemas.ParquetUpdates, schemas.SegmentRef{Stream: "node:x", MigrationID: 0, Date: due[1].Date}, 0),
		schemas.ObjectKey(schemas.ParquetUpdates, schemas.SegmentRef{Stream: "scan", MigrationID: 77, Date: due[1].Date}, 0),
	}
	unknown := len(keys)
	for _, o := range listed(t, e) {
		want[o.Key] = o.SHA256
	}
	folders := folderSums(t, e)
	maps.Copy(want, folders)
	keys = slices.AppendSeq(keys, maps.Keys(want))
	for range 2 { // the second time from the cache
		if found, err := e.catalog.Find(t.Context(), keys...); err != nil || !maps.EqualFunc(found, want, sameObject) || len(want) < 20+len(folders) || len(folders) < 4 {
			t.Fatalf("found %d objects of %d, %v", len(found), len(want), err)
		}
	}
	// A withdrawn segment has no objects to find.
	row := c.Last(due[1])
	row.Version, row.State = row.Version+1, published.Withdrawn
	if err := c.Append(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(want, func(key, _ string) bool {
		_, ref, _, ok := schemas.ParseObjectKey(key)
		return ok && ref == due[1]
	})
	if found, err := e.catalog.Find(t.Context(), keys...); err != nil || !maps.EqualFunc(found, want, sameObject) {
		t.Errorf("after withdrawing %s found %d objects, want %d; %v", due[1], len(found), len(want), err)
	}
	if found, err := e.catalog.Find(t.Context(), keys[:unknown]...); err != nil || len(found) > 0 {
		t.Errorf("unknown keys give %v, %v", found, err)
	}
}

func sameObject(o published.Object, sum string) bool {
	return fmt.Sprintf("%x", o.SHA256) == sum && o.Size > 0
}
