package native

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// Hosts opens connections to the first of several servers that accepts one, and then to that one for as
// long as it does. It is safe for concurrent use. Make it with NewHosts.
type Hosts struct {
	addrs   []string // host:port
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	current atomic.Int64 // index of the one that accepted last
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
			return conn, nil
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
