package buckettest

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// errFault is what the proxy's own faults are made of.
var errFault = errors.New("injected fault")

// faultProxy passes requests on to a store and breaks connections when told to.
type faultProxy struct {
	URL   string
	lost  atomic.Int64                             // replies that were lost so far
	cuts  atomic.Int64                             // bodies still to be cut
	after atomic.Int64                             // bytes of a body to let through
	lose  atomic.Pointer[func(*http.Request) bool] // picks the request whose reply is lost
}

func newFaultProxy(t *testing.T, endpoint string) *faultProxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &faultProxy{}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: p.breakResponse,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	})
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// loseReply has the reply to the next request that match picks lost, after the store
// has done what it asked.
func (p *faultProxy) loseReply(match func(*http.Request) bool) { p.lose.Store(&match) }

// cutBodies has the next n bodies of replies to GET end after so many bytes.
func (p *faultProxy) cutBodies(n, after int64) {
	p.after.Store(after)
	p.cuts.Store(n)
}

func (p *faultProxy) breakResponse(response *http.Response) error {
	if match := p.lose.Load(); match != nil && (*match)(response.Request) && p.lose.CompareAndSwap(match, nil) {
		p.lost.Add(1)
		return errFault
	}
	if response.Request.Method == http.MethodGet && p.cuts.Load() > 0 {
		p.cuts.Add(-1)
		response.Body = &cutBody{ReadCloser: response.Body, left: p.after.Load()}
	}
	return nil
}

// cutBody fails after some bytes.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errFault
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
