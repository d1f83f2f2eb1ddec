package export

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var crashFolder = schemas.NetworkRef{
	Stream: "scan", Kind: schemas.NetworkUpdates, Start: micros("2026-07-02T00:00:00Z"), End: micros("2026-07-03T00:00:00Z"),
}

// exportNetworkCut publishes the folder with an exporter that is cut off after so many
// outside writes, and reports whether it was.
func exportNetworkCut(t *testing.T, src testSource, objects Objects, c folderRows, after int64, applied bool) bool {
	t.Helper()
	limit := &cut{applied: applied}
	limit.left.Store(after)
	e := newTestExporter(t, src, cutObjects{objects, limit}, nil, func(c *testConfig) { c.NetworkCut = smallCut })
	e.catalog.Folders = cutNetworkCatalog{c, limit}
	err := e.network.Export(t.Context(), crashFolder)
	if err != nil && !errors.Is(err, errCut) && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err != nil
}

func networkExporter(t *testing.T, src testSource, objects Objects, c folderRows) *Exporter {
	e := newTestExporter(t, src, objects, nil, func(c *testConfig) { c.NetworkCut = smallCut })
	e.catalog.Folders = c
	return e
}

// TestNetworkCrashBetweenPublishSteps cuts an export off before and after each outside
// write, first of a new folder and then of one that was withdrawn and has changed. What is
// listed must be there whole at any time, and the next run must end where an undisturbed
// one does.
func TestNetworkCrashBetweenPublishSteps(t *testing.T) {
	before, now := largeDays(41), largeDays(42)
	readers := openBucket(t)
	want := openMemory(nil)
	if err := networkExporter(t, now, want, &memoryNetworkCatalog{}).network.Export(t.Context(), crashFolder); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		for _, applied := range []bool{false, true} {
			after := int64(0)
			for ; ; after++ {
				objects, c := openMemory(readers), &memoryNetworkCatalog{}
				if again {
					withdrawNetwork(t, before, objects, c)
				}
				if !exportNetworkCut(t, now, objects, c, after, applied) {
					break
				}
				checkNetworkListing(t, objects, c)
				e := networkExporter(t, now, objects, c)
				if err := e.network.Export(t.Context(), crashFolder); err != nil {
					t.Fatalf("finishing after %d writes (again %v, applied %v): %v", after, again, applied, err)
				}
				if got := objects.sums(); !maps.Equal(got, want.sums()) {
					t.Errorf("after %d writes (again %v, applied %v): got %v, want %v", after, again, applied, got, want.sums())
				}
				checkNetworkListing(t, objects, c)
			}
			if after < 5 {
				t.Errorf("only %d writes were cut off: the folder is too small for the test", after)
			}
		}
	}
}

// withdrawNetwork publishes an earlier history of the folder and withdraws it.
func withdrawNetwork(t *testing.T, src testSource, objects Objects, c *memoryNetworkCatalog) {
	t.Helper()
	if err := networkExporter(t, src, objects, c).network.Export(t.Context(), crashFolder); err != nil {
		t.Fatal(err)
	}
	row := c.Last(crashFolder)
	row.Version++
	row.State = published.Withdrawn
	if err := c.Append(t.Context(), row); err != nil {
		t.Fatal(err)
	}
}

// checkNetworkListing makes sure that what is listed, if anything, is whole.
func checkNetworkListing(t *testing.T, objects *memoryObjects, c folderRows) {
	t.Helper()
	sums := objects.sums()
	for key, sum := range folderSums(t, networkExporter(t, &memorySource{}, objects, c)) {
		if sums[key] != sum {
			t.Errorf("%s is listed with SHA-256 %s, stored is %q", key, sum, sums[key])
		}
	}
}

// TestNetworkConflict leaves another object under a key of the folder alone.
func TestNetworkConflict(t *testing.T) {
	objects := openMemory(openBucket(t))
	other := openMemory(nil)
	if err := networkExporter(t, largeDays(43), other, &memoryNetworkCatalog{}).network.Export(t.Context(), crashFolder); err != nil {
		t.Fatal(err)
	}
	key := schemas.NetworkKey(crashFolder, schemas.ProtobufJSON, 1)
	objects.objects[key] = other.objects[key]
	c := &memoryNetworkCatalog{}
	if err := networkExporter(t, largeDays(44), objects, c).network.Export(t.Context(), crashFolder); !errors.Is(err, published.ErrConflict) {
		t.Errorf("another object under a key: %v", err)
	}
	if objects.sums()[key] != other.sums()[key] || len(c.Rows) > 0 {
		t.Errorf("the other object was overwritten, or something was published: %+v", c.Rows)
	}
}
