package export

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var errCut = errors.New("cut off")

// cut lets a number of outside writes through and breaks the one after: applied or
// not, the caller is told that it failed, and nothing works from then on.
type cut struct {
	left    atomic.Int64
	applied bool
}

// step reports whether the write is done and what the caller is told.
func (c *cut) step() (do bool, err error) {
	switch left := c.left.Add(-1); {
	case left >= 0:
		return true, nil
	case left == -1:
		return c.applied, errCut
	}
	return false, errCut
}

type cutObjects struct {
	Objects
	*cut
}

func (o cutObjects) PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	do, told := o.step()
	if do {
		if err := o.Objects.PutIfAbsent(ctx, key, body, size, sum, contentType); err != nil {
			return err
		}
	}
	return told
}

func (o cutObjects) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	do, told := o.step()
	if do {
		if err := o.Objects.Put(ctx, key, body, size, sum, contentType); err != nil {
			return err
		}
	}
	return told
}

func (o cutObjects) Copy(ctx context.Context, from, to string) error {
	do, told := o.step()
	if do {
		if err := o.Objects.Copy(ctx, from, to); err != nil {
			return err
		}
	}
	return told
}

func (o cutObjects) Delete(ctx context.Context, key string) error {
	do, told := o.step()
	if do {
		if err := o.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return told
}

type cutRows[R, T any] struct {
	published.Rows[R, T]
	*cut
}

type (
	cutCatalog        = cutRows[schemas.SegmentRef, store.SegmentRow]
	cutNetworkCatalog = cutRows[schemas.NetworkRef, store.NetworkFolderRow]
)

func (c cutRows[R, T]) Append(ctx context.Context, row T) error {
	do, told := c.step()
	if do {
		if err := c.Rows.Append(ctx, row); err != nil {
			return err
		}
	}
	return told
}

// over returns the exporter over other objects, and with a limit over a catalogue that is cut
// off as well.
func over(t *testing.T, e *Exporter, objects Objects, limit *cut) *Exporter {
	t.Helper()
	cfg, catalog := e.cfg, *e.catalog
	if limit != nil {
		catalog.Segments, catalog.Folders = cutCatalog{catalog.Segments, limit}, cutNetworkCatalog{catalog.Folders, limit}
	}
	cfg.Objects, cfg.Catalog = objects, &catalog
	other, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// runCut does work with an exporter that is cut off after so many outside writes, and
// reports whether it was.
func runCut(t *testing.T, src testSource, objects Objects, c segmentRows, after int64, applied bool, work func(*Exporter) error) bool {
	t.Helper()
	limit := &cut{applied: applied}
	limit.left.Store(after)
	e := newTestExporter(t, src, cutObjects{objects, limit}, cutCatalog{c, limit}, func(c *testConfig) { c.Workers = 1 })
	err := work(e)
	if err != nil && !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	return err != nil
}

var crashRef = schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-03"}

// TestCrashBetweenPublishSteps cuts an export off before and after each outside write.
// Until the last one nothing may be listed, and a second run must end where an
// undisturbed one does.
func TestCrashBetweenPublishSteps(t *testing.T) {
	src := twoMigrations(11, 60)
	undisturbed := openBucket(t)
	whole := newTestExporter(t, src, undisturbed, &memoryCatalog{}, nil)
	if err := whole.ExportSegment(t.Context(), crashRef); err != nil {
		t.Fatal(err)
	}
	want := stored(t, undisturbed)
	for _, applied := range []bool{false, true} {
		after := int64(0)
		for ; ; after++ {
			objects, c := openMemory(undisturbed), &memoryCatalog{}
			export := func(e *Exporter) error { return e.ExportSegment(t.Context(), crashRef) }
			if !runCut(t, src, objects, c, after, applied, export) {
				break
			}
			checkNothingListed(t, objects, c)
			again := newTestExporter(t, src, objects, c, nil)
			if err := again.ExportSegment(t.Context(), crashRef); err != nil {
				t.Fatalf("finishing after %d writes (applied %v): %v", after, applied, err)
			}
			if got := objects.sums(); !maps.Equal(got, want) {
				t.Errorf("after %d writes (applied %v): got %v, want %v", after, applied, got, want)
			}
			if rows := c.Latest(); len(rows) != 1 || rows[0].State != published.Published || rows[0].Version != 1 {
				t.Errorf("after %d writes (applied %v) the catalog holds %+v", after, applied, rows)
			}
		}
		if after < 8 {
			t.Errorf("only %d writes were cut off: the segment is too small for the test", after)
		}
	}
}

// checkNothingListed makes sure that what is listed, if anything, is whole.
func checkNothingListed(t *testing.T, objects *memoryObjects, c *memoryCatalog) {
	t.Helper()
	sums := objects.sums()
	for _, o := range listed(t, newTestExporter(t, &memorySource{}, objects, c, nil)) {
		if sums[o.Key] != o.SHA256 {
			t.Errorf("%s is listed with SHA-256 %s, stored is %q", o.Key, o.SHA256, sums[o.Key])
		}
	}
}

// TestCrashWhileExportingAgain does the same for an export that overwrites: whenever
// the segment is listed, its objects are those of one version.
func TestCrashWhileExportingAgain(t *testing.T) {
	before, now := twoMigrations(12, 90), twoMigrations(13, 40)
	fresh := openMemory(openBucket(t))
	if err := newTestExporter(t, now, fresh, &memoryCatalog{}, nil).ExportSegment(t.Context(), crashRef); err != nil {
		t.Fatal(err)
	}
	for _, applied := range []bool{false, true} {
		for after := int64(0); ; after++ {
			objects, c := openMemory(openBucket(t)), &memoryCatalog{}
			if err := newTestExporter(t, before, objects, c, nil).ExportSegment(t.Context(), crashRef); err != nil {
				t.Fatal(err)
			}
			again := func(e *Exporter) error { return e.Reexport(t.Context(), crashRef) }
			if !runCut(t, now, objects, c, after, applied, again) {
				break
			}
			checkNothingListed(t, objects, c)
			e := newTestExporter(t, now, objects, c, nil)
			row := c.Last(crashRef)
			if row.State == published.Published && row.Version == 1 { // it had not begun
				continue
			}
			if err := e.ExportSegment(t.Context(), crashRef); err != nil {
				t.Fatalf("finishing after %d writes (applied %v): %v", after, applied, err)
			}
			if !maps.Equal(objects.sums(), fresh.sums()) {
				t.Errorf("after %d writes (applied %v): got %v, want %v", after, applied, objects.sums(), fresh.sums())
			}
		}
	}
}
