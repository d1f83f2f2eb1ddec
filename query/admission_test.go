package query

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// heavy is a route whose calls reserve memory and then do their work.
func heavy(path string, class Class, bytes int64, work func(ctx context.Context) error) Route {
	return Route{Method: "GET", Path: path, Name: path, Class: class, Transfer: class == Dump, Handle: func(ctx context.Context, r *Request) error {
		ctx, err := r.Reserve(ctx, bytes)
		if err != nil {
			return err
		}
		if err := work(ctx); err != nil {
			return err
		}
		if class != Dump {
			return r.JSON(true)
		}
		return r.Lines(ctx, func(_ context.Context, dst []byte) ([]byte, bool, error) { return append(dst, "{}\n"...), false, nil })
	}}
}

// A route says what its operation takes: one that says nothing cannot reserve memory.
func TestLightCallsCannotReserveMemory(t *testing.T) {
	url := start(t, Config{}, heavy("/light", Light, 1, func(context.Context) error { return nil }))
	if a := do(t, "GET", url+"/light", ""); a.status != http.StatusInternalServerError {
		t.Errorf("status %d %s", a.status, a.body)
	}
}

// All of many dumps are served, a few at a time, though waiting takes longer than a request may;
// and light requests do not wait for them.
func TestManyDumpsAreAllServed(t *testing.T) {
	const dumps = 256
	var running, most atomic.Int64
	a := NewAdmission(AdmissionConfig{QueueTimeout: time.Minute})
	url := start(t, Config{Admission: a, RequestTimeout: 300 * time.Millisecond},
		heavy("/dump", Dump, 1, func(context.Context) error {
			defer running.Add(-1)
			for n := running.Add(1); ; {
				if now := most.Load(); n <= now || most.CompareAndSwap(now, n) {
					break
				}
			}
			time.Sleep(5 * time.Millisecond) // 256 of them take longer than RequestTimeout
			return nil
		}),
		get("/light", func(_ context.Context, r *Request) error { return r.JSON(true) }))
	var all sync.WaitGroup
	for range dumps {
		all.Go(func() {
			if a, err := try("GET", url+"/dump", ""); err != nil || a.status != http.StatusOK || a.body != "{}\n" {
				t.Errorf("a dump got %d %q, %v", a.status, a.body, err)
			}
		})
	}
	for a.queues[Dump].load().waiting < dumps/2 {
		time.Sleep(time.Millisecond)
	}
	if a := do(t, "GET", url+"/light", ""); a.status != http.StatusOK {
		t.Errorf("beside dumps a light request got %d", a.status)
	}
	all.Wait()
	if most.Load() > maxDumps {
		t.Errorf("%d dumps ran at once", most.Load())
	}
	atRest(t, a)
}

// atRest waits until nothing is left of any call.
func atRest(t *testing.T, a *Admission) {
	t.Helper()
	for stop := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		left := a.parked.load().held
		for _, q := range a.queues {
			l := q.load()
			left += l.held + int64(l.running+l.waiting)
		}
		if left == 0 {
			break
		}
		if time.Now().After(stop) {
			t.Error("places are not given back")
			break
		}
	}
	for _, q := range append(a.queues[:], a.parked) {
		idle(t, q)
	}
}

// A client that hangs up while it waits leaves the queue.
func TestAHungUpWaiterLeavesTheQueue(t *testing.T) {
	a := NewAdmission(AdmissionConfig{QueueTimeout: time.Minute})
	release := make(chan struct{})
	url := start(t, Config{Admission: a}, heavy("/page", Page, 1<<40, func(context.Context) error { <-release; return nil }))
	first := make(chan struct{})
	go func() {
		defer close(first)
		if a, err := try("GET", url+"/page", ""); err != nil || a.status != http.StatusOK {
			t.Errorf("the first got %d, %v", a.status, err)
		}
	}()
	waiting := func(n int) {
		t.Helper()
		for stop := time.Now().Add(10 * time.Second); a.queues[Page].load().waiting != n; time.Sleep(time.Millisecond) {
			if time.Now().After(stop) {
				t.Fatalf("%d wait, want %d", a.queues[Page].load().waiting, n)
			}
		}
	}
	for a.queues[Page].load().running == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	request, _ := http.NewRequestWithContext(ctx, "GET", url+"/page", nil)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("who hung up got %d", response.StatusCode)
		}
	}()
	waiting(1)
	hangUp()
	<-gone
	waiting(0)
	close(release)
	<-first
	atRest(t, a)
}

// A server that is stopped while requests wait ends within its time, and answers them.
func TestShutdownWithWaiters(t *testing.T) {
	a := NewAdmission(AdmissionConfig{QueueTimeout: time.Minute})
	entered := make(chan struct{}, 1)
	cfg := Config{Admission: a, Address: "127.0.0.1:0", Log: testLog(t), ShutdownTimeout: 200 * time.Millisecond}
	cfg.Mounts = []Mount{{Prefixes: []string{""}, Routes: []Route{heavy("/page", Page, 1<<40, func(ctx context.Context) error {
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})}}}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if a, err := try("GET", "http://"+s.Addr()+"/page", ""); err == nil && a.status != http.StatusServiceUnavailable {
				t.Errorf("a request at the end got %d", a.status)
			}
		})
	}
	<-entered
	for a.queues[Page].load().waiting < 4 {
		time.Sleep(time.Millisecond)
	}
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
	}
	all.Wait()
	atRest(t, a)
}

// The metrics tell what waits, what runs and what memory is reserved.
func TestAdmissionMetrics(t *testing.T) {
	a := NewAdmission(AdmissionConfig{Memory: 4000})
	reg := prometheus.NewRegistry()
	hold := make(chan struct{})
	url := start(t, Config{Admission: a, Metrics: reg}, heavy("/page", Page, 700, func(context.Context) error { <-hold; return nil }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = try("GET", url+"/page", "")
	}()
	for a.queues[Page].load().running == 0 {
		time.Sleep(time.Millisecond)
	}
	text := do(t, "GET", url+"/metrics", "").body
	for line, value := range map[string]int{
		`ledgerlake_admission_running{class="page"}`: 1, `ledgerlake_admission_waiting{class="page"}`: 0,
		`ledgerlake_admission_bytes{class="page"}`: 700, `ledgerlake_admission_bytes_limit{class="page"}`: 2000,
		`ledgerlake_admission_bytes_limit{class="parked"}`: 1000, `ledgerlake_admission_refused_total{class="light"}`: 0,
	} {
		if want := line + " " + strconv.Itoa(value) + "\n"; !strings.Contains(text, want) {
			t.Errorf("there is no line %q", want)
		}
	}
	close(hold)
	<-done
}
