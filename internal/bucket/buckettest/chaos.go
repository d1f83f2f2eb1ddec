package buckettest

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Chaos is how often a store misbehaves, each from 0 to 1.
type Chaos struct {
	// Errors are requests that the store refuses with 500 or 503, without doing anything.
	Errors float64
	// Lost are replies that are lost after the store has done what was asked.
	Lost float64
	// Truncated are replies that end in the middle.
	Truncated float64
}

// ChaosProxy is a store that misbehaves, reproducible by its seed but for the order in which
// requests arrive.
type ChaosProxy struct {
	URL   string
	rates Chaos

	mu               sync.Mutex
	random           *rand.Rand
	requests, faults int
}

// NewChaosProxy passes requests on to the store at endpoint until the test ends.
func NewChaosProxy(t testing.TB, endpoint string, seed uint64, rates Chaos) *ChaosProxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &ChaosProxy{rates: rates, random: rand.New(rand.NewPCG(seed, 1))}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: p.breakResponse,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := p.refuse(); status != 0 {
			_, _ = io.Copy(io.Discard, r.Body) // or the client may miss the answer
			w.WriteHeader(status)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Counts returns how many requests there were, and how many met a fault.
func (p *ChaosProxy) Counts() (requests, faults int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.faults
}

// refuse returns the status of an error, or 0.
func (p *ChaosProxy) refuse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if p.random.Float64() >= p.rates.Errors {
		return 0
	}
	p.faults++
	return []int{http.StatusInternalServerError, http.StatusServiceUnavailable}[p.random.IntN(2)]
}

// breakResponse loses or cuts an answer.
func (p *ChaosProxy) breakResponse(response *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch x := p.random.Float64(); {
	case x < p.rates.Lost:
		p.faults++
		return errFault
	case x < p.rates.Lost+p.rates.Truncated && response.ContentLength > 1:
		p.faults++
		response.Body = &cutBody{ReadCloser: response.Body, left: p.random.Int64N(response.ContentLength)}
	}
	return nil
}
