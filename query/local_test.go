package query

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// nested serves /outer, which sends a request to /inner of the same server.
func nested(t *testing.T, cfg Config) (url string, client *http.Client, stop func() error) {
	t.Helper()
	var server *Server
	outer := get("/outer", func(ctx context.Context, r *Request) error {
		inner, err := http.NewRequestWithContext(ctx, "POST", "http://local/inner", strings.NewReader(`{"n":7}`))
		if err != nil {
			return err
		}
		answer, err := server.Local().RoundTrip(inner)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		return r.Text(body)
	})
	inner := Route{Method: "POST", Path: "/inner", Name: "inner", Handle: func(_ context.Context, r *Request) error {
		p := r.Body()
		n := p.Int64("n")
		if err := p.Err(); err != nil {
			return err
		}
		return r.JSON(map[string]any{"n": n, "client": r.Client()})
	}}
	cfg.Address, cfg.Log = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	cfg.Mounts = []Mount{{Prefixes: []string{""}, Routes: []Route{outer, inner}}}
	var err error
	if server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	return "http://" + server.Addr(), &http.Client{Transport: server.Local(), Timeout: 10 * time.Second}, func() error { cancel(); return <-ended }
}

// TestLocalRequests: a request that a handler sends to its own server is handled though the handler has
// the only place, and is no request of a client whose rate is limited.
func TestLocalRequests(t *testing.T) {
	still := time.Now()
	url, client, stop := nested(t, Config{
		Admission: NewAdmission(AdmissionConfig{MaxConcurrent: 1, QueueTimeout: time.Second}), ClientRateLimit: 3, RateLimit: 3, Now: func() time.Time { return still },
	})
	for range 3 {
		if a := do(t, "GET", url+"/outer", ""); a.status != 200 || a.body != `{"client":"0.0.0.0","n":7}` {
			t.Errorf("the answer is %d %s", a.status, a.body)
		}
	}
	if a := do(t, "GET", url+"/outer", ""); a.status != http.StatusTooManyRequests {
		t.Errorf("the client's fourth request got %d %s", a.status, a.body)
	}
	answer, err := client.Post("http://local/inner", "application/json", strings.NewReader(`{"n":"no"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad local request got %s", answer.Status)
	}
	if err := stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if answer, err := client.Get("http://local/outer"); err == nil {
		answer.Body.Close()
		t.Error("a server that has ended answers")
	}
}
