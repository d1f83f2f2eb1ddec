package scan

import (
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
	// at is the position of the stream; overviews are read of migration from and later ones.
	at   schemas.Position
	from int64
}

// newPeers makes a client for each URL.
func newPeers(cfg *Config, status *progress) (*peers, error) {
	ps := &peers{readers: guard.NewGroup(), log: cfg.Log.With("stream", schemas.ScanStream), now: cfg.Now, refresh: cfg.Refresh, changed: make(chan struct{}), at: schemas.Start}
	urls := cfg.urls()
	for _, url := range urls {
		p := &peer{now: cfg.Now, backoff: cfg.Backoff, timeout: cfg.RequestTimeout, hasAlternatives: len(urls) > 1, onChange: ps.wake,
			seen: schemas.Start, ends: map[string]ending{}, unsupportedUntil: map[string]time.Time{}}
		client, err := NewClient(ClientConfig{
			BaseURL: url, HTTPClient: cfg.HTTPClient, RequestsPerSecond: cfg.RequestsPerSecond,
			RequestTimeout: cfg.RequestTimeout, Backoff: cfg.Backoff, MaxRetryAfter: cfg.MaxRetryAfter, GiveUpAfter: cfg.GiveUpAfter, MaxPageBytes: cfg.MaxPageBytes, Values: cfg.Values,
			Version: cfg.Version, Log: ps.log, Now: cfg.Now,
			OnRetry:   func(err error) { p.retried(); status.Retried(err) },
			onAttempt: p.attempted, stallTimeout: p.stallTimeout, once: len(urls) > 1,
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

// moved notes the position of the stream.
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

// waitReason explains why there is no overview.
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

// tooFewLeft returns why fewer than k of the upstreams can ever be asked again, or nil.
func (ps *peers) tooFewLeft(k int) error {
	var why error
	left := 0
	for _, p := range ps.list {
		p.mu.Lock()
		if p.excluded == nil {
			left++
		} else {
			why = p.excluded
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
// else the one that should answer first. Those in without are left out. When none
// knows as much, any that knows something after w.after is taken, and when all of them
// are failing or resting it waits for the first that may be asked again. It returns nil
// when none is left, which another change may fix, and when wait is false and none is
// up.
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
		first := slices.MinFunc(able, func(a, b *peer) int { return a.nextTry().Compare(b.nextTry()) })
		rest := first.nextTry().Sub(now)
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
// for longest, or nil: as they take turns, one that is stuck delays no poll.
func leastRecent(list []*peer, now time.Time) (best *peer) {
	var longest time.Time
	for _, p := range list {
		if !p.up(now) || p.client.turn().After(now.Add(minStallTimeout)) {
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
