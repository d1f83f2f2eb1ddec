package export

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

// leavingObjects calls leave before the put of that number, counted from 1.
type leavingObjects struct {
	Objects
	puts, at int
	leave    func()
}

func (o *leavingObjects) PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	if o.puts++; o.puts == o.at {
		o.leave()
	}
	return o.Objects.PutIfAbsent(ctx, key, body, size, sum, contentType)
}

// TestExportWhileTheBucketIsAway takes the bucket away before each write of an export and brings
// it back, with what it had: the export fails with the reason and lists nothing, and the next one
// ends where an undisturbed one does.
func TestExportWhileTheBucketIsAway(t *testing.T) {
	src := largeDays(83)
	g := buckettest.Gateway(t)
	calm := buckettest.Open(t, bucketConfig(g, "calm/"))
	exportDue(t, newTestExporter(t, src, calm, &memoryCatalog{}, nil))
	want := stored(t, calm)
	cfg := bucketConfig(g, "away/")
	folder := g.Folder(cfg.Bucket)
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	client := buckettest.Open(t, cfg)
	segments := &memoryCatalog{}
	leaves := 0
	for at := 1; ; at++ {
		gone := false
		objects := &leavingObjects{Objects: client, at: at, leave: func() {
			move(folder, folder+".away")
			gone = true
		}}
		e := newTestExporter(t, src, objects, segments, func(c *testConfig) { c.Workers = 1 })
		due, err := e.DueSegments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			break
		}
		err = e.ExportSegment(t.Context(), due[0])
		if !gone {
			if err != nil {
				t.Fatal(err)
			}
			at = 0 // with the next segment from its first write on
			continue
		}
		if leaves++; !errors.Is(err, bucket.ErrNoBucket) {
			t.Fatalf("without a bucket from write %d on: %v, want ErrNoBucket", at, err)
		}
		move(folder+".away", folder)
		if still, err := e.DueSegments(t.Context()); err != nil || len(still) != len(due) {
			t.Fatalf("after a failed export %d segments are due, %v, want %d", len(still), err, len(due))
		}
	}
	if leaves < len(want)/2 {
		t.Errorf("the bucket went away %d times for %d objects", leaves, len(want))
	}
	if got := stored(t, client); !maps.Equal(got, want) {
		t.Errorf("there are %d objects, want %d, or others", len(got), len(want))
	}
}
