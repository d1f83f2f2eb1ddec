package bucket

import (
	"context"
	"net"
	"net/http"
	"time"
)

// newHTTPClient returns a client whose connections end when they stall, see Timeouts.
func newHTTPClient(t Timeouts) *http.Client {
	dialer := &net.Dialer{Timeout: t.Connect, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: t.Connect,
			MaxIdleConnsPerHost: 256, // as many downloads at once keep theirs
			// Below Stall, so that an idle connection is closed in order and not found
			// stalled.
			IdleConnTimeout:    t.Stall / 2,
			DisableCompression: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &stallConn{Conn: conn, limit: t.Stall}, nil
			},
		},
		// The SDK follows redirects between regions by itself; a plain redirect would
		// drop the signature.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// stallConn fails a read or write when nothing moved for limit. A write extends the
// deadline of a pending read too: HTTP keeps one pending while a request is sent.
type stallConn struct {
	net.Conn
	limit time.Duration
}

// Read implements net.Conn.
func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
