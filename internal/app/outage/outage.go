// Package outage keeps the log short while the store, or a shard of it, is away: one line says when that
// begins and one when it is over. All that reads or writes fails meanwhile, again and again, and each
// would have lines of its own.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// poll is how often a store that was away is asked whether it is back.
const poll = time.Second

// watch knows whether the store is away.
type watch struct {
	ended chan struct{} // closed by stop
	log   *slog.Logger  // has the two lines
	ping  func(context.Context) error

	mu     sync.Mutex
	since  time.Time // zero while the store answers
	silent int       // lines that were left out since
}

// Watch returns log without the lines about an outage, and what stops the watching of one. ping returns nil
// when all that was away is back.
func Watch(log *slog.Logger, ping func(context.Context) error) (_ *slog.Logger, stop func() error) {
	w := &watch{ended: make(chan struct{}), log: log, ping: ping}
	return slog.New(handler{log.Handler(), w}), func() error { close(w.ended); return nil }
}

// covers reports whether a line is about the outage and left out.
func (w *watch) covers(r slog.Record) (covered bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		covered = ok && w.isOf(err)
		return !covered
	})
	return covered
}

// isOf reports whether an error is of an outage, which it may begin.
func (w *watch) isOf(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	away := errors.Is(err, store.ErrAway)
	// Who waits for a shard that hangs gives up one day.
	if !away && (w.since.IsZero() || !errors.Is(err, context.DeadlineExceeded)) {
		return false
	}
	w.silent++
	if w.since.IsZero() {
		w.since, w.silent = time.Now(), 0
		w.log.Error("the store does not answer: all that needs it waits, or is answered with status 503", "err", err)
		guard.Go(w.await, func(err error) {
			if err == nil {
				return
			}
			w.log.Error("waiting for the store", "err", err)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.since = time.Time{}
		})
	}
	return true
}

// await asks the store until it answers.
func (w *watch) await() error {
	for {
		select {
		case <-w.ended:
			return nil
		case <-time.After(poll):
		}
		if w.ping(context.Background()) == nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.log.Info("the store answers again", "away", time.Since(w.since).Round(time.Millisecond), "lines_left_out", w.silent)
			w.since = time.Time{}
			return nil
		}
	}
}

// handler is a log that leaves out what is about an outage.
type handler struct {
	slog.Handler
	watch *watch
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && h.watch.covers(r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.watch}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.watch}
}
