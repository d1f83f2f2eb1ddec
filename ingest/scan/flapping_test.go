package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// foreignWords are what may stand before an upstream and come and go, by name.
func foreignWords() map[string]func(w http.ResponseWriter) {
	status := func(status int) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<html><h1>%s</h1>", http.StatusText(status))
		}
	}
	words := map[string]func(w http.ResponseWriter){
		"a sign-in page": func(w http.ResponseWriter) { fmt.Fprint(w, "\n<!doctype html><title>Sign in</title>") },
	}
	for _, s := range []int{http.StatusNotFound, http.StatusForbidden, http.StatusNotImplemented} {
		words[fmt.Sprint("status ", s)] = status(s)
	}
	return words
}

// An upstream that has answered is not given up because a proxy before it refuses for a
// while, longer than a refusal is put up with at the start.
func TestRefusalsInMidStreamAreRiddenOut(t *testing.T) {
	t.Parallel()
	for name, speak := range foreignWords() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := generate(0, -1, 0, 900)
			later := m.items[600:]
			m.items = m.items[:600]
			u, sink := newUpstream(t, m), newSink()
			ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
			ctx, cancel := context.WithCancelCause(testContext(t))
			enough := errors.New("enough")
			ran := make(chan error, 1)
			go func() { ran <- ing.Run(ctx) }()
			first := len(u.lines(Events))
			until(t, func() bool { return sink.count() == first })
			var refused atomic.Int64
			u.set(func(u *upstream) {
				m.items = append(m.items, later...)
				u.intercept = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
					if refused.Add(1) > refusalTries+2 {
						return false
					}
					speak(w)
					return true
				}
			})
			all := len(u.lines(Events))
			until(t, func() bool { return sink.count() == all || len(ran) > 0 })
			s := ing.Status()
			cancel(enough)
			if err := <-ran; !errors.Is(err, enough) {
				t.Fatalf("stopped by %v", err)
			}
			sameLines(t, sink.lines, u.lines(Events))
			if !strings.Contains(s.LastError, strings.TrimPrefix(name, "a sign-in ")) || s.Retries < refusalTries {
				t.Errorf("%d retries, last error %q", s.Retries, s.LastError)
			}
		})
	}
}
