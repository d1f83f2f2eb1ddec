package remote

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstBackoff = 200 * time.Millisecond
	// maxBackoff, with its jitter and the time in which a silent request is given up, is below
	// a minute: so long may it take at most to see that an upstream is well again.
	maxBackoff = 20 * time.Second

	// LongestRest is the most that an upstream's Retry-After is followed for, for the same
	// reason: one request a while costs nobody much.
	LongestRest = 45 * time.Second
)

// Backoff is the wait before the attempt that follows n failures in a row: it
// doubles from 200 ms to 20 s, with a jitter of a quarter each way so that those who
// failed together do not come back in step.
func Backoff(n int) time.Duration {
	d := maxBackoff
	if n < 16 {
		d = min(firstBackoff<<(max(n, 1)-1), maxBackoff)
	}
	return d - d/4 + rand.N(d/2)
}

// Growing is true for 1, 2, 4, 8...: the failures of a long outage worth a log line.
func Growing(n int) bool { return bits.OnesCount(uint(n)) == 1 }

// Sleep waits for d, or returns the reason why ctx ended earlier.
func Sleep(ctx context.Context, d time.Duration) error { return SleepOr(ctx, d, nil) }

// SleepOr waits for d or until change is closed, or returns the reason why ctx ended
// earlier.
func SleepOr(ctx context.Context, d time.Duration, change <-chan struct{}) error {
	if d <= 0 {
		return Ended(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	case <-change:
	}
	return nil
}

// Ended returns the reason why ctx is over, or nil.
func Ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// RetryAfter reads the header of that name, which holds seconds or a date: the wait from
// now, at most longest, 0 if there is none.
func RetryAfter(value string, now time.Time, longest time.Duration) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longest)
}
