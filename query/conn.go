package query

import (
	"errors"
	"net"
	"time"
)

// progressListener cuts off clients that take nothing for a while. A deadline for
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

// progressConn gives every progressPiece bytes of an answer stall to be taken.
type progressConn struct {
	net.Conn
	stall time.Duration
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
