package scan

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// peers are the upstreams of one network. Of one, the client itself repeats what
// fails; of several, a request that fails is made elsewhere. It is safe for concurrent
// use.
type peers struct {
	list []*peer
	log  *slog.Logger
	now  func() time.Time
	// check, when set, compares the upstream's history with what it is known to be. It
	// returns an error that wraps schemas.ErrDiverged if it is another.
	check func(ctx context.Context, p *peer) error

	readers *guard.Group

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever a choice may come out otherwise
	// refresh is the age at which an overview is read again in the background.
	refresh time.Duration
	// at is where the stream stands, from the migration from on overviews are read.
	at   schemas.Position
	from int64
}

// newPeers makes a client for each URL.
func newPeers(cfg *Config, status *progress) (*peers, error) {
	ps := &peers{readers: guard.NewGroup(), log: cfg.Log.With("stream", cfg.Stream), now: cfg.Now, refresh: cfg.Refresh, changed: make(chan struct{}), at: schemas.Start}
	urls := cfg.urls()
	for _, url := range urls {
		p := &peer{now: cfg.Now, backoff: cfg.Backoff, timeout: cfg.RequestTimeout, hurried: len(urls) > 1, onChange: ps.wake,
			seen: schemas.Start, ends: map[string]ending{}, lacks: map[string]time.Time{}}
		client, err := NewClient(ClientConfig{
			BaseURL: url, HTTPClient: cfg.HTTPClient, RequestsPerSecond: cfg.RequestsPerSecond,
			RequestTimeout: cfg.RequestTimeout, Backoff: cfg.Backoff, Rest: cfg.Rest, GiveUpAfter: cfg.GiveUpAfter, MaxPageBytes: cfg.MaxPageBytes,
			Version: cfg.Version, Log: ps.log, Now: cfg.Now,
			OnRetry:   func(err error) { p.retried(); status.Retried(err) },
			onAttempt: p.attempted, patience: p.patience, once: len(urls) > 1,
		})
		if err != nil {
			return nil, err
		}
		for _, other := range ps.list {
			if other.client.place() == client.place() {
				return nil, errors.New("upstream " + client.Upstream() + " is given twice")
			}
		}
		p.client = client
		ps.list = append(ps.list, p)
	}
	return ps, nil
}

func (ps *peers) several() bool { return len(ps.list) > 1 }

// names are the upstreams' URLs without credentials.
func (ps *peers) names() []string {
	names := make([]string, len(ps.list))
	for i, p := range ps.list {
		names[i] = p.client.Upstream()
	}
	return names
}

func (ps *peers) wake() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	close(ps.changed)
	ps.changed = make(chan struct{})
}

// change is closed at the next change.
func (ps *peers) change() <-chan struct{} {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.changed
}

// moved notes where the stream stands.
func (ps *peers) moved(at schemas.Position, migration int64) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.at, ps.from = at, max(at.MigrationID, migration)
}

func (ps *peers) standing() (at schemas.Position, from int64) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.at, ps.from
}

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
			ps.log.Error("overviews were not read again", "err", err)
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
		if old && !now.Before(p.mayBeAskedAt()) {
			ps.read(ctx, p)
		}
	}
}

// read begins to read the overview of p, unless that is going on already. The channel
// is closed when it has ended.
func (ps *peers) read(ctx context.Context, p *peer) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading != nil || p.barred != nil {
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
		ps.log.ErrorContext(ctx, "upstream is not asked any more", "upstream", p.client.Upstream(), "err", err)
		p.bar(err)
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
	wentBack := p.learned(ch, at)
	log := ps.log.With("upstream", p.client.Upstream(), "end", ch.end().String())
	switch behind := p.isBehind(); {
	case wentBack:
		log.WarnContext(ctx, "the upstream's history ends earlier than it did")
	case behind && !wasBehind:
		log.WarnContext(ctx, "the upstream knows less than the stream holds", "position", at.String())
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

// overviewPatience is how much longer than the first the others may take.
const overviewPatience = 2 * time.Second

// refreshAll reads the overviews of all upstreams that may be asked and waits for the
// first that is there, and for the rest of those that are up a little longer.
func (ps *peers) refreshAll(ctx context.Context) error {
	now := ps.now()
	var up, rest []<-chan struct{}
	for _, p := range ps.list {
		switch {
		case p.slow(now):
		case p.up(now):
			up = append(up, ps.read(ctx, p))
		case !now.Before(p.mayBeAskedAt()):
			rest = append(rest, ps.read(ctx, p))
		}
	}
	if len(up) == 0 {
		up = rest
	}
	var patience <-chan time.Time
	for waiting := up; len(waiting) > 0; {
		change := ps.change()
		waiting = slices.DeleteFunc(waiting, isClosed)
		if len(waiting) < len(up) && patience == nil {
			patience = time.After(overviewPatience)
		}
		if len(waiting) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience:
			return nil
		case <-change:
		}
	}
	return nil
}

// slow reports whether the reading of the overview goes on for longer than is waited for.
func (p *peer) slow(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reading != nil && now.Sub(p.readingSince) > overviewPatience
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
		ch, barred := p.chain, p.barred
		p.mu.Unlock()
		if ch == nil || barred != nil {
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

// waitReason explains why no overview is there.
func (ps *peers) waitReason() string {
	reason := "no upstream answers"
	for _, p := range ps.list {
		p.mu.Lock()
		last := p.lastError
		p.mu.Unlock()
		if last != "" {
			return reason + ": " + last
		}
	}
	return reason
}

// hopeless returns why fewer than k of the upstreams can ever be asked again, or nil.
func (ps *peers) hopeless(k int) error {
	var why error
	left := 0
	for _, p := range ps.list {
		p.mu.Lock()
		if p.barred == nil {
			left++
		} else {
			why = p.barred
		}
		p.mu.Unlock()
	}
	if left >= k {
		return nil
	}
	return why
}

// refused returns what the upstreams said if all of them answer as if they were no scan.
func (ps *peers) refused() error {
	var why error
	for _, p := range ps.list {
		p.mu.Lock()
		refused := p.refused
		if p.chain == nil || len(p.chain.ids) > 0 {
			refused = nil
		}
		p.mu.Unlock()
		if refused == nil {
			return nil
		}
		why = refused
	}
	return why
}

// pick chooses whom to ask for w: of those that know the answer and are up, prefer or
// else the one that should answer first. Those in without are left out. When nobody
// knows as much, whoever knows anything after w.after is taken, and when all of them
// are failing or resting it waits for the first that may be asked again. It returns nil
// when nobody is left, which another change may mend, and when wait is false and nobody
// is up.
func (ps *peers) pick(ctx context.Context, w want, without func(*peer) bool, prefer *peer, wait bool) (*peer, error) {
	for {
		change, now := ps.change(), ps.now()
		able := ps.able(w, without)
		if prefer != nil && slices.Contains(able, prefer) && prefer.up(now) {
			return prefer, nil
		}
		choose := fastest
		if w.tail() {
			choose = leastRecent
		}
		if best := choose(able, now); best != nil || !wait {
			return best, nil
		}
		if len(able) == 0 {
			return nil, nil
		}
		first := slices.MinFunc(able, func(a, b *peer) int { return a.mayBeAskedAt().Compare(b.mayBeAskedAt()) })
		rest := first.mayBeAskedAt().Sub(now)
		if rest <= 0 {
			return first, nil
		}
		if err := remote.SleepOr(ctx, rest, change); err != nil {
			return nil, err
		}
	}
}

// able returns those who know the answer to w, or else those who know a part of it.
func (ps *peers) able(w want, without func(*peer) bool) []*peer {
	able, partly := []*peer(nil), w
	partly.through = schemas.Start
	for _, p := range ps.list {
		if !without(p) && p.knows(w) {
			able = append(able, p)
		}
	}
	if len(able) > 0 || w.strict() {
		return able
	}
	for _, p := range ps.list {
		if !without(p) && p.knows(partly) {
			able = append(able, p)
		}
	}
	return able
}

// fastest returns the one of those that are up that should answer first, or nil.
func fastest(list []*peer, now time.Time) (best *peer) {
	least := time.Duration(0)
	for _, p := range list {
		if !p.up(now) {
			continue
		}
		if d := p.expected(now); best == nil || d < least {
			best, least = p, d
		}
	}
	return best
}

// leastRecent returns the one of those that are up that was not asked for new history
// for longest, or nil: taking turns, one that stands still holds nobody up.
func leastRecent(list []*peer, now time.Time) (best *peer) {
	var longest time.Time
	for _, p := range list {
		if !p.up(now) || p.client.turn().After(now.Add(leastPatience)) {
			continue
		}
		if at := p.lastTurn(); best == nil || at.Before(longest) {
			best, longest = p, at
		}
	}
	if best != nil {
		best.takeTurn(now)
	}
	return best
}

// status takes a snapshot of all.
func (ps *peers) status() []UpstreamStatus {
	list := make([]UpstreamStatus, len(ps.list))
	furthest := schemas.Start
	for i, p := range ps.list {
		list[i] = p.status()
		if furthest.Before(list[i].End) {
			furthest = list[i].End
		}
	}
	for i := range list {
		if end := list[i].End; end != schemas.Start && end.MigrationID == furthest.MigrationID && end.RecordTime != schemas.MinMicros {
			list[i].Lag = time.Duration(furthest.RecordTime-end.RecordTime) * time.Microsecond
		}
	}
	return list
}
