package iceberg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	os.Exit(m.Run())
}

// memoryCatalog publishes segments of one object for each table that is not named in without.
type memoryCatalog struct {
	mu       sync.Mutex
	segments map[schemas.SegmentRef]string
	versions map[schemas.SegmentRef]int64
	without  schemas.ParquetTable
	bytes    int64 // of each object; 0 stands for 1000
	// asked counts the segments whose files were asked for.
	asked int
	// before is called before files are looked up, if it is not nil.
	before func()
}

func (c *memoryCatalog) publish(content string, refs ...schemas.SegmentRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.segments == nil {
		c.segments, c.versions = make(map[schemas.SegmentRef]string), make(map[schemas.SegmentRef]int64)
	}
	for _, ref := range refs {
		c.segments[ref] = content
		c.versions[ref]++
	}
}

func (c *memoryCatalog) withdraw(ref schemas.SegmentRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.segments, ref)
}

func (c *memoryCatalog) Segments(context.Context) ([]Segment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Segment
	for ref, content := range c.segments {
		list = append(list, Segment{Ref: ref, Content: content, Version: c.versions[ref]})
	}
	slices.SortFunc(list, func(a, b Segment) int { return a.Ref.Compare(b.Ref) })
	return list, nil
}

func (c *memoryCatalog) Files(_ context.Context, table schemas.ParquetTable, segments []Segment) ([][]File, error) {
	if c.before != nil {
		c.before()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	files := make([][]File, len(segments))
	for i, s := range segments {
		c.asked++
		if c.segments[s.Ref] != s.Content {
			return nil, ErrChanged
		}
		if table == c.without {
			continue
		}
		start, _, err := s.Ref.Bounds()
		if err != nil {
			return nil, err
		}
		files[i] = []File{{
			Key: schemas.ObjectKey(table, s.Ref, 0), Bytes: cmp.Or(c.bytes, 1000), Rows: 10,
			First: schemas.RowKey{Time: start + 1, ID: "1220aa"}, Last: schemas.RowKey{Time: start + 5, ID: "1220ff"},
		}}
	}
	return files, nil
}

func day(n int) schemas.SegmentRef {
	return schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: fmt.Sprintf("2026-07-%02d", n)}
}

func openBucket(t *testing.T) *bucket.Client {
	t.Helper()
	g := buckettest.Gateway(t)
	return buckettest.Open(t, bucket.Config{
		Endpoint: g.Endpoint, AccessKey: g.AccessKey, SecretKey: g.SecretKey, Bucket: "lake", PathStyle: true, Prefix: "main/",
	})
}

func newTables(t *testing.T, objects Objects, c Catalog) *Tables {
	t.Helper()
	tables, err := New(Config{
		Stream: "scan", Objects: objects, Catalog: c, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Snapshots: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// paths returns the objects that the current snapshot of a table names, in order, and
// checks what the metadata says of them.
func paths(t *testing.T, tables *Tables, name schemas.ParquetTable) []string {
	t.Helper()
	v, err := tables.load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := tables.manifests(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range manifests {
		data, err := tables.read(t.Context(), schemas.IcebergFileKey("scan", name, path.Base(m.Path)))
		if err != nil {
			t.Fatal(err)
		}
		entries, _, err := decodeAvro[manifestEntry](data)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(data)) != m.Bytes || int(m.AddedFiles+m.ExistingFiles) != len(entries) || m.AddedRows+m.ExistingRows != int64(10*len(entries)) || m.SequenceNumber > v.LastSequenceNumber {
			t.Errorf("the list says %+v of a manifest of %d bytes with %d entries", m, len(data), len(entries))
		}
		for _, e := range entries {
			found = append(found, e.DataFile.Path)
		}
	}
	if snap := v.current(); snap != nil && snap.Summary["total-records"] != fmt.Sprint(10*len(found)) {
		t.Errorf("the summary of %d objects is %v", len(found), snap.Summary)
	}
	slices.Sort(found)
	return found
}

// wantPaths are the objects of what is published.
func wantPaths(t *testing.T, c *memoryCatalog, name schemas.ParquetTable) []string {
	t.Helper()
	all, err := c.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range ofTable(all, name) {
		if name != c.without {
			want = append(want, "s3://lake/main/"+schemas.ObjectKey(name, s.Ref, 0))
		}
	}
	slices.Sort(want)
	return want
}

func mustHold(t *testing.T, tables *Tables, c *memoryCatalog) {
	t.Helper()
	if findings, err := tables.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("the tables have findings %q, %v", findings, err)
	}
	for _, name := range names() {
		if got, want := paths(t, tables, name), wantPaths(t, c, name); !slices.Equal(got, want) {
			t.Errorf("table %s names %q, want %q", name, got, want)
		}
	}
}
