package bulk

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(buckettest.Main(func() int { return enginetest.Run(m) })) }

// world is a store of which all segments but the last closed one are published.
type world struct {
	catalog *published.Catalog
	client  *bucket.Client
	done    []schemas.SegmentRef
	due     schemas.SegmentRef
}

func newWorld(t *testing.T, s *consoletest.Store) *world {
	t.Helper()
	w := new(world)
	var err error
	if w.client, err = bucket.New(t.Context(), buckettest.NewBucket(t)); err != nil {
		t.Fatal(err)
	}
	if err := w.client.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader := history.NewReader(s.DB, schemas.ScanStream)
	if w.catalog, err = published.New(published.Config{Tables: published.InStore(s.DB, schemas.ScanStream), History: reader}); err != nil {
		t.Fatal(err)
	}
	exporter, err := export.New(export.Config{Source: reader, Catalog: w.catalog, Objects: w.client, TempDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	closed, err := w.catalog.ClosedSegments(t.Context())
	if err != nil || len(closed) < 3 {
		t.Fatal(len(closed), err)
	}
	w.done, w.due = closed[:len(closed)-1], closed[len(closed)-1]
	for _, ref := range w.done {
		if err := exporter.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestBulk(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 300, Seed: 3, Days: 3})
	w := newWorld(t, s)
	site := consoletest.Serve(t, s, New(Config{Catalog: w.catalog, Objects: w.client, Agree: 2}).Routes)
	t.Run("Overview", func(t *testing.T) { site.T = t; w.overview(site) })
	t.Run("Segment", func(t *testing.T) { site.T = t; w.segment(site) })
	t.Run("Preview", func(t *testing.T) { site.T = t; w.preview(site) })
	t.Run("Odd", func(t *testing.T) { site.T = t; w.odd(site) })
	t.Run("Disagreement", func(t *testing.T) {
		err := w.catalog.Journal.RecordDisagreements(t.Context(), []store.ExportDisagreementRow{{Stream: schemas.ScanStream, Unit: w.done[1].String(), Peer: "<b>peer</b>", Key: "k", Ours: "a", Theirs: "b"}})
		if err != nil {
			t.Fatal(err)
		}
		site := consoletest.Serve(t, s, New(Config{Catalog: w.catalog, Objects: w.client}).Routes)
		site.Has("a segment with a disagreement", site.Page(http.StatusOK, segmentPath(w.done[1])), "other bytes of 1 objects")
		site.Has("/bulk", site.Page(http.StatusOK, "/bulk"), "peers have other bytes of 1 segments", "without asking peers")
	})
}

func (w *world) overview(site *consoletest.Site) {
	body := site.Page(http.StatusOK, "/bulk")
	for _, ref := range w.done {
		site.Has("/bulk", body, `href="`+segmentPath(ref)+`"`)
	}
	site.Has("/bulk", body, w.due.Date+": due", w.done[len(w.done)-1].Date+": published", ": open", "so many peers have the same bytes: 2")
	site.Has("/bulk", consoletest.Text(body), "of "+sprint(int64(len(w.done)+1))+" closed segments are linked")
	if list := site.Page(http.StatusOK, "/bulk/segments?before="+refName(w.done[1])); strings.Contains(list, segmentPath(w.done[1])) || !strings.Contains(list, segmentPath(w.done[0])) {
		site.Errorf("before %s are %s", w.done[1], consoletest.Text(list))
	}
	site.Has("/bulk/folders", site.Page(http.StatusOK, "/bulk/folders"), "Nothing is published in the network")
}

// segment compares the page of a segment with its manifest.
func (w *world) segment(site *consoletest.Site) {
	ref := w.done[1]
	row, err := w.catalog.LastSegment(context.Background(), ref)
	if err != nil {
		site.Fatal(err)
	}
	manifest, err := w.catalog.ManifestOf(&row)
	if err != nil {
		site.Fatal(err)
	}
	body := site.Page(http.StatusOK, segmentPath(ref))
	for _, table := range manifest.Tables {
		for _, part := range table.Parts {
			site.Has(ref.String(), body, part.Key, part.SHA256, downloadPath(part.Key))
		}
	}
	first, err := w.catalog.LastSegment(context.Background(), w.done[0])
	if err != nil {
		site.Fatal(err)
	}
	site.Has(ref.String(), body, row.Root, row.Link, row.ManifestHash, `title="`+first.Link+`"`, `href="`+segmentPath(w.done[0])+`"`, "movements", "derived from history")
	site.Has("the first segment", site.Page(http.StatusOK, segmentPath(w.done[0])), "the chain begins here")
}

// preview compares the first rows of an object with what the store has.
func (w *world) preview(site *consoletest.Site) {
	ref := w.done[1]
	body := site.Page(http.StatusOK, segmentPath(ref)+"/updates")
	start, end, err := ref.Bounds()
	if err != nil {
		site.Fatal(err)
	}
	site.Has("preview", body, "update_id", "record_time", "list of ", ", may be null", start.Time().Format("2006-01-02T"))
	if rows := strings.Count(body, "<tr>"); rows < 20 || end <= start {
		site.Errorf("the preview has %d rows: %s", rows, consoletest.Text(body))
	}
	for _, table := range []string{"events", "verdicts", "movements"} {
		site.Has(table, site.Page(http.StatusOK, segmentPath(ref)+"/"+table), "First rows", "migration_id")
	}
	r := &remote{ctx: site.Context(), objects: broken{}, part: published.Part{Key: "k", Bytes: 1000}}
	if _, _, err := readFirst(r); !errors.Is(err, errBroken) {
		site.Errorf("a bucket that does not answer gives %v", err)
	}
	r.blocks = make(map[int64][]byte)
	for i := range int64(mostBlocks) {
		r.blocks[i+10] = []byte{}
	}
	if _, err := r.ReadAt(make([]byte, 10), 0); !errors.Is(err, errTooLarge) {
		site.Errorf("more blocks than allowed give %v", err)
	}
}

var errBroken = errors.New("the bucket is away")

// broken is a bucket that does not answer.
type broken struct{}

func (broken) Get(context.Context, string, int64, int64) (*bucket.Reader, error) {
	return nil, errBroken
}

func (w *world) odd(site *consoletest.Site) {
	for path, want := range map[string]int{
		segmentPath(w.due):                                 http.StatusNotFound,
		"/bulk/9:2026-07-01":                               http.StatusNotFound,
		"/bulk/nothing":                                    http.StatusNotFound,
		"/bulk/0:%3Cscript%3E":                             http.StatusNotFound,
		"/bulk/-1:2026-07-01":                              http.StatusNotFound,
		segmentPath(w.done[1]) + "/nothing":                http.StatusNotFound,
		segmentPath(w.done[1]) + "/..%2Fmanifests":         http.StatusBadRequest,
		"/bulk/segments?before=%22%3E%3Cscript%3Ealert(1)": http.StatusBadRequest,
		"/bulk/folders?before=x":                           http.StatusBadRequest,
	} {
		if body := site.Page(want, path); strings.Contains(body, "<script>a") || want == http.StatusNotFound && !strings.Contains(body, "<h1>") {
			site.Errorf("%s: %s", path, body)
		}
	}
}

// TestCalendar has a migration of hours, one of many months, and one that has just begun.
func TestCalendar(t *testing.T) {
	of := func(migration int64, date, state string) store.SegmentRow {
		return store.SegmentRow{Stream: schemas.ScanStream, MigrationID: migration, Date: date, State: state}
	}
	c := coverage{rows: []store.SegmentRow{of(0, "", published.Published), of(1, "2026-07-01T05", published.Published), of(1, "2026-07-01T06", published.Staged), of(1, "2026-07-02T00", published.Expired)}}
	for month := range 30 {
		c.rows = append(c.rows, of(0, schemas.Micros(1e15).Time().AddDate(0, month, 0).Format("2006-01-02"), published.Published))
	}
	at, err := schemas.ParseTime("2026-07-31T10:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	list := calendarOf(&c, page.Status{Through: at, Migration: 2})
	if len(list) != 3 || list[0].id != 2 || list[0].months[0].days[30].state != open || list[2].imports == nil || list[1].imports != nil {
		t.Fatalf("the calendar is %+v", list)
	}
	if hours := list[1].months[0].days; hours[0].state != part || hours[1].state != published.Expired || hours[2].state != "" {
		t.Errorf("days of hours are %+v", hours[:3])
	}
	if long := list[2]; len(long.months) != shownMonths || !long.earlier || long.months[0].name < long.months[1].name {
		t.Errorf("30 months are %d, from %s", len(long.months), long.months[0].name)
	}
}
