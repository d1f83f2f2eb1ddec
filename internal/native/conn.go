// Package native has what our connections of ClickHouse's native protocol need beyond the
// client libraries: none is given up in the middle of its handshake, and one whose server
// is gone says so before anything is sent on it.
//
// The embedded engine aborts when a handshake ends in any way but success: by a wrong
// password, by a byte that it does not expect, and also by a client that hangs up before
// it has said all, as one does whose context ends. What follows a handshake it survives.
package native

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// ErrGone means that the server had closed the connection before a request was written to
// it: nothing of the request was sent, and it can be sent on another one.
var ErrGone = errors.New("the server has closed the connection")

// hangUpTimeout is how long the server may take to end its side of a connection that its
// client gave up, or the handshake of one.
const hangUpTimeout = time.Minute

// helloTimeout is how long a server has at least to answer the client's hello. What clients allow it is
// what they allow each read of a query, a second, and a server under load takes longer.
const helloTimeout = 10 * time.Second

// Dialer opens connections by TCP.
type Dialer struct {
	Timeout time.Duration // of a connect; 0 leaves it to the system
}

// DialContext opens a connection to host:port. It has the form that client libraries take.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	plain := net.Dialer{Timeout: d.Timeout}
	conn, err := plain.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
}

// stage is how far the handshake of a connection is, as its client has taken it.
type stage int

const (
	silent   stage = iota // nothing was sent
	greeted               // the client's hello was sent
	answered              // the server's hello has come
	settled               // the client has sent something since, its addendum
)

// Conn is a connection whose Close lets the server come to an end, without the
// caller, and whose Write returns ErrGone where the server hung up while nothing was asked
// of it. It is safe for concurrent use as any net.Conn.
type Conn struct {
	net.Conn

	mu     sync.Mutex
	stage  stage
	idle   bool // nothing was asked since the last read, or since the handshake
	closed bool

	reading sync.Mutex // held by who reads
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle = true
		if c.stage == greeted {
			c.stage = answered
		}
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	closed, check := c.closed, c.idle && c.stage == settled
	c.idle = false
	c.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if check && c.gone() {
		return 0, ErrGone
	}
	n, err := c.Conn.Write(b)
	if n == 0 {
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.stage {
	case silent:
		c.stage = greeted
	case answered:
		c.stage, c.idle = settled, true
	}
	return n, err
}

func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// gone reports whether the server has hung up. It looks at the socket without taking
// anything from it.
func (c *Conn) gone() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	// Control and not Read: that one would wait for a reader, which there may be.
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	})
	return gone || err != nil
}

// Plain returns the connection below one that Dialer opened and whose handshake is over,
// any other as it is.
func Plain(conn net.Conn) net.Conn {
	if c, ok := conn.(*Conn); ok {
		return c.Conn
	}
	return conn
}

// SyscallConn implements syscall.Conn, by which client libraries look at idle connections.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	plain, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return plain.SyscallConn()
}

// Close implements net.Conn. The caller does not wait for the end of the connection: see
// HangUp. A handshake under way is finished before.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	if c.stage == silent {
		return c.Conn.Close()
	}
	if err := c.Conn.SetDeadline(time.Now()); err != nil { // ends what the caller waits for
		return errors.Join(err, c.Conn.Close())
	}
	guard.Go(c.end, func(error) {}) // nobody waits, and there is nothing to be done
	return nil
}

// end finishes the handshake in the place of the client, and hangs up.
func (c *Conn) end() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	if err := c.Conn.SetDeadline(time.Now().Add(hangUpTimeout)); err != nil {
		return errors.Join(err, c.Conn.Close())
	}
	if err := c.settle(); err != nil {
		return errors.Join(err, c.Conn.Close())
	}
	return HangUp(c.Conn)
}

// settle says what the client has not said of its part of the handshake.
func (c *Conn) settle() error {
	c.mu.Lock()
	reached := c.stage
	c.mu.Unlock()
	if reached == greeted {
		if _, err := c.Conn.Read(make([]byte, 4096)); err != nil { // the hello comes in one piece
			return err
		}
	}
	if reached == settled {
		return nil
	}
	_, err := c.Conn.Write([]byte{0}) // the addendum: an empty quota key
	return err
}

// HangUp ends our side of a connection, and closes it once the server has ended its own: what
// that still sends it gets rid of.
func HangUp(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(hangUpTimeout))
		_, _ = io.Copy(io.Discard, conn)
	}
	return conn.Close()
}

// SetDeadline implements net.Conn. After Close it has no effect, nor have the other two.
func (c *Conn) SetDeadline(t time.Time) error { return c.set(c.Conn.SetDeadline, t) }

// SetReadDeadline implements net.Conn. The server's hello has helloTimeout: who gives up before closes the
// connection.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.set(func(t time.Time) error {
		if least := time.Now().Add(helloTimeout); c.stage < answered && !t.IsZero() && t.Before(least) {
			t = least
		}
		return c.Conn.SetReadDeadline(t)
	}, t)
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.set(c.Conn.SetWriteDeadline, t) }

func (c *Conn) set(deadline func(time.Time) error, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return deadline(t)
}
