package nodeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

const (
	heartbeat       = 5 * time.Second
	requestDeadline = 30 * time.Second
	burstBytes      = 256 << 10
)

// socket answers a websocket: its first frame is the request, then each element is a
// frame. A stream that fails ends with the error as a frame.
func (n *nodeServer) socket(open opener) nodeHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		held := &heldWriter{ResponseWriter: w}
		conn, err := websocket.Accept(held, r, &websocket.AcceptOptions{
			Subprotocols: []string{"daml.ws.auth", "contract.ws.auth"}, InsecureSkipVerify: true})
		if err != nil {
			return nil // Accept has answered
		}
		defer conn.CloseNow()
		conn.SetReadLimit(reply.MaxBody)
		who := principalOf(r.Context())
		ctx := context.WithValue(context.Background(), principalKey{}, who) // the request's own ends with the upgrade
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		s := &session{node: n, conn: conn, held: held.conn, who: who}
		if err := s.run(ctx, cancel, open); err != nil {
			s.fail(err)
			return nil
		}
		conn.Close(websocket.StatusNormalClosure, "") // if the client is gone, nobody is left to tell
		return nil
	}
}

// session is one websocket in use.
type session struct {
	node *nodeServer
	conn *websocket.Conn
	held *heldConn
	who  principal
}

var (
	errClientGone  = errors.New("the client is gone")
	errSecondFrame = errors.New("a stream takes one request")
	errNotOneFrame = errors.New("the request is not a text")
	errStaleRights = staleAuthorization()
)

// run reads the request and sends the elements until the stream ends. A nil error is a
// regular end.
func (s *session) run(ctx context.Context, cancel context.CancelCauseFunc, open opener) error {
	first, stop := context.WithTimeout(ctx, requestDeadline)
	kind, body, err := s.conn.Read(first)
	stop()
	switch {
	case err != nil:
		return errClientGone
	case kind != websocket.MessageText:
		return errNotOneFrame
	}
	stream, err := open(ctx, body)
	if err != nil {
		return err
	}
	defer stream.Close()
	go s.watch(ctx, cancel)
	go s.beat(ctx)
	go s.watchRights(ctx, cancel)
	if !s.who.expires.IsZero() {
		timer := time.AfterFunc(s.who.expires.Sub(s.node.options.Auth.now()), func() { cancel(errStaleRights) })
		defer timer.Stop()
	}
	if err := s.send(ctx, stream); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// watch waits for the client to leave, or to send what it may not.
func (s *session) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	// Not under ctx: when that ends, the error is still to be sent.
	if _, _, err := s.conn.Read(context.WithoutCancel(ctx)); err != nil {
		cancel(errClientGone)
		return
	}
	cancel(errSecondFrame)
}

// watchRights waits until the user may do something else than when the stream began.
func (s *session) watchRights(ctx context.Context, cancel context.CancelCauseFunc) {
	select {
	case <-s.who.changed:
		cancel(errStaleRights)
	case <-ctx.Done():
	}
}

// beat pings the client now and then. A client that does not answer may just be slow to
// read what came before.
func (s *session) beat(ctx context.Context) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			pinging, stop := context.WithTimeout(ctx, heartbeat)
			_ = s.conn.Ping(pinging) // a broken connection fails the next frame
			stop()
		}
	}
}

// send sends the elements, and a checkpoint when none was sent for a while.
func (s *session) send(ctx context.Context, stream elementStream) error {
	delay := s.node.options.CheckpointDelay
	timer := time.NewTimer(delay)
	defer timer.Stop()
	due := time.Now().Add(delay)
	for {
		elements, more, done, err := stream.take()
		if err != nil {
			return err
		}
		if err := s.burst(ctx, elements); err != nil || done {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := time.Now()
		if more == nil && now.Before(due) {
			continue
		}
		if more != nil {
			timer.Reset(due.Sub(now))
			select {
			case <-more:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-timer.C:
			}
		}
		due = time.Now().Add(delay)
		if element := stream.idle(); element != nil {
			if err := s.burst(ctx, [][]byte{element}); err != nil {
				return err
			}
		}
	}
}

// burst sends some elements with few writes.
func (s *session) burst(ctx context.Context, elements [][]byte) error {
	if len(elements) == 0 {
		return nil
	}
	s.held.hold()
	for _, element := range elements {
		// Without a context that ends: a frame that is cut short would end the socket
		// before the error is sent. A client may be slow.
		if err := s.conn.Write(context.Background(), websocket.MessageText, element); err != nil {
			return errors.Join(errClientGone, err, s.held.release())
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := s.held.release(); err != nil {
		return errors.Join(errClientGone, err)
	}
	return nil
}

// fail ends the websocket with an error.
func (s *session) fail(err error) {
	switch {
	case errors.Is(err, errClientGone):
		return
	case errors.Is(err, errSecondFrame), errors.Is(err, errNotOneFrame):
		s.conn.Close(websocket.StatusProtocolError, err.Error()) // if the client is gone, nobody is left to tell
		return
	}
	body, _ := json.Marshal(AsLedgerError(err)) // texts and numbers always marshal
	ctx, cancel := context.WithTimeout(context.Background(), heartbeat)
	defer cancel()
	if s.conn.Write(ctx, websocket.MessageText, body) == nil {
		s.conn.Close(websocket.StatusInternalError, "") // as above
	}
}

// heldWriter gives the websocket a connection that can hold back what is written.
type heldWriter struct {
	http.ResponseWriter
	conn *heldConn
}

func (w *heldWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.conn = &heldConn{Conn: conn}
	rw.Writer.Reset(w.conn)
	return w.conn, rw, nil
}

// heldConn is a connection that can gather many small writes into few: a frame each is
// a system call each otherwise.
type heldConn struct {
	net.Conn
	mu      sync.Mutex
	holding bool
	held    []byte
}

// hold has writes gathered until release.
func (c *heldConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

// release writes what was gathered.
func (c *heldConn) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = false
	return c.flush()
}

func (c *heldConn) flush() error {
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.held)
	c.held = c.held[:0]
	return err
}

// Write writes p now or, while holding, soon.
func (c *heldConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.holding {
		return c.Conn.Write(p)
	}
	if len(c.held)+len(p) > burstBytes {
		if err := c.flush(); err != nil {
			return 0, err
		}
		if len(p) >= burstBytes/2 {
			return c.Conn.Write(p)
		}
	}
	c.held = append(c.held, p...)
	return len(p), nil
}
