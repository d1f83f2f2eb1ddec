package export

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// discard is a bucket that takes everything and forgets it, so that the benchmark
// shows the writer and not the disk.
type discard struct{ bytes int64 }

func (d *discard) PutIfAbsent(_ context.Context, _ string, _ io.ReadSeeker, size int64, _ [32]byte, _ string) error {
	d.bytes += size
	return nil
}

func (d *discard) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	return d.PutIfAbsent(ctx, key, body, size, sum, contentType)
}

func (d *discard) Get(context.Context, string, int64, int64) (*bucket.Reader, error) {
	return nil, bucket.ErrNotFound
}

func (d *discard) Copy(context.Context, string, string) error { return nil }

func (d *discard) Delete(context.Context, string) error { return nil }

const benchUpdates = 4000

// benchSource is one day of transactions with 8 events of about 750 bytes of payload.
func benchSource() (src *memorySource, ref schemas.SegmentRef, events int, payload int64) {
	g := newGenerator(1)
	g.payload = 500
	src = &memorySource{}
	g.history(src, 0, micros("2026-07-01T00:00:00Z"), micros("2026-07-02T00:00:00Z"), benchUpdates, 8)
	src.watermark = schemas.EndOf(1, 0)
	src.contracts = src.watermark
	for i := range src.updates {
		for _, e := range src.updates[i].Events {
			events++
			payload += int64(len(e.Argument) + len(e.Result))
		}
	}
	return src, schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}, events, payload
}

// BenchmarkExportHistory writes tables updates and events of a day; bytes are those of
// the payloads as JSON.
func BenchmarkExportHistory(b *testing.B) {
	src, ref, events, payload := benchSource()
	out := &discard{}
	e, err := New(Config{Source: src, Catalog: catalogOf(b, src, ""), Objects: out, TempDir: b.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(payload)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := writeHistory(b.Context(), destination{exporter: e, ref: ref}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(src.updates)*b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(out.bytes)/float64(b.N)/float64(len(src.updates)), "stored-B/update")
}

// BenchmarkVerify reads the same day back from an embedded gateway.
func BenchmarkVerify(b *testing.B) {
	src, ref, events, payload := benchSource()
	e := newTestExporter(b, src, openBucket(b), &memoryCatalog{}, func(c *testConfig) { c.Layout = published.DefaultLayout })
	if err := e.ExportSegment(b.Context(), ref); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(payload)
	b.ReportAllocs()
	for b.Loop() {
		v, err := e.VerifyObjects(b.Context(), nil)
		if err != nil || len(v.Findings) > 0 {
			b.Fatal(err, v.Findings)
		}
	}
	b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkNetworkLayout writes the same day as JSON lines in zstd frames.
func BenchmarkNetworkLayout(b *testing.B) {
	src, _, _, payload := benchSource()
	e := newTestExporter(b, src, &discard{}, &memoryCatalog{}, nil)
	var sizes network.Sizes
	b.SetBytes(payload)
	for b.Loop() {
		var err error
		sizes, err = e.network.Measure(b.Context(), schemas.CompactJSON)
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(sizes.Updates.ZstdBytes)/float64(len(src.updates)), "stored-B/update")
}

// BenchmarkReadPages shows what the source alone costs in the benchmarks above.
func BenchmarkReadPages(b *testing.B) {
	src, ref, _, payload := benchSource()
	e := newTestExporter(b, src, &discard{}, &memoryCatalog{}, nil)
	b.SetBytes(payload)
	for b.Loop() {
		n := 0
		after, through, err := bounds(ref)
		if err != nil {
			b.Fatal(err)
		}
		err = e.pages.Updates(b.Context(), after, through, func(_ context.Context, page []schemas.Update) error { n += len(page); return nil })
		if err != nil || n != len(src.updates) {
			b.Fatal(fmt.Errorf("%d updates: %w", n, err))
		}
	}
}
