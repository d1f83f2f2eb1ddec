package bucket_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/faults"
)

// faultProxy passes requests on to a store and breaks connections when told to.
type faultProxy struct {
	URL   string
	lost  atomic.Int64                             // replies that were lost so far
	cuts  atomic.Int64                             // bodies still to be cut
	after atomic.Int64                             // bytes of a body to let through
	lose  atomic.Pointer[func(*http.Request) bool] // picks the request whose reply is lost
	meet  atomic.Pointer[meeting]
}

// meeting is what happens to the first requests that match picks.
type meeting struct {
	match func(*http.Request) bool
	left  atomic.Int64
	// status is answered in place of the store, unless it is 0; first happens before.
	status int
	first  func()
}

func newFaultProxy(t *testing.T, endpoint string) *faultProxy {
	t.Helper()
	p := &faultProxy{}
	forward, err := faults.PassOn(endpoint, p.breakResponse)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m := p.meet.Load(); m != nil && m.match(r) && m.left.Add(-1) >= 0 {
			if m.first(); m.status != 0 {
				_, _ = io.Copy(io.Discard, r.Body) // or the client may miss the answer
				w.WriteHeader(m.status)
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// loseReply has the reply to the next request that match picks lost, after the store
// has done what it asked.
func (p *faultProxy) loseReply(match func(*http.Request) bool) { p.lose.Store(&match) }

// refuse has the next n requests that match picks answered with a status, and nothing done.
func (p *faultProxy) refuse(n int64, status int, match func(*http.Request) bool) {
	m := &meeting{match: match, status: status, first: func() {}}
	m.left.Store(n)
	p.meet.Store(m)
}

// before has something happen before the next request that match picks.
func (p *faultProxy) before(match func(*http.Request) bool, first func()) {
	m := &meeting{match: match, first: first}
	m.left.Store(1)
	p.meet.Store(m)
}

// cutBodies has the next n bodies of replies to GET end after so many bytes.
func (p *faultProxy) cutBodies(n, after int64) {
	p.after.Store(after)
	p.cuts.Store(n)
}

func (p *faultProxy) breakResponse(response *http.Response) error {
	if match := p.lose.Load(); match != nil && (*match)(response.Request) && p.lose.CompareAndSwap(match, nil) {
		p.lost.Add(1)
		return faults.ErrInjected
	}
	if response.Request.Method == http.MethodGet && p.cuts.Load() > 0 {
		p.cuts.Add(-1)
		response.Body = faults.Cut(response.Body, p.after.Load())
	}
	return nil
}
