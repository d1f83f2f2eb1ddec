package node

import (
	"bufio"
	"net"
)

// bufferedConn reads ahead into a buffer.
type bufferedConn struct {
	net.Conn
	buffer *bufio.Reader
}

func newBufferedConn(conn net.Conn) *bufferedConn {
	return &bufferedConn{conn, bufio.NewReaderSize(conn, connectionBuffer)}
}

// Read is as of a net.Conn: it waits only while the buffer is empty.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.buffer.Read(p) }
