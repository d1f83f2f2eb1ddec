package query

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// broken is a stream that panics when it is read.
type broken struct{ io.Closer }

func (broken) Read([]byte) (int, error) { panic("no stream") }

// TestAPanicEndsOneRequest: whatever part of a request panics, on whatever goroutine, the next
// request is answered, and has the one slot that there is.
func TestAPanicEndsOneRequest(t *testing.T) {
	produce := func(ctx context.Context, r *Request) error {
		made := 0
		return r.Produce(ctx, func(_ context.Context, dst []byte) ([]byte, bool, error) {
			if made++; made > 20 {
				panic("no piece")
			}
			return append(dst, bytes.Repeat([]byte("x"), 50_000)...), true, nil
		})
	}
	brokenForm := Mount{
		Prefixes: []string{""},
		Routes:   []Route{get("/form", func(context.Context, *Request) error { return errors.New("lost") })},
		Errors:   func(*Request, error) ErrorAnswer { panic("no form") },
	}
	url := start(t, Config{Admission: NewAdmission(AdmissionConfig{MaxConcurrent: 1}), MaxPageBytes: 100_000, Mounts: []Mount{brokenForm}},
		get("/ok", func(_ context.Context, r *Request) error { return r.JSON(1) }),
		get("/handler", func(context.Context, *Request) error { panic("no handler") }),
		get("/produced", produce),
		get("/sent", func(_ context.Context, r *Request) error {
			return r.Send(200, "text/plain", 10, broken{io.NopCloser(nil)})
		}),
		get("/socket", func(_ context.Context, r *Request) error {
			return r.Upgrade(SocketOptions{AnyOrigin: true}, func(context.Context, *Socket) error { panic("no session") })
		}),
	)
	for _, path := range []string{"/handler", "/form", "/produced", "/sent", "/socket"} {
		t.Run(path[1:], func(t *testing.T) {
			before := guard.Recovered()
			for range 3 {
				if path == "/socket" {
					c, _, err := websocket.Dial(t.Context(), url+path, nil)
					if err != nil {
						t.Fatal(err)
					}
					if _, _, err := c.Read(t.Context()); err == nil {
						t.Error("the socket has a message")
					}
					c.CloseNow()
				} else if a, err := try("GET", url+path, ""); err == nil && a.status != 500 {
					t.Errorf("got %d and %d bytes", a.status, len(a.body))
				}
				if a := do(t, "GET", url+"/ok", ""); a.status != 200 {
					t.Fatalf("the next request got %d %s", a.status, a.body)
				}
			}
			if got := guard.Recovered() - before; got != 3 {
				t.Errorf("%d panics were recovered from, not 3", got)
			}
		})
	}
}
