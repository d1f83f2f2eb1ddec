package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBuiltinQueue(t *testing.T) {
	runSuite(t, "")
}

func TestRedisQueue(t *testing.T) {
	runSuite(t, startRedis(t))
}

// runSuite checks that a queue keeps its promises on one Redis.
func runSuite(t *testing.T, url string) {
	var n atomic.Int64
	for _, test := range []struct {
		name string
		run  func(t *testing.T, cfg jobs.Config)
	}{
		{"DueSegmentsAreExportedOnce", dueSegmentsAreExportedOnce},
		{"YearsAreQueuedInPortions", yearsAreQueuedInPortions},
		{"EnqueueTwiceIsOnce", enqueueTwiceIsOnce},
		{"DoneTaskMayComeAgain", doneTaskMayComeAgain},
		{"FailsTwiceThenSucceeds", failsTwiceThenSucceeds},
		{"PanicIsAFailure", panicIsAFailure},
		{"UndecodablePayloadIsDeadAtOnce", undecodablePayloadIsDeadAtOnce},
		{"DeadTaskWaitsForAPerson", deadTaskWaitsForAPerson},
		{"WhatWaitsIsNoFailure", whatWaitsIsNoFailure},
		{"WhatPassesIsRepeatedForEver", whatPassesIsRepeatedForEver},
		{"DeadTaskComesBackWhileItIsDue", deadTaskComesBackWhileItIsDue},
		{"NetworkFoldersAreExported", networkFoldersAreExported},
		{"FirstHandlerFirst", firstHandlerFirst},
		{"ConcurrencyIsBounded", concurrencyIsBounded},
		{"PromptWorkPassesBulkWork", promptWorkPassesBulkWork},
		{"NotBefore", notBefore},
		{"ProgressIsShown", progressIsShown},
		{"FlushedRedisLosesNoWork", flushedRedisLosesNoWork},
		{"StopLetsTasksFinish", stopLetsTasksFinish},
		{"StopCutsOffAndQueuesAgain", stopCutsOffAndQueuesAgain},
		{"RescanIsAtOnce", rescanIsAtOnce},
		{"FailingStoreIsAskedAgain", failingStoreIsAskedAgain},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, jobs.Config{
				RedisURL: url,
				Name:     fmt.Sprintf("test-%d", n.Add(1)), // its own keys on a shared server
				Rescan:   50 * time.Millisecond,
				Backoff:  func(int) time.Duration { return 10 * time.Millisecond },
				Log:      testLog(t),
			})
		})
	}
}

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
	s.runs[jobs.ExportTaskID(segment)]++
	run, export := s.runs[jobs.ExportTaskID(segment)], s.export
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
	return s.runs[jobs.ExportTaskID(segment)]
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

func dueSegmentsAreExportedOnce(t *testing.T, cfg jobs.Config) {
	s := newStore(segments(20)...)
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "all exported", func() bool { return s.left() == 0 && empty(t, q) })
	for _, segment := range segments(20) {
		// These take no time, so one may be done between the answer that it is due and
		// its being queued: twice is allowed, and harmless.
		if n := s.runsOf(segment); n < 1 || n > 2 {
			t.Errorf("%s was exported %d times", jobs.ExportTaskID(segment), n)
		}
	}
}

// Of years that are due at once only some are queued, and the others once those have run, long
// before the next interval.
func yearsAreQueuedInPortions(t *testing.T, cfg jobs.Config) {
	var due []schemas.SegmentRef
	for month := range 12 {
		for day := range 28 {
			due = append(due, schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: fmt.Sprintf("2027-%02d-%02d", month+1, day+1)})
		}
	}
	s, hold := newStore(due...), make(chan struct{})
	s.export = func(ctx context.Context, _ schemas.SegmentRef, _ int, _ jobs.ProgressFunc) error {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	cfg.Rescan, cfg.Concurrency = time.Hour, 8
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	queued := func() (n int) {
		for _, state := range counts(t, q) {
			n += state
		}
		return n
	}
	eventually(t, "some are queued", func() bool { return queued() > 0 && counts(t, q)[jobs.Active] == 8 })
	if n := queued(); n > 100 {
		t.Errorf("%d of %d tasks are queued at once", n, len(due))
	}
	close(hold)
	eventually(t, "all exported", func() bool { return s.left() == 0 && empty(t, q) })
}

func enqueueTwiceIsOnce(t *testing.T, cfg jobs.Config) {
	q := open(t, cfg)
	task := jobs.ExportSegmentTask(segment(2))
	if first, second := enqueue(t, q, task), enqueue(t, q, task); !first || second {
		t.Errorf("queued the same task twice: fresh %v, then %v", first, second)
	}
	if c := counts(t, q); c[jobs.Pending] != 1 {
		t.Errorf("counts: %v, want 1 pending", c)
	}
	pending, err := q.List(t.Context(), jobs.Pending, 10)
	if err != nil || len(pending) != 1 {
		t.Fatalf("pending tasks: %+v, %v", pending, err)
	}
	want := `{"stream":"scan","migration_id":1,"date":"2026-07-02"}`
	if p := pending[0]; p.ID != "export:scan:1:2026-07-02" || p.Kind != "export_segment" || p.Lane != jobs.Bulk ||
		string(p.Payload) != want || p.State != jobs.Pending {
		t.Errorf("pending task: %+v", p)
	}
}

func doneTaskMayComeAgain(t *testing.T, cfg jobs.Config) {
	s := newStore()
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	for n := 1; n <= 2; n++ {
		if !enqueue(t, q, jobs.ExportSegmentTask(segment(1))) {
			t.Errorf("round %d: not queued", n)
		}
		eventually(t, "done", func() bool { return s.runsOf(segment(1)) == n && empty(t, q) })
	}
}

func failsTwiceThenSucceeds(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	s.export = func(_ context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run <= 2 {
			return fmt.Errorf("fault %d", run)
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "exported at the third attempt", func() bool { return s.left() == 0 && empty(t, q) })
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

// folders is a store of the network's layout.
type folders struct {
	mu  sync.Mutex
	due []schemas.NetworkRef
}

func (f *folders) ExportNetwork(_ context.Context, ref schemas.NetworkRef, progress jobs.ProgressFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	progress(1, 1)
	f.due = slices.DeleteFunc(f.due, func(d schemas.NetworkRef) bool { return d == ref })
	return nil
}

func (f *folders) DueNetwork(context.Context) ([]schemas.NetworkRef, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.due), nil
}

// newFolders is a store with the active sets of n days.
func newFolders(n int) *folders {
	const day = 24 * 3600 * 1e6
	f := &folders{}
	for i := range schemas.Micros(n) {
		f.due = append(f.due, schemas.NetworkRef{Stream: "node:a", Kind: schemas.NetworkACS, Start: i * day, End: (i + 1) * day})
	}
	return f
}

func (f *folders) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.due)
}

func firstHandlerFirst(t *testing.T, cfg jobs.Config) {
	cfg.Concurrency = 1
	s, f := newStore(segments(5)...), newFolders(3)
	var early atomic.Int64
	var seen sync.Map // a scan that began before the end of a task queues it again
	s.export = func(_ context.Context, ref schemas.SegmentRef, _ int, _ jobs.ProgressFunc) error {
		if _, again := seen.LoadOrStore(ref, true); !again {
			early.Add(int64(3 - f.left()))
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s), jobs.ExportNetwork(f))
	run(t, q)
	eventually(t, "all exported", func() bool { return s.left() == 0 && f.left() == 0 && empty(t, q) })
	if early.Load() > 0 {
		t.Error("work of the second handler was done before that of the first")
	}
}

func networkFoldersAreExported(t *testing.T, cfg jobs.Config) {
	f := newFolders(4)
	if got, want := jobs.NetworkTaskID(f.due[0]), "export_network:node%3Aa:ACS:1970-01-01T00:00:00Z~1970-01-02T00:00:00Z"; got != want {
		t.Errorf("the task is called %s, want %s", got, want)
	}
	q := open(t, cfg, jobs.ExportNetwork(f))
	run(t, q)
	eventually(t, "all exported", func() bool { return f.left() == 0 && empty(t, q) })
}

func concurrencyIsBounded(t *testing.T, cfg jobs.Config) {
	cfg.Concurrency = 3
	s := newStore(segments(12)...)
	var now, most atomic.Int64
	full := make(chan struct{}) // closed when three run at once
	s.export = func(ctx context.Context, _ schemas.SegmentRef, _ int, _ jobs.ProgressFunc) error {
		n := now.Add(1)
		defer now.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		if n == 3 && most.Load() == 3 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		select {
		case <-full:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "all exported", func() bool { return s.left() == 0 })
	if most.Load() != 3 {
		t.Errorf("%d ran at once, want 3", most.Load())
	}
}

func promptWorkPassesBulkWork(t *testing.T, cfg jobs.Config) {
	s := newStore(segments(5)...)
	release := make(chan struct{})
	s.export = func(context.Context, schemas.SegmentRef, int, jobs.ProgressFunc) error {
		<-release
		return nil
	}
	kind := jobs.Kind{Name: "accept_transfer", Lane: jobs.Prompt}
	ran := make(chan string, 1)
	q := open(t, cfg, jobs.ExportSegments(s), jobs.Handler{
		Kind: kind,
		Run: func(_ context.Context, payload []byte, _ jobs.ProgressFunc) error {
			offer, err := jobs.Decode[string](kind, payload)
			ran <- offer
			return err
		},
	})
	run(t, q)
	defer close(release)
	eventually(t, "bulk workers busy", func() bool { return counts(t, q)[jobs.Active] == 2 })
	enqueue(t, q, jobs.Task{Kind: kind, ID: "accept:00ab", Payload: "00ab"})
	select {
	case offer := <-ran:
		if offer != "00ab" {
			t.Errorf("payload %q", offer)
		}
	case <-time.After(5 * time.Second):
		t.Error("prompt work waited for bulk work")
	}
}

func notBefore(t *testing.T, cfg jobs.Config) {
	kind := jobs.Kind{Name: "expire", Lane: jobs.Prompt}
	ran := make(chan time.Time, 1)
	q := open(t, cfg, jobs.Handler{Kind: kind, Run: func(context.Context, []byte, jobs.ProgressFunc) error {
		ran <- time.Now()
		return nil
	}})
	run(t, q)
	at := time.Now().Add(1500 * time.Millisecond)
	enqueue(t, q, jobs.Task{Kind: kind, ID: "expire:1", NotBefore: at})
	delayed, err := q.List(t.Context(), jobs.Delayed, 10)
	if err != nil || len(delayed) != 1 || delayed[0].NextRun.Unix() != at.Unix() {
		t.Errorf("delayed tasks: %+v, %v, want one at %v", delayed, err, at)
	}
	// The queue counts in whole seconds.
	if got := <-ran; got.Unix() < at.Unix() {
		t.Errorf("ran at %v, not to run before %v", got, at)
	}
}

func progressIsShown(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	release := make(chan struct{})
	s.export = func(_ context.Context, _ schemas.SegmentRef, _ int, progress jobs.ProgressFunc) error {
		progress(1000, 5000) // found done by an earlier run
		time.Sleep(600 * time.Millisecond)
		progress(2000, 5000)
		<-release
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	var p *jobs.Progress
	eventually(t, "progress of 2000", func() bool {
		active, err := q.List(t.Context(), jobs.Active, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(active) == 1 {
			p = active[0].Progress
		}
		return p != nil && p.Done == 2000
	})
	// 1000 in 0.6 s and more, 3000 left.
	if p.Total != 5000 || p.Rate <= 500 || p.Rate > 1667 || p.ETA < 1.8 || p.ETA > 6 {
		t.Errorf("progress %+v", *p)
	}
	close(release)
	eventually(t, "done", func() bool { return empty(t, q) })
}

func flushedRedisLosesNoWork(t *testing.T, cfg jobs.Config) {
	if cfg.RedisURL != "" {
		cfg.RedisURL = startRedis(t) // of its own: others must not lose theirs
	}
	s := newStore(segments(6)...)
	started, flushed := make(chan struct{}, 100), make(chan struct{})
	s.export = func(_ context.Context, segment schemas.SegmentRef, run int, progress jobs.ProgressFunc) error {
		started <- struct{}{}
		<-flushed
		progress(1, 1)
		if run == 1 && segment.Date == "2026-07-01" {
			return errors.New("fault after the flush")
		}
		return nil
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	<-started
	<-started // two run, four wait
	if err := q.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(flushed)
	eventually(t, "all exported although Redis was flushed", func() bool { return s.left() == 0 && empty(t, q) })
	if d := dead(t, q); len(d) != 0 {
		t.Errorf("dead tasks: %+v", d)
	}
}

func stopLetsTasksFinish(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	started := make(chan struct{})
	s.export = func(ctx context.Context, _ schemas.SegmentRef, _ int, _ jobs.ProgressFunc) error {
		close(started)
		time.Sleep(300 * time.Millisecond)
		return ctx.Err()
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	stop := run(t, q)
	<-started
	stop()
	if s.left() != 0 || !empty(t, q) {
		t.Errorf("%d segments left and counts %v when a task that was running had time to finish", s.left(), counts(t, q))
	}
}

func stopCutsOffAndQueuesAgain(t *testing.T, cfg jobs.Config) {
	cfg.Drain = 200 * time.Millisecond
	s := newStore(segment(1))
	started := make(chan struct{}, 1)
	var returned atomic.Bool
	s.export = func(ctx context.Context, _ schemas.SegmentRef, run int, _ jobs.ProgressFunc) error {
		if run > 1 {
			return nil
		}
		started <- struct{}{}
		<-ctx.Done()
		time.Sleep(100 * time.Millisecond) // cleans up
		returned.Store(true)
		return ctx.Err()
	}
	q := open(t, cfg, jobs.ExportSegments(s))
	stop := run(t, q)
	<-started
	stop()
	if !returned.Load() {
		t.Error("Run returned before its handler did")
	}
	if c := counts(t, q); c[jobs.Pending] != 1 || c[jobs.Failing] != 0 {
		t.Errorf("counts %v, want the task pending as if it had not run", c)
	}
	run(t, q)
	eventually(t, "exported by the next run", func() bool { return s.left() == 0 && empty(t, q) })
}

func rescanIsAtOnce(t *testing.T, cfg jobs.Config) {
	cfg.Rescan = time.Hour
	s := newStore(segment(1))
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "the first scan's segment exported", func() bool { return s.left() == 0 })
	s.set(func() { s.due = append(s.due, segment(2)) })
	q.Rescan()
	eventually(t, "a segment that became due exported", func() bool { return s.left() == 0 })
}

func failingStoreIsAskedAgain(t *testing.T, cfg jobs.Config) {
	s := newStore(segment(1))
	s.fault = errors.New("store is down")
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	time.Sleep(2 * cfg.Rescan)
	s.set(func() { s.fault = nil })
	eventually(t, "exported once the store answers", func() bool { return s.left() == 0 })
}

// testLog writes to the test's log as long as the test runs.
func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}
