// Package ingesttest has what the tests of both ingesters share.
package ingesttest

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Log writes to the test's log, from a level on.
func Log(t testing.TB, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(writer{t}, &slog.HandlerOptions{Level: level}))
}

type writer struct{ t testing.TB }

func (w writer) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// Context ends a test that hangs with a message rather than a panic.
func Context(t testing.TB, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("the test took too long"))
	t.Cleanup(cancel)
	return ctx
}

// Until waits for a condition, for so long that only one which never holds ends the test.
func Until(t testing.TB, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 2*time.Minute {
			t.Fatal("waited in vain")
		}
	}
}

// SameLines compares what arrived with what should have.
func SameLines(t testing.TB, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("item %d of %d differs:\n got %s\nwant %s", i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d items, want %d", len(got), len(want))
	}
}

// PeakHeap samples the heap while run is going on and returns its highest growth. It
// measures the whole process, so nothing else should run. What is wanted is memory in use,
// so garbage is collected early: by default it may grow to as much again, and beyond that
// while other programs keep the collector from its turn.
func PeakHeap(run func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done, sampled := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
			select {
			case <-done:
				sampled <- peak
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	run()
	close(done)
	return <-sampled
}
