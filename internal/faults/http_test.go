package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// upstream answers every request with its own number, in a body that is long enough to
// be cut.
func upstream(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"events":[],"number":%d,"rest":%q}`, asked.Add(1), strings.Repeat("x", 500))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func newHTTP(t *testing.T, cfg HTTPConfig) *HTTP {
	t.Helper()
	cfg.Name, cfg.Tally = "upstream", new(Tally)
	p, err := NewHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// got is what a client has of an answer.
type got struct {
	status int
	header http.Header
	body   string
	err    error
}

func request(t *testing.T, url, body string, timeout time.Duration) got {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity") // or the client would undo compression
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header, string(raw), err}
}

func TestHTTPFaults(t *testing.T) {
	whole := func(g got) bool { return g.err == nil && g.status == http.StatusOK && json.Valid([]byte(g.body)) }
	status := func(code int) func(got) bool {
		return func(g got) bool { return g.err == nil && g.status == code }
	}
	cases := []struct {
		kind  HTTPKind
		asked int64
		want  func(got) bool
	}{
		{Unheard, 0, func(g got) bool { return g.err != nil }},
		{Unanswered, 1, func(g got) bool { return g.err != nil }},
		{Twice, 2, func(g got) bool { return whole(g) && strings.Contains(g.body, `"number":2`) }},
		{Later, 1, whole},
		{Slow, 1, whole},
		{Drip, 1, whole},
		{Silent, 0, func(g got) bool { return g.err != nil }},
		{TooMany, 0, func(g got) bool { return g.status == http.StatusTooManyRequests && g.header.Get("Retry-After") != "" }},
		{Broken, 0, status(http.StatusInternalServerError)},
		{Unavailable, 0, status(http.StatusServiceUnavailable)},
		{Missing, 0, status(http.StatusNotFound)},
		{HalfBody, 1, func(g got) bool { return g.err != nil && g.status == http.StatusOK && len(g.body) < 500 }},
		{EmptyBody, 1, func(g got) bool { return g.err == nil && g.status == http.StatusOK && g.body == "" }},
		{Garbage, 1, func(g got) bool { return g.err == nil && g.status == http.StatusOK && !json.Valid([]byte(g.body)) }},
		{BadGzip, 1, func(g got) bool { return g.err == nil && g.header.Get("Content-Encoding") == "gzip" && !unzips(g.body) }},
	}
	if len(cases) != len(HTTPKinds()) {
		t.Fatalf("%d kinds are tested, there are %d", len(cases), len(HTTPKinds()))
	}
	for _, c := range cases {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			url, asked := upstream(t)
			p := newHTTP(t, HTTPConfig{Target: url, Faults: []HTTPFault{{Request: 1, Kind: c.kind, Part: 0.5, Wait: 20 * time.Millisecond}}})
			if g := request(t, p.URL()+"/v0/events", `{}`, time.Second); !c.want(g) {
				t.Errorf("the answer is %d %q, %v", g.status, g.body, g.err)
			}
			if asked.Load() != c.asked {
				t.Errorf("the upstream was asked %d times, want %d", asked.Load(), c.asked)
			}
			if g := request(t, p.URL()+"/v0/events", `{}`, time.Second); !whole(g) {
				t.Errorf("the answer after the fault is %d %q, %v", g.status, g.body, g.err)
			}
			if n := p.cfg.Tally.Counts()["upstream: "+string(c.kind)]; n != 1 || p.Requests() != 2 {
				t.Errorf("%d faults counted in %d requests, want 1 in 2", n, p.Requests())
			}
		})
	}
}

func unzips(body string) bool {
	r, err := gzip.NewReader(bytes.NewReader([]byte(body)))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r)
	return err == nil
}

func TestRepliesChangePlaces(t *testing.T) {
	url, _ := upstream(t)
	p := newHTTP(t, HTTPConfig{Target: url, Faults: []HTTPFault{{Request: 1, Kind: Later, Wait: 10 * time.Second}}})
	first := make(chan got, 1)
	go func() { first <- request(t, p.URL()+"/v0/events", `{}`, 20*time.Second) }()
	<-p.Request(1)
	time.Sleep(20 * time.Millisecond) // the upstream has answered, and the reply waits
	if g := request(t, p.URL()+"/v0/events", `{}`, time.Second); g.err != nil {
		t.Fatal(g.err)
	}
	select {
	case g := <-first:
		if g.err != nil {
			t.Fatal(g.err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the first reply still waits after the second has gone out")
	}
}

func TestPageLimit(t *testing.T) {
	url, asked := upstream(t)
	p := newHTTP(t, HTTPConfig{Target: url, PageLimit: 30})
	for body, want := range map[string]int{
		`{"page_size":30}`: http.StatusOK, `{"page_size":31}`: http.StatusBadRequest, `{"limit":1000}`: http.StatusBadRequest, `{"count":31}`: http.StatusBadRequest,
	} {
		g := request(t, p.URL()+"/v2/updates", body, time.Second)
		if g.status != want || want != http.StatusOK && !strings.Contains(g.body, "Exceeded limit maximum (") {
			t.Errorf("%s is answered with %d %s", body, g.status, g.body)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the upstream was asked %d times, want once", asked.Load())
	}
}
