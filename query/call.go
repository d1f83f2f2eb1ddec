package query

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// call is the account of one request from its head to the last byte of the answer.
type call struct {
	server    *Server
	route, id string
	trace     string // see Request.TraceID
	start     time.Time
	status    int
	// sending says that a body ends the call; else the handler's return does.
	sending bool
	slot    bool
	parked  int64
	// transfer says that the call has a token of Server.transfers.
	transfer bool
	// ctx is the parent of all contexts of the request. It ends, by cancel, with the last byte
	// of the answer, or earlier when the client hangs up.
	ctx      context.Context
	cancel   context.CancelFunc
	watching atomic.Pointer[time.Timer] // see watch; nil for probes
	hungUp   atomic.Bool
}

// park gives the slot back early: the answer is complete and only waits to be taken,
// in n bytes of memory. While too much memory waits, slow clients keep their slots.
func (c *call) park(n int64) {
	if !c.slot {
		return
	}
	if c.server.parked.Add(n) > c.server.cfg.MaxParkedBytes {
		c.server.parked.Add(-n)
		return
	}
	c.parked = n
	c.slot = false
	c.server.slots.release()
}

// beginTransfer counts the call as a transfer, or returns an Error of class
// Unavailable if there are too many. It does not wait: transfers take long.
func (c *call) beginTransfer() error {
	select {
	case c.server.transfers <- struct{}{}:
		c.transfer = true
		c.server.metrics.transfers.Inc()
		return nil
	default:
		return Errorf(Unavailable, "Too many downloads are under way.")
	}
}

// end closes the account and writes the request's log line and metrics. err is what
// cut the answer off, or nil.
func (c *call) end(sent int64, err error) {
	s := c.server
	c.cancel()
	if watching := c.watching.Load(); watching != nil {
		watching.Stop()
	}
	if c.slot {
		s.slots.release()
	}
	if c.transfer {
		s.metrics.transfers.Dec()
		<-s.transfers
	}
	s.parked.Add(-c.parked)
	elapsed := s.cfg.Now().Sub(c.start)
	s.metrics.inFlight.Dec()
	s.metrics.observe(c.route, c.status, sent, elapsed)
	if err == nil && !s.log.Enabled(c.ctx, slog.LevelDebug) {
		return // the attributes alone cost more than all of the above
	}
	log := s.log.With(c.names()...).With("status", c.status)
	if err != nil {
		// Mostly a client that went away; a store that failed in the middle of a
		// streamed answer shows here too.
		log.Warn("answer cut off", "sent", sent, "elapsed", elapsed, "err", err)
		return
	}
	log.Debug("request", "sent", sent, "elapsed", elapsed)
}

// names are the attributes that tell requests apart in the log.
func (c *call) names() []any {
	list := []any{"request_id", c.id, "route", c.route}
	if c.trace != "" {
		list = append(list, "trace_id", c.trace)
	}
	return list
}

// failed logs what the caller is not told about an error, nil for nothing.
func (c *call) failed(err error, status int) {
	switch {
	case c.hungUp.Load():
		c.server.log.With(c.names()...).Debug("client hung up")
	case err != nil && status >= 500:
		c.server.log.With(c.names()...).Error("request failed", "status", status, "err", err)
	case err != nil: // what a caller did wrong, with a reason that only we may know
		c.server.log.With(c.names()...).Info("request refused", "status", status, "err", err)
	}
}

// deadline makes the context of a handler. That of a transfer lives as long as the call when
// the handler is done in time. The caller passes the handler's error through handled.
func (c *call) deadline(route Route) (ctx context.Context, handled func(error) error) {
	if !route.Transfer {
		ctx, cancel := context.WithTimeout(c.ctx, c.server.cfg.RequestTimeout)
		return ctx, func(err error) error { cancel(); return err }
	}
	ctx, stop := context.WithCancelCause(c.ctx)
	timer := time.AfterFunc(c.server.cfg.RequestTimeout, func() { stop(context.DeadlineExceeded) })
	return ctx, func(err error) error {
		if late := !timer.Stop(); late && err != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
}
