package query

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// writeError answers {"error": text}.
func writeError(rc *fasthttp.RequestCtx, status int, text string, retryAfter time.Duration) {
	rc.SetStatusCode(status)
	rc.SetContentType(jsonType)
	if retryAfter > 0 {
		seconds := (retryAfter + time.Second - 1) / time.Second
		rc.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.FormatInt(int64(seconds), 10))
	}
	text = strings.ToValidUTF8(text, "\uFFFD") // it may repeat what the caller sent
	rc.SetBody(append(jsonscan.AppendString([]byte(`{"error":`), []byte(text)), '}'))
}

// unreadable answers a request that could not be read. The server closes the
// connection after it.
func (s *Server) unreadable(rc *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	answer := Errorf(Invalid, "The request is not well-formed HTTP.")
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		answer = Errorf(TooLarge, "The body is larger than %d bytes.", s.cfg.MaxBodyBytes)
	case errors.As(err, &small):
		answer = Errorf(HeaderTooLarge, "The request's head is too large.")
	case errors.As(err, &netErr) && netErr.Timeout():
		answer = Errorf(SlowRequest, "The request did not arrive in time.")
	}
	status, text, retryAfter := Status(answer)
	rc.Response.Header.Set("X-Request-Id", s.ids.of(rc))
	writeError(rc, status, text, retryAfter)
	s.metrics.unrouted(status)
	if answer.Code == TooLarge {
		s.answerNow(rc)
		drain(rc.Conn())
	}
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
