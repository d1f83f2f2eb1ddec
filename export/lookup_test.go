package export

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// countedReads counts what is asked of the bucket.
type countedReads struct {
	*bucket.Client
	gets, bytes atomic.Int64
}

func (c *countedReads) Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error) {
	body, err := c.Client.Get(ctx, key, from, to)
	if err == nil {
		c.gets.Add(1)
		c.bytes.Add(body.To - body.From)
	}
	return body, err
}

func withLookups(c *testConfig) { c.Lookups = true }

// TestLookups finds every published update and contract, with every row compared, and
// nothing else; and counts what the bucket is asked for.
func TestLookups(t *testing.T) {
	client, items := publishedHistory(t, twoMigrations(71, 60), withLookups)
	objects := &countedReads{Client: client}
	cfg := archive.Config{Objects: objects, TempDir: t.TempDir(), CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	a, err := archive.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Update(t.Context(), "absent"); !errors.Is(err, schemas.ErrNotFound) {
		t.Fatalf("looking up what is not there: %v", err)
	}
	cached, err := archive.OpenCached(cfg)
	if err != nil || len(cached.Segments()) != len(a.Segments()) {
		t.Fatalf("%d of %d segments are cached, %v", len(cached.Segments()), len(a.Segments()), err)
	}
	lookUpAll(t, cached, items, func(what string, find func() (archive.Found, error)) archive.Found {
		before := objects.gets.Load()
		found, err := find()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := objects.gets.Load() - before; got != int64(found.Cost.Requests) || found.Cost.KeptRequests > 0 || got > 3 {
			t.Errorf("%s took %d requests, it says %+v", what, got, found.Cost)
		}
		return found
	})
	before := objects.gets.Load()
	for i := range 300 {
		if _, err := cached.Contract(t.Context(), "00absent"+strings.Repeat("a", i)); !errors.Is(err, schemas.ErrNotFound) {
			t.Fatalf("looking up what is not there: %v", err)
		}
	}
	// 1,500 filters are asked, 1 in 1,700 of which is wrong.
	if got := objects.gets.Load() - before; got > 10 {
		t.Errorf("300 ids that are not there took %d requests", got)
	}
}

// lookUpAll looks up every update of a history, and every contract that it creates or takes
// in, and compares what is found.
func lookUpAll(t *testing.T, a *archive.Archive, items []schemas.Item, run func(what string, find func() (archive.Found, error)) archive.Found) {
	t.Helper()
	contracts := make(map[string]bool)
	for i := range items {
		u := items[i].Update
		if u == nil {
			continue
		}
		want := archive.AppendLine(nil, u)
		found := run("update "+u.UpdateID, func() (archive.Found, error) { return a.Update(t.Context(), u.UpdateID) })
		if !bytes.Equal(found.Update, want) {
			t.Fatalf("update %s is\n%s\nwant\n%s", u.UpdateID, found.Update, want)
		}
		for _, id := range archive.CreatedIn(u) {
			if contracts[id] {
				continue // taken in again
			}
			contracts[id] = true
			found := run("contract "+id, func() (archive.Found, error) { return a.Contract(t.Context(), id) })
			if !bytes.Equal(found.Update, want) || !bytes.Contains(found.Event, []byte(id)) || !bytes.Contains(want, found.Event) {
				t.Fatalf("contract %s was created by %s", id, found.Event)
			}
		}
	}
	if len(contracts) < len(items)/2 {
		t.Errorf("only %d contracts were looked up", len(contracts))
	}
}

// TestParquetSearch finds the same without lookup objects.
func TestParquetSearch(t *testing.T) {
	client, items := publishedHistory(t, twoMigrations(74, 25), nil)
	objects := &countedReads{Client: client}
	a, err := archive.Open(t.Context(), archive.Config{Objects: objects, TempDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	lookUpAll(t, a, items, func(what string, find func() (archive.Found, error)) archive.Found {
		before := objects.gets.Load()
		found, err := find()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := objects.gets.Load() - before; got < int64(found.Cost.Requests) || got > 60 {
			t.Errorf("%s took %d requests, it says %+v", what, got, found.Cost)
		}
		return found
	})
	for _, find := range []func(context.Context, string) (archive.Found, error){a.Update, a.Contract} {
		if _, err := find(t.Context(), "absent"); !errors.Is(err, schemas.ErrNotFound) {
			t.Errorf("looking up what is not there: %v", err)
		}
	}
}

// TestLookupsComeLater publishes without lookup objects, and adds them when they are wanted.
// A segment that is exported again gets new ones.
func TestLookupsComeLater(t *testing.T) {
	src, client, c := twoMigrations(75, 30), openBucket(t), &memoryCatalog{}
	due := exportDue(t, newTestExporter(t, src, client, c, nil))
	before := stored(t, client)
	e := newTestExporter(t, src, client, c, withLookups)
	if again := exportDue(t, e); !slices.Equal(again, due) {
		t.Errorf("due for their lookup objects are %v, want %v", again, due)
	}
	if left, err := e.DueSegments(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("after that %v are due, %v", left, err)
	}
	for key, sum := range before {
		if got := stored(t, client)[key]; got != sum {
			t.Errorf("%s changed", key)
		}
	}
	src.updates[0].WorkflowID = "another one"
	if err := e.Reexport(t.Context(), due[1]); err != nil {
		t.Fatal(err)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
	found, err := openArchive(t, client).Update(t.Context(), src.updates[0].UpdateID)
	if err != nil || !bytes.Contains(found.Update, []byte("another one")) {
		t.Errorf("after another export the update is %s, %v", found.Update, err)
	}
	// Who does not want them any more has them until the segment is exported again.
	plain := newTestExporter(t, src, client, c, nil)
	for _, ref := range due {
		if err := plain.Reexport(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	for key := range stored(t, client) {
		if _, ok := schemas.ParseLookupKey(key); ok {
			t.Errorf("%s is left", key)
		}
	}
}

// TestLookupParts looks up in an object of many frames and buckets, and in a damaged one.
func TestLookupParts(t *testing.T) {
	g := newGenerator(72)
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 3, Date: "2026-07-01"}
	objects := make(map[string][]byte)
	w := &lookupWriter{ref: ref, tempDir: t.TempDir(), put: func(_ context.Context, p published.LookupPart, content *bucket.Spool, _ [32]byte) error {
		data := make([]byte, p.Bytes)
		_, err := content.File().ReadAt(data, 0)
		objects[p.Key] = data
		return err
	}}
	g.payload = 200
	at := micros("2026-07-01T01:00:00Z")
	var line []byte
	var updates []schemas.Update
	for i := range 8_000 {
		u := g.transaction(3, at+schemas.Micros(i), 3)
		line = schemas.AppendUpdate(line[:0], &u, schemas.UpdateForm{})
		if err := w.add(t.Context(), &u, line); err != nil {
			t.Fatal(err)
		}
		if i%200 == 0 {
			updates = append(updates, u)
		}
	}
	parts, err := w.finish(t.Context())
	if err != nil || len(parts) != 1 || parts[0].Buckets < 20 || parts[0].RowGroups < 20 {
		t.Fatalf("%d parts, %+v, %v", len(parts), parts, err)
	}
	client := openBucket(t)
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		write(t, client, key, objects[key])
	}
	m := updatesManifest(t, ref, 8_000)
	index, err := (&published.LookupIndex{FormatVersion: schemas.ParquetVersion, Segment: ref, Root: m.Root, Parts: parts}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, schemas.LookupIndexKey(ref), index)
	manifest, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	write(t, client, schemas.ManifestKey(ref), manifest)
	a := openArchive(t, client)
	for i := range updates {
		found, err := a.Update(t.Context(), updates[i].UpdateID)
		if err != nil || !bytes.Contains(found.Update, []byte(updates[i].UpdateID)) {
			t.Fatal(err)
		}
		if found.Cost.Requests > 3 || found.Cost.Bytes > 256<<10 {
			t.Errorf("it took %+v", found.Cost)
		}
	}
	damaged := bytes.Clone(objects[parts[0].Key])
	for i := range parts[0].IndexOffset {
		damaged[i] ^= 0x55
	}
	write(t, client, parts[0].Key, damaged)
	if _, err := a.Update(t.Context(), updates[0].UpdateID); err == nil || errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("looking up in damaged frames: %v", err)
	}
}

// updatesManifest returns the manifest of a segment with so many updates, whose objects are not
// there.
func updatesManifest(t *testing.T, ref schemas.SegmentRef, rows int64) *published.Manifest {
	t.Helper()
	m, err := published.NewManifest(ref, published.DefaultLayout)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ref.Tables() {
		m.Tables = append(m.Tables, published.Table{Name: name, Root: published.NoLink, Parts: []published.Part{}})
	}
	m.Tables[0].Rows, m.Tables[0].Digest.Rows = rows, uint64(rows)
	m.Tables[0].Parts = []published.Part{{Key: schemas.ObjectKey(m.Tables[0].Name, ref, 0), Rows: rows, Bytes: 1}}
	root, err := m.ComputeRoot()
	if err != nil {
		t.Fatal(err)
	}
	m.Root = hex.EncodeToString(root[:])
	return m
}

// TestVerifyComparesLookups puts a lookup object into the bucket that is whole, has its
// checksums in the manifest, and another line than the rows.
func TestVerifyComparesLookups(t *testing.T) {
	src, client, c := twoMigrations(73, 30), openBucket(t), &memoryCatalog{}
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	e := newTestExporter(t, src, client, c, withLookups)
	if err := e.ExportSegment(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	row := c.Last(ref)
	index, err := published.LookupIndexOf(&row)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*schemas.Update, []byte) []byte{
		"another line": func(_ *schemas.Update, line []byte) []byte {
			return bytes.Replace(line, []byte(`"synchronizer_id":"`), []byte(`"synchronizer_id":"x`), 1)
		},
		"an id that is not in the index": func(u *schemas.Update, line []byte) []byte {
			u.UpdateID += "0"
			return line
		},
	} {
		w := &lookupWriter{ref: ref, tempDir: t.TempDir(), put: func(_ context.Context, p published.LookupPart, content *bucket.Spool, _ [32]byte) error {
			data := make([]byte, p.Bytes)
			_, err := content.File().ReadAt(data, 0)
			write(t, client, p.Key, data)
			return err
		}}
		n := int64(0)
		for i := range src.updates {
			u := src.updates[i]
			if n == index.Parts[0].Rows {
				break
			}
			line := schemas.AppendUpdate(nil, &u, schemas.UpdateForm{})
			if n++; n == 5 {
				line = change(&u, line)
			}
			if err := w.add(t.Context(), &u, line); err != nil {
				t.Fatal(err)
			}
		}
		forged := *index
		if forged.Parts, err = w.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := forged.Enter(&row); err != nil {
			t.Fatal(err)
		}
		write(t, client, schemas.LookupIndexKey(ref), []byte(row.LookupIndex))
		other := newTestExporter(t, src, client, &memoryCatalog{Rows: []store.SegmentRow{row}}, nil)
		v, err := other.VerifyObjects(t.Context(), nil)
		if err != nil || len(v.Findings) != 3 || !strings.Contains(v.Findings[0], "lookup/") { // what was not read then lacks in two digests
			t.Errorf("%s: findings %q, %v", name, v.Findings, err)
		}
	}
}
