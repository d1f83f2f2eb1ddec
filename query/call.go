package query

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"
)

// call tracks one request from its head to the last byte of the answer.
type call struct {
	server    *Server
	route, id string
	class     Class
	trace     string // see Request.TraceID
	start     time.Time
	status    int
	// sending says that a body ends the call; else the handler's return does.
	sending bool
	// place is what the call was admitted with; parked is the memory of a complete answer.
	place, parked place
	// transfer says that the call has a token of Server.transfers.
	transfer bool
	// ctx is the parent of all contexts of the request. It ends, by cancel, with the last byte
	// of the answer, or earlier when the client hangs up.
	ctx      context.Context
	cancel   context.CancelFunc
	timer    *time.Timer                // ends the time for the handler of a transfer; else nil
	stop     context.CancelFunc         // ends the context of a handler; nil for a transfer
	watching atomic.Pointer[time.Timer] // see watch; nil for probes
	hungUp   atomic.Bool
}

// admit waits for a place in a class.
func (c *call) admit(ctx context.Context, class Class, client netip.Addr, bytes int64) (err error) {
	c.place, err = c.server.cfg.Admission.enter(ctx, class, lineKey{c.route, network(client)}, bytes)
	return err
}

// park gives the place back early: the answer is complete, in n bytes of memory, and only has to be
// sent. While too much memory waits for slow clients, they keep their places.
func (c *call) park(n int64) {
	if c.place.queue == nil {
		return
	}
	var ok bool
	if c.parked, ok = c.server.cfg.Admission.parked.try(n); ok {
		c.place.leave()
		return
	}
	c.place.shrink(n)
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
		return Errorf(Unavailable, "Too many downloads are in progress.")
	}
}

// end frees what the call holds and writes its log line and metrics. err is what cut the answer
// off, or nil.
func (c *call) end(sent int64, err error) {
	s := c.server
	c.cancel()
	if watching := c.watching.Load(); watching != nil {
		watching.Stop()
	}
	c.place.leave()
	c.parked.leave()
	if c.transfer {
		s.metrics.transfers.Dec()
		<-s.transfers
	}
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

// failed logs the part of an error that the caller does not get, nil for nothing.
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
		ctx, c.stop = context.WithTimeout(c.ctx, c.server.cfg.RequestTimeout)
		return ctx, func(err error) error { c.stop(); return err }
	}
	ctx, stop := context.WithCancelCause(c.ctx)
	c.timer = time.AfterFunc(c.server.cfg.RequestTimeout, func() { stop(context.DeadlineExceeded) })
	return ctx, func(err error) error {
		if late := !c.timer.Stop(); late && err != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
}

// extend stops the time limit. again restarts it and returns the context for what follows, in
// place of the one given.
func (c *call) extend() (again func(context.Context) context.Context) {
	if c.timer != nil {
		c.timer.Stop() // if it was over, so is the handler's context
		return func(ctx context.Context) context.Context {
			c.timer.Reset(c.server.cfg.RequestTimeout)
			return ctx
		}
	}
	return func(context.Context) (ctx context.Context) {
		c.stop() // what the context before was used for is done
		ctx, c.stop = context.WithTimeout(c.ctx, c.server.cfg.RequestTimeout)
		return ctx
	}
}
