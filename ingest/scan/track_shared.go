package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// sharedTrack reads a track from whichever upstream should answer first, and elsewhere
// what one of them fails to give.
type sharedTrack struct {
	track // any upstream's, for the number line
	peers *peers
	of    map[*peer]track
	// operation is the one that the tracks use; end is how far history goes by the
	// overview that is gone by, or the last import.
	operation string
	end       schemas.Position
	ranges    []SynchronizerRange // of the same overview, for updates-before
	status    *progress
	giveUp    time.Duration
	poll      time.Duration
	backoff   func(n int) time.Duration

	// apart means that honest upstreams' answers may differ in their side data. A batch
	// can be fetched again in the same form only if all of it came from one, so a run of
	// slices, a stripe, is asked of one.
	apart bool

	mu      sync.Mutex
	stripes map[int64]*peer
}

// stripeSlices is how many slices in a row are asked of one upstream.
const stripeSlices = 4

// want is what a fetch needs to know of an upstream.
func (t *sharedTrack) want(after, upTo schemas.Position) want {
	w := want{operation: t.operation, after: after, through: upTo, ranges: t.ranges}
	if t.end.Before(upTo) {
		w.through = after
		if w.imports() {
			w.through = t.end
		}
	}
	return w
}

func (t *sharedTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	return t.fetchWithout(ctx, nil, after, upTo, o)
}

// fetchWithout is fetch that leaves some upstreams out.
func (t *sharedTrack) fetchWithout(ctx context.Context, out map[*peer]bool, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	f := sharedFetch{t: t, w: t.want(after, upTo), upTo: upTo, o: o, out: out, faults: map[*peer]error{}, ended: map[*peer]bool{}, began: t.peers.now()}
	for {
		c, done, err := f.step(ctx)
		if err != nil || done {
			return c, err
		}
	}
}

// sharedFetch is one fetch on its way through the upstreams.
type sharedFetch struct {
	t    *sharedTrack
	w    want
	upTo schemas.Position
	o    fetchOptions
	// out are not asked; faults gave no use, and ended said that history ends.
	out    map[*peer]bool
	faults map[*peer]error
	ended  map[*peer]bool
	end    *chunk
	began  time.Time
	tries  int
}

// step asks one upstream. It reports true with the answer to give.
func (f *sharedFetch) step(ctx context.Context) (c chunk, done bool, err error) {
	p, err := f.t.peers.pick(ctx, f.w, f.without, f.t.preferred(f.o.stripe), f.end == nil)
	switch {
	case err != nil:
		return c, false, err
	case p == nil && f.end != nil:
		return *f.end, true, nil
	case p == nil:
		return c, false, f.waitForChange(ctx)
	}
	if other := f.t.claim(f.o.stripe, p); other != p && !f.without(other) && other.up(f.t.peers.now()) {
		p = other
	}
	c, err = f.t.ask(ctx, p, f.w, f.upTo, f.o)
	if err != nil {
		return c, false, f.failed(ctx, p, err)
	}
	if !c.end {
		return c, true, nil
	}
	// An end is believed when no other upstream is known to go further.
	f.ended[p] = true
	if f.end == nil || f.end.covered.Before(c.covered) {
		f.end = &c
	}
	if !f.furtherKnown(c.covered) {
		return *f.end, true, nil
	}
	if len(c.items) > 0 {
		c.end, c.done = false, false // what is here counts; the rest is asked for next
		return c, true, nil
	}
	return c, false, nil
}

func (f *sharedFetch) without(p *peer) bool {
	return f.out[p] || f.ended[p] || f.faults[p] != nil
}

// furtherKnown reports whether an upstream that was not asked yet goes further.
func (f *sharedFetch) furtherKnown(than schemas.Position) bool {
	now := f.t.peers.now()
	for _, p := range f.t.peers.list {
		w := f.w
		w.through = schemas.Start
		if !f.without(p) && p.up(now) && p.knows(w) && timeBefore(than, p.reaches(f.w.operation)) {
			return true
		}
	}
	return false
}

// failed decides what to do about the failure of one upstream; another one is asked next.
func (f *sharedFetch) failed(ctx context.Context, p *peer, err error) error {
	if reason := remote.Ended(ctx); reason != nil {
		return reason
	}
	var e *Error
	if !errors.As(err, &e) {
		return err // not the upstream's fault
	}
	f.tries++
	t := f.t
	p.retried()
	t.status.Retried(err)
	t.drop(f.o.stripe, p)
	if remote.Growing(f.tries) {
		t.peers.log.WarnContext(ctx, "upstream request failed", "err", err, "attempts", f.tries)
	}
	switch {
	case t.giveUp > 0 && t.peers.now().Sub(f.began) > t.giveUp:
		return fmt.Errorf("giving up after %d attempts: %w", f.tries, err)
	case e.retryable:
		return nil // its client has noted it: it is not asked for a while
	case errors.Is(err, schemas.ErrDiverged):
		p.exclude(err)
		t.peers.log.ErrorContext(ctx, "upstream is no longer used", "upstream", p.client.Upstream(), "err", err)
	case unsupported(err):
		p.noteUnsupported(f.w.operation, err)
	default:
		p.fault(t.peers.now(), err)
	}
	f.faults[p] = err
	return nil
}

// waitForChange is called when no upstream can be asked. It returns the last error when all
// have returned one that a retry will not fix, and otherwise waits for a change.
func (f *sharedFetch) waitForChange(ctx context.Context) error {
	t := f.t
	if why := t.peers.tooFewLeft(1); why != nil {
		return why
	}
	if err := allFaulty(f.faults, len(t.peers.list)-len(f.out)); err != nil {
		return err
	}
	release := t.status.hold(fmt.Sprintf("no upstream can answer %s after %s at the moment", f.w.operation, f.w.after))
	defer release()
	return remote.SleepOr(ctx, min(max(t.poll, t.backoff(f.tries+1)), time.Second), t.peers.change())
}

// allFaulty returns one of the faults if all of n upstreams have one.
func allFaulty(faults map[*peer]error, n int) error {
	if len(faults) < n {
		return nil
	}
	for _, err := range faults {
		return fmt.Errorf("%d upstreams have no usable answer, one of them: %w", len(faults), err)
	}
	return nil
}

// ask fetches from p and notes what that shows.
func (t *sharedTrack) ask(ctx context.Context, p *peer, w want, upTo schemas.Position, o fetchOptions) (chunk, error) {
	p.addInFlight(1)
	defer p.addInFlight(-1)
	c, err := t.of[p].fetch(ctx, w.after, upTo, o)
	if err == nil {
		p.noteAnswer(w, &c)
		c.from = p
	}
	return c, err
}

func (t *sharedTrack) preferred(stripe int64) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stripes[stripe]
}

// claim makes p the one to ask for a stripe, unless another is already, and returns who
// that is.
func (t *sharedTrack) claim(stripe int64, p *peer) *peer {
	if !t.apart || stripe < 0 {
		return p
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other := t.stripes[stripe]; other != nil {
		return other
	}
	t.stripes[stripe] = p
	delete(t.stripes, stripe-64) // long delivered
	return p
}

func (t *sharedTrack) drop(stripe int64, p *peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stripes[stripe] == p {
		delete(t.stripes, stripe)
	}
}
