package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// store is what exports segments and remembers which are done, as ClickHouse and the
// bucket do.
type store struct {
	mu    sync.Mutex
	due   []schemas.SegmentRef
	runs  map[string]int // by task ID
	fault error          // of DueSegments
	// export is what a run does before the segment is done, nil for nothing.
	export func(ctx context.Context, s schemas.SegmentRef, run int, progress jobs.ProgressFunc) error
}

func newStore(due ...schemas.SegmentRef) *store { return &store{due: due, runs: map[string]int{}} }

func (s *store) ExportSegment(ctx context.Context, segment schemas.SegmentRef, progress jobs.ProgressFunc) error {
	s.mu.Lock()
	s.runs[jobs.ExportSegmentTask(segment).ID]++
	run, export := s.runs[jobs.ExportSegmentTask(segment).ID], s.export
	s.mu.Unlock()
	if export != nil {
		if err := export(ctx, segment, run, progress); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = slices.DeleteFunc(s.due, func(d schemas.SegmentRef) bool { return d == segment })
	return nil
}

func (s *store) DueSegments(context.Context) ([]schemas.SegmentRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.due), s.fault
}

func (s *store) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.due)
}

func (s *store) runsOf(segment schemas.SegmentRef) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[jobs.ExportSegmentTask(segment).ID]
}

func (s *store) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// segment is the n-th day of July 2026.
func segment(n int) schemas.SegmentRef {
	return schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: fmt.Sprintf("2026-07-%02d", n)}
}

func segments(n int) []schemas.SegmentRef {
	var all []schemas.SegmentRef
	for i := range n {
		all = append(all, segment(i+1))
	}
	return all
}

func open(t *testing.T, cfg jobs.Config, handlers ...jobs.Handler) *jobs.Queue {
	t.Helper()
	q, err := jobs.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := q.Register(handlers...); err != nil {
		t.Fatal(err)
	}
	return q
}

// run runs the queue until the returned function is called or the test ends.
func run(t *testing.T, q *jobs.Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func counts(t *testing.T, q *jobs.Queue) map[jobs.State]int {
	t.Helper()
	c, err := q.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// empty reports whether no task is left on the queue in any state.
func empty(t *testing.T, q *jobs.Queue) bool {
	t.Helper()
	for _, n := range counts(t, q) {
		if n != 0 {
			return false
		}
	}
	return true
}

func dead(t *testing.T, q *jobs.Queue) []jobs.Status {
	t.Helper()
	d, err := q.Dead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func enqueue(t *testing.T, q *jobs.Queue, task jobs.Task) bool {
	t.Helper()
	fresh, err := q.Enqueue(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}
