package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// SocketOptions say how a websocket is agreed on.
type SocketOptions struct {
	// Protocols are the subprotocols that the server agrees to; the first that the client
	// offers as well is agreed on, none if there is no such.
	Protocols []string
	// AnyOrigin admits pages of other hosts. Without it they are refused: a browser opens
	// websockets for any page that asks.
	AnyOrigin bool
}

// Session is what runs on a websocket. It ends by returning, after Socket.Close, or with an
// error that is logged. ctx ends when the server shuts down, and with the connection.
type Session func(ctx context.Context, s *Socket) error

// Upgrade answers with the switch to a websocket, on which session runs from then on. The
// Request is not valid any more by then. The request's place is given back: a session bounds its
// own work. Its error is a *HandshakeError.
func (r *Request) Upgrade(o SocketOptions, session Session) error {
	handshake := &handshake{header: http.Header{}, conn: &socketConn{}}
	request := &http.Request{Method: string(r.rc.Method()), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: string(r.rc.Host()), Header: http.Header{}}
	if !r.rc.Request.Header.IsHTTP11() {
		request.Proto, request.ProtoMinor = "HTTP/1.0", 0
	}
	for name, value := range r.rc.Request.Header.All() {
		request.Header.Add(string(name), string(value))
	}
	ws, err := websocket.Accept(handshake, request, &websocket.AcceptOptions{Subprotocols: o.Protocols, InsecureSkipVerify: o.AnyOrigin})
	if err != nil {
		return &HandshakeError{Origin: handshake.status == http.StatusForbidden, reason: strings.TrimSpace(handshake.text.String())}
	}
	if conn, ok := r.rc.Conn().(*progressConn); ok {
		conn.head.state = unchecked // frames follow, no requests
	}
	handshake.header.Set("X-Request-Id", r.call.id)
	r.call.leave()
	r.call.status = http.StatusSwitchingProtocols
	r.rc.SetStatusCode(http.StatusSwitchingProtocols)
	s := &Socket{ws: ws, conn: handshake.conn, call: r.call, head: handshake.header}
	ws.SetReadLimit(int64(r.server.cfg.MaxBodyBytes))
	// Known before the handler returns, so that a shutdown cannot miss it.
	r.server.sockets.Add(1)
	r.rc.HijackSetNoResponse(true)
	r.rc.Hijack(func(conn net.Conn) {
		defer r.server.sockets.Done()
		if err := guard.Call(func() error { s.run(conn, session); return nil }); err != nil {
			r.server.log.Error("websocket failed", "err", err)
		}
	})
	return nil
}

// HandshakeError says that a request is not the beginning of a websocket that the server
// agrees to.
type HandshakeError struct {
	// Origin says that the request is good but comes from a page of another host.
	Origin bool
	reason string
}

// Error gives the reason.
func (e *HandshakeError) Error() string { return e.reason }

// leave takes a call out of the account of requests: it neither has a place any more nor is
// its connection looked at from outside.
func (c *call) leave() {
	c.sending = true
	c.place.leave()
	if watching := c.watching.Swap(nil); watching != nil {
		watching.Stop()
	}
}

// handshake takes what the websocket library answers. It gives a connection on which
// nothing happens before the answer is sent.
type handshake struct {
	header http.Header
	status int
	text   bytes.Buffer
	conn   *socketConn
}

func (h *handshake) Header() http.Header         { return h.header }
func (h *handshake) Write(p []byte) (int, error) { return h.text.Write(p) }
func (h *handshake) WriteHeader(status int)      { h.status = status }

// smallBuffer is the writer's: frames are gathered by socketConn, once.
const smallBuffer = 32

func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReaderSize(h.conn, 1<<10), bufio.NewWriterSize(h.conn, smallBuffer)), nil
}

// Socket is the server's side of a websocket. Its methods may be called by one goroutine at
// a time, but for Receive, which may be called by another one.
type Socket struct {
	ws   *websocket.Conn
	conn *socketConn
	call *call
	head http.Header
	sent int64
	// receiving is held while Receive is under way.
	receiving sync.Mutex
}

// run is the life of the connection.
func (s *Socket) run(conn net.Conn, session Session) {
	server := s.call.server
	s.conn.attach(conn)
	ctx, cancel := context.WithCancel(s.call.ctx)
	defer cancel()
	defer context.AfterFunc(server.stopping, cancel)()
	// When the time for a shutdown is over, or the session has ended without a word.
	defer context.AfterFunc(server.base, func() { s.ws.CloseNow() })()
	silent := make(chan error, 1)
	guard.Go(func() error { return s.ping(ctx) }, func(err error) { silent <- err; cancel() })
	err := s.sendHead()
	if err == nil {
		err = guard.Call(func() error { return session(ctx, s) })
	}
	cancel()
	s.ws.CloseNow() // after Close it does nothing
	if silence := <-silent; err == nil {
		err = silence
	}
	// The HTTP server takes back what it reads from the connection with.
	s.receiving.Lock()
	defer s.receiving.Unlock()
	s.call.end(s.sent, err)
}

func (s *Socket) sendHead() error {
	head := []byte("HTTP/1.1 101 Switching Protocols\r\n")
	for name, values := range s.head {
		for _, value := range values {
			head = fmt.Appendf(head, "%s: %s\r\n", name, value)
		}
	}
	_, err := s.conn.Write(append(head, "\r\n"...))
	return err
}

// ping asks the client for a sign of life again and again, until ctx ends. When there is none it
// closes the connection and returns an error.
func (s *Socket) ping(ctx context.Context) error {
	cfg := &s.call.server.cfg
	ticker := time.NewTicker(cfg.PingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		// Twice the time, as what was sent before the ping has to be taken first.
		answered, cancel := context.WithTimeout(ctx, 2*cfg.StallTimeout)
		err := s.ws.Ping(answered)
		cancel()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, context.DeadlineExceeded):
			return nil // it is closed already, which the session sees
		default:
			s.ws.CloseNow()
			return fmt.Errorf("the client does not answer: %w", err)
		}
	}
}

var (
	// ErrClosed says that the client has closed the websocket, or that it is gone.
	ErrClosed = errors.New("the websocket is closed")
	// ErrBinary says that the client has sent a message that is not text.
	ErrBinary = errors.New("a message is not text")
)

// Receive waits for the next message of the client, which has at most Config.MaxBodyBytes. It must
// be called again and again for the websocket to work. ctx is not looked at between the beginning
// and the end of a wait: its end closes the connection.
func (s *Socket) Receive(ctx context.Context) ([]byte, error) {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	kind, message, err := s.ws.Read(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	case kind != websocket.MessageText:
		return nil, ErrBinary
	}
	return message, nil
}

// Send sends messages, each as one frame of text, and all of them with as few writes as
// possible. ends are where they end in texts, ascending. A client that does not take them for
// Config.StallTimeout is cut off.
func (s *Socket) Send(texts []byte, ends []int) error {
	s.conn.cork()
	begin := 0
	for _, end := range ends {
		// Without a context: to set one up costs more than to send a frame. The deadline of the connection stands.
		if err := s.ws.Write(context.Background(), websocket.MessageText, texts[begin:end]); err != nil {
			return errors.Join(fmt.Errorf("%w: %w", ErrClosed, err), s.conn.uncork())
		}
		s.sent += int64(end - begin)
		begin = end
	}
	if err := s.conn.uncork(); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// Close says good-bye with a code of RFC 6455 and waits a little for the client's. A client
// that is gone is no error.
func (s *Socket) Close(code int, reason string) {
	if err := s.ws.Close(websocket.StatusCode(code), reason); err != nil {
		s.call.server.log.With(s.call.names()...).Debug("closing a websocket", "code", code, "err", err)
	}
}

// socketsEnd waits for the sessions.
func (s *Server) socketsEnd(ctx context.Context) error {
	ended := make(chan struct{})
	guard.Go(func() error { s.sockets.Wait(); return nil }, func(error) { close(ended) })
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unwrapped is the connection below that of the HTTP server, whose Close does nothing.
func unwrapped(conn net.Conn) net.Conn {
	if hijacked, ok := conn.(interface{ UnsafeConn() net.Conn }); ok {
		return hijacked.UnsafeConn()
	}
	return conn
}
