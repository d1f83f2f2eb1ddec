package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// divergedTries and divergedFor are how often, and for how long, a stream has to be
	// found diverged in a row until it stops: an upstream that answers oddly for a moment,
	// such as a replica that is behind, can look like another network.
	divergedTries = 5
	divergedFor   = 2 * time.Minute
	// steadyFor is how long work must have lasted for its end to be a first failure.
	steadyFor = time.Minute
)

// retrier repeats work that should never end. The zero value has the defaults.
type retrier struct {
	// backoff is the wait before the attempt that follows n failures in a row. Default
	// remote.Backoff, which is well below a minute.
	backoff func(n int) time.Duration
	// divergedFor is the time of that name.
	divergedFor time.Duration
	// waiting, when set, is called with each failure and the wait that follows it, and with nil
	// when work begins again.
	waiting func(err error, wait time.Duration)
	// progress, when set, says how far work is: failures with progress in between do not
	// follow each other.
	progress func() string
}

// run calls work until ctx ends, which it reports as nil. Whatever work fails with is
// tried again with backoff, a panic included. It gives up, and returns why, on work that
// must not be repeated: when another process has taken it over, or when history has
// diverged and stays so.
func (r retrier) run(ctx context.Context, log *slog.Logger, what string, work func(context.Context) error) error {
	if r.backoff == nil {
		r.backoff = remote.Backoff
	}
	r.divergedFor = cmp.Or(r.divergedFor, divergedFor)
	if r.waiting == nil {
		r.waiting = func(error, time.Duration) {}
	}
	if r.progress == nil {
		r.progress = func() string { return "" }
	}
	var row failures
	for {
		at, began := r.progress(), time.Now()
		r.waiting(nil, 0)
		err := guard.Call(func() error { return work(ctx) })
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if r.progress() != at || time.Since(began) > steadyFor {
			row = failures{}
		}
		if row.note(err); row.final(err, r.divergedFor) {
			return err
		}
		wait := r.backoff(row.count)
		r.waiting(err, wait)
		if remote.Growing(row.count) {
			log.ErrorContext(ctx, what+" failed and will be retried", "err", err, "failures", row.count, "retry_in", wait.Round(time.Millisecond))
		}
		if remote.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// failures are failures in a row.
type failures struct {
	count int
	// diverged counts those at the end that were divergence, since the given time.
	diverged int
	since    time.Time
}

func (f *failures) note(err error) {
	f.count++
	switch {
	case !errors.Is(err, schemas.ErrDiverged):
		f.diverged = 0
	case f.diverged == 0:
		f.diverged, f.since = 1, time.Now()
	default:
		f.diverged++
	}
}

// final reports whether another attempt after err would be wrong.
func (f *failures) final(err error, least time.Duration) bool {
	return errors.Is(err, schemas.ErrReplaced) || f.diverged >= divergedTries && time.Since(f.since) >= least
}

// retriedSource is a source that is read for as long as the process lives: an upstream's
// fault is waited out. Only divergence stops it, and neither the process nor anything
// beside it ends with it.
type retriedSource struct {
	source
	retrier retrier
	log     *slog.Logger
	// replaced, when set, is called when another process has taken the stream over; if it reports
	// true the work ends instead of stopping for good.
	replaced func(error) bool

	mu sync.Mutex
	// failed is why the stream is not being read, nil while it is; retry is when it will be,
	// zero for never.
	failed   error
	failedAt time.Time
	retry    time.Time
	retries  int64
}

// Run reads the stream until ctx ends. A stream that stops stays so: Run waits for the end
// of ctx then, too.
func (s *retriedSource) Run(ctx context.Context) error {
	return s.repeat(ctx, "reading the stream", s.source.Run)
}

// identify asks for the name of the stream until it is known or ctx ends.
func (s *retriedSource) identify(ctx context.Context) error {
	return s.repeat(ctx, "asking for the name of the stream", s.source.identify)
}

func (s *retriedSource) repeat(ctx context.Context, what string, work func(context.Context) error) error {
	retrier := s.retrier
	retrier.waiting, retrier.progress = s.wait, func() string { return s.source.live().Position }
	err := retrier.run(ctx, s.log, what, work)
	if err == nil || s.replaced != nil && s.replaced(err) {
		return nil
	}
	s.mu.Lock()
	s.failed, s.failedAt, s.retry = err, time.Now(), time.Time{}
	s.mu.Unlock()
	s.log.ErrorContext(ctx, "stream stopped", "stream", s.stream(), "err", err, "to_go_on", s.remedy(err))
	<-ctx.Done()
	return nil
}

// wait notes that the stream is not read for a while because of err, or is again.
func (s *retriedSource) wait(err error, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = err; err != nil {
		s.failedAt, s.retry, s.retries = time.Now(), time.Now().Add(d), s.retries+1
	}
}

// remedy says how to go on with a stream that stopped.
func (s *retriedSource) remedy(err error) string {
	if errors.Is(err, schemas.ErrReplaced) {
		return "leave the stream to the other process, or stop that one and start this one again"
	}
	return "have the upstream return the history that the store has and start again, or ingest into an empty store; what is stored is served meanwhile"
}

// live adds what keeps the stream from being read.
func (s *retriedSource) live() LiveStream {
	l := s.source.live()
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Retries += s.retries
	if s.failed == nil {
		return l
	}
	l.following, l.LastError, l.LastErrorAt = false, s.failed.Error(), timeOrNil(s.failedAt)
	if s.retry.IsZero() {
		l.Phase, l.Detail = "stopped", s.failed.Error()+"; to continue: "+s.remedy(s.failed)
		return l
	}
	l.Phase = "waiting"
	l.Detail = fmt.Sprintf("trying again in %s: %s", max(0, time.Until(s.retry)).Round(time.Second), s.failed.Error())
	return l
}

// timeouts say how long upstreams are waited for. The zero value has the defaults of the
// ingesters.
type timeouts struct {
	// backoff is the wait before the attempt that follows n failures in a row.
	backoff func(n int) time.Duration
	// request is how long a request may make no progress; socket how long a websocket may
	// be silent; ping how often it is pinged, and its silence looked into.
	request, socket, ping time.Duration
	// rest is the most that an upstream's wish to be left alone is followed for.
	rest time.Duration
}
