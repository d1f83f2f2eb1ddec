package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) {
	schematest.WaitInParallel() // most of them do
	os.Exit(m.Run())
}

func TestBuiltinQueue(t *testing.T) {
	t.Parallel()
	runSuite(t, "")
}

func TestRedisQueue(t *testing.T) {
	t.Parallel()
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
		{"RunIsShownAndCancelled", runIsShownAndCancelled},
		{"WhatWaitsIsNoFailure", whatWaitsIsNoFailure},
		{"WhatPassesIsRepeatedForEver", whatPassesIsRepeatedForEver},
		{"DeadTaskComesBackWhileItIsDue", deadTaskComesBackWhileItIsDue},
		{"NetworkFoldersAreExported", networkFoldersAreExported},
		{"FirstHandlerFirst", firstHandlerFirst},
		{"ConcurrencyIsBounded", concurrencyIsBounded},
		{"PromptWorkPassesBulkWork", promptWorkPassesBulkWork},
		{"NotBefore", notBefore},
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

func dueSegmentsAreExportedOnce(t *testing.T, cfg jobs.Config) {
	s := newStore(segments(20)...)
	q := open(t, cfg, jobs.ExportSegments(s))
	run(t, q)
	eventually(t, "all exported", func() bool { return s.left() == 0 && empty(t, q) })
	for _, segment := range segments(20) {
		// These take no time, so one may be done between the answer that it is due and
		// its being queued: twice is allowed, and harmless.
		if n := s.runsOf(segment); n < 1 || n > 2 {
			t.Errorf("%s was exported %d times", jobs.ExportSegmentTask(segment).ID, n)
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
	if got, want := jobs.ExportNetworkTask(f.due[0]).ID, "export_network:node%3Aa:ACS:1970-01-01T00:00:00Z~1970-01-02T00:00:00Z"; got != want {
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
