package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
)

// Subprotocols of the node's websockets: the first names the protocol, the second
// carries the token.
const (
	protocolAuth  = "daml.ws.auth"
	protocolToken = "jwt.token."
)

// subscription is one websocket of the node.
type subscription struct {
	operation string
	cursor    string // for errors
	request   any    // the first frame
	idle      time.Duration
	// renew ends the stream with errRenewed when its token can be replaced before it
	// expires.
	renew bool
	// silent, when set, reports whether the node has updates that the stream withholds. It is
	// called while nothing arrives.
	silent func(ctx context.Context) bool
	// take gets each frame; the frame is its own.
	take func(body []byte) error
}

// subscribe reads s until the node ends it properly, which it reports as nil, until take
// fails or ctx ends. Other failures are *Error.
func (c *client) subscribe(ctx context.Context, s *subscription) error {
	k := &call{method: http.MethodGet, operation: s.operation, cursor: s.cursor}
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return c.fail(k, 0, err)
	}
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pace := remote.NewPace(c.timeout, func(cause error) { cancel(cause) })
	defer pace.Stop()
	conn, err := c.dial(ctx, k, token)
	if err != nil {
		if reason := remote.Ended(outer); reason != nil {
			return reason
		}
		return c.clean(k, err, token, ctx)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.CloseNow() })() // ends a read that waits
	defer conn.CloseNow()
	if s.renew {
		stop := c.watchToken(ctx, token, func() { cancel(errRenewed) })
		defer stop()
	}
	watch := guard.NewGroup()
	defer func() { cancel(nil); _ = watch.Wait() }() // a panic there has ended the stream
	reading := &reading{pace: pace}
	watch.Go(func() (err error) {
		defer func() { cancel(err) }()
		return guard.Call(func() error { c.watchPeer(ctx, conn, s, reading, cancel); return nil })
	})
	err = c.converse(ctx, conn, s, reading)
	var own ownError
	switch {
	case errors.As(err, &own):
		return own.error
	case err == nil:
		return nil
	case remote.Ended(outer) != nil:
		return remote.Ended(outer)
	}
	return c.clean(k, err, token, ctx)
}

// ownError is an error of subscription.take.
type ownError struct{ error }

func (c *client) dial(ctx context.Context, k *call, token string) (*websocket.Conn, error) {
	protocols := []string{protocolAuth}
	if token != "" {
		protocols = append(protocols, protocolToken+token)
	}
	conn, resp, err := websocket.Dial(ctx, c.base+k.operation, &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: c.header(token), Subprotocols: protocols,
	})
	switch {
	case err == nil:
		conn.SetReadLimit(c.limit)
		return conn, nil
	case resp == nil:
		return nil, remote.WithoutURL(err)
	case resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode == http.StatusOK:
		return nil, c.fail(k, 0, err) // not a websocket after all
	}
	return nil, c.refusal(k, resp, token)
}

// converse sends the request and passes on what comes.
func (c *client) converse(ctx context.Context, conn *websocket.Conn, s *subscription, state *reading) error {
	request, err := json.Marshal(s.request)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	if err := conn.Write(ctx, websocket.MessageText, request); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	// Reads get a context that never ends, which spares a timer for each: the end of ctx
	// closes the connection instead.
	plain := context.WithoutCancel(ctx)
	expect, reader := int64(4<<10), remote.Reader{Limit: c.limit, Progress: state.pace.Received}
	for {
		state.waits(s.idle)
		_, r, err := conn.Reader(plain)
		if err != nil {
			return streamEnd(err)
		}
		state.pace.Wait(c.timeout, remote.ErrStalled)
		body, err := reader.All(r, min(expect, c.limit))
		if err != nil {
			return streamEnd(err)
		}
		// Most frames fit what the last ones took, a little more.
		expect = max(1<<10, (7*expect+int64(len(body))+int64(len(body))/4)/8)
		state.takes() // waiting for our own memory is not the node's fault
		if err := s.take(body); err != nil {
			return ownError{err}
		}
	}
}

// reading is whether a websocket is being waited for.
type reading struct {
	pace *remote.Pace
	// since is when the wait for the frame began that is being waited for, in nanoseconds
	// of Unix time, 0 while we are busy with the last one.
	since atomic.Int64
}

func (r *reading) waits(idle time.Duration) {
	r.pace.Wait(idle, errIdle)
	r.since.Store(time.Now().UnixNano())
}

func (r *reading) takes() {
	r.since.Store(0)
	r.pace.Stop()
}

// watchPeer pings the node while a frame is being waited for, and looks into a long silence
// if the stream can. A node that has never answered a ping need not do so.
func (c *client) watchPeer(ctx context.Context, conn *websocket.Conn, s *subscription, state *reading, end func(error)) {
	for remote.Sleep(ctx, c.ping) == nil {
		since := state.since.Load()
		if since == 0 || time.Since(time.Unix(0, since)) < c.ping {
			continue
		}
		pinging, stop := context.WithTimeout(ctx, c.ping)
		err := conn.Ping(pinging)
		stop()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			c.pongs.Store(true)
		case c.pongs.Load() && state.since.Load() == since:
			end(errDead)
			return
		}
		if s.silent != nil && state.since.Load() == since && s.silent(ctx) {
			end(errSilent)
			return
		}
	}
}

// streamEnd returns nil if err is the proper end of a stream.
func streamEnd(err error) error {
	switch {
	case websocket.CloseStatus(err) == websocket.StatusNormalClosure:
		return nil
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("%w: %w", remote.ErrTooLarge, err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the stream broke off: %w", err)
	}
	return err
}

// watchToken calls renewed once another token than the given one exists, which it
// requests ahead of the token's expiry. stop ends the watch.
func (c *client) watchToken(ctx context.Context, token string, renewed func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	guard.Go(func() error {
		for {
			at := c.tokens.RenewAt()
			if at.IsZero() {
				return nil
			}
			if err := remote.Sleep(ctx, max(at.Sub(c.now()), remote.MinRenewWait/10)); err != nil {
				return err
			}
			if next, err := c.tokens.Get(ctx); err == nil && next != token && ctx.Err() == nil {
				renewed()
				return nil
			}
		}
	}, func(error) { close(done) }) // a failure shows when the token has expired and the node says so
	return func() { cancel(); <-done }
}

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
