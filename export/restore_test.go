package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// publishedHistory exports a history into a new prefix and returns the bucket, and the
// items of history that were published, in order.
func publishedHistory(t *testing.T, src *memorySource, change func(*testConfig)) (*bucket.Client, []schemas.Item) {
	t.Helper()
	client := openBucket(t)
	due := exportDue(t, newTestExporter(t, src, client, &memoryCatalog{}, change))
	var items []schemas.Item
	for _, list := range [][]schemas.Update{src.imports, src.updates} {
		for i := range list {
			items = append(items, schemas.Item{Update: &list[i]})
		}
	}
	for _, v := range src.verdicts {
		i := slices.IndexFunc(items, func(it schemas.Item) bool { return it.Position() == v.Position() })
		if i < 0 {
			items = append(items, v)
			continue
		}
		items[i].Verdict, items[i].Traffic, items[i].AppActivity = v.Verdict, v.Traffic, v.AppActivity
	}
	slices.SortFunc(items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	return client, slices.DeleteFunc(items, func(it schemas.Item) bool {
		p := it.Position()
		ref := schemas.SegmentRef{Stream: "scan", MigrationID: p.MigrationID}
		if p.RecordTime != schemas.MinMicros {
			ref = due[len(due)-1].Length().Of("scan", p.MigrationID, p.RecordTime)
		}
		return !slices.Contains(due, ref)
	})
}

func openArchive(t *testing.T, objects archive.Objects) *archive.Archive {
	t.Helper()
	a, err := archive.Open(t.Context(), archive.Config{Objects: objects, TempDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// journalSink keeps batches as the writer of the store does: announced, then committed,
// and an announced batch must be repeated as it was. fails, when set, is asked before
// and after each commit.
type journalSink struct {
	stream  string
	after   schemas.Position
	pending *schemas.Intent
	items   []schemas.Item
	fails   func(step string) error
}

func newJournalSink() *journalSink { return &journalSink{stream: "scan", after: schemas.Start} }

func (s *journalSink) Resume(_ context.Context, stream string) (schemas.Resume, error) {
	if stream != s.stream {
		return schemas.Resume{}, fmt.Errorf("asked for stream %s", stream)
	}
	return schemas.Resume{Committed: s.after, Pending: s.pending}, nil
}

func (s *journalSink) Write(_ context.Context, b *schemas.Batch) error {
	if p := s.pending; p != nil && (p.After != b.After || p.Through != b.Through || p.Hash != b.Hash()) {
		return fmt.Errorf("%w: (%s, %s] was announced, not (%s, %s]", schemas.ErrDiverged, p.After, p.Through, b.After, b.Through)
	}
	if b.After != s.after || !b.After.Before(b.Through) {
		return fmt.Errorf("%w: (%s, %s] does not follow %s", schemas.ErrDiverged, b.After, b.Through, s.after)
	}
	s.pending = &schemas.Intent{After: b.After, Through: b.Through, Items: len(b.Items), Hash: b.Hash()}
	if err := s.fail("announced"); err != nil {
		return err
	}
	for _, it := range b.Items {
		if p := it.Position(); !s.after.Before(p) || b.Through.Before(p) {
			return fmt.Errorf("item at %s is outside (%s, %s]", p, b.After, b.Through)
		}
		s.after = it.Position()
	}
	s.items = append(s.items, b.Items...)
	s.after, s.pending = b.Through, nil
	return s.fail("committed")
}

func (s *journalSink) fail(step string) error {
	if s.fails == nil {
		return nil
	}
	return s.fails(step)
}

var errTest = errors.New("broken by the test")

// TestRestoreGivesEveryItemBack reads random histories back and compares all fields of
// all items, with a restore that is cut off before or after every commit and resumed.
func TestRestoreGivesEveryItemBack(t *testing.T) {
	for name, fails := range map[string]func(step string) error{
		"undisturbed":                   nil,
		"every announcement fails once": failOnceAt("announced"),
		"every reply is lost once":      failOnceAt("committed"),
	} {
		t.Run(name, func(t *testing.T) {
			client, want := publishedHistory(t, twoMigrations(61, 80), nil)
			sink, c := newJournalSink(), &memoryCatalog{}
			sink.fails = fails
			var last archive.RestoreProgress
			e := newTestExporter(t, &memorySource{}, client, c, nil)
			cfg := archive.RestoreConfig{Sink: sink, Catalog: e.catalog, BatchItems: 20, Progress: func(p archive.RestoreProgress) { last = p }}
			runs := 0
			for {
				err := openArchive(t, client).Restore(t.Context(), cfg)
				if runs++; err == nil {
					break
				}
				if !errors.Is(err, errTest) || runs > 100 {
					t.Fatal(err)
				}
			}
			compareAll(t, "item", sink.items, want)
			if len(sink.items) != len(want) || len(want) < 300 || runs < 5 && fails != nil {
				t.Errorf("%d of %d items came back in %d runs", len(sink.items), len(want), runs)
			}
			if last.Rows != last.TotalRows || last.Segments != last.TotalSegments || last.Segments < 5 {
				t.Errorf("the last progress is %+v", last)
			}
			if rows, err := c.All(t.Context()); err != nil || len(rows) != last.Segments {
				t.Errorf("%d segments are in the catalog, %v", len(rows), err)
			}
			if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
				t.Errorf("findings %q, %v", v.Findings, err)
			}
		})
	}
}

// failOnceAt fails every second time at a step.
func failOnceAt(at string) func(string) error {
	n := 0
	return func(step string) error {
		if step != at {
			return nil
		}
		if n++; n%2 == 1 {
			return errTest
		}
		return nil
	}
}

func TestRestoreRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, objects *bucket.Client, sink *journalSink)
		want   error
		text   string
	}{
		{"a segment that is missing", func(t *testing.T, objects *bucket.Client, _ *journalSink) {
			remove(t, objects, schemas.ManifestKey(schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-02"}))
		}, nil, "manifests/v1/migration_id=0/date=2026-07-02.json is missing"},
		{"imports that are missing", func(t *testing.T, objects *bucket.Client, _ *journalSink) {
			remove(t, objects, schemas.ManifestKey(schemas.SegmentRef{Stream: "scan", MigrationID: 1}))
		}, nil, "migration_id=1/imports.json is missing"},
		{"a part that is missing", func(t *testing.T, objects *bucket.Client, _ *journalSink) {
			remove(t, objects, "events/v1/migration_id=1/date=2026-07-03/part-00000.parquet")
		}, nil, "part-00000.parquet is missing"},
		{"a part that was changed", func(t *testing.T, objects *bucket.Client, _ *journalSink) {
			write(t, objects, "updates/v1/migration_id=1/date=2026-07-03/part-00000.parquet", []byte("PAR1"))
		}, nil, "the manifest says"},
		{"a manifest of another segment", func(t *testing.T, objects *bucket.Client, _ *journalSink) {
			write(t, objects, "manifests/v1/migration_id=0/date=2026-06-30.json", read(t, objects, "manifests/v1/migration_id=0/date=2026-07-01.json"))
		}, schemas.ErrMalformed, "instead of its own"},
		{"a store with another history", func(_ *testing.T, _ *bucket.Client, sink *journalSink) {
			sink.after = schemas.Position{MigrationID: 1, RecordTime: micros("2026-07-03T12:00:00Z"), UpdateID: "1220other"}
		}, schemas.ErrDiverged, "where the objects have no item"},
		{"a store with another batch begun", func(_ *testing.T, _ *bucket.Client, sink *journalSink) {
			sink.pending = &schemas.Intent{After: schemas.Start, Through: schemas.EndOf(0, micros("2026-07-01T15:00:00Z")), Hash: "other"}
		}, schemas.ErrDiverged, "was announced"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := publishedHistory(t, twoMigrations(62, 40), nil)
			sink := newJournalSink()
			tt.change(t, client, sink)
			a, err := archive.Open(t.Context(), archive.Config{Objects: client, TempDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				err = a.Restore(t.Context(), archive.RestoreConfig{Sink: sink, Catalog: catalogOf(t, &memorySource{}, "")})
			}
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("restoring: %v; want %v with %q", err, tt.want, tt.text)
			}
		})
	}
	empty := openBucket(t)
	if err := openArchive(t, empty).Restore(t.Context(), archive.RestoreConfig{Sink: newJournalSink(), Catalog: catalogOf(t, &memorySource{}, "")}); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("restoring an empty bucket: %v", err)
	}
}

func remove(t *testing.T, objects *bucket.Client, key string) {
	t.Helper()
	read(t, objects, key) // it must have been there
	if err := objects.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

// TestRestoredStoreIsEqual restores a real store from the objects of another one and
// compares what each holds, by segment, with digests that share no code with export.
func TestRestoredStoreIsEqual(t *testing.T) {
	first, firstReader := openStore(t)
	fill(t, first.db, schematest.New(schematest.Config{Seed: 6, Items: 90, Migrations: 2, Step: 45 * 60 * 1e6}).Items)
	client := openBucket(t)
	e := newTestExporter(t, firstReader, client, nil, nil)
	e.catalog.Tables = published.InStore(first.db, schemas.ScanStream)
	due := exportDue(t, e)

	second, secondReader := openStore(t)
	restored := newTestExporter(t, secondReader, client, nil, nil)
	restored.catalog.Tables = published.InStore(second.db, schemas.ScanStream)
	log := slog.New(slog.DiscardHandler)
	for range 2 { // the second time there is nothing to do
		if err := openArchive(t, client).Restore(t.Context(), archive.RestoreConfig{Sink: indexer.NewSinks(second.db, log), Catalog: restored.catalog}); err != nil {
			t.Fatal(err)
		}
	}
	if err := indexer.NewLifetimes(second.db, schemas.ScanStream, time.Second, log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, err := digests(t, first.db, firstReader)
	if err != nil {
		t.Fatal(err)
	}
	got, err := digests(t, second.db, secondReader)
	if err != nil {
		t.Fatal(err)
	}
	if len(due) < 5 {
		t.Fatalf("only %d segments were published", len(due))
	}
	for _, ref := range due {
		compareRestored(t, ref, firstReader, secondReader, want.Segments[ref], got.Segments[ref])
	}
	v, err := restored.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 || len(v.Segments) != len(due) {
		t.Errorf("%d of %d segments are published, findings %q, %v", len(v.Segments), len(due), v.Findings, err)
	}
}

func compareRestored(t *testing.T, ref schemas.SegmentRef, first, second *history.Reader, want, got verify.Tables) {
	t.Helper()
	for _, table := range ref.Tables() {
		if table == schemas.ParquetACS {
			start, _, err := ref.Bounds()
			if err != nil {
				t.Fatal(err)
			}
			if want[string(table)], err = verify.ActiveAt(t.Context(), first, ref.MigrationID, start); err != nil {
				t.Fatal(err)
			}
			if got[string(table)], err = verify.ActiveAt(t.Context(), second, ref.MigrationID, start); err != nil {
				t.Fatal(err)
			}
		}
		if got[string(table)] != want[string(table)] {
			t.Errorf("table %s of %s: restored %s, was %s", table, ref, got[string(table)], want[string(table)])
		}
	}
}

// testStore is a store on an engine of its own.
type testStore struct {
	*enginetest.Store
	db *store.DB
}

// digests returns what a store holds.
func digests(t *testing.T, db *store.DB, reader *history.Reader) (*verify.Report, error) {
	t.Helper()
	return verify.Run(t.Context(), verify.Config{
		Source: audit.NewReader(db, schemas.ScanStream), Public: reader, Checks: []string{verify.Hashes},
	})
}

func openStore(t *testing.T) (testStore, *history.Reader) {
	t.Helper()
	engine := enginetest.StartMigrated(t, indexer.MigrateCluster)
	db := storetest.Open(t, engine)
	return testStore{engine, db}, history.NewReader(db, schemas.ScanStream)
}
