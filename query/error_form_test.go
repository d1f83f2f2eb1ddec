package query

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// Each mount answers errors in its own form, also those that reach no handler, and what has no
// mount in that of the server.
func TestErrorForms(t *testing.T) {
	form := func(name string) ErrorForm {
		return func(r *Request, err error) ErrorAnswer {
			status, _, _ := Status(err)
			return ErrorAnswer{Status: status, ContentType: TextType, Body: []byte(name + " " + r.ID())}
		}
	}
	fails := Route{Method: "POST", Path: "/fails", Name: "fails", Handle: func(context.Context, *Request) error { return Errorf(NotFound, "no") }}
	panics := Route{Method: "POST", Path: "/panics", Name: "panics", Handle: func(context.Context, *Request) error { panic(errors.New("oh")) }}
	s, err := New(Config{
		Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), MaxBodyBytes: 1000, Errors: form("server"),
		Mounts: []Mount{{Prefixes: []string{"/own"}, Routes: []Route{fails, panics}, Errors: form("own")}, {Prefixes: []string{"/plain"}, Routes: []Route{fails, panics}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		path   string
		body   int
		status int
		want   string
	}{
		{"/own/fails", 0, 404, "own my-request"},
		{"/own/panics", 0, 500, "own my-request"},
		{"/own/fails", 2000, 413, "own my-request"},
		{"/plain/fails", 0, 404, `{"error":"no"}`},
		{"/plain/fails", 2000, 413, `{"error":"The body is larger than 1000 bytes."}`},
		{"/nowhere", 0, 404, "server my-request"},
	} {
		r, err := http.NewRequest("POST", "http://"+s.Addr()+c.path, strings.NewReader(strings.Repeat("x", c.body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Request-Id", "my-request")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != c.status || string(text) != c.want {
			t.Errorf("POST %s with %d bytes = %d %s, %v; want %d %s", c.path, c.body, response.StatusCode, text, err, c.status, c.want)
		}
	}
}
