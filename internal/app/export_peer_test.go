package app

import (
	"errors"
	"io"
	"maps"
	"testing"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// sumsOf returns the SHA-256 of all objects of the bucket by key.
func sumsOf(t *testing.T, s *App) map[string][32]byte {
	t.Helper()
	sums := make(map[string][32]byte)
	for o, err := range s.objects.bucket.All(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		head, err := s.objects.bucket.Head(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		sums[o.Key] = head.SHA256
	}
	return sums
}

// TestOperatorsAgree has two operators wait for each other, over HTTP, and a third one with
// another history ask them in vain.
func TestOperatorsAgree(t *testing.T) {
	const hours = 3600 * 1e6
	operator := func(seed uint64) *App {
		s := openTestApp(t)
		ingestItems(t, s, schematest.New(schematest.Config{Seed: seed, Items: 20, Migrations: 1, Step: 5 * hours}).Items)
		return s
	}
	a, b, other := operator(21), operator(21), operator(22)
	addresses := map[*App]string{a: serveApp(t, a), b: serveApp(t, b)}
	needs := func(s *App, agree int, peers ...*App) {
		s.objects.exporter = nil // made again with the settings
		s.p.cfg.ExportAgree = agree
		for _, p := range peers {
			s.p.cfg.ExportPeers = append(s.p.cfg.ExportPeers, addresses[p])
		}
	}
	needs(a, 1, b)
	needs(b, 1, a)
	ended := make(chan error, 1)
	go func() {
		ended <- a.worker.exportAll(t.Context(), console.NewProgress(console.New(io.Discard, io.Discard)))
	}()
	if err := errors.Join(b.worker.exportAll(t.Context(), console.NewProgress(console.New(io.Discard, io.Discard))), <-ended); err != nil {
		t.Fatal(err)
	}
	if got, want := sumsOf(t, a), sumsOf(t, b); !maps.Equal(got, want) || len(want) < 10 {
		t.Errorf("the operators have %d and %d objects, or others", len(got), len(want))
	}
	for key := range sumsOf(t, a) {
		_, _, _, parquet := schemas.ParseObjectKey(key)
		_, link := schemas.ParseChainKey(key)
		if _, _, _, network := schemas.ParseNetworkKey(key); !parquet && !network && !link && key[:10] != "manifests/" {
			t.Errorf("object %s is left", key)
		}
	}

	needs(other, 2, a, b)
	if err := other.worker.exportAll(t.Context(), console.NewProgress(console.New(io.Discard, io.Discard))); !errors.Is(err, export.ErrDisagreed) {
		t.Fatalf("an operator with another history: %v", err)
	}
	segments, err := other.objects.catalog.PublishedSegments(t.Context(), schemas.MinMicros, schemas.MaxMicros)
	var objects int64 // a segment without rows has none, and nothing to disagree on
	for i := range segments {
		objects += segments[i].Objects
	}
	if err != nil || objects > 0 {
		t.Errorf("%d objects are published that nobody agreed with, %v", objects, err)
	}
	conn, err := engine.Open(t.Context(), other.db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var peers, rows uint64
	const query = "SELECT uniqExact(peer), count() FROM export_disagreements FINAL WHERE ours != theirs"
	if err := conn.QueryRow(t.Context(), query).Scan(&peers, &rows); err != nil || peers != 2 || rows < 2 {
		t.Errorf("%d disagreements with %d peers are recorded, %v", rows, peers, err)
	}
}
