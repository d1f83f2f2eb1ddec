package query

import (
	"context"
	"net"
	"net/http"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// localListener has connections within this process.
type localListener struct{ *fasthttputil.InmemoryListener }

// localConn is a connection of this process to itself.
type localConn struct{ net.Conn }

// Accept marks what it lets in.
func (l localListener) Accept() (net.Conn, error) {
	c, err := l.InmemoryListener.Accept()
	if err != nil {
		return nil, err
	}
	return localConn{c}, nil
}

// isLocal reports whether a request comes from this process.
func isLocal(rc *fasthttp.RequestCtx) bool {
	c, ok := rc.Conn().(*progressConn)
	if !ok {
		return false
	}
	_, ok = c.Conn.(localConn)
	return ok
}

// Local sends requests to the server from within this process, once Serve runs. They are handled as
// those from the network are, but for two things: they have no rate limit of a client, since they are
// of many, and they take no place of light requests, since who sends one, or a few at once, is working on
// a request that has a place. Were they to wait for another one, all places could be held by requests
// that wait.
func (s *Server) Local() http.RoundTripper { return s.localClient }

// newLocalClient returns what connects by a listener. Connections are not kept: a new one costs next
// to nothing, and there is none to end with the server.
func newLocalClient(ln localListener) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.Dial() },
	}
}
