package query

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type closeCounter struct {
	io.Reader
	closed chan struct{}
}

func (c closeCounter) Close() error { close(c.closed); return nil }

func TestSendStreamsAndCloses(t *testing.T) {
	content := strings.Repeat("0123456789", 50_000)
	closed := make(chan struct{})
	url := start(t, Config{}, Route{Method: "GET", Path: "/object", Name: "object", Transfer: true, Handle: func(ctx context.Context, r *Request) error {
		if r.IsHead() {
			return r.Send(200, "application/octet-stream", int64(len(content)), nil)
		}
		return r.Send(200, "application/octet-stream", int64(len(content)), closeCounter{strings.NewReader(content), closed})
	}})
	if a := do(t, "HEAD", url+"/object", ""); a.header.Get("Content-Length") != fmt.Sprint(len(content)) || a.body != "" {
		t.Errorf("HEAD: length %q, body of %d bytes", a.header.Get("Content-Length"), len(a.body))
	}
	a := do(t, "GET", url+"/object", "", "Accept-Encoding", "gzip")
	if a.body != content || a.header.Get("Content-Length") != fmt.Sprint(len(content)) {
		t.Errorf("GET: %d bytes, length %q", len(a.body), a.header.Get("Content-Length"))
	}
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the stream was not closed")
	}
}

// Transfers under way are counted and bounded, and their end makes room again.
func TestTransfersAreBounded(t *testing.T) {
	release := make(chan struct{})
	registry := prometheus.NewRegistry()
	opened := make(chan struct{}, 10)
	route := Route{Method: "GET", Path: "/object", Name: "object", Transfer: true, Handle: func(_ context.Context, r *Request) error {
		opened <- struct{}{}
		return r.Send(200, "application/octet-stream", 5, io.NopCloser(gated{strings.NewReader("bytes"), release}))
	}}
	url := start(t, Config{MaxTransfers: 2, Metrics: registry}, route, get("/page", func(_ context.Context, r *Request) error { return r.JSON("page") }))
	done := make(chan answer, 2)
	for range 2 {
		go func() {
			a, err := try("GET", url+"/object", "")
			if err != nil {
				t.Error(err)
			}
			done <- a
		}()
		<-opened
	}
	if a := do(t, "GET", url+"/object", ""); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("one transfer too many: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	if a := do(t, "GET", url+"/page", ""); a.status != 200 {
		t.Errorf("a page beside the transfers: %d %s", a.status, a.body)
	}
	if body := do(t, "GET", url+"/metrics", "").body; !strings.Contains(body, "ledgerlake_http_transfers 2\n") {
		t.Errorf("two transfers are not counted:\n%s", body)
	}
	close(release)
	for range 2 {
		if a := <-done; a.status != 200 || a.body != "bytes" {
			t.Errorf("a transfer gave %d %q", a.status, a.body)
		}
	}
	for i := range 5 { // each gives its token back
		if a := do(t, "GET", url+"/object", ""); a.status != 200 {
			t.Fatalf("transfer %d after the end of the others: %d %s", i, a.status, a.body)
		}
	}
}

// gated reads only once its gate is open.
type gated struct {
	io.Reader
	gate <-chan struct{}
}

func (g gated) Read(p []byte) (int, error) {
	<-g.gate
	return g.Reader.Read(p)
}

// A transfer may hold its buffer for long, so it never gets one that grew for a page.
func TestTransfersHaveSmallBuffers(t *testing.T) {
	s := &Server{buffers: buffers{size: newBuffer, largest: maxPooledBuffer}, pieces: buffers{size: copyPiece, largest: copyPiece}}
	s.buffers.put(make([]byte, 0, 4<<20))
	s.pieces.put(make([]byte, 0, 4<<20))
	for range 10 {
		if b := s.pieces.get(); cap(b) != copyPiece {
			t.Fatalf("a transfer's buffer has %d bytes, want %d", cap(b), copyPiece)
		}
	}
}

func TestShortStreamCutsTheConnection(t *testing.T) {
	url := start(t, Config{}, get("/object", func(_ context.Context, r *Request) error {
		return r.Send(200, "application/octet-stream", 1000, io.NopCloser(strings.NewReader("short")))
	}))
	if a, err := try("GET", url+"/object", ""); err == nil {
		t.Errorf("an object cut off after %d bytes looks complete", len(a.body))
	}
}

// The time limit of a request is for its handler: a transfer goes on for as long as it takes.
func TestTransferOutlivesTheTimeLimit(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	late := Route{Method: "GET", Path: "/late", Name: "late", Transfer: true, Handle: func(ctx context.Context, r *Request) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	long := Route{Method: "GET", Path: "/long", Name: "long", Transfer: true, Handle: func(ctx context.Context, r *Request) error {
		pieces := 0
		return r.Lines(ctx, func(ctx context.Context, dst []byte) ([]byte, bool, error) {
			if pieces++; pieces > 1 {
				time.Sleep(limit)
			}
			return append(dst, "x\n"...), pieces < 4, ctx.Err()
		})
	}}
	url := start(t, Config{RequestTimeout: limit}, late, long)
	if a := do(t, "GET", url+"/late", ""); a.status != 503 || !strings.Contains(a.body, "took too long") {
		t.Errorf("a handler that takes too long: %d %s", a.status, a.body)
	}
	if a := do(t, "GET", url+"/long", ""); a.status != 200 || a.body != "x\nx\nx\nx\n" {
		t.Errorf("a transfer that takes long: %d %q", a.status, a.body)
	}
}
