package scan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// watch reads overviews that are old, and those of upstreams that fail when their wait
// is over, until stop is called. One upstream needs none of that.
func (ps *peers) watch(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	if ps.several() {
		ps.readers.Go(func() error {
			for remote.Sleep(ctx, min(ps.refreshAfter(), time.Second)) == nil {
				ps.readDue(ctx, ps.refreshAfter())
			}
			return nil
		})
	}
	return ctx, func() {
		cancel()
		if err := ps.readers.Wait(); err != nil {
			ps.log.Error("reading overviews has ended", "err", err)
		}
	}
}

func (ps *peers) refreshAfter() time.Duration {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.refresh
}

// refreshEvery changes the age at which overviews are read again.
func (ps *peers) refreshEvery(age time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.refresh = age
}

// readDue begins to read the overviews that are older than age, but for upstreams that
// are to be left alone at present.
func (ps *peers) readDue(ctx context.Context, age time.Duration) {
	now := ps.now()
	for _, p := range ps.list {
		ch := p.overview()
		old := ch == nil || now.Sub(ch.read) >= age || p.failing()
		if old && !now.Before(p.nextTry()) {
			ps.read(ctx, p)
		}
	}
}

// read begins to read the overview of p, unless that is going on already. The channel
// is closed when it has ended.
func (ps *peers) read(ctx context.Context, p *peer) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading != nil || p.excluded != nil {
		if p.reading == nil {
			done := make(chan struct{})
			close(done)
			return done
		}
		return p.reading
	}
	done := make(chan struct{})
	p.reading, p.readingSince = done, ps.now()
	ps.readers.Go(func() error {
		if err := guard.Call(func() error { ps.readNow(ctx, p); return nil }); err != nil {
			p.fault(ps.now(), err)
		}
		p.mu.Lock()
		p.reading = nil
		p.mu.Unlock()
		close(done)
		ps.wake()
		return nil
	})
	return done
}

// readNow reads the overview of p. Failures are noted at p alone.
func (ps *peers) readNow(ctx context.Context, p *peer) {
	at, from := ps.standing()
	began := ps.now()
	wasFailing := p.failing()
	ch, err := readChain(ctx, p.client, max(from, 0))
	if remote.Ended(ctx) != nil {
		return
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || !e.retryable {
			p.fault(began, err) // an attempt that failed has been noted
		}
		return
	}
	if err := ps.take(ctx, p, ch, at, wasFailing); err != nil {
		ps.log.ErrorContext(ctx, "upstream is no longer used", "upstream", p.client.Upstream(), "err", err)
		p.exclude(err)
	}
}

// anchorEvery is how often the history of an upstream is compared with what it is known
// to be although nothing about it is suspicious.
const anchorEvery = 5 * time.Minute

// take notes a new overview of p, logs what is remarkable, and has its history compared
// when it was away or has gone back, and now and then. It returns an error that wraps
// schemas.ErrDiverged if it is not the history that the stream holds.
func (ps *peers) take(ctx context.Context, p *peer, ch *chain, at schemas.Position, wasFailing bool) error {
	p.mu.Lock()
	wasBehind := p.behind
	due := wasBehind || wasFailing || ps.now().Sub(p.anchoredAt) >= anchorEvery
	p.mu.Unlock()
	wentBack := p.noteOverview(ch, at)
	log := ps.log.With("upstream", p.client.Upstream(), "end", ch.end().String())
	switch behind := p.isBehind(); {
	case wentBack:
		log.WarnContext(ctx, "the upstream's history ends earlier than it did")
	case behind && !wasBehind:
		log.WarnContext(ctx, "the upstream has less history than the stream", "position", at.String())
	}
	if newest := ch.newest(); !due && !wentBack || ps.check == nil || newest == nil || !newest.Complete {
		return nil
	}
	err := ps.check(ctx, p)
	if err == nil {
		p.anchored()
	}
	if errors.Is(err, schemas.ErrDiverged) {
		return err
	}
	return nil // it could not be compared: its failure is noted, and the next overview tries again
}

func (p *peer) isBehind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.behind
}

func (p *peer) anchored() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.anchoredAt = p.now()
}

// overviewGrace is how much longer than the first the others may take.
const overviewGrace = 2 * time.Second

// refreshAll reads the overviews of all upstreams that may be asked and waits for the
// first that answers, and a little longer for the others that are up.
func (ps *peers) refreshAll(ctx context.Context) error {
	now := ps.now()
	var up, rest []<-chan struct{}
	for _, p := range ps.list {
		switch {
		case p.slow(now):
		case p.up(now):
			up = append(up, ps.read(ctx, p))
		case !now.Before(p.nextTry()):
			rest = append(rest, ps.read(ctx, p))
		}
	}
	if len(up) == 0 {
		up = rest
	}
	var grace <-chan time.Time
	for waiting := up; len(waiting) > 0; {
		change := ps.change()
		waiting = slices.DeleteFunc(waiting, isClosed)
		if len(waiting) < len(up) && grace == nil {
			grace = time.After(overviewGrace)
		}
		if len(waiting) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-grace:
			return nil
		case <-change:
		}
	}
	return nil
}

// slow reports whether its overview has been on the way for longer than overviewGrace.
func (p *peer) slow(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reading != nil && now.Sub(p.readingSince) > overviewGrace
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lead chooses the overview to go by when k upstreams have to agree: the k-th furthest
// of those from which history after at can be read. ready is how many they are. When
// there are fewer than k, it returns the one that says most, or nil.
func (ps *peers) lead(at schemas.Position, migration int64, k int) (lead *peer, ch *chain, ready int) {
	type candidate struct {
		peer  *peer
		chain *chain
		ready bool
	}
	var list []candidate
	for _, p := range ps.list {
		p.mu.Lock()
		ch, excluded := p.chain, p.excluded
		p.mu.Unlock()
		if ch == nil || excluded != nil {
			continue
		}
		c := candidate{p, ch, ch.waitReason(at) == "" && (migration < 0 || ch.has(migration))}
		if list = append(list, c); c.ready {
			ready++
		}
	}
	covered := func(c candidate) (n int) {
		for _, other := range list {
			if c.chain.covers(other.chain) {
				n++
			}
		}
		return n
	}
	rank := func(c candidate) (r int) {
		if info := c.chain.infos[migration]; info != nil && info.ImportsComplete {
			r++
		}
		if !c.peer.failing() {
			r += 2
		}
		if c.ready {
			r += 4
		}
		return r
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		// Of two that reach equally far one may lack the end of a synchronizer.
		return cmp.Or(rank(b)-rank(a), b.chain.end().Compare(a.chain.end()), covered(b)-covered(a))
	})
	if len(list) == 0 {
		return nil, nil, 0
	}
	c := list[max(0, min(k, ready)-1)]
	return c.peer, c.chain, ready
}
