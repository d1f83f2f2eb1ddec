package native

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Hosts opens connections to the first of several servers that accepts one, and then to that one for as
// long as it does and says something. It is safe for concurrent use. Make it with NewHosts.
type Hosts struct {
	addrs   []string // host:port
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	current atomic.Int64 // index of the one that is tried first
}

// NewHosts returns a dialer for the servers at addrs, of which there is one at least, with TLS unless
// config is nil. timeout bounds each try.
func NewHosts(addrs []string, config *tls.Config, timeout time.Duration) *Hosts {
	h := &Hosts{addrs: addrs, dial: Dialer{Timeout: timeout}.DialContext}
	if config != nil {
		h.dial = (&tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: config}).DialContext
	}
	return h
}

// DialContext opens a connection. The address that it is given is not used. It has the form that client
// libraries take.
func (h *Hosts) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	first, n := h.current.Load(), int64(len(h.addrs))
	var failed error
	for i := range n {
		at := (first + i) % n
		conn, err := h.dial(ctx, network, h.addrs[at])
		if err == nil {
			h.current.Store(at)
			return &hostConn{Conn: conn, silent: func() { h.current.CompareAndSwap(at, (at+1)%n) }}, nil
		}
		if failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		failed = err
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// hostConn has another server be tried first if the connection ends before its own has said anything:
// that is one that is about to end, or a proxy whose server is gone.
type hostConn struct {
	net.Conn
	answered atomic.Bool
	silent   func()
}

// Read implements net.Conn.
func (c *hostConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	switch {
	case n > 0:
		c.answered.Store(true)
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !c.answered.Load():
		c.silent()
	}
	return n, err
}
