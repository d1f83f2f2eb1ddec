package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Sink takes history in. The Ingester calls it from one goroutine at a time.
type Sink interface {
	// Resume says where the stream stands: schemas.Start for a stream without history.
	Resume(ctx context.Context, stream string) (schemas.Resume, error)
	// Write stores the batch, or finds that it is stored already. The batch follows
	// the one before without a gap. An error that wraps schemas.ErrDiverged stops the
	// ingest; after any other the same batch is written again.
	Write(ctx context.Context, b *schemas.Batch) error
}

// Source is the way in which history is read from the upstream.
type Source string

const (
	// Auto takes Events. A stream without history falls back to Updates, then to
	// UpdatesBefore, if the upstream does not have the operation; one with history does
	// not, as verdicts would be missing from there on.
	Auto Source = ""
	// Events reads /v0/events: updates, verdicts, traffic and app activity.
	Events Source = "events"
	// Updates reads /v2/updates: updates only.
	Updates Source = "updates"
	// UpdatesBefore reads the backfilling operation of that name: updates only, also
	// while the upstream is still backfilling.
	UpdatesBefore Source = "updates-before"
)

// Config says what to ingest and how. Zero values stand for the defaults.
type Config struct {
	// BaseURL is the upstream scan, with or without a trailing /api/scan. Required.
	BaseURL string
	// Peers are further upstreams of the same network. Requests go to those that are
	// well, and what one of them fails to give is asked of the others.
	Peers []string
	// Agree is how many upstreams must give a range of history alike before it is
	// handed to the sink. Default 1: each is believed.
	Agree int
	// AgreeOn is what they must give alike. Default AgreeOnUpdates.
	AgreeOn AgreeOn
	// Disagreements, when set, is told what they did not.
	Disagreements Disagreements
	// HTTPClient defaults to a client with its own connection pool.
	HTTPClient *http.Client
	// Sink takes the batches. Required.
	Sink Sink
	// Gaps, when set, has Run look for verdicts, traffic and app activity of items that
	// were stored without, and hand them to the sink as the stream SideStream.
	Gaps Gaps
	// Log is required.
	Log *slog.Logger

	// Stream names the history in the sink. Default schemas.ScanStream.
	Stream string
	// Source defaults to Auto.
	Source Source
	// Workers is the number of requests in flight. Default 4 for each upstream, at most 16.
	Workers int
	// BatchItems and BatchBytes bound a batch; a single item that is larger than
	// BatchBytes makes a batch of its own, and items of one record time stay together.
	// Defaults 8,192 and 48 MiB.
	BatchItems int
	BatchBytes int64
	// InFlightBytes bounds the pages that are fetched ahead of the batch being
	// filled. Default 64 MiB. The page that is due next is always let through.
	InFlightBytes int64
	// MaxPageBytes caps one answer. Default 256 MiB.
	MaxPageBytes int64
	// RequestsPerSecond is for each upstream and explained at ClientConfig.
	RequestsPerSecond float64
	// RequestTimeout ends a request that makes no progress for so long, or too little: see
	// remote.Pace. Default 30s.
	RequestTimeout time.Duration
	// Backoff is the wait before the attempt that follows n failures in a row. Default
	// remote.Backoff.
	Backoff func(n int) time.Duration
	// Rest is the most that an upstream's Retry-After is followed for. Default
	// remote.LongestRest.
	Rest time.Duration
	// GiveUpAfter ends the retries of one request or one write; 0 means never.
	GiveUpAfter time.Duration
	// Poll is the longest wait between questions for new history once caught up, when
	// none came for a while. Default 1s.
	Poll time.Duration
	// BusyPoll is the wait after new history came, which doubles up to Poll when none
	// does. Default 100ms when all upstreams are on this machine, else 250ms; at most
	// Poll. UpdatesBefore, whose every question takes several requests, always waits for Poll.
	BusyPoll time.Duration
	// Refresh is how long the upstream's overview of migrations is taken as current.
	// Default 30s.
	Refresh time.Duration
	// Ahead is how far ahead of Now record times may be: what is later is waited for. 0
	// means that there is no such limit, for networks whose time is not that of the clock.
	Ahead time.Duration
	// Version is sent as User-Agent ledgerlake/<version>.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *Config) setDefaults() error {
	switch {
	case c.Sink == nil:
		return errors.New("ingest needs a sink")
	case c.Log == nil:
		return errors.New("ingest needs a logger")
	}
	switch c.Source {
	case Auto, Events, Updates, UpdatesBefore:
	default:
		return fmt.Errorf("source of history %q is none of %q, %q, %q", c.Source, Events, Updates, UpdatesBefore)
	}
	c.Stream = cmp.Or(c.Stream, schemas.ScanStream)
	c.Workers = cmp.Or(c.Workers, min(4*(1+len(c.Peers)), 16))
	c.Agree, c.AgreeOn = cmp.Or(c.Agree, 1), cmp.Or(c.AgreeOn, AgreeOnUpdates)
	c.BatchItems = cmp.Or(c.BatchItems, 8192)
	c.BatchBytes = cmp.Or(c.BatchBytes, 48<<20)
	c.InFlightBytes = cmp.Or(c.InFlightBytes, 64<<20)
	c.MaxPageBytes = cmp.Or(c.MaxPageBytes, 256<<20)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.BusyPoll = min(cmp.Or(c.BusyPoll, c.busyPoll()), c.Poll)
	c.RequestTimeout = cmp.Or(max(c.RequestTimeout, 0), 30*time.Second)
	c.Refresh = cmp.Or(c.Refresh, 30*time.Second)
	if c.Agree < 1 || c.Agree > len(c.urls()) {
		return fmt.Errorf("%d upstreams cannot agree: there are %d", c.Agree, len(c.urls()))
	}
	if c.AgreeOn != AgreeOnUpdates && c.AgreeOn != AgreeOnEvents {
		return fmt.Errorf("upstreams agree on %q or %q, not on %q", AgreeOnUpdates, AgreeOnEvents, c.AgreeOn)
	}
	if c.Workers < 0 || c.BatchItems < 0 || c.BatchBytes < 0 || c.InFlightBytes < 0 || c.MaxPageBytes < 0 {
		return errors.New("workers and limits of the ingest must be positive")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Backoff == nil {
		c.Backoff = remote.Backoff
	}
	return nil
}

// urls are all upstreams.
func (c *Config) urls() []string { return append([]string{c.BaseURL}, c.Peers...) }

// busyPoll is the default of BusyPoll.
func (c *Config) busyPoll() time.Duration {
	for _, raw := range c.urls() {
		if u, err := url.Parse(raw); err != nil || !remote.IsLoopback(u.Hostname()) {
			return 250 * time.Millisecond
		}
	}
	return 100 * time.Millisecond
}
