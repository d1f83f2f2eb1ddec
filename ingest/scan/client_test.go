package scan

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newClient(t *testing.T, cfg ClientConfig) *Client {
	t.Helper()
	cfg.Log = testLog(t)
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBaseURLIsTakenWithAndWithoutPrefix(t *testing.T) {
	plain := http.StripPrefix("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != eventsOperation {
			refuse(w, http.StatusNotFound, "no such path")
			return
		}
		io.WriteString(w, `{"events":[]}`)
	}))
	for name, c := range map[string]struct {
		handler http.Handler
		path    string
	}{
		"served at the root":              {plain, ""},
		"served below the prefix":         {http.StripPrefix("/api/scan", plain), ""},
		"given with the prefix":           {http.StripPrefix("/api/scan", plain), "/api/scan"},
		"given with the prefix and slash": {http.StripPrefix("/api/scan", plain), "/api/scan/"},
		"below a path of its own":         {http.StripPrefix("/some/api/scan", plain), "/some"},
	} {
		server := httptest.NewServer(c.handler)
		t.Cleanup(server.Close)
		client := newClient(t, ClientConfig{BaseURL: server.URL + c.path})
		// The first answer, which is 404 everywhere, must not decide.
		if _, err := client.MigrationInfo(testContext(t), 0); !errors.Is(err, schemas.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", name, err)
		}
		page, err := client.EventsPage(testContext(t), PageRequest{After: schemas.Start, Size: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if items, err := page.Items(); err != nil || len(items) != 0 {
			t.Errorf("%s: got %d items and %v", name, len(items), err)
		}
	}
}

func TestRetryAfterHoldsAllRequestsBack(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, time.Now())
		first := len(asked) == 1
		mu.Unlock()
		if first {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "slow down")
			return
		}
		io.WriteString(w, `{"events":[]}`)
	}))
	t.Cleanup(server.Close)
	client := newClient(t, ClientConfig{BaseURL: server.URL})
	ask := func() {
		if _, err := client.EventsPage(testContext(t), PageRequest{After: schemas.Start, Size: 1}); err != nil {
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	group.Go(ask)
	until(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(asked) == 1 })
	time.Sleep(50 * time.Millisecond)
	group.Go(ask)
	group.Wait()
	if len(asked) != 3 {
		t.Fatalf("%d requests, want 3", len(asked))
	}
	for _, at := range asked[1:] {
		if wait := at.Sub(asked[0]); wait < 950*time.Millisecond {
			t.Errorf("asked again after %s, before the upstream's second was over", wait)
		}
	}
}

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-1": 0, "soon": 0, "86400": time.Hour,
		"Wed, 01 Jul 2026 12:00:07 GMT": 7 * time.Second, "Wed, 01 Jul 2026 11:00:00 GMT": 0,
	} {
		if got := remote.RetryAfter(value, now, time.Hour); got != want {
			t.Errorf("Retry-After %q means %s, want %s", value, got, want)
		}
	}
}

func TestRateIsLimited(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"events":[]}`) }))
	t.Cleanup(server.Close)
	client := newClient(t, ClientConfig{BaseURL: server.URL, RequestsPerSecond: 20})
	begin := time.Now()
	for range 30 { // a burst of 20, then ten at 20 a second
		if _, err := client.EventsPage(testContext(t), PageRequest{After: schemas.Start, Size: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < 450*time.Millisecond {
		t.Errorf("30 requests took %s, want about 500 ms", took)
	}
	for url, want := range map[string]float64{"https://scan.example.org": 10, "http://10.1.2.3:80/api/scan": 10} {
		if got := newClient(t, ClientConfig{BaseURL: url}).limiter.Limit(); float64(got) != want {
			t.Errorf("%s is asked %v times a second, want %v", url, got, want)
		}
	}
}

func TestRequestsAreWellFormed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		want := `{"after":{"after_migration_id":2,"after_record_time":"2026-07-01T00:00:00.000000Z"},"page_size":7,` +
			`"daml_value_encoding":"protobuf_json","contract_value_encoding":"protobuf_json"}`
		user, password, _ := r.BasicAuth()
		if string(body) != want || r.UserAgent() != "ledgerlake/1.2.3" || user+password != "user"+"secret" {
			t.Errorf("got %s from %s as %s", body, r.UserAgent(), user)
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"events":[]}`)
		z.Close()
	}))
	t.Cleanup(server.Close)
	client := newClient(t, ClientConfig{BaseURL: strings.Replace(server.URL, "//", "//user:secret@", 1), Version: "1.2.3"})
	page, err := client.EventsPage(testContext(t), PageRequest{After: schemas.Position{MigrationID: 2, RecordTime: epoch}, Size: 7})
	if err != nil || string(page.Body) != `{"events":[]}` {
		t.Errorf("got %q and %v", page.Body, err)
	}
	if !newClient(t, ClientConfig{BaseURL: "https://scan.example.org"}).compress {
		t.Error("a distant upstream is not asked to compress")
	}
}

func TestRequestWithoutProgressIsRepeated(t *testing.T) {
	t.Parallel()
	stalled := make(chan struct{})
	t.Cleanup(func() { close(stalled) })
	var mu sync.Mutex
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked++
		first := asked == 1
		mu.Unlock()
		if first {
			io.WriteString(w, `{"events"`)
			w.(http.Flusher).Flush()
			select {
			case <-stalled:
			case <-r.Context().Done():
			}
			return
		}
		io.WriteString(w, `{"events":[]}`)
	}))
	t.Cleanup(server.Close)
	var reasons []error
	client := newClient(t, ClientConfig{BaseURL: server.URL, RequestTimeout: 100 * time.Millisecond, OnRetry: func(err error) { reasons = append(reasons, err) }})
	if _, err := client.EventsPage(testContext(t), PageRequest{After: schemas.Start, Size: 1}); err != nil {
		t.Fatal(err)
	}
	if len(reasons) != 1 || !errors.Is(reasons[0], remote.ErrStalled) {
		t.Errorf("retried because of %v, want one stalled request", reasons)
	}
}

func TestClientConfigurationIsChecked(t *testing.T) {
	for _, url := range []string{"", "scan.example.org", "ftp://scan.example.org", "http://", "http://user:secret@%zz"} {
		_, err := NewClient(ClientConfig{BaseURL: url, Log: testLog(t)})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want an error without the password", url, err)
		}
	}
}
