package query

import (
	"errors"
	"io"
	"math"
	"net"
	"time"
)

// progressListener makes connections that cut off clients that take nothing for a while, and that
// refuse ambiguous requests. A deadline for
// the whole answer would hit slow clients of large objects as well.
type progressListener struct {
	net.Listener
	stall time.Duration
}

func (l progressListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &progressConn{Conn: c, stall: l.stall}, nil
}

// progressConn gives every progressPiece bytes of an answer stall to be taken, and checks the heads
// of requests.
type progressConn struct {
	net.Conn
	stall time.Duration
	head  headCheck
}

// Read lets the server see nothing of a request whose head is ambiguous, but that it is.
func (c *progressConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	good, bad := c.head.look(p[:n])
	if bad != nil {
		return good, bad
	}
	return n, err
}

const progressPiece = 256 << 10

// CloseWrite ends our side of the connection; the client's may go on.
func (c *progressConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

func (c *progressConn) Write(p []byte) (n int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(p[n:min(n+progressPiece, len(p))])
		n += m
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// ReadFrom sends all that r gives. It makes the connection one that io.Copy can give a file,
// or an io.LimitedReader of one: the kernel copies that by itself, piece by piece.
func (c *progressConn) ReadFrom(r io.Reader) (n int64, err error) {
	to, ok := c.Conn.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	rest, ok := r.(*io.LimitedReader)
	if !ok {
		rest = &io.LimitedReader{R: r, N: math.MaxInt64}
	}
	for rest.N > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
			return n, err
		}
		piece := &io.LimitedReader{R: rest.R, N: min(progressPiece, rest.N)}
		wanted := piece.N
		m, err := to.ReadFrom(piece)
		n += m
		rest.N -= m
		if err != nil || m < wanted {
			return n, err
		}
	}
	return n, nil
}
