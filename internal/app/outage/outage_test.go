package outage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// TestAnOutageIsTwoLines logs errors of a store that is away, and others, before, during and after it.
func TestAnOutageIsTwoLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var away atomic.Bool
		log, stop := Watch(slog.New(slog.NewTextHandler(&out, nil)), func(context.Context) error {
			if away.Load() {
				return store.ErrAway
			}
			return nil
		})
		defer func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}()
		log = log.With("stream", "scan")
		tell := func(at string, err error) { log.Warn("failed "+at, "err", err) }
		slow, other := fmt.Errorf("reading: %w", context.DeadlineExceeded), errors.New("something else")
		tell("before, slow", slow)
		for round := range 2 {
			away.Store(true)
			for range 3 {
				tell("of the store", fmt.Errorf("writing: %w: refused", store.ErrAway))
			}
			tell("by the store", slow)
			tell("beside it", other)
			time.Sleep(10*time.Second - poll/2) // between two times at which the store is asked
			if n := strings.Count(out.String(), "answers again"); n != round {
				t.Errorf("the store is said to answer %d times, want %d", n, round)
			}
			away.Store(false)
			time.Sleep(2 * poll)
		}
		tell("after, slow", slow)
		var got []string
		for line := range strings.Lines(out.String()) {
			_, line, _ = strings.Cut(line, "msg=")
			got = append(got, strings.TrimSpace(line))
		}
		want := []string{`"failed before, slow"`}
		for range 2 {
			want = append(want, `"the store does not answer`, `"failed beside it"`, `"the store answers again" away=10s lines_left_out=3`)
		}
		want = append(want, `"failed after, slow"`)
		for i, line := range got {
			if i >= len(want) || !strings.HasPrefix(line, want[i]) {
				t.Fatalf("line %d is %s of\n%s", i, line, out.String())
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d lines, want %d:\n%s", len(got), len(want), out.String())
		}
	})
}
