package iceberg

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestUpdate(t *testing.T) {
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	client, c := openBucket(t), &memoryCatalog{without: schemas.ParquetAppActivity}
	tables := newTables(t, client, c)
	steps := []struct {
		name      string
		change    func()
		snapshots int // of table updates
	}{
		{"nothing is published", func() {}, 0},
		{"the first segments", func() { c.publish("aa", imports, day(1)) }, 1},
		{"nothing new", func() {}, 1},
		{"one more", func() { c.publish("bb", day(2)) }, 2},
		{"several at once", func() { c.publish("cc", day(3), day(4)) }, 3},
		{"another content", func() { c.publish("dd", day(2)) }, 1},
		{"one less", func() { c.withdraw(day(1)) }, 1},
		{"the same one again", func() { c.publish("aa", day(1)) }, 2},
		{"none is left", func() {
			for n := range 4 {
				c.withdraw(day(n + 1))
			}
			c.withdraw(imports)
		}, 1},
	}
	for _, step := range steps {
		step.change()
		if err := tables.Update(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		mustHold(t, tables, c)
		v, err := tables.load(t.Context(), schemas.ParquetUpdates)
		if err != nil || len(v.Snapshots) != step.snapshots || len(v.Schemas) != 1 {
			t.Errorf("%s: table updates has %d snapshots and %d schemas, want %d and one; %v", step.name, len(v.Snapshots), len(v.Schemas), step.snapshots, err)
		}
		all, err := c.Segments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []*Tables{tables, newTables(t, client, c)} {
			if same, err := who.UpToDate(t.Context(), all); err != nil || !same {
				t.Errorf("%s: the tables are up to date: %v, %v", step.name, same, err)
			}
		}
	}
	// Published again as it was, while who has seen it before did not look.
	other := newTables(t, client, c)
	c.publish("aa", day(1))
	if err := errors.Join(tables.Update(t.Context()), other.Update(t.Context())); err != nil {
		t.Fatal(err)
	}
	c.withdraw(day(1))
	if err := other.Exclude(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.publish("aa", day(1))
	if all, err := c.Segments(t.Context()); err != nil {
		t.Fatal(err)
	} else if same, err := tables.UpToDate(t.Context(), all); err != nil || same {
		t.Errorf("tables without a segment are up to date: %v, %v", same, err)
	}
	if err := tables.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, tables, c)
	asked := c.asked
	c.publish("ee", day(9))
	if err := tables.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := c.asked - asked; n != len(day(9).Tables()) {
		t.Errorf("for one more segment the catalog was asked %d times", n)
	}
}

// TestEntriesKeepTheirSnapshot adds days to a month: objects that were there before name the
// snapshot that added them, new ones none.
func TestEntriesKeepTheirSnapshot(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	var snapshots []int64
	for n := range 3 {
		c.publish("aa", day(3-n), schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: fmt.Sprintf("2026-06-%02d", n+1)})
		tables := newTables(t, client, c)
		if err := tables.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, err := tables.load(t.Context(), schemas.ParquetEvents)
		if err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, *v.CurrentSnapshotID)
		list, err := tables.manifests(t.Context(), v)
		if err != nil || len(list) != 2 {
			t.Fatalf("two months have %d manifests, %v", len(list), err)
		}
		for _, m := range list {
			if m.AddedFiles != 1 || int(m.ExistingFiles) != n || m.SequenceNumber != int64(n+1) || m.MinSequenceNumber != 1 || m.SnapshotID != snapshots[n] {
				t.Errorf("after %d days the list says %+v", n+1, m)
			}
			data, err := tables.read(t.Context(), schemas.IcebergFileKey("scan", v.name, path.Base(m.Path)))
			if err != nil {
				t.Fatal(err)
			}
			rows, _, err := decodeAvro[manifestEntry](data)
			if err != nil || len(rows) != n+1 {
				t.Fatalf("a month of %d days has %d objects, %v", n+1, len(rows), err)
			}
			for i, row := range rows {
				of := i // the snapshot that added the object
				if strings.Contains(row.DataFile.Path, "2026-07") {
					of = n - i
				}
				if of == n && (row.Status != added || row.SnapshotID != nil || row.SequenceNumber != nil) ||
					of < n && (row.Status != existing || *row.SnapshotID != snapshots[of] || *row.SequenceNumber != int64(of+1) || *row.FileSequenceNumber != int64(of+1)) {
					t.Errorf("after %d days %s is listed as %s", n+1, row.DataFile.Path, indented(t, row))
				}
			}
		}
	}
}

// TestVersionsAreBounded commits more often than versions and snapshots are kept, then
// collects what they have left.
func TestVersionsAreBounded(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	tables := newTables(t, client, c)
	for n := range 9 {
		c.publish("aa", day(n+1))
		if err := tables.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stored, latest, err := tables.versions(t.Context(), schemas.ParquetUpdates)
	if err != nil || len(stored) != 5 || latest != 9 {
		t.Errorf("versions %v are left, the latest is %d, %v; want 5 and 9", stored, latest, err)
	}
	v, err := tables.load(t.Context(), schemas.ParquetUpdates)
	if err != nil || len(v.Snapshots) != 5 || len(v.SnapshotLog) != 5 || len(v.MetadataLog) != 4 {
		t.Errorf("the table names %d snapshots, %d in the log, and %d versions before; %v", len(v.Snapshots), len(v.SnapshotLog), len(v.MetadataLog), err)
	}
	for _, e := range v.MetadataLog {
		if _, err := client.Head(t.Context(), strings.TrimPrefix(e.File, "s3://lake/main/")); err != nil {
			t.Errorf("the log of versions names %s: %v", e.File, err)
		}
	}
	hint, err := tables.read(t.Context(), "iceberg/v1/updates/metadata/version-hint.text")
	if err != nil || string(hint) != "9" {
		t.Errorf("the hint is %q, %v", hint, err)
	}
	if n, _, err := tables.Collect(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("%d young objects were removed, %v", n, err)
	}
	// 4 lists, and a manifest each, of all tables but imports, which is not there.
	n, size, err := tables.Collect(t.Context(), time.Now().Add(time.Hour))
	if err != nil || n != 4*2*6 || size == 0 {
		t.Errorf("%d objects of %d bytes were removed, %v; want %d", n, size, err, 4*2*6)
	}
	mustHold(t, tables, c)
	c.publish("bb", day(1))
	if err := tables.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	// All but the last list and manifest, since a day was replaced.
	if n, _, err := tables.Collect(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 5*2*6 {
		t.Errorf("%d objects were removed, %v; want %d", n, err, 5*2*6)
	}
	mustHold(t, tables, c)
}

// TestManyWriters has writers of their own publish and withdraw at once.
func TestManyWriters(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	var writers sync.WaitGroup
	for w := range 3 {
		tables := newTables(t, client, c)
		writers.Go(func() {
			for n := range 4 {
				ref := day(1 + 4*w + n)
				c.publish("aa", ref)
				if err := tables.Update(t.Context()); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
				if n%2 == 0 {
					continue
				}
				c.withdraw(ref)
				if err := tables.Exclude(t.Context()); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	writers.Wait()
	mustHold(t, newTables(t, client, c), c)
}

// TestExcludedStaysOut withdraws a segment while another writer, that saw it published, is
// about to add it.
func TestExcludedStaysOut(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	c.publish("aa", day(1))
	if err := newTables(t, client, c).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.publish("aa", day(2))
	slow := &memoryCatalog{}
	slow.publish("aa", day(1), day(2))
	var once sync.Once
	slow.before = func() { // the slow writer has read table and catalog
		once.Do(func() {
			c.withdraw(day(2))
			if err := newTables(t, client, c).Exclude(t.Context()); err != nil {
				t.Error(err)
			}
			slow.mu.Lock()
			delete(slow.segments, day(2))
			slow.mu.Unlock()
		})
	}
	// Its answer comes from before the withdrawal.
	if err := newTables(t, client, staleFiles{slow}).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, newTables(t, client, c), c)
	if len(wantPaths(t, c, schemas.ParquetUpdates)) != 1 {
		t.Fatal("the test is wrong")
	}
}

// staleFiles answers with the files of segments that are withdrawn already.
type staleFiles struct{ *memoryCatalog }

func (s staleFiles) Files(ctx context.Context, table schemas.ParquetTable, segments []Segment) ([][]File, error) {
	s.before()
	past := &memoryCatalog{}
	for _, segment := range segments {
		past.publish(segment.Content, segment.Ref)
	}
	return past.Files(ctx, table, segments)
}

// TestALateWriterDoesNotCount has a writer held up until its version has been made by
// others and removed again.
func TestALateWriterDoesNotCount(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	fast, late := newTables(t, client, c), newTables(t, client, c)
	c.publish("aa", day(1))
	if err := fast.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	base, err := late.load(t.Context(), schemas.ParquetUpdates)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if err := fast.Exclude(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	next, err := late.next(t.Context(), base, []Segment{{Ref: day(1), Content: "aa"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := late.commit(t.Context(), next); err == nil {
		t.Error("a version of the past was committed")
	}
	v, err := fast.load(t.Context(), schemas.ParquetUpdates)
	if err != nil || v.version != 9 {
		t.Errorf("the latest version is %d, %v; want 9", v.version, err)
	}
	if err := fast.Exclude(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored, _, err := fast.versions(t.Context(), schemas.ParquetUpdates); err != nil || slices.Contains(stored, 2) {
		t.Errorf("versions %v are left, %v", stored, err)
	}
}

// TestFailureAtEachStep has each write of an update fail once, and once be done with its
// answer lost: another writer finds a table that can be read, and finishes.
func TestFailureAtEachStep(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	c.publish("aa", day(1))
	if err := newTables(t, client, c).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for step := range 6 {
		for _, applied := range []bool{false, true} {
			before := paths(t, newTables(t, client, c), schemas.ParquetUpdates)
			c.publish(fmt.Sprintf("%d%v", step, applied), day(2+step%2))
			c.withdraw(day(3 - step%2))
			broken := &failing{Objects: client, left: step, applied: applied}
			err := newTables(t, broken, c).Update(t.Context())
			if broken.left >= 0 || !errors.Is(err, errBroken) {
				t.Fatalf("write %d, applied %v: the update ends with %v", step, applied, err)
			}
			failed++
			if now := paths(t, newTables(t, client, c), schemas.ParquetUpdates); !slices.Equal(now, before) && !slices.Equal(now, wantPaths(t, c, schemas.ParquetUpdates)) {
				t.Errorf("write %d, applied %v: the table names %q, before it was %q", step, applied, now, before)
			}
			tables := newTables(t, client, c)
			if err := tables.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustHold(t, tables, c)
		}
	}
	if failed != 12 {
		t.Errorf("%d writes have failed", failed)
	}
}

var errBroken = errors.New("broken by the test")

// failing fails one write, after left others, before or after it is done.
type failing struct {
	Objects
	left    int
	applied bool
}

func (f *failing) fail(write func() error) error {
	f.left--
	if f.left != -1 {
		return write()
	}
	if f.applied {
		return errors.Join(write(), errBroken)
	}
	return errBroken
}

func (f *failing) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	return f.fail(func() error { return f.Objects.Put(ctx, key, body, size, sum, contentType) })
}

func (f *failing) PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	return f.fail(func() error { return f.Objects.PutIfAbsent(ctx, key, body, size, sum, contentType) })
}

// TestTheBucketMoves opens a copy of the tables under another prefix.
func TestTheBucketMoves(t *testing.T) {
	g, c := buckettest.Gateway(t), &memoryCatalog{}
	open := func(prefix string) *bucket.Client {
		return buckettest.Open(t, bucket.Config{
			Endpoint: g.Endpoint, AccessKey: g.AccessKey, SecretKey: g.SecretKey, Bucket: "lake", PathStyle: true, Prefix: prefix,
		})
	}
	c.publish("aa", day(1), day(2))
	if err := newTables(t, open("old/"), c).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, moved := open(""), open("main/")
	for o, err := range root.All(t.Context(), "old/") {
		if err != nil {
			t.Fatal(err)
		}
		if err := root.Copy(t.Context(), o.Key, "main/"+strings.TrimPrefix(o.Key, "old/")); err != nil {
			t.Fatal(err)
		}
	}
	tables := newTables(t, moved, c)
	segments, err := c.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if same, err := tables.UpToDate(t.Context(), segments); err != nil || same {
		t.Errorf("tables of another place are up to date: %v, %v", same, err)
	}
	if err := tables.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, tables, c)
	if n, _, err := tables.Collect(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 2*6 {
		t.Errorf("%d objects were removed, %v; want the list and manifest of each old table", n, err)
	}
	mustHold(t, tables, c)
}

// TestCheck has a table name what is not published, and loses and damages its metadata.
func TestCheck(t *testing.T) {
	client, c := openBucket(t), &memoryCatalog{}
	tables := newTables(t, client, c)
	c.publish("aa", day(1), day(2))
	if err := tables.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := tables.load(t.Context(), schemas.ParquetUpdates)
	if err != nil {
		t.Fatal(err)
	}
	list, err := tables.manifests(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	manifest := schemas.IcebergFileKey("scan", v.name, path.Base(list[0].Path))
	for _, tt := range []struct {
		name   string
		change func() error
		want   []string
	}{
		{"a segment that is to be added", func() error { c.publish("aa", day(3)); return nil }, nil},
		{"a segment that is gone", func() error { c.withdraw(day(1)); return nil }, slices.Repeat([]string{
			"it has s3://lake/main/TABLE/v1/migration_id=1/date=2026-07-01/part-00000.parquet, which belongs to none of the segments that it describes",
			"it has segment scan:1:2026-07-01, which is not published in that form",
		}, 6)},
		{"objects of another size", func() error { c.publish("aa", day(1)); c.bytes = 999; return nil }, slices.Repeat([]string{
			"object TABLE/v1/migration_id=1/date=2026-07-01/part-00000.parquet has 10 rows in 999 bytes, the table says 10 rows in 1000 bytes",
			"object TABLE/v1/migration_id=1/date=2026-07-02/part-00000.parquet has 10 rows in 999 bytes, the table says 10 rows in 1000 bytes",
		}, 6)},
		{"a damaged manifest", func() error {
			c.bytes = 1000
			return client.Put(t.Context(), manifest, strings.NewReader("?"), 1, sha256.Sum256([]byte("?")), "")
		}, []string{"decoding s3://lake/main/" + manifest}},
		{"a lost manifest", func() error { return client.Delete(t.Context(), manifest) }, []string{"getting s3://lake/main/" + manifest}},
	} {
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		findings, err := tables.Check(t.Context())
		if err != nil || len(findings) != len(tt.want) {
			t.Errorf("%s: findings %q, %v; want %q", tt.name, findings, err, tt.want)
			continue
		}
		for i, f := range findings {
			table, said, _ := strings.Cut(strings.TrimPrefix(f, "Iceberg table "), ": ")
			if want := strings.ReplaceAll(tt.want[i], "TABLE", table); !strings.HasPrefix(said, want) {
				t.Errorf("%s: finding %q, want %q", tt.name, f, want)
			}
		}
	}
}

// TestNames takes the names of metadata apart.
func TestNames(t *testing.T) {
	days := groupsOf([]Segment{{Ref: day(2), Content: "aa"}, {Ref: day(1), Content: "bb"}})[0]
	imports := groupsOf([]Segment{{Ref: schemas.SegmentRef{Stream: "scan", MigrationID: 1}, Content: "aa"}})[0]
	for _, tt := range []struct {
		name     string
		got      string
		want     string
		sequence int64
		group    string
		content  string
	}{
		{"manifest", manifestName(12, days, []byte("x")), "00000012-1-2026-07-24034e2d5dca5e1a-2d711642b726b044.avro", 12, "1-2026-07", days.content()},
		{"manifest of imports", manifestName(3, imports, []byte("x")), "00000003-1-imports-ce33ea3e0207b2f2-2d711642b726b044.avro", 3, "1-imports", imports.content()},
		{"list", listName(7, 99), "00000007-snapshot-99.avro", 7, "", "snapshot"},
	} {
		sequence, ok := sequenceOf("iceberg/v1/updates/metadata/" + tt.got)
		group, content := describedBy("s3://lake/" + tt.got)
		if tt.got != tt.want || !ok || sequence != tt.sequence || group != tt.group || content != tt.content {
			t.Errorf("%s: %s with sequence %d of %q, %q; want %s, %d, %q, %q", tt.name, tt.got, sequence, group, content, tt.want, tt.sequence, tt.group, tt.content)
		}
	}
	for _, other := range []string{"v3.metadata.json", "version-hint.text", "snap-12-1-x.avro", "00000012.avro", "00000012-x.parquet"} {
		if _, ok := sequenceOf(other); ok {
			t.Errorf("%s passes as one of ours", other)
		}
	}
}
