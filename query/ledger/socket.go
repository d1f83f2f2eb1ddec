package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
)

// Codes of RFC 6455 with which websockets are closed.
const (
	closeNormal      = 1000
	closeGoingAway   = 1001
	closeProtocol    = 1002
	closeUnsupported = 1003
	closeError       = 1011
)

// firstFrame is how long a client may take to send its request.
const firstFrame = 30 * time.Second

// opener makes a cursor of a request that came over a websocket.
type opener func(ctx context.Context, r *reading, body []byte) (cursor, readers, error)

func (a *API) streamUpdates(form view.Form) func(context.Context, *reading) error {
	return func(_ context.Context, r *reading) error {
		return a.upgrade(r, func(ctx context.Context, r *reading, body []byte) (cursor, readers, error) {
			c, needs, err := r.updates(ctx, body, form)
			if err != nil {
				return nil, needs, err
			}
			return newReplay(a, c), needs, nil
		})
	}
}

func (a *API) streamActive(_ context.Context, r *reading) error {
	return a.upgrade(r, func(ctx context.Context, r *reading, body []byte) (cursor, readers, error) {
		c, needs, err := a.active(ctx, r, body)
		return inTurn{c, a}, needs, err
	})
}

// upgrade switches to a websocket on which the elements of a cursor are sent.
func (a *API) upgrade(r *reading, open opener) error {
	end, err := a.streams.begin(holderOf(r.who.User, r.Client()))
	if err != nil {
		return err
	}
	st := &stream{api: a, id: idsOf(r.Request), who: r.who, node: r.node, open: open}
	err = r.Upgrade(query.SocketOptions{
		Protocols: auth.Protocols[:],
		// A page of another host has no token unless its user gave it one; where no token is
		// needed, any page in the browser of somebody near the server could read everything.
		AnyOrigin: a.cfg.Auth != nil,
	}, func(ctx context.Context, s *query.Socket) error {
		defer end()
		st.socket = s
		return st.run(ctx)
	})
	if err != nil {
		end()
	}
	return err
}

// stream is one websocket.
type stream struct {
	api    *API
	id     ids
	who    *auth.Principal
	node   *node
	open   opener
	socket *query.Socket
	needs  readers
	// covered is the offset up to which everything was sent, 0 while that is not known.
	covered int64
	scratch []byte
}

var (
	// errExtraFrame says that a client has sent something after its request.
	errExtraFrame = errors.New("a second request on a websocket")
	errExpired    = fmt.Errorf("%w: the token has expired", auth.ErrUnauthenticated)
)

// run is the life of a websocket. It returns an error that is to be logged.
func (s *stream) run(ctx context.Context) error {
	body, err := s.receiveFirst(ctx)
	if err != nil {
		return s.close(ctx, err)
	}
	// From here on a frame of the client, or its end, ends everything.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	guard.Go(func() error {
		if _, err := s.socket.Receive(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		return errExtraFrame
	}, cancel)
	c, needs, err := s.open(ctx, &reading{who: s.who, node: s.node}, body)
	if err != nil {
		return s.close(ctx, err)
	}
	s.needs = needs
	return s.close(ctx, s.send(ctx, c))
}

func (s *stream) receiveFirst(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, firstFrame)
	defer cancel()
	return s.socket.Receive(ctx)
}

// close says good-bye after everything was sent, or after err.
func (s *stream) close(ctx context.Context, err error) error {
	slow := errors.Is(err, os.ErrDeadlineExceeded) && errors.Is(err, query.ErrClosed)
	if cause := context.Cause(ctx); cause != nil && !slow {
		err = cause
	}
	switch {
	case slow:
		return fmt.Errorf("the client does not read what is sent: %w", err)
	case err == nil:
		s.socket.Close(closeNormal, "")
		return nil
	case errors.Is(err, errExtraFrame):
		s.socket.Close(closeProtocol, "one request only")
		return nil
	case errors.Is(err, query.ErrBinary):
		s.socket.Close(closeUnsupported, "text only")
		return nil
	case errors.Is(err, query.ErrClosed):
		return nil // there is nobody to tell
	case errors.Is(err, context.Canceled):
		s.socket.Close(closeGoingAway, "the server is shutting down")
		return nil
	}
	f, _ := failureOf(err)
	text := s.api.describe(f, s.id).text()
	if sendErr := s.socket.Send(text, []int{len(text)}); sendErr == nil {
		s.socket.Close(closeError, string(f.Code))
	}
	if f.Err != nil || catalogue[f.Code].withheld {
		return err
	}
	return nil
}

// send sends everything that a cursor gives. While a page is on its way the next one is read.
func (s *stream) send(ctx context.Context, c cursor) error {
	// Ended with the reading, not after: a page that is being read uses the stream's node.
	ctx, cancel := context.WithCancel(ctx)
	r := &pageReader{api: s.api, cursor: c, pages: make(chan *page), free: make(chan *page, pagesAhead)}
	for range pagesAhead {
		r.free <- &page{}
	}
	done := make(chan struct{})
	guard.Go(func() error { return r.run(ctx) }, func(err error) {
		r.err = err
		close(r.pages)
		close(done)
	})
	replay, _ := c.(*replayCursor)
	defer func() {
		cancel()
		<-done
		if replay != nil {
			replay.close()
		}
	}()

	checkpoint := time.NewTicker(s.api.cfg.CheckpointDelay)
	defer checkpoint.Stop()
	renew := time.NewTicker(s.api.cfg.RenewInterval)
	defer renew.Stop()
	expiry := time.NewTimer(s.untilExpiry())
	defer expiry.Stop()
	for {
		var err error
		select {
		case p, ok := <-r.pages:
			if !ok {
				return r.err
			}
			err = s.socket.Send(p.texts, p.ends)
			s.covered = p.covered
			p.shrink()
			r.free <- p
		case <-checkpoint.C:
			if replay != nil && !replay.descending {
				err = s.sendCheckpoint(ctx)
			}
		case <-renew.C:
			err = s.renew(ctx)
		case <-expiry.C:
			err = errExpired
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// untilExpiry is how long the token is good.
func (s *stream) untilExpiry() time.Duration {
	if s.who.Expires.IsZero() {
		return 1 << 62
	}
	return max(s.who.Expires.Sub(s.api.cfg.Now()), 0)
}

// sendCheckpoint sends how far the stream has been read, even if nothing of it was visible.
func (s *stream) sendCheckpoint(ctx context.Context) error {
	if s.covered == 0 {
		return nil
	}
	var err error
	if s.scratch, err = s.node.times.append(ctx, s.scratch[:0], s.covered); err != nil {
		return err
	}
	return s.socket.Send(s.scratch, []int{len(s.scratch)})
}

// renew looks the rights of the user up again. It returns an error when the user may no longer read
// what the stream gives; while the rights cannot be looked up the stream continues.
func (s *stream) renew(ctx context.Context) error {
	if s.api.cfg.Auth == nil {
		return nil
	}
	who, err := s.api.cfg.Auth.Renew(ctx, s.who)
	if err == nil {
		err = who.MayRead(s.needs.parties, s.needs.any)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, auth.ErrUnavailable):
		s.api.cfg.Log.WarnContext(ctx, "the rights of a stream's user cannot be looked up", "request_id", s.id.correlation, "trace_id", s.id.trace, "err", err)
		return nil
	}
	return &Failure{Code: staleAuthorization, Cause: "The rights of the stream's user have changed.", Err: err}
}

// pagesAhead is how many pages a websocket may have in memory: one that is sent and one that
// is ready.
const pagesAhead = 2

// pageReader reads the pages of a stream ahead of sending.
type pageReader struct {
	api    *API
	cursor cursor
	pages  chan *page // closed at the end, after err is set
	free   chan *page
	err    error
}

func (r *pageReader) run(ctx context.Context) error {
	limit := pageLimit(0, 0, 0)
	for {
		var p *page
		select {
		case p = <-r.free:
		case <-ctx.Done():
			return nil
		}
		p.reset()
		more, err := r.cursor.next(ctx, p, limit)
		if err != nil {
			return err
		}
		if len(p.ends) > 0 {
			limit = pageLimit(pageBytes(r.api.streams.count()), len(p.ends), len(p.texts))
		}
		select {
		case r.pages <- p:
		case <-ctx.Done():
			return nil
		}
		if !more {
			if more, err = r.cursor.wait(ctx); err != nil || !more {
				return err
			}
		}
	}
}
