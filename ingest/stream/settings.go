package stream

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Settings are those that every ingester has, whatever it reads from. Zero values mean
// the defaults.
type Settings struct {
	// Sink stores the batches. Required.
	Sink Sink
	// Log is required.
	Log *slog.Logger
	// HTTPClient defaults to a client with its own connection pool.
	HTTPClient *http.Client

	// BatchItems and BatchBytes bound a batch; a single item that is larger than
	// BatchBytes is a batch by itself. Defaults 8,192 and 48 MiB.
	BatchItems int
	BatchBytes int64
	// InFlightBytes bounds what has been read ahead of the batch being filled. Default
	// 64 MiB. What is due next is always let through.
	InFlightBytes int64

	// MaxWait is the least time between two batches of a stream that is followed, of which the
	// second has fewer than MinSize items: a batch costs the store much the same whatever it has.
	// 0, the default, means that nothing waits.
	MaxWait time.Duration
	// Hurried returns a channel that receives when somebody waits for the next batch of a stream,
	// which then does not wait for MaxWait. It may be nil.
	Hurried func(stream string) <-chan struct{}

	// RequestTimeout ends a request, or a frame, that makes no or too little progress for
	// this long: see remote.Pace. Default 30s.
	RequestTimeout time.Duration
	// Backoff is the wait before the attempt that follows n failures in a row. Default
	// remote.Backoff.
	Backoff func(n int) time.Duration
	// MaxRetryAfter limits how long an upstream's Retry-After is obeyed. Default
	// remote.LongestRest.
	MaxRetryAfter time.Duration
	// GiveUpAfter ends the retries of one failure; 0 means never.
	GiveUpAfter time.Duration

	// Ahead is how far ahead of Now record times may be: later updates are waited for. 0
	// means no limit, for networks whose time is not that of the clock.
	Ahead time.Duration
	// Version is sent as User-Agent ledgerlake/<version>. Default "dev".
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

// MinSize is how many items a batch has that is written without waiting for more: as many as a network of
// 200 updates a second gives in the shortest wait between two polls.
const MinSize = 16

// SetDefaults checks the settings and fills in the defaults.
func (s *Settings) SetDefaults() error {
	switch {
	case s.Sink == nil:
		return errors.New("ingest needs a sink")
	case s.Log == nil:
		return errors.New("ingest needs a logger")
	}
	err := NotNegative(map[string]int64{
		"batch items": int64(s.BatchItems), "batch bytes": s.BatchBytes, "bytes in flight": s.InFlightBytes,
		"request timeout": int64(s.RequestTimeout), "give up": int64(s.GiveUpAfter), "time ahead": int64(s.Ahead),
		"longest wait of a batch": int64(s.MaxWait),
	})
	if err != nil {
		return err
	}
	s.BatchItems = cmp.Or(s.BatchItems, 8192)
	s.BatchBytes = cmp.Or(s.BatchBytes, 48<<20)
	s.InFlightBytes = cmp.Or(s.InFlightBytes, 64<<20)
	s.RequestTimeout = cmp.Or(s.RequestTimeout, 30*time.Second)
	s.MaxRetryAfter = cmp.Or(s.MaxRetryAfter, remote.LongestRest)
	s.Version = cmp.Or(s.Version, "dev")
	if s.Hurried == nil {
		s.Hurried = func(string) <-chan struct{} { return nil } // which never receives
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Backoff == nil {
		s.Backoff = remote.Backoff
	}
	return nil
}

// NotNegative returns an error that names a setting below 0, if there is one.
func NotNegative(settings map[string]int64) error {
	for name, n := range settings {
		if n < 0 {
			return fmt.Errorf("ingest: %s must not be negative", name)
		}
	}
	return nil
}

// GivesUp reports whether failures that began at since have lasted for GiveUpAfter.
func (s *Settings) GivesUp(since time.Time) bool {
	return s.GiveUpAfter > 0 && s.Now().Sub(since) > s.GiveUpAfter
}

// Horizon is the latest record time that may be stored now, schemas.MaxMicros if Ahead
// sets no limit.
func (s *Settings) Horizon() schemas.Micros {
	if s.Ahead == 0 {
		return schemas.MaxMicros
	}
	return schemas.MicrosOf(s.Now().Add(s.Ahead))
}
