package remote

import (
	"errors"
	"sync"
	"time"
)

// LeastRate is how many bytes a second an answer has to come at, on average over the time
// that it may make no progress.
const LeastRate = 4 << 10

// ErrStalled is the reason why a call without enough progress is ended.
var ErrStalled = errors.New("the answer stalled: nothing was received within the timeout, or less than 4 KiB per second")

// Pace ends a call of which too little arrives. Silence may last for as long as was last
// agreed on with Wait; and what is received buys time at LeastRate, but never more than
// that again. So one byte now and then does not keep a call alive, nor does what came fast
// excuse a standstill, while a large answer may take as long as it needs. It is safe for
// concurrent use.
type Pace struct {
	end func(cause error)

	mu       sync.Mutex
	timer    *time.Timer
	longest  time.Duration
	deadline time.Time
	cause    error
}

// NewPace waits for the first byte of an answer, which may take longest. It calls end, once
// and from a goroutine of its own, with ErrStalled or the cause that Wait gave.
func NewPace(longest time.Duration, end func(cause error)) *Pace {
	p := &Pace{end: end}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(longest, p.expire)
	p.wait(longest, ErrStalled)
	return p
}

// Wait begins a wait of its own: from now on silence may last for longest, and ends the call
// with cause after that.
func (p *Pace) Wait(longest time.Duration, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait(longest, cause)
}

func (p *Pace) wait(longest time.Duration, cause error) {
	p.longest, p.cause, p.deadline = longest, cause, time.Now().Add(longest)
	p.timer.Reset(longest)
}

// Received notes that n bytes arrived.
func (p *Pace) Received(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline.IsZero() {
		return
	}
	now := time.Now()
	earned := p.deadline.Add(time.Duration(n) * time.Second / LeastRate)
	if most := now.Add(p.longest); most.Before(earned) {
		earned = most
	}
	p.deadline = earned
	p.timer.Reset(earned.Sub(now))
}

// Stop ends the watch, until the next Wait.
func (p *Pace) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.deadline = time.Time{}
}

func (p *Pace) expire() {
	p.mu.Lock()
	late := !p.deadline.IsZero() && !time.Now().Before(p.deadline) // else a reset came first
	cause := p.cause
	p.mu.Unlock()
	if late {
		p.end(cause)
	}
}
