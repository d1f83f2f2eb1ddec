package remote

import (
	"errors"
	"testing"
	"time"
)

// TestPace: bytes that come too slowly do not keep a call alive, those that come fast enough
// do, for longer than silence may last.
func TestPace(t *testing.T) {
	t.Parallel()
	const maxWait = 400 * time.Millisecond
	for name, c := range map[string]struct {
		bytes   int // every tenth of maxWait
		stalls  bool
		through time.Duration
	}{
		"silent":      {0, true, 10 * maxWait},
		"a drip":      {1, true, 10 * maxWait},
		"fast enough": {LeastRate, false, 3 * maxWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			p := NewPace(maxWait, func(cause error) { ended <- cause })
			defer p.Stop()
			tick := time.NewTicker(maxWait / 10)
			defer tick.Stop()
			for begun := time.Now(); time.Since(begun) < c.through; {
				select {
				case err := <-ended:
					if !c.stalls || !errors.Is(err, ErrStalled) {
						t.Errorf("ended with %v after %s", err, time.Since(begun))
					}
					return
				case <-tick.C:
					if c.bytes > 0 {
						p.Received(c.bytes)
					}
				}
			}
			if c.stalls {
				t.Error("it never stalled")
			}
		})
	}
}

// What came fast does not excuse a standstill.
func TestPaceAfterALargePart(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	p := NewPace(100*time.Millisecond, func(cause error) { ended <- cause })
	defer p.Stop()
	p.Received(1 << 30)
	select {
	case err := <-ended:
		if !errors.Is(err, ErrStalled) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("1 GiB bought more than the limit")
	}
}
