package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func failsTwiceThenSucceeds(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	s.export = func(_ context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run <= 2 {
			return fmt.Errorf("fault %d", run)
		}
		return nil
	}
	var ended []string // under the lock of s
	cfg.Ended = func(id string, err error) { s.set(func() { ended = append(ended, fmt.Sprint(id, " ", err)) }) }
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "exported at the third attempt", func() bool { return s.left() == 0 && empty(t, q) })
	s.set(func() {
		id := jobs.ExportSegmentTask(segment(1)).ID
		if want := []string{id + " " + id + ": fault 1", id + " " + id + ": fault 2", id + " <nil>"}; len(ended) < 3 || !slices.Equal(ended[:3], want) {
			t.Errorf("told of %q, want %q", ended, want)
		}
	})
	// A look for due work that began before the third attempt ended may have queued another.
	if n := s.runsOf(segment(1)); n != 3 && n != 4 {
		t.Errorf("%d attempts, want 3", n)
	}
}

func panicIsAFailure(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	s.export = func(_ context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run == 1 {
			panic("fault")
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "exported after a panic", func() bool { return s.left() == 0 && empty(t, q) })
}

func undecodablePayloadIsDeadAtOnce(t *testing.T, cfg jobs.Config) {
	s := newStore()
	q := open(t, cfg, jobs.ExportSegments(s))
	kind := jobs.ExportSegmentTask(segment(1)).Kind
	for id, payload := range map[string]any{
		"number": 7, "no stream": schemas.SegmentRef{Date: "2026-07-02"}, "no date": schemas.SegmentRef{Stream: "scan", Date: "today"},
	} {
		enqueue(t, q, jobs.Task{Kind: kind, ID: id, Payload: payload})
	}
	run(t, q)
	eventually(t, "all dead", func() bool { return counts(t, q)[jobs.Dead] == 3 })
	for _, d := range dead(t, q) {
		if d.Failures != 0 || d.LastError == "" || d.LastFailed.IsZero() {
			t.Errorf("dead task %+v, want no repetition and a reason", d)
		}
	}
	if len(s.runs) != 0 {
		t.Errorf("exported %v", s.runs)
	}
}

// runIsShownAndCancelled watches how far a run is, stops it, and removes a task that waits.
func runIsShownAndCancelled(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	var stopped atomic.Bool
	s.export = func(ctx context.Context, _ schemas.SegmentRef, run int, progress jobs.ProgressFunc) error {
		if run > 1 {
			return nil
		}
		progress(3, 7)
		<-ctx.Done()
		stopped.Store(true)
		return ctx.Err()
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	const id = "export:scan:1:2026-07-01"
	eventually(t, "shown with its progress", func() bool {
		list, err := q.List(t.Context(), jobs.Active, 10)
		return err == nil && len(list) == 1 && list[0].ID == id && list[0].Done == 3 && list[0].Total == 7 && !list[0].Started.IsZero()
	})
	eventually(t, "stopped", func() bool { // its server subscribes to cancellations some time after it has begun
		if err := q.Cancel(t.Context(), id); err != nil && !errors.Is(err, jobs.ErrUnknownTask) {
			t.Fatal(err)
		}
		return stopped.Load()
	})
	eventually(t, "done when it is repeated", func() bool { return s.left() == 0 && empty(t, q) })
	enqueue(t, q, jobs.Task{Kind: jobs.Kind{Name: "later", Lane: jobs.Bulk}, ID: "later:1", NotBefore: time.Now().Add(time.Hour)})
	if n := counts(t, q)[jobs.Delayed]; n != 1 {
		t.Fatalf("%d delayed tasks", n)
	}
	if err := q.Cancel(t.Context(), "later:1"); err != nil || !empty(t, q) {
		t.Errorf("cancelling a delayed task: %v, counts %v", err, counts(t, q))
	}
	if err := q.Cancel(t.Context(), "later:1"); !errors.Is(err, jobs.ErrUnknownTask) {
		t.Errorf("cancelling it again: %v, want ErrUnknownTask", err)
	}
}

func deadTaskWaitsForAPerson(t *testing.T, cfg jobs.Config) {
	cfg.MaxRetry = 1
	s := newStore(segment(1), segment(2))
	s.export = func(_ context.Context, segment schemas.SegmentRef, _ int, _ jobs.ProgressFunc) error {
		if segment.Date == "2026-07-01" {
			return errors.New("bucket is full")
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "one dead, the other done", func() bool { return counts(t, q)[jobs.Dead] == 1 && s.left() == 1 })
	time.Sleep(4 * cfg.Rescan) // it is due all the time, and must not run again
	if n := s.runsOf(segment(1)); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
	d := dead(t, q)
	if len(d) != 1 || d[0].ID != "export:scan:1:2026-07-01" || d[0].State != jobs.Dead ||
		d[0].LastError != "export:scan:1:2026-07-01: bucket is full" {
		t.Fatalf("dead tasks: %+v", d)
	}
	s.set(func() { s.export = nil })
	if err := q.Retry(t.Context(), d[0].ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "exported when repeated", func() bool { return s.left() == 0 && empty(t, q) })
	if err := q.Retry(t.Context(), d[0].ID); !errors.Is(err, jobs.ErrUnknownTask) {
		t.Errorf("repeating a task that is done: %v, want ErrUnknownTask", err)
	}
}

// whatWaitsIsNoFailure repeats a task more often than it may fail.
func whatWaitsIsNoFailure(t *testing.T, cfg jobs.Config) {
	cfg.MaxRetry, cfg.NotYetWait = 1, 10*time.Millisecond
	s := newStore(segment(1))
	s.export = func(_ context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run < 5 {
			return jobs.NotYet(errors.New("nobody agrees"))
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "exported at last", func() bool { return s.left() == 0 && empty(t, q) })
	if n := s.runsOf(segment(1)); n < 5 {
		t.Errorf("%d runs, want 5", n)
	}
}

// whatPassesIsRepeatedForEver has a cause that lasts for many times as many runs as a task may
// fail: the waits grow, and it is never dead.
func whatPassesIsRepeatedForEver(t *testing.T, cfg jobs.Config) {
	cfg.MaxRetry = 1
	var mu sync.Mutex
	var waits []int
	cfg.Backoff = func(n int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, n)
		return 10 * time.Millisecond
	}
	s := newStore(segment(1))
	s.export = func(_ context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run < 6 {
			return jobs.Passing(errors.New("the disk is full"))
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "exported at last", func() bool { return s.left() == 0 && empty(t, q) })
	if n := s.runsOf(segment(1)); n < 6 {
		t.Errorf("%d runs, want 6", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(waits, []int{1, 2, 3, 4, 5}) {
		t.Errorf("the waits are those after %v failures", waits)
	}
}

// deadTaskComesBackWhileItIsDue settles a cause and asks nobody.
func deadTaskComesBackWhileItIsDue(t *testing.T, cfg jobs.Config) {
	cfg.Revive = time.Second // Redis keeps seconds
	s := newStore(segment(1))
	s.export = func(context.Context, schemas.SegmentRef, int, jobs.ProgressFunc) error {
		return jobs.Permanent(errors.New("another object has this key"))
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "dead", func() bool { return counts(t, q)[jobs.Dead] == 1 })
	s.set(func() { s.export = nil })
	eventually(t, "exported when its cause was settled", func() bool { return s.left() == 0 && empty(t, q) })
}
