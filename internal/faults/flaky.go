package faults

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// ErrInjected is what the faults of answers are made of.
var ErrInjected = errors.New("injected fault")

// Rates say how often a service misbehaves, each from 0 to 1.
type Rates struct {
	// Errors are requests that the service refuses with 500 or 503, without doing anything.
	Errors float64
	// Lost are replies that are lost after the service has done what was asked.
	Lost float64
	// Truncated are replies that end in the middle.
	Truncated float64
}

// Flaky is a proxy before an S3 store that misbehaves by chance, at the same rates for as long
// as it runs. It is reproducible by its seed but for the order in which requests arrive.
type Flaky struct {
	listening
	rates   Rates
	forward http.Handler

	mu               sync.Mutex
	random           *rand.Rand
	requests, faults int
}

// NewFlaky listens on a free port of the loopback interface and passes requests on to the
// store at target.
func NewFlaky(target string, seed Seed, rates Rates) (*Flaky, error) {
	f := &Flaky{rates: rates, random: seed.Rand("flaky")}
	forward, err := PassOn(target, f.breakReply)
	if err != nil {
		return nil, err
	}
	f.forward = forward
	return f, f.listen("flaky", f)
}

// listening is a proxy that takes requests on a free port of the loopback interface.
type listening struct {
	name, url string
	server    *http.Server
}

// listen has a handler answer from now on.
func (l *listening) listen(name string, h http.Handler) error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the %s proxy: %w", name, err)
	}
	l.name, l.url = name, "http://"+listener.Addr().String()
	l.server = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = l.server.Serve(listener) }() // ends with Close
	return nil
}

// URL is the base URL of the proxy.
func (l *listening) URL() string { return l.url }

// Close ends the proxy and its connections.
func (l *listening) Close() error {
	if err := l.server.Close(); err != nil {
		return fmt.Errorf("closing the %s proxy: %w", l.name, err)
	}
	return nil
}

// Counts returns how many requests there were, and how many met a fault.
func (f *Flaky) Counts() (requests, faults int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests, f.faults
}

// ServeHTTP passes a request on or refuses it.
func (f *Flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := f.refuses(); status != 0 {
		_, _ = io.Copy(io.Discard, r.Body) // or the client may miss the answer
		w.WriteHeader(status)
		return
	}
	f.forward.ServeHTTP(w, r)
}

// refuses returns the status of an error, or 0.
func (f *Flaky) refuses() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.random.Float64() >= f.rates.Errors {
		return 0
	}
	f.faults++
	return []int{http.StatusInternalServerError, http.StatusServiceUnavailable}[f.random.IntN(2)]
}

// breakReply loses or cuts a reply.
func (f *Flaky) breakReply(reply *http.Response) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch x := f.random.Float64(); {
	case x < f.rates.Lost:
		f.faults++
		return ErrInjected
	case x < f.rates.Lost+f.rates.Truncated && reply.ContentLength > 1:
		f.faults++
		reply.Body = Cut(reply.Body, f.random.Int64N(reply.ContentLength))
	}
	return nil
}

// PassOn returns a handler that passes requests, signed ones too, on to the service at target.
// breakReply may change the replies; where it returns an error, the connection ends without one.
func PassOn(target string, breakReply func(*http.Response) error) (http.Handler, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("passing requests on: %w", err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: breakReply,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	}, nil
}

// Cut returns a body that fails with ErrInjected after so many bytes.
func Cut(body io.ReadCloser, after int64) io.ReadCloser { return &cutReply{body, after} }

type cutReply struct {
	io.ReadCloser
	left int64
}

func (b *cutReply) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, ErrInjected
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
