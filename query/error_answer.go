package query

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// writeError answers {"error": text}.
func writeError(rc *fasthttp.RequestCtx, status int, text string, retryAfter time.Duration) {
	// A string always marshals.
	quoted, _ := json.Marshal(text)
	rc.SetStatusCode(status)
	rc.SetContentType(jsonType)
	if retryAfter > 0 {
		seconds := (retryAfter + time.Second - 1) / time.Second
		rc.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.FormatInt(int64(seconds), 10))
	}
	rc.SetBody(append(append([]byte(`{"error":`), quoted...), '}'))
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
		drain(rc.Conn())
	case errors.As(err, &small):
		answer = Errorf(HeaderTooLarge, "The request's head is too large.")
	case errors.As(err, &netErr) && netErr.Timeout():
		answer = Errorf(SlowRequest, "The request did not arrive in time.")
	}
	status, text, retryAfter := Status(answer)
	writeError(rc, status, text, retryAfter)
	s.metrics.unrouted(status)
}

// drain takes in what a client is still sending, within bounds. Closing a connection
// with unread bytes resets it, and the client might lose the answer.
func drain(conn net.Conn) {
	const most, quiet, total = 16 << 20, 200 * time.Millisecond, 2 * time.Second
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
