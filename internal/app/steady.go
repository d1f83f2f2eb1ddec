package app

import (
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
	// steadyAfter is how long work must have lasted for its end to be a first failure.
	steadyAfter = time.Minute
)

// steady repeats work that should never end. The zero value has the defaults.
type steady struct {
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
func (s steady) run(ctx context.Context, log *slog.Logger, what string, work func(context.Context) error) error {
	if s.backoff == nil {
		s.backoff = remote.Backoff
	}
	if s.divergedFor == 0 {
		s.divergedFor = divergedFor
	}
	if s.waiting == nil {
		s.waiting = func(error, time.Duration) {}
	}
	if s.progress == nil {
		s.progress = func() string { return "" }
	}
	var t troubles
	for {
		at, began := s.progress(), time.Now()
		s.waiting(nil, 0)
		err := guard.Call(func() error { return work(ctx) })
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if s.progress() != at || time.Since(began) > steadyAfter {
			t = troubles{}
		}
		if t.note(err); t.final(err, s.divergedFor) {
			return err
		}
		wait := s.backoff(t.failures)
		s.waiting(err, wait)
		if remote.Growing(t.failures) {
			log.ErrorContext(ctx, what+" failed, it is tried again", "err", err, "failures", t.failures, "retry_in", wait.Round(time.Millisecond))
		}
		if remote.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// troubles are failures in a row.
type troubles struct {
	failures int
	// diverged counts those at the end that were divergence, since the given time.
	diverged int
	since    time.Time
}

func (t *troubles) note(err error) {
	t.failures++
	switch {
	case !errors.Is(err, schemas.ErrDiverged):
		t.diverged = 0
	case t.diverged == 0:
		t.diverged, t.since = 1, time.Now()
	default:
		t.diverged++
	}
}

// final reports whether another attempt after err would be wrong.
func (t *troubles) final(err error, least time.Duration) bool {
	return errors.Is(err, schemas.ErrReplaced) || t.diverged >= divergedTries && time.Since(t.since) >= least
}

// steadySource is a source that is read for as long as the process lives: an upstream's
// fault is waited out. Only divergence stops it, and neither the process nor anything
// beside it ends with it.
type steadySource struct {
	source
	steady steady
	log    *slog.Logger

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
func (s *steadySource) Run(ctx context.Context) error {
	keeper := s.steady
	keeper.waiting, keeper.progress = s.wait, func() string { return s.source.live().Position }
	err := keeper.run(ctx, s.log, "reading the stream", s.source.Run)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	s.failed, s.failedAt, s.retry = err, time.Now(), time.Time{}
	s.mu.Unlock()
	s.log.ErrorContext(ctx, "stream stopped", "stream", s.stream(), "err", err, "to_go_on", s.wayOn(err))
	<-ctx.Done()
	return nil
}

// wait notes that the stream is not read for a while because of err, or is again.
func (s *steadySource) wait(err error, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = err; err != nil {
		s.failedAt, s.retry, s.retries = time.Now(), time.Now().Add(d), s.retries+1
	}
}

// wayOn says how to go on with a stream that stopped.
func (s *steadySource) wayOn(err error) string {
	if errors.Is(err, schemas.ErrReplaced) {
		return "leave the stream to the other process, or end that one and start this one again"
	}
	return "let the upstream give the history that the store holds and start again, or read the stream into an empty store; what is stored is served meanwhile"
}

// live adds what keeps the stream from being read.
func (s *steadySource) live() LiveStream {
	l := s.source.live()
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Retries += s.retries
	if s.failed == nil {
		return l
	}
	l.following, l.LastError, l.LastErrorAt = false, s.failed.Error(), timeOrNil(s.failedAt)
	if s.retry.IsZero() {
		l.Phase, l.Detail = "stopped", s.failed.Error()+"; to go on: "+s.wayOn(s.failed)
		return l
	}
	l.Phase = "waiting"
	l.Detail = fmt.Sprintf("trying again in %s: %s", max(0, time.Until(s.retry)).Round(time.Second), s.failed.Error())
	return l
}

// pace is how long upstreams are waited for. The zero value has the defaults of the
// ingesters.
type pace struct {
	// backoff is the wait before the attempt that follows n failures in a row.
	backoff func(n int) time.Duration
	// request is how long a request may make no progress; socket how long a websocket may
	// be silent; ping how often it is pinged, and its silence looked into.
	request, socket, ping time.Duration
	// rest is the most that an upstream's wish to be left alone is followed for.
	rest time.Duration
}
