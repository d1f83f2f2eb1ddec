package query

import (
	"context"
	"time"
)

// call is the account of one request from its head to the last byte of the answer.
type call struct {
	server    *Server
	route, id string
	start     time.Time
	status    int
	// sending says that a body ends the call; else the handler's return does.
	sending bool
	slot    bool
	parked  int64
	// transfer says that the call has a token of Server.transfers.
	transfer bool
	// cancel ends the context of a transfer, which outlives the handler.
	cancel context.CancelFunc
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
	if c.cancel != nil {
		c.cancel()
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
	log := s.log.With("request_id", c.id, "route", c.route, "status", c.status)
	if err != nil {
		// Mostly a client that went away; a store that failed in the middle of a
		// streamed answer shows here too.
		log.Warn("answer cut off", "sent", sent, "elapsed", elapsed, "err", err)
		return
	}
	log.Debug("request", "sent", sent, "elapsed", elapsed)
}

// failed logs errors that the caller is not told about.
func (c *call) failed(err error, status int) {
	if e := classify(err); e.Code == Internal || e.Err != nil {
		c.server.log.Error("request failed", "request_id", c.id, "route", c.route, "status", status, "err", err)
	}
}
