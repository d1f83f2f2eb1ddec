package lease

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// beatTimeout ends a sign of life that the store does not take. A later one may find the way.
const beatTimeout = 5 * time.Second

// Hold is a lease that this process has, until it is lost or released.
type Hold struct {
	lease  *Lease
	stream string
	term   int64

	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the goroutine that shows life has ended

	showing sync.Mutex // held while a sign of life is on its way

	mu    sync.Mutex
	sent  time.Time // when the last sign that was taken was sent
	lost  error
	taken bool
}

func newHold(ctx context.Context, l *Lease, stream string, term int64, sent time.Time) *Hold {
	h := &Hold{lease: l, stream: stream, term: term, sent: sent, ended: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	guard.Go(func() error { h.beat(); return nil }, func(err error) {
		if err != nil {
			h.Lose(err)
		}
		close(h.ended)
	})
	return h
}

// Context ends with the context of who took the lease, or when the lease is lost: its cause is
// schemas.ErrReplaced then.
func (h *Hold) Context() context.Context { return h.ctx }

// Lose gives up a lease because of err: its context ends, and nothing more may be written.
func (h *Hold) Lose(err error) {
	h.mu.Lock()
	if h.lost == nil {
		h.lost = err
	}
	h.mu.Unlock()
	h.cancel(err)
}

// Taken reports whether another process has taken the lease over. It asks the store if that is not
// known; what cannot be found out is not so.
func (h *Hold) Taken(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	_ = h.look(ctx) // says what isLost does, too
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.taken
}

// Release lets another process take over at once. Who holds the lease must have ended its work. If
// the store cannot be told, others wait until this process has been silent for long enough.
func (h *Hold) Release() {
	lost := h.isLost()
	h.Lose(fmt.Errorf("%w: this one has released the lease", schemas.ErrReplaced))
	<-h.ended
	h.lease.cfg.DB.CommittedElsewhere(h.stream)
	if lost != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), beatTimeout)
	defer cancel()
	if err := h.lease.show(ctx, h.stream, h.term, true); err != nil {
		h.lease.cfg.Log.WarnContext(ctx, "cannot release the stream; another process waits until this one has been silent for a while", "stream", h.stream, "err", err)
	}
}

// beat shows life until the context ends.
func (h *Hold) beat() {
	ticker := time.NewTicker(h.lease.cfg.Beat)
	defer ticker.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		if err := h.show(h.ctx, false); err != nil && h.ctx.Err() == nil {
			h.lease.cfg.Log.WarnContext(h.ctx, "cannot show that this process writes the stream", "stream", h.stream, "err", err)
		}
	}
}

// check returns nil if the last sign of life is recent enough, or a new one finds no other holder.
func (h *Hold) check(ctx context.Context) error {
	if err := h.isLost(); err != nil {
		return err
	}
	if h.isValid() {
		return nil
	}
	return h.show(ctx, true)
}

func (h *Hold) isLost() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// isValid goes by both clocks of the machine: the one does not move while the machine sleeps, the
// other may be set back.
func (h *Hold) isValid() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(time.Since(h.sent), time.Now().Round(0).Sub(h.sent.Round(0))) < h.lease.cfg.Valid
}

// show writes a sign of life and looks whether another process has taken over. unlessValid says that
// none is needed if another goroutine has done so in the meantime.
func (h *Hold) show(ctx context.Context, unlessValid bool) error {
	h.showing.Lock()
	defer h.showing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if err := h.isLost(); err != nil {
		return err
	}
	valid := h.isValid()
	if valid && unlessValid {
		return nil
	}
	if !valid { // others may have taken over since
		if err := h.look(ctx); err != nil {
			return err
		}
	}
	sent := time.Now()
	if err := h.lease.show(ctx, h.stream, h.term, false); err != nil {
		return err
	}
	if err := h.look(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = sent
	return h.lost
}

// look loses the lease if another process has a later term, even one that has ended since: history
// may have moved on.
func (h *Hold) look(ctx context.Context) error {
	signs, err := readSigns(ctx, h.lease.cfg.DB, h.stream)
	if err != nil {
		return err
	}
	if last := latest(signs); last != nil && last.Term > h.term && h.take() {
		h.lose(ctx, last)
	}
	return h.isLost()
}

// take notes that another process has the lease, and reports whether that is new.
func (h *Hold) take() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.taken
	h.taken = true
	return !known
}

func (h *Hold) lose(ctx context.Context, to *store.LeaseSign) {
	h.lease.cfg.Log.WarnContext(ctx, "lost the stream to another process, which took over while this one was silent; this one becomes its standby",
		"stream", h.stream, "process", to.Process)
	h.Lose(fmt.Errorf("%w: %s has taken %s over", schemas.ErrReplaced, to.Process, h.stream))
}
