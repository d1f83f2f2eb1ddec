package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// Now is the time of the ledger: that of the last entry, or of the clock if that goes on.
func (l *Ledger) Now() time.Time {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return time.UnixMicro(l.clock()).UTC()
}

// clock is Now in µs; the caller holds the lock.
func (l *Ledger) clock() int64 {
	if l.Commander.live {
		return max(l.Executor.Clock.RecordTime, time.Now().UnixMicro()+l.Commander.ahead)
	}
	return l.Executor.Clock.RecordTime
}

// AdvanceTime moves the ledger's time forward by d and executes what is due until then, in
// order: mining rounds, expiries, and what the governance party owes to commands. If time
// follows the wall clock it is ahead of that from then on.
func (l *Ledger) AdvanceTime(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("devnet cannot move time by %s: it never goes back", d)
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	t := l.clock() + d.Microseconds()
	if l.Commander.live {
		l.Commander.ahead = t - time.Now().UnixMicro()
	}
	return l.advanceTo(ctx, t, 0)
}

// advanceTo executes what is due until a time, then moves time there. A positive gap is the
// mean time between the simulated updates from then on. The caller holds the lock.
func (l *Ledger) advanceTo(ctx context.Context, t, gap int64) error {
	x := l.Executor
	for {
		if err := l.ready(ctx); err != nil {
			return err
		}
		if !x.Clock.IsDue(t) {
			break
		}
		if err := l.executeDue(t); err != nil {
			return err
		}
	}
	if t <= x.Clock.RecordTime && gap == 0 {
		return nil
	}
	e := JournalEntry{Entries: x.Tx.Entries, Time: max(t, x.Clock.RecordTime), Gap: gap}
	x.Clock.MoveTime(e.Time, gap)
	return l.commit(e)
}

// executeDue executes some of what is due until a time, each at the time when it was due,
// and publishes it.
func (l *Ledger) executeDue(t int64) error {
	x, b := l.Executor, l.Commander.batch
	var entries []JournalEntry
	for b.Counted < UpdatesPerBatch && x.Tx.Err == nil && x.Clock.IsDue(t) && !x.SwitchDue() {
		at := x.Clock.RecordTime
		if len(x.Clock.Tasks) == 0 {
			at = max(at, x.Clock.NextDue())
		}
		entries = append(entries, JournalEntry{Entries: x.Tx.Entries, Time: at, Due: true})
		x.ExecuteDue(b, at)
	}
	return l.commit(entries...)
}

// clockPeriod is how often a live ledger looks for what is due.
const clockPeriod = 100 * time.Millisecond

// RunLive lets the ledger's time follow the wall clock until ctx ends, then returns nil:
// rounds tick, things expire, and what the governance party owes to commands is done.
// If history ends later than now, time goes on from that end at the pace of the wall clock.
// About perSecond updates of the simulated users are executed a second, none if it is 0.
func (l *Ledger) RunLive(ctx context.Context, perSecond float64) error {
	if perSecond < 0 {
		return fmt.Errorf("devnet cannot execute %g updates per second", perSecond)
	}
	gap := followClock(l, true)
	defer func() { followClock(l, false) }()
	ticker := time.NewTicker(clockPeriod)
	defer ticker.Stop()
	due, live := 0.0, int64(0)
	if perSecond > 0 {
		live = max(sim.MinGap, int64(1e6/perSecond))
		defer func() { restoreGap(l, gap) }()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		due += perSecond * clockPeriod.Seconds()
		n := 0
		if due >= 2 { // at least two at once: the last of a run is never a reassignment
			n = int(due)
			due -= float64(n)
		}
		if err := liveTick(l, ctx, n, live); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// followClock has the wall clock followed or not and returns the mean time between two updates.
func followClock(l *Ledger, live bool) int64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Commander.live = live
	l.Commander.ahead = max(0, l.Executor.Clock.RecordTime-time.Now().UnixMicro())
	return l.Executor.Clock.Gap
}

// restoreGap returns to the mean time between updates from before. An error shows at the
// next use of the ledger.
func restoreGap(l *Ledger, gap int64) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.failed == nil {
		_ = l.advanceTo(context.Background(), l.Executor.Clock.RecordTime, gap)
	}
}

// liveTick executes what is due by now, then n updates of the simulated users.
func liveTick(l *Ledger, ctx context.Context, n int, gap int64) error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	x, now := l.Executor, l.clock()
	if n == 0 {
		if !x.Clock.IsDue(now) {
			return nil
		}
		return l.advanceTo(ctx, now, 0)
	}
	// The updates are spread over the time behind, and end about now.
	if err := l.advanceTo(ctx, max(x.Clock.RecordTime, now-int64(n)*gap), gap); err != nil {
		return err
	}
	return l.executeLocked(ctx, n, nil)
}
