package query

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// write makes a the answer of a request.
func (a *ErrorAnswer) write(rc *fasthttp.RequestCtx) {
	rc.SetStatusCode(a.Status)
	rc.SetContentType(a.ContentType)
	if a.RetryAfter > 0 {
		seconds := (a.RetryAfter + time.Second - 1) / time.Second
		rc.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.FormatInt(int64(seconds), 10))
	}
	rc.SetBody(a.Body)
}

// unreadable answers a request that could not be read. The server closes the
// connection after it.
func (s *Server) unreadable(rc *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	answer := Errorf(Invalid, "%s", reasonOf(err))
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		answer = Errorf(TooLarge, "The body is larger than %d bytes.", s.cfg.MaxBodyBytes)
	case errors.As(err, &small):
		answer = Errorf(HeaderTooLarge, "The request's head is too large.")
	case errors.As(err, &netErr) && netErr.Timeout():
		answer = Errorf(SlowRequest, "The request did not arrive in time.")
	}
	s.refuse(rc, answer)
	if answer.Code == TooLarge {
		s.answerNow(rc)
		drain(rc.Conn())
	}
}

// refuse answers a request that reached no handler, in the form of its path.
func (s *Server) refuse(rc *fasthttp.RequestCtx, err error) {
	c := &call{server: s, id: s.ids.of(rc), start: s.cfg.Now()}
	rc.Response.Header.Set("X-Request-Id", c.id)
	form, ok := s.forms[string(rc.Path())]
	if !ok {
		form = s.cfg.Errors
	}
	answer := form(&Request{rc: rc, server: s, call: c}, err)
	answer.write(rc)
	s.metrics.unrouted(answer.Status)
}

// answerNow sends the answer while the client may still be sending, and ends our side of
// the connection. A client that listens learns at once that it can stop; what the server
// sends after this handler goes nowhere.
func (s *Server) answerNow(rc *fasthttp.RequestCtx) {
	half, ok := rc.Conn().(interface{ CloseWrite() error })
	if !ok {
		return
	}
	rc.SetConnectionClose()
	w := bufio.NewWriter(rc.Conn())
	if err := errors.Join(rc.Response.Write(w), w.Flush(), half.CloseWrite()); err != nil {
		s.log.Debug("answering a client that is still sending", "err", err)
	}
}

// drain takes in what a client is still sending, within bounds. Closing a connection
// with unread bytes resets it, and a client that listens only when it has sent all would
// lose the answer.
func drain(conn net.Conn) {
	const most, quiet, total = 256 << 20, 200 * time.Millisecond, 5 * time.Second
	stop := time.Now().Add(total)
	buf := make([]byte, 32<<10)
	for read := 0; read < most && time.Now().Before(stop); {
		if conn.SetReadDeadline(time.Now().Add(quiet)) != nil {
			return
		}
		n, err := conn.Read(buf)
		read += n
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			return
		}
	}
}
