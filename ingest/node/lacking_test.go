package node

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// lacking are ways of a list not to have what it should.
func lacking() map[string]func(list []json.RawMessage) string {
	joined := func(list []json.RawMessage) string {
		body, _ := json.Marshal(list)
		return string(body)
	}
	return map[string]func(list []json.RawMessage) string{
		"null":             func([]json.RawMessage) string { return "null" },
		"empty":            func([]json.RawMessage) string { return "[]" },
		"an object":        func([]json.RawMessage) string { return "{}" },
		"a text":           func([]json.RawMessage) string { return `"[]"` },
		"without the last": func(list []json.RawMessage) string { return joined(list[:max(0, len(list)-1)]) },
		"without the first": func(list []json.RawMessage) string {
			return joined(list[min(1, len(list)):])
		},
		"without one in the middle": func(list []json.RawMessage) string {
			if len(list) < 3 {
				return joined(list)
			}
			at := len(list) / 2
			return joined(append(append([]json.RawMessage{}, list[:at]...), list[at+1:]...))
		},
	}
}

// spoil changes the answers of an operation's list calls, the first times of them.
func spoil(u *upstream, operation string, times int64, how func([]json.RawMessage) string) *atomic.Int64 {
	var spoiled atomic.Int64
	u.set(func(u *upstream) {
		u.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != operation || r.Header.Get("Upgrade") != "" || spoiled.Add(1) > times {
				return false
			}
			u.answerSpoiled(w, r, how)
			return true
		}
	})
	return &spoiled
}

// answerSpoiled answers a list call with another list.
func (u *upstream) answerSpoiled(w http.ResponseWriter, r *http.Request, how func([]json.RawMessage) string) {
	answer := httptest.NewRecorder()
	u.answer(answer, r)
	var list []json.RawMessage
	if json.Unmarshal(answer.Body.Bytes(), &list) != nil {
		u.t.Errorf("the answer is not a list: %s", answer.Body)
	}
	_, _ = w.Write([]byte(how(list)))
}

// TestListsThatLackUpdates leaves updates out of list calls, for a while and for good: they
// are asked for again, and never taken for updates that are not there.
func TestListsThatLackUpdates(t *testing.T) {
	t.Parallel()
	const forGood = 1 << 40
	for name, how := range lacking() {
		for _, source := range []Source{Lists, Flats} {
			t.Run(name+" of "+string(source), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, newGenerator(61).elements(300)), newSink()
				spoiled := spoil(u, operationOf(source), 2, how)
				settings := func(c *Config) {
					c.Source, c.Backoff = source, func(int) time.Duration { return time.Millisecond }
				}
				if err := newIngester(t, u, sink, settings).Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(0, u.end))
				if spoiled.Load() < 2 {
					t.Fatalf("%d answers were spoiled", spoiled.Load())
				}

				spoil(u, operationOf(source), forGood, how)
				sink = newSink()
				err := newIngester(t, u, sink, settings).Backfill(testContext(t))
				if !errors.Is(err, schemas.ErrMalformed) {
					t.Fatalf("ended with %v and %d items of %d", err, sink.items, len(u.lines(0, u.end)))
				}
				for i, line := range u.lines(0, sink.at.Offset) {
					if sink.lines[i] != line {
						t.Fatalf("item %d is not the one that the node has", i)
					}
				}
			})
		}
	}
}

// TestListsOfANodeWithoutASecondOperation: what cannot be confirmed by another operation has
// to be said twice.
func TestListsOfANodeWithoutASecondOperation(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(62).elements(300)), newSink()
	u.missing[flatsOperation], u.missing["WS "+updatesOperation] = 404, 404
	spoil(u, updatesOperation, 1, lacking()["empty"])
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Source, c.Backoff = Lists, func(int) time.Duration { return time.Millisecond }
	})
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
}

// TestListsAfterAnOutage: a websocket that failed with everything else confirms lists again as
// soon as the node answers, since all list calls may lack the same then.
func TestListsAfterAnOutage(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(64).elements(300)), newSink()
	var lists atomic.Int64 // list calls so far
	u.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		isSocket := r.Header.Get("Upgrade") != ""
		isList := r.URL.Path == updatesOperation && !isSocket
		call := lists.Load()
		if isList {
			call = lists.Add(1)
		}
		isOther := isSocket || r.URL.Path == flatsOperation || r.URL.Path == pagesOperation
		switch {
		case call == 1 && isOther, call == 2 && isList: // nothing confirms the first list
			w.WriteHeader(http.StatusServiceUnavailable)
		case (call == 3 || call == 4) && !isSocket && (isList || isOther):
			u.answerSpoiled(w, r, lacking()["without the last"])
		default:
			return false
		}
		return true
	}
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Source, c.Backoff = Lists, func(int) time.Duration { return time.Millisecond }
	})
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
	if lists.Load() < 5 {
		t.Fatalf("%d list calls", lists.Load())
	}
}

// TestStreamsThatEndWithoutAWord closes websockets properly before anything was told.
func TestStreamsThatEndWithoutAWord(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(63).elements(300)), newSink()
	var closed atomic.Int64
	u.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != updatesOperation || r.Header.Get("Upgrade") == "" || closed.Add(1) > 2 {
			return false
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocolAuth}})
		if err != nil {
			return true
		}
		_, _, _ = conn.Read(r.Context())
		_ = conn.Close(websocket.StatusNormalClosure, "")
		return true
	}
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Source, c.Backoff = WebSocket, func(int) time.Duration { return time.Millisecond }
	})
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
	if closed.Load() < 3 {
		t.Errorf("%d websockets", closed.Load())
	}
}

// TestSetsThatLackContracts is the same for the contracts that a pruned node's stream begins
// with.
func TestSetsThatLackContracts(t *testing.T) {
	t.Parallel()
	for name, how := range lacking() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, _ := prunedUpstream(t, 64, 90)
			u.missing[activePagesOperation] = 404
			settings := func(c *Config) {
				c.Source, c.Backoff = Lists, func(int) time.Duration { return time.Millisecond }
			}
			sink := newSink()
			spoil(u, activeOperation, 2, how)
			if err := newIngester(t, u, sink, settings).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, activeLines(u.active))

			spoil(u, activeOperation, 1<<40, how)
			sink = newSink()
			if err := newIngester(t, u, sink, settings).Backfill(testContext(t)); !errors.Is(err, schemas.ErrMalformed) || sink.items > 0 {
				t.Errorf("ended with %v and %d items", err, sink.items)
			}
		})
	}
}

// TestStateThatIsNoObject: null is not the answer of a node whose ledger is empty.
func TestStateThatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"null", "[]", ""} {
		u, sink := newUpstream(t, newGenerator(65).elements(30)), newSink()
		var asked atomic.Int64
		u.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != ledgerEndOperation || asked.Add(1) > 2 {
				return false
			}
			_, _ = w.Write([]byte(body))
			return true
		}
		ing := newIngester(t, u, sink, func(c *Config) { c.Backoff = func(int) time.Duration { return time.Millisecond } })
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(0, u.end))
	}
}

// TestWebSocketThatKeepsBack follows by a websocket on which nothing comes any more although
// the node goes on: it is noticed, said and given up, long before the idle timeout.
func TestWebSocketThatKeepsBack(t *testing.T) {
	t.Parallel()
	g := newGenerator(66)
	u, sink := newUpstream(t, g.elements(40)), newSink()
	var mute atomic.Bool
	u.frame = func(_ int, wire string) (string, error) {
		if mute.Load() {
			return "", nil
		}
		return wire, nil
	}
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Source, c.PingInterval = WebSocket, 30*time.Millisecond
		c.Backoff = func(int) time.Duration { return 10 * time.Millisecond }
	})
	stop := running(t, ing)
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	mute.Store(true)
	u.grow(g.elements(20)...)
	until(t, func() bool { return strings.Contains(ing.Status().LastError, errSilent.Error()) })
	mute.Store(false)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	if err := stop(); !errors.Is(err, errTestOver) {
		t.Error(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
}

// TestDrippingNode gives an answer, or a frame, a byte at a time.
func TestDrippingNode(t *testing.T) {
	t.Parallel()
	drip := func(ctx context.Context, write func([]byte) error) {
		for ctx.Err() == nil && write([]byte(" ")) == nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
	for name, dripping := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"an answer": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != updatesOperation || r.Header.Get("Upgrade") != "" {
				return false
			}
			w.WriteHeader(200)
			drip(r.Context(), func(b []byte) error {
				_, err := w.Write(b)
				w.(http.Flusher).Flush()
				return err
			})
			return true
		},
		"a frame": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Upgrade") == "" {
				return false
			}
			conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocolAuth}, CompressionMode: websocket.CompressionDisabled})
			if err != nil {
				return true
			}
			defer conn.CloseNow()
			_, _, _ = conn.Read(r.Context())
			ctx := conn.CloseRead(r.Context())
			frame, err := conn.Writer(ctx, websocket.MessageText)
			if err != nil {
				return true
			}
			drip(ctx, func(b []byte) error { _, err := frame.Write(b); return err })
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, newGenerator(67).elements(30)), newSink()
			u.intercept = dripping
			ing := newIngester(t, u, sink, func(c *Config) {
				c.RequestTimeout, c.PingInterval, c.Source = 200*time.Millisecond, 50*time.Millisecond, Lists
				if name == "a frame" {
					c.Source = WebSocket
				}
				c.Backoff = func(int) time.Duration { return 10 * time.Millisecond }
			})
			stop := running(t, ing)
			until(t, func() bool { return strings.Contains(ing.Status().LastError, "stalled") })
			u.set(func(u *upstream) { u.intercept = nil })
			sink.await(t, func() bool { return sink.at.Offset >= u.end })
			_ = stop()
			sameLines(t, sink.lines, u.lines(0, u.end))
		})
	}
}
