package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// settled is how long a session must have lasted for its end not to count as a failure.
const settled = 10 * time.Second

// pull reads the stream from where the batches are through offset to, or for ever if to
// is 0. Failed sessions are followed by others, which continue after the last update
// that was handed over.
func (ing *Ingester) pull(ctx context.Context, to int64, write func(context.Context, stream.Batch) error) error {
	failures := ing.newFailures()
	for to == 0 || ing.batches.through.Offset < to {
		from, begin := ing.batches.through, ing.cfg.Now()
		answered, err := ing.session(ctx, to, write)
		if reason := remote.Ended(ctx); reason != nil {
			return reason
		}
		if from.Before(ing.batches.through) {
			failures.reset()
			ing.feeds.worked()
			ing.streamed = true
		}
		if err == nil {
			ing.streamed = true
			continue
		}
		if err := ing.afterSession(ctx, failures, err, answered, ing.cfg.Now().Sub(begin)); err != nil {
			return err
		}
	}
	return nil
}

// afterSession decides how to continue after a session that ended with err. answered says
// that the node answered calls at its beginning.
func (ing *Ingester) afterSession(ctx context.Context, failures *failures, err error, answered bool, lasted time.Duration) error {
	switch {
	case errors.Is(err, errChange):
		ing.feeds.change()
		return nil
	case errors.Is(err, errRenewed), errors.Is(err, errInterfaces), errors.Is(err, errIdle) && ing.batches.through.Offset >= ing.target:
		ing.status.reconnected()
		return nil
	case errors.Is(err, errBeyond):
		ing.status.wait(err.Error())
		return failures.again(ctx, err)
	case ing.cfg.interfaces.forgot(err):
		return failures.again(ctx, err)
	case refused(err) && answered:
		source := ing.feeds.source()
		if ing.feeds.refused() {
			ing.log.WarnContext(ctx, "the node does not offer this way to read, trying the next", "source", source, "next", ing.feeds.source(), "err", err)
			return nil
		}
		if ing.feeds.rounds >= refusalTries && !ing.streamed {
			return fmt.Errorf("the node offers no way to read updates (%v): is this the address of a ledger JSON API? %w", ing.feeds.order, err)
		}
		failures.refused = 0 // counted by rounds
	case answered && !schemas.NeedsPerson(err) && brokenStream(err) && (lasted < settled || errors.Is(err, errIdle)):
		if ing.feeds.failed() {
			ing.log.WarnContext(ctx, "the websocket keeps failing, reading by list calls instead", "err", err, "again_in", ing.cfg.TryWebSocketEvery)
		}
	case lasted >= settled:
		failures.reset()
		ing.streamed = ing.streamed || answered
	}
	ing.status.reconnected()
	return failures.again(ctx, err)
}

// brokenStream reports whether err is the failure of a connection and not the node's
// own word.
func brokenStream(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == ""
}

// session reads from one source until that ends. answered reports whether the node
// answered the calls at its beginning.
func (ing *Ingester) session(ctx context.Context, to int64, write func(context.Context, stream.Batch) error) (answered bool, err error) {
	if err := ing.checkNode(ctx); err != nil {
		return false, err
	}
	ing.feeds.witness.beginSession()
	from := ing.batches.through.Offset // 0 also at the start
	source := ing.feeds.source()
	ing.status.chose(source)
	var complete atomic.Int64 // the offset through which this session has been read
	complete.Store(from)
	seq := &sequence{from: from, at: from, end: to}
	if ing.last != nil && ing.last.Local.Offset == from {
		seq.update = ing.last // explains an update that comes again
	}
	p := &pipeline{
		workers: ing.cfg.Workers, inFlight: ing.cfg.InFlightBytes, decoders: ing.decoders, seq: seq, batches: ing.batches,
		eager:   func(at int64) bool { return to == 0 && at >= ing.target },
		hurried: ing.cfg.Hurried(ing.stream), write: write,
		seen: func(at int64) { complete.Store(at); ing.seen(at) }, horizon: ing.cfg.Horizon,
	}
	// silent looks for updates that a silent websocket withholds: the ledger's end alone does
	// not show them, as what the ledger has may not concern our parties.
	silent := func(ctx context.Context) bool {
		at := complete.Load()
		end, err := ing.askLedgerEnd(ctx)
		return err == nil && to == 0 && at < end && ing.feeds.witness.has(ctx, WebSocket, at, end)
	}
	err = p.run(ctx, func(ctx context.Context, out emit) error {
		if to == 0 {
			watched, stop := ing.cfg.interfaces.watched(ctx)
			defer stop()
			ctx = watched
		}
		err := ing.feeds.read(ctx, from, to, ing.askLedgerEnd, silent, out)
		if err == nil && to == 0 {
			err = &Error{Upstream: ing.client.name, Operation: updatesOperation, Err: errEnded}
		}
		return err
	})
	ing.last = seq.update
	// A stream that ends without an update has nothing more. One that did may
	// have been cut short by something in between: it is asked for the rest.
	if err == nil && seq.at == from {
		if err = ing.feeds.witness.confirm(ctx, source, from, to, nil); err == nil {
			ing.batches.cover(schemas.AtOffset(to))
		}
	}
	return true, ing.located(err, seq.at)
}

// seen notes that the stream is complete through an offset, and that it no longer waits.
func (ing *Ingester) seen(at int64) {
	ing.status.end(at)
	ing.status.resume()
}

// errEnded means that the node ended a stream that has no end.
var errEnded = errors.New("the node ended the stream")

// located says where a frame was found bad.
func (ing *Ingester) located(err error, at int64) error {
	var e *Error
	var stop final
	switch {
	case err == nil, errors.As(err, &stop):
		return err
	case errors.As(err, &e) && e.Upstream == "":
		e.Upstream, e.Operation, e.Cursor = ing.client.name, updatesOperation, schemas.AtOffset(at).String()
		return err
	case !errors.As(err, &e) && schemas.NeedsPerson(err):
		return &Error{Upstream: ing.client.name, Operation: updatesOperation, Cursor: schemas.AtOffset(at).String(), Err: err}
	}
	return err
}
