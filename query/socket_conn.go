package query

import (
	"net"
	"sync"
)

// socketBuffer is how much of many frames is written at once.
const socketBuffer = 64 << 10

// socketConn is the connection of a websocket. While it is corked it gathers what is
// written: the library writes each frame by itself, which would be a system call each.
type socketConn struct {
	net.Conn          // reads what the HTTP server had read already, too
	below    net.Conn // writes and closes

	mu     sync.Mutex
	corked bool
	buf    []byte
	err    error
}

// attach gives the connection that it is about. Nothing is read or written before.
func (c *socketConn) attach(conn net.Conn) { c.Conn, c.below = conn, unwrapped(conn) }

// Write implements net.Conn.
func (c *socketConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if !c.corked {
		return c.below.Write(p)
	}
	if c.buf = append(c.buf, p...); len(c.buf) >= socketBuffer {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (c *socketConn) flush() error {
	if len(c.buf) == 0 || c.err != nil {
		return c.err
	}
	_, c.err = c.below.Write(c.buf)
	if c.buf = c.buf[:0]; cap(c.buf) > 4*socketBuffer {
		c.buf = nil // one large message must not be held for the rest of the stream
	}
	return c.err
}

func (c *socketConn) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// uncork writes what is gathered.
func (c *socketConn) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	return c.flush()
}

// Close closes the connection itself. One that was never attached has none.
func (c *socketConn) Close() error {
	if c.below == nil {
		return nil
	}
	return c.below.Close()
}
