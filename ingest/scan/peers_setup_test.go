package scan

import (
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// newIngesterOf makes an ingester of several upstreams.
func newIngesterOf(t testing.TB, urls []string, sink stream.Sink, change func(*Config)) *Ingester {
	t.Helper()
	cfg := Config{BaseURL: urls[0], Peers: urls[1:], Settings: stream.Settings{Sink: sink, Log: testLog(t)}, Poll: 5 * time.Millisecond, Refresh: 20 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	ing, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return ing
}

// newUpstreams makes n upstreams of the same history, each with its own copy of the list.
func newUpstreams(t testing.TB, n int, migrations func() []*migration) (list []*upstream, urls []string) {
	for range n {
		u := newUpstream(t, migrations()...)
		list, urls = append(list, u), append(urls, u.URL)
	}
	return list, urls
}

// deadURL is an address at which nobody listens.
func deadURL(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// silentURL is an address that takes requests and never answers.
func silentURL(t testing.TB) string {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(done) })
	return s.URL
}

// pages counts the requests for history that u gets.
func (u *upstream) pages() *atomic.Int64 {
	var n atomic.Int64
	u.set(func(u *upstream) {
		next := u.intercept
		u.intercept = func(w http.ResponseWriter, r *http.Request, path string) bool {
			if !strings.HasSuffix(path, migrationInfoOperation) && strings.HasPrefix(path, "/api/scan") {
				n.Add(1)
			}
			return next != nil && next(w, r, path)
		}
	})
	return &n
}

func upstreamStatus(t testing.TB, ing *Ingester, url string) UpstreamStatus {
	t.Helper()
	for _, s := range ing.Status().Upstreams {
		if s.URL == url {
			return s
		}
	}
	t.Fatalf("no status of %s", url)
	return UpstreamStatus{}
}

// lengthen adds n items to a migration, the same ones for the same history.
func lengthen(m *migration, n int) {
	at := m.items[len(m.items)-1].Position().RecordTime
	r := rand.New(rand.NewPCG(uint64(at), uint64(n)))
	for i := range n {
		at += 1 + schemas.Micros(r.IntN(1e5))
		it := item(r, m.id, at)
		for i == n-1 && it.Update == nil {
			it = item(r, m.id, at)
		}
		m.items = append(m.items, it)
	}
}

// skewed gives every verdict its own finalization time, as another mediator would.
func skewed(m *migration, by schemas.Micros) *migration {
	for i := range m.items {
		if v := m.items[i].Verdict; v != nil {
			v.FinalizationTime += by
		}
	}
	return m
}
