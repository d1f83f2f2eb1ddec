package scan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func world() []*migration {
	return []*migration{generate(0, -1, 0, 1800), generate(1, 0, 1500, 3200), generate(2, 1, 50, 400)}
}

func TestBackfillDeliversTheWholeHistoryInOrder(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		for _, workers := range []int{1, 3, 8} {
			t.Run(fmt.Sprintf("%s with %d workers", source, workers), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, world()...), newSink()
				transport := &countingTransport{}
				ing := newIngester(t, u, sink, func(c *Config) {
					c.Source, c.Workers, c.BatchItems, c.HTTPClient = source, workers, 777, &http.Client{Transport: transport}
				})
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(source))
				if most := transport.most.Load(); most > int64(workers) || workers > 1 && most == 1 {
					t.Errorf("up to %d requests in flight with %d workers", most, workers)
				}
				t.Logf("%d requests for %d items", u.requests.Load(), sink.items)
			})
		}
	}
}

func TestImportUpdatesOfAnyShapeArrive(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(i int) string{
		"spread evenly":   func(int) string { return hexID(r, "00", 60) },
		"one long prefix": func(int) string { return hexID(r, "00aaaaaaaaaaaaaaaaaaaaaaaa", 20) },
		"two far ends":    func(i int) string { return hexID(r, []string{"0000000000000000001", "00ffffffffffffffffffe"}[i%2], 20) },
		"not hex": func(i int) string {
			return fmt.Sprintf("%s%05d", []string{"00~", "zz", "#", "00a/", "00A", "00ag", "00", ""}[i%8], i)
		},
		"different lengths":   func(i int) string { return hexID(r, "00", 1+i%40) },
		"only the last digit": func(i int) string { return fmt.Sprintf("00ab%040x", i) },
	}
	for name, shape := range shapes {
		m := generate(1, -1, 0, 10)
		seen := map[string]bool{}
		for i := range 5000 {
			if id := shape(i); !seen[id] {
				seen[id] = true
				m.imports = append(m.imports, importUpdate(r, 1, id, i))
			}
		}
		slices.SortFunc(m.imports, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, m), newSink()
			if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, u.lines(Events))
		})
	}
}

func TestCoordinatesKeepTheOrderOfIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	track := &importTrack{migrationID: 1}
	ids := []string{"", "0", "00", "00a", "00a/", "00a:", "00aA", "00ag", "00af", "00b", "01", "zz", "\u00e9"}
	const alphabet = "00112233445566778899aabbccddeeff/:AG`gz~"
	for range 20000 {
		id := []byte(importPrefix)
		for range r.IntN(20) {
			id = append(id, alphabet[r.IntN(len(alphabet))])
		}
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	at := func(id string) schemas.Position {
		return schemas.Position{MigrationID: 1, RecordTime: schemas.MinMicros, UpdateID: id}
	}
	for i, id := range ids {
		c := track.coordinate(at(id))
		if i > 0 && c < track.coordinate(at(ids[i-1])) {
			t.Fatalf("%q has coordinate %x, below that of %q, %x", id, c, ids[i-1], track.coordinate(at(ids[i-1])))
		}
		if id != "" && !track.position(c-1).Before(at(id)) {
			t.Fatalf("position %q of coordinate %x is not before %q", track.position(c-1).UpdateID, c-1, id)
		}
		if !at(id).Before(track.position(c + 1)) {
			t.Fatalf("position %q of coordinate %x is not behind %q", track.position(c+1).UpdateID, c+1, id)
		}
	}
}

func TestBackfillResumesAtEveryBatch(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, generate(0, -1, 0, 900), generate(1, 0, 250, 600))
	whole := newSink()
	config := func(c *Config) { c.BatchItems = 100 }
	if err := newIngester(t, u, whole, config).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	lines := u.lines(Events)
	done := 0
	for _, b := range whole.batches {
		for _, pending := range []bool{false, true} {
			sink := newSink()
			sink.at, sink.resume = b.After, schemas.Resume{Committed: b.After}
			if pending {
				sink.resume.Pending = &schemas.Intent{Sequence: 7, After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}
			}
			if err := newIngester(t, u, sink, config).Backfill(testContext(t)); err != nil {
				t.Fatalf("from %s, pending %v: %v", b.After, pending, err)
			}
			sameLines(t, sink.lines, lines[done:])
			if first := sink.batches[0]; pending && (first.Through != b.Through || first.Hash() != b.Hash()) {
				t.Fatalf("the first batch is through %s, want the pending one, through %s", first.Through, b.Through)
			}
		}
		done += len(b.Items)
	}
}

func TestPendingBatchIsRepeatedFromEverySource(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		u, whole := newUpstream(t, generate(0, -1, 0, 1100), generate(1, 0, 700, 700)), newSink()
		config := func(c *Config) { c.Source, c.BatchItems = source, 400 }
		if err := newIngester(t, u, whole, config).Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, b := range whole.batches {
			sink := newSink()
			sink.at = b.After
			sink.resume = schemas.Resume{Committed: b.After, Pending: &schemas.Intent{After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}}
			if err := newIngester(t, u, sink, config).Backfill(testContext(t)); err != nil {
				t.Fatalf("%s, pending through %s: %v", source, b.Through, err)
			}
			sameLines(t, sink.lines, whole.lines[done:])
			done += len(b.Items)
		}
	}
}

func TestPendingBatchWithOtherContentStops(t *testing.T) {
	u, sink := newUpstream(t, generate(0, -1, 0, 300)), newSink()
	items := u.migrations[0].items
	sink.resume.Pending = &schemas.Intent{After: schemas.Start, Through: items[99].Position(), Items: 100, Hash: "feed"}
	err := newIngester(t, u, sink, nil).Backfill(testContext(t))
	if !errors.Is(err, schemas.ErrDiverged) || sink.items > 0 {
		t.Errorf("got %v and %d items, want diverged history and none", err, sink.items)
	}
}

func TestSinkFailures(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, generate(0, -1, 0, 3000))
	t.Run("the same batch is written again", func(t *testing.T) {
		sink := newSink()
		var failed atomic.Int64
		var last schemas.Position
		sink.fail = func(b *schemas.Batch) error {
			if failed.Load()%2 == 1 && b.After != last {
				t.Errorf("after a failure at %s the batch after %s was written", last, b.After)
			}
			last = b.After
			if failed.Add(1)%2 == 1 {
				return errors.New("disk full")
			}
			return nil
		}
		ing := newIngester(t, u, sink, func(c *Config) { c.BatchItems = 1000 })
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(Events))
		if s := ing.Status(); s.Retries != 3 || s.LastError != "disk full" {
			t.Errorf("status has %d retries and last error %q, want 3 and \"disk full\"", s.Retries, s.LastError)
		}
	})
	t.Run("diverged history stops", func(t *testing.T) {
		sink := newSink()
		sink.fail = func(*schemas.Batch) error { return fmt.Errorf("hash differs: %w", schemas.ErrDiverged) }
		ing := newIngester(t, u, sink, nil)
		if err := ing.Backfill(testContext(t)); !errors.Is(err, schemas.ErrDiverged) {
			t.Errorf("got %v, want diverged history", err)
		}
		if s := ing.Status(); s.Phase != stream.PhaseStopped || sink.items != 0 {
			t.Errorf("phase is %q with %d items, want %q and none", s.Phase, sink.items, stream.PhaseStopped)
		}
	})
}

func TestShortPagesOfImportsAreNotTheEnd(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, generate(1, -1, 700, 10)), newSink()
	u.change = func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if operation == importUpdatesOperation {
			return items[:(len(items)+1)/2]
		}
		return items
	}
	if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(Events))
}

func TestSmallerPageLimitOfTheUpstreamIsRespected(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		u, sink := newUpstream(t, generate(1, -1, 300, 900)), newSink()
		u.pageLimit = 100
		if err := newIngester(t, u, sink, func(c *Config) { c.Source = source }).Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(source))
	}
}
