package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// oneDigest is that of all objects of the history below, wherever and however they are
// made. It changes with the format only: with that, -update prints the new one.
const oneDigest = "97599fc9508a3e9afb768f0447bd597ed20caafe58e9905ee42da2f86a84ef21"

// combinationsEnv asks for more combinations than the few of an ordinary run.
const combinationsEnv = "LEDGERLAKE_DETERMINISM"

// combination is one way to make the objects.
type combination struct {
	arrival            string // how the history came into the store
	procs, workers     int
	page, cuts         int // cuts is how often the exporter is cut off and started again
	backwards, twoRuns bool
	applied            bool // what was cut off had been applied
	seed               uint64
}

// TestDeterminism makes the objects of one history in many ways: stores that were filled
// in batches of other sizes or from the objects of
// another; other numbers of workers, processors and rows per page; and exporters that
// are cut off anywhere, work against each other, or go backwards. All objects must have
// the same bytes.
func TestDeterminism(t *testing.T) {
	combinations := 3
	if text := os.Getenv(combinationsEnv); text != "" {
		var err error
		if combinations, err = strconv.Atoi(text); err != nil || combinations < 1 {
			t.Fatalf("%s=%q is not a number of combinations", combinationsEnv, text)
		}
	}
	g := buckettest.Gateway(t)
	first := buckettest.Open(t, bucketConfig(g, "first/"))
	stores := arrivals(t, first)
	names := slices.Sorted(maps.Keys(stores))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i := range combinations {
		random := rand.New(rand.NewPCG(uint64(i), 77))
		c := combination{
			arrival: names[i%len(names)], procs: []int{1, 2, 3, 8}[random.IntN(4)], workers: 1 + random.IntN(6),
			page: []int{1, 7, 50, 128, 1000}[random.IntN(5)], cuts: random.IntN(4), backwards: random.IntN(2) == 0,
			twoRuns: random.IntN(3) == 0, applied: random.IntN(2) == 0, seed: uint64(i),
		}
		client := buckettest.Open(t, bucketConfig(g, fmt.Sprintf("run-%d/", i)))
		c.export(t, stores[c.arrival], client)
		sums := stored(t, client)
		if got := digestOf(sums); got != oneDigest && !*update {
			t.Fatalf("combination %d, %+v, has digest %s, want %s", i, c, got, oneDigest)
		}
		if i == combinations-1 {
			fmt.Printf("determinism: %d combinations of %d objects, digest %s\n", combinations, len(sums), digestOf(sums))
		}
	}
}

// quietly leaves the digest alone in the output of make determinism.
func quietly(c *testConfig) { c.Log = slog.New(slog.DiscardHandler) }

// arrivals are stores that got the same history in different ways. One of them is
// restored from objects of another, which are put into first.
func arrivals(t *testing.T, first *bucket.Client) map[string]testSource {
	t.Helper()
	items := schematest.New(schematest.Config{Seed: 9, Items: 60, Migrations: 2, Step: 45 * 60 * 1e6}).Items
	stores := make(map[string]testSource)
	for name, batch := range map[string]int{"in batches of 50": 50, "in batches of 6": 6} {
		s, reader := openStore(t)
		fillFrom(t, s.db, schemas.Start, items, batch)
		stores[name] = reader
	}
	exportDue(t, newTestExporter(t, stores["in batches of 50"], first, &memoryCatalog{}, quietly))

	s, reader := openStore(t)
	log := slog.New(slog.DiscardHandler)
	restored := archive.RestoreConfig{Sink: indexer.NewSinks(s.db, log), Catalog: catalogOf(t, reader, ""), BatchItems: 9}
	if err := openArchive(t, first).Restore(t.Context(), restored); err != nil {
		t.Fatal(err)
	}
	// The day that was not over comes from the upstream.
	resume, err := indexer.NewWriter(s.db, schemas.ScanStream, log).Resume(t.Context(), schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	rest := slices.IndexFunc(items, func(it schemas.Item) bool { return resume.Committed.Before(it.Position()) })
	if rest <= 0 {
		t.Fatalf("the restored store stands at %s", resume.Committed)
	}
	fillFrom(t, s.db, resume.Committed, items[rest:], 20)
	stores["restored"] = reader
	return stores
}

// export publishes everything, with the exporter cut off and started anew on the way.
func (c combination) export(t *testing.T, src testSource, client *bucket.Client) {
	t.Helper()
	runtime.GOMAXPROCS(c.procs)
	published := &memoryCatalog{}
	random := rand.New(rand.NewPCG(c.seed, 78))
	settings := func(cfg *testConfig) {
		quietly(cfg)
		cfg.Workers, cfg.PageRows, cfg.Lookups = c.workers, c.page, true
	}
	for n := range c.cuts + 1 {
		off := &cut{applied: c.applied}
		off.left.Store(1 << 30)
		if n < c.cuts {
			off.left.Store(int64(random.IntN(40)))
		}
		e := newTestExporter(t, src, cutObjects{client, off}, cutCatalog{published, off}, settings)
		if err := c.run(t, e); err != nil && !errors.Is(err, errCut) {
			t.Fatalf("%+v: %v", c, err)
		}
	}
}

// run exports what is due, perhaps with two exporters at once.
func (c combination) run(t *testing.T, e *Exporter) error {
	t.Helper()
	due, err := e.DueSegments(t.Context())
	if err != nil {
		return err
	}
	if c.backwards {
		slices.Reverse(due)
	}
	all := func() error {
		for _, ref := range due {
			if err := e.ExportSegment(t.Context(), ref); err != nil {
				return err
			}
		}
		return nil
	}
	if !c.twoRuns {
		return all()
	}
	other := make(chan error, 1)
	go func() { other <- all() }()
	return cmp.Or(all(), <-other)
}

// digestOf is a SHA-256 over keys and sums of all objects.
func digestOf(sums map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintln(&b, sums[key], key)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
