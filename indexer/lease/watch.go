package lease

import (
	"context"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// unknownProcess is who is waited for when there are no signs, because the server has only just been
// started and has lost them.
const unknownProcess = "any process that wrote before the store was started"

// watch observes for how long the holder of a lease has been silent.
type watch struct {
	lease *Lease
	log   *slog.Logger

	looked bool
	// The last sign that was seen, and since when.
	writer string
	beat   int64
	since  time.Time
	// told is the process that the log names as the one that is waited for.
	told string
}

// interrupted forgets what was observed: in the meantime the holder may have been as unable to show
// life as we were to look.
func (w *watch) interrupted() { w.looked, w.writer, w.beat = true, "", -1 }

// look takes note of the signs read now, and returns for how long the holder has been silent, and
// whether the lease is free. The first look goes by the age of the last sign, or for how long a server
// without one has run; the others by what has changed since the last look.
func (w *watch) look(ctx context.Context, signs []store.LeaseSign, uptime time.Duration, now time.Time) (silence time.Duration, free bool) {
	last := latest(signs)
	if last == nil {
		last = &store.LeaseSign{Process: unknownProcess, Age: uptime.Milliseconds()}
	}
	switch {
	case !w.looked:
		w.since = now.Add(-max(0, age(last)))
	case w.writer != last.Writer || w.beat != last.Beat:
		w.since = now
	}
	w.looked, w.writer, w.beat = true, last.Writer, last.Beat
	silence = now.Sub(w.since)
	if last.Released || last.Writer == w.lease.writer || silence >= w.lease.cfg.Silence {
		return silence, true
	}
	w.lease.setWaitsFor(last.Process)
	if w.told != last.Process {
		w.told = last.Process
		w.log.InfoContext(ctx, "standby: another process writes the stream; this one takes over when that ends", "waits_for", last.Process)
	}
	return silence, false
}
