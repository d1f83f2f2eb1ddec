package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// FactStore keeps facts.
type FactStore interface {
	// LatestFact returns the last one of a key, which may say that nothing is known any
	// more; schemas.ErrNotFound if there never was one.
	LatestFact(ctx context.Context, key facts.Key) (facts.Fact, error)
	// KeepFact stores one that differs from the one before, whose digest is previous, ""
	// for none. It may be called again with the same.
	KeepFact(ctx context.Context, f facts.Fact, previous string) error
}

// FactsConfig names the upstreams to ask for facts that history does not contain. Zero
// values mean the defaults.
type FactsConfig struct {
	// URLs are the upstream scans. At least one.
	URLs []string
	// Agree is how many of them must give a fact of the network alike; default 1. What an
	// upstream says of itself is taken from the first that answers.
	Agree int
	// Store is required.
	Store FactStore
	// Synchronizers names those of the network, as ids. Without it Run leaves out what is
	// known by synchronizer.
	Synchronizers func(ctx context.Context) ([]string, error)
	// Log is required.
	Log *slog.Logger
	// Interval is how often Run asks; default 1m.
	Interval time.Duration
	// RequestsPerSecond is for each upstream; default 2, or no limit for one on this
	// machine.
	RequestsPerSecond float64
	// RequestTimeout ends a request that makes no progress; default 5s.
	RequestTimeout time.Duration
	// Version is sent as User-Agent ledgerlake/<version>.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *FactsConfig) setDefaults() error {
	switch {
	case len(c.URLs) == 0:
		return errors.New("facts need an upstream")
	case c.Store == nil || c.Log == nil:
		return errors.New("facts need a store and a logger")
	}
	c.Agree = cmp.Or(c.Agree, 1)
	if c.Agree < 1 || c.Agree > len(c.URLs) {
		return fmt.Errorf("%d upstreams must agree on facts, but there are %d", c.Agree, len(c.URLs))
	}
	c.Interval = cmp.Or(c.Interval, time.Minute)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 5*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

const (
	// maxFactBytes caps one answer. The longest, bootstrapping transactions, take some
	// tens of kilobytes.
	maxFactBytes = 4 << 20
	// factRate is the default of RequestsPerSecond for upstreams elsewhere.
	factRate = 2
	// lackingRounds is for how many rounds an operation that no upstream answered is skipped.
	lackingRounds = 10
)

// Facts asks upstreams for facts that history does not contain, and stores each answer that
// differs from the previous one. It has separate connections and a separate rate limit, so it
// never delays history. It is safe for concurrent use.
type Facts struct {
	cfg     FactsConfig
	clients []*Client
	asked   *askedFacts
	// absent counts the rounds for which a key is still left alone; it belongs to Run.
	absent map[facts.Key]int
	// named says that a round has asked for facts of synchronizers; it belongs to Run.
	named bool
}

// NewFacts checks cfg and fills in its defaults. It does not talk to the upstreams yet.
func NewFacts(cfg FactsConfig) (*Facts, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	f := &Facts{cfg: cfg, absent: map[facts.Key]int{}}
	var err error
	if f.asked, err = newAskedFacts(f); err != nil {
		return nil, err
	}
	for _, url := range cfg.URLs {
		c, err := NewClient(ClientConfig{
			BaseURL: url, RequestsPerSecond: cfg.RequestsPerSecond, defaultRate: factRate,
			RequestTimeout: cfg.RequestTimeout, MaxPageBytes: maxFactBytes, Version: cfg.Version, Log: cfg.Log, Now: cfg.Now, once: true,
		})
		if err != nil {
			return nil, err
		}
		f.clients = append(f.clients, c)
	}
	return f, nil
}

// Run asks for all facts without further parameters, and those of each synchronizer, now
// and at every interval until ctx ends. Failures are logged and mended by the next round.
func (f *Facts) Run(ctx context.Context) {
	for ctx.Err() == nil {
		f.Round(ctx)
		f.pause(ctx)
	}
}

// pause waits for the next round. Until history has named a synchronizer, which takes a
// moment in a new store, it looks for one more often.
func (f *Facts) pause(ctx context.Context) {
	const look = 500 * time.Millisecond
	for end := time.Now().Add(f.cfg.Interval); ctx.Err() == nil && time.Now().Before(end); {
		wait := time.Until(end)
		if !f.named {
			wait = min(wait, look)
		}
		_ = remote.Sleep(ctx, wait) // returns early when ctx ends
		if !f.named && len(f.synchronizers(ctx)) > 0 {
			return
		}
	}
}

// Round asks for everything once.
func (f *Facts) Round(ctx context.Context) {
	for _, key := range f.keys(ctx) {
		if f.absent[key] > 0 {
			f.absent[key]--
			continue
		}
		fact, err := f.refresh(ctx, key)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.cfg.Log.WarnContext(ctx, "fact cannot be refreshed", "fact", key.String(), "err", err)
			continue
		}
		if !fact.Known() {
			f.absent[key] = lackingRounds
		}
	}
}

// keys are what Run asks for.
func (f *Facts) keys(ctx context.Context) []facts.Key {
	keys := facts.Fixed()
	ids := f.synchronizers(ctx)
	f.named = f.named || len(ids) > 0 || f.cfg.Synchronizers == nil
	for _, id := range ids {
		name := facts.SynchronizerName(id)
		keys = append(keys, facts.Of(facts.Identities, name), facts.Of(facts.Bootstrapping, name))
	}
	return keys
}

// synchronizers are those that appear in history so far.
func (f *Facts) synchronizers(ctx context.Context) []string {
	if f.cfg.Synchronizers == nil {
		return nil
	}
	ids, err := f.cfg.Synchronizers(ctx)
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "the synchronizers of the network cannot be read", "err", err)
	}
	return ids
}

// refresh asks for a fact and keeps it if it has changed. A fact without a body means that
// the upstreams know nothing.
func (f *Facts) refresh(ctx context.Context, key facts.Key) (facts.Fact, error) {
	fact, err := f.fetch(ctx, key)
	if err != nil {
		return fact, err
	}
	last, err := f.cfg.Store.LatestFact(ctx, key)
	switch {
	case errors.Is(err, schemas.ErrNotFound):
		if !fact.Known() {
			return fact, nil
		}
		return fact, f.cfg.Store.KeepFact(ctx, fact, "")
	case err != nil:
		return fact, err
	case last.SHA256() == fact.SHA256() && last.Known() == fact.Known():
		return last, nil
	}
	// The later one counts, also if the clock was set back.
	fact.ValidFrom = max(fact.ValidFrom, last.ValidFrom+1)
	fact.FetchedAt = max(fact.FetchedAt, fact.ValidFrom)
	f.cfg.Log.InfoContext(ctx, "fact has changed", "fact", key.String(), "upstream", fact.Upstream, "known", fact.Known())
	return fact, f.cfg.Store.KeepFact(ctx, fact, last.SHA256())
}

// fetch asks upstreams in turn until enough of them gave one answer. That none knows
// the fact takes as many answers as have to agree, or all of them if one is enough:
// upstreams of different releases have different operations.
func (f *Facts) fetch(ctx context.Context, key facts.Key) (facts.Fact, error) {
	kind, ok := facts.KindOf(key.Operation)
	if !ok {
		return facts.Fact{}, fmt.Errorf("%q is not a kind of fact", key.Operation)
	}
	need := f.cfg.Agree
	if kind.Own {
		need = 1
	}
	votes, nothing := map[string]int{}, 0
	var fact facts.Fact
	var errs []error
	for _, c := range f.clients {
		given, err := f.askOne(ctx, c, key)
		switch {
		case errors.Is(err, schemas.ErrNotFound):
			nothing++
		case err != nil:
			errs = append(errs, err)
		default:
			fact = given
			if votes[given.SHA256()]++; votes[given.SHA256()] == need {
				return given, nil
			}
		}
	}
	switch {
	case need == 1 && len(errs) == 0, need > 1 && nothing >= need:
		now := schemas.MicrosOf(f.cfg.Now())
		return facts.Fact{Key: key, ValidFrom: now, FetchedAt: now, Upstream: f.clients[0].Upstream()}, nil
	case len(votes) > 1:
		return fact, fmt.Errorf("fact %s: %w: %d upstreams returned %d answers", key, schemas.ErrDisagreement, len(f.clients), len(votes))
	}
	return fact, fmt.Errorf("fact %s: %w: %w", key, schemas.ErrUnavailable, errors.Join(append(errs, errors.New("not enough upstreams answered"))...))
}

// askOne returns what one upstream says, schemas.ErrNotFound if it has no answer or not the
// operation.
func (f *Facts) askOne(ctx context.Context, c *Client, key facts.Key) (facts.Fact, error) {
	paths, err := key.Paths()
	if err != nil {
		return facts.Fact{}, err
	}
	if rest := c.turn().Sub(f.cfg.Now()); rest > f.cfg.RequestTimeout {
		return facts.Fact{}, fmt.Errorf("%s: %w: it may not be asked again for %s", c.Upstream(), schemas.ErrUnavailable, rest.Round(time.Second))
	}
	from := schemas.MicrosOf(f.cfg.Now())
	for _, path := range paths {
		answer, err := c.do(ctx, &call{method: http.MethodGet, operation: path, once: true})
		if unsupported(err) {
			continue
		}
		if err != nil {
			return facts.Fact{}, err
		}
		body, err := key.Check(answer)
		if err != nil {
			return facts.Fact{}, &Error{Upstream: c.Upstream(), Operation: path, Err: err}
		}
		return facts.Fact{Key: key, ValidFrom: from, FetchedAt: schemas.MicrosOf(f.cfg.Now()), Upstream: c.Upstream(), Body: body}, nil
	}
	return facts.Fact{}, schemas.ErrNotFound
}
