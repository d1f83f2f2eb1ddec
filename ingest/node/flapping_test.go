package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
)

// A node that has given its stream is not given up because a proxy before it refuses for a
// while, longer than a refusal is put up with at the start.
func TestRefusalsInMidStreamAreRiddenOut(t *testing.T) {
	t.Parallel()
	status := func(status int) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<html><h1>%s</h1>", http.StatusText(status))
		}
	}
	words := map[string]func(w http.ResponseWriter){
		"HTML page": func(w http.ResponseWriter) { fmt.Fprint(w, "\n<!doctype html><title>Sign in</title>") },
	}
	for _, s := range []int{404, 401, 403} {
		words[fmt.Sprint("status ", s)] = status(s)
	}
	for name, speak := range words {
		most := int64(refusalTries + 1)
		if strings.Contains(name, "404") {
			most += refusalTries // a try goes on after the first of its calls has this answer
		}
		for _, source := range []Source{WebSocket, Lists} {
			t.Run(name+" on "+string(source), func(t *testing.T) {
				t.Parallel()
				g := newGenerator(41)
				u, sink := newUpstream(t, g.elements(60)), newSink()
				ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
				stop := running(t, ing)
				sink.await(t, func() bool { return sink.at.Offset >= u.end })
				var refused atomic.Int64
				u.set(func(u *upstream) {
					u.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
						if refused.Add(1) > most {
							return false
						}
						speak(w)
						return true
					}
				})
				u.drop()
				until(t, func() bool { return refused.Load() > most || ing.Status().Phase == stream.PhaseStopped })
				s := ing.Status()
				u.grow(g.elements(60)...)
				sink.await(t, func() bool { return sink.at.Offset >= u.end || ing.Status().Phase == stream.PhaseStopped })
				if err := stop(); !errors.Is(err, errTestOver) {
					t.Fatalf("stopped by %v", err)
				}
				sameLines(t, sink.lines, u.lines(0, u.end))
				if !strings.Contains(s.LastError, name) || s.Retries < refusalTries {
					t.Errorf("%d retries, last error %q", s.Retries, s.LastError)
				}
			})
		}
	}
}

// Before the stream has ever come, what does not look like a node stops the ingest soon.
func TestPagesAtTheStartStop(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, newGenerator(42).elements(10))
	u.intercept = func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>"); return true }
	begin := time.Now()
	if err := newIngester(t, u, newSink(), nil).Backfill(testContext(t)); err == nil || !strings.Contains(err.Error(), "HTML page") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}
