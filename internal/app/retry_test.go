package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestSteadyWork fails in turn in each way, and says which failures end the work.
func TestSteadyWork(t *testing.T) {
	t.Parallel()
	failures := []error{errors.New("status 204"), schemas.ErrMalformed, schemas.ErrDisagreement, schemas.ErrNoSpace, schemas.ErrDiverged}
	quick := func(int) time.Duration { return time.Millisecond }
	calls := 0
	err := retrier{backoff: quick}.run(t.Context(), slog.New(slog.DiscardHandler), "work", func(context.Context) error {
		calls++
		switch {
		case calls == 1:
			panic("odd")
		case calls-2 < len(failures):
			return failures[calls-2]
		}
		return nil
	})
	if err != nil || calls != len(failures)+2 {
		t.Errorf("ended with %v after %d calls", err, calls)
	}
	for name, c := range map[string]struct {
		fails error
		calls int
	}{
		"diverged for long": {fmt.Errorf("%w: other content", schemas.ErrDiverged), divergedTries},
		"replaced":          {fmt.Errorf("%w: give way", schemas.ErrReplaced), 1},
	} {
		calls := 0
		err := retrier{backoff: quick, divergedFor: time.Microsecond}.run(t.Context(), slog.New(slog.DiscardHandler), "work", func(context.Context) error {
			calls++
			return c.fails
		})
		if !errors.Is(err, schemas.ErrDiverged) || calls != c.calls {
			t.Errorf("%s: ended with %v after %d calls, want %d", name, err, calls, c.calls)
		}
	}
}

// stoppedSource is a source whose history has diverged.
type stoppedSource struct{ source }

func (stoppedSource) Run(context.Context) error { return schemas.ErrReplaced }
func (stoppedSource) stream() string            { return "scan" }
func (stoppedSource) live() LiveStream          { return LiveStream{Phase: "starting"} }

// TestStoppedStreamsEndNothing: a stream that stops shows so, and Run goes on to the end of its
// context.
func TestStoppedStreamsEndNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &retriedSource{source: stoppedSource{}, log: slog.New(slog.DiscardHandler)}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for s.live().Phase != "stopped" {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-ended:
		t.Errorf("Run ended with %v", err)
	default:
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
