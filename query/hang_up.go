package query

import (
	"net"
	"time"
)

// lookAround is how often the connection of a request is looked at, from when the request
// has taken as long for the first time.
const lookAround = 200 * time.Millisecond

// watch ends the work for a client that hangs up while the server has nothing to send, which
// would else show with the next write. Like other servers, it takes the end of what a client
// sends for hanging up.
func (c *call) watch(conn net.Conn) {
	if p, ok := conn.(*progressConn); ok {
		conn = p.Conn
	}
	c.watching.Store(time.AfterFunc(lookAround, func() {
		if isClosed(conn) {
			c.hungUp.Store(true)
			c.cancel()
			return
		}
		if again := c.watching.Load(); again != nil && c.ctx.Err() == nil {
			again.Reset(lookAround)
		}
	}))
}
