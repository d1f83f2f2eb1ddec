package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/internal/ingesttest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestHugeUpdatesDoNotPileUpInMemory(t *testing.T) {
	const huge, count = 50 << 20, 10
	m := generate(0, -1, 0, 3000)
	for i := range count {
		// The text is put in only while a page is served, so that the test itself needs little.
		u := m.items[100*i+1000].Update
		for n := 1; u == nil || len(u.Events) < 2; n++ {
			u = m.items[100*i+1000+n].Update
		}
		u.Events[1].Argument = []byte(`{"record":{"fields":[{"value":{"text":"HUGE"}}]}}`)
	}
	u, sink := newUpstream(t, m), newSink()
	sink.forget = true
	filler := bytes.Repeat([]byte{'x'}, huge)
	u.intercept = func(w http.ResponseWriter, r *http.Request, path string) bool {
		if path != "/api/scan"+eventsOperation {
			return false
		}
		plain := &pageWriter{header: http.Header{}}
		u.serve(plain, r, eventsOperation)
		parts := bytes.Split(plain.body.Bytes(), []byte("HUGE"))
		w.Header().Set("Content-Length", strconv.Itoa(plain.body.Len()+(len(parts)-1)*(huge-len("HUGE"))))
		for i, p := range parts {
			if i > 0 {
				w.Write(filler)
			}
			w.Write(p)
		}
		return true
	}
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Source, c.Workers, c.MaxPageBytes, c.InFlightBytes = Events, 8, 128<<20, 64<<20
	})
	peak := ingesttest.PeakHeap(func() {
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Error(err)
		}
	})
	t.Logf("peak heap %d MiB for %d updates of %d MiB, %d requests", peak>>20, count, huge>>20, u.requests.Load())
	if sink.items != len(m.items) {
		t.Errorf("%d items arrived, want %d", sink.items, len(m.items))
	}
	// Without bounds eight workers would hold most of the ten updates at once, and as
	// much garbage again.
	if limit := uint64(400 << 20); peak > limit {
		t.Errorf("peak heap is %d MiB, want at most %d MiB", peak>>20, limit>>20)
	}
}

type pageWriter struct {
	header http.Header
	body   bytes.Buffer
}

func (w *pageWriter) Header() http.Header         { return w.header }
func (w *pageWriter) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *pageWriter) WriteHeader(status int)      { panic(fmt.Sprint("unexpected status ", status)) }

// BenchmarkBackfill measures fetch, decode, check and delivery of prepared pages of
// updates of about 6 kB each, eight events an update.
func BenchmarkBackfill(b *testing.B) {
	m := largeHistory(20_000)
	u := newUpstream(b, m)
	lines := make([][]byte, len(m.items))
	for i := range m.items {
		lines[i] = append(schemas.AppendItem(nil, &m.items[i]), ',')
	}
	u.intercept = func(w http.ResponseWriter, r *http.Request, path string) bool {
		if path != "/api/scan"+eventsOperation {
			return false
		}
		var q wireRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			b.Error(err)
		}
		after, err := schemas.ParseTime(q.After.RecordTime)
		if err != nil {
			b.Error(err)
		}
		from := sort.Search(len(lines), func(i int) bool { return m.items[i].Update.RecordTime > after })
		page := lines[from:min(from+q.PageSize, len(lines))]
		size := len(`{"events":[]}`) - min(1, len(page))
		for _, line := range page {
			size += len(line)
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		io.WriteString(w, `{"events":[`)
		for i, line := range page {
			if i == len(page)-1 {
				line = line[:len(line)-1]
			}
			w.Write(line)
		}
		io.WriteString(w, `]}`)
		return true
	}
	run := func() *memorySink {
		sink := newSink()
		sink.forget = true
		ing := newIngester(b, u, sink, func(c *Config) { c.Log = quiet; c.Source = Events; c.Workers = 2 })
		if err := ing.Backfill(b.Context()); err != nil {
			b.Fatal(err)
		}
		if sink.items != len(m.items) {
			b.Fatalf("%d items, want %d", sink.items, len(m.items))
		}
		return sink
	}
	b.SetBytes(int64(len(bytes.Join(lines, nil))))
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(len(m.items)*b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(u.requests.Load())/float64(b.N), "requests")
}

// BenchmarkDecodeEvents measures decoding alone.
func BenchmarkDecodeEvents(b *testing.B) {
	page := renderPage(eventsOperation, largeHistory(1000).items)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		items, err := schemas.DecodeEvents(page, schemas.ProtobufJSON)
		if err != nil || len(items) != 1000 {
			b.Fatal(len(items), err)
		}
	}
}
