package node

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// backoff is the wait before the attempt that follows n failures in a row: it
// doubles from firstBackoff to maxBackoff, with a jitter of a quarter each way so
// that several streams do not come back in step.
func backoff(n int) time.Duration {
	d := maxBackoff
	if n < 16 {
		d = min(firstBackoff<<(max(n, 1)-1), maxBackoff)
	}
	return d - d/4 + rand.N(d/2)
}

// growing is true for 1, 2, 4, 8...: the failures of a long outage worth a log line.
func growing(n int) bool { return bits.OnesCount(uint(n)) == 1 }

// sleep waits for d, or returns the reason why ctx ended earlier.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ended(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// ended returns the reason why ctx is over, or nil.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
