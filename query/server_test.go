package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// testLog writes to t.Log until the test ends.
func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// start serves routes until the test ends and returns the base URL.
func start(t *testing.T, cfg Config, routes ...Route) string {
	t.Helper()
	cfg.Address, cfg.Log = "127.0.0.1:0", testLog(t) // a Listener wins
	cfg.Mounts = append(cfg.Mounts, Mount{Prefixes: []string{"", "/api/x"}, Routes: routes})
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
	return "http://" + s.Addr()
}

type answer struct {
	status int
	header http.Header
	body   string
}

func do(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	a, err := try(method, url, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return a
}

func try(method, url, body string, headers ...string) (answer, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	// Its own transport: no transparent gzip, no connection left behind.
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

func get(path string, h Handler) Route {
	return Route{Method: "GET", Path: path, Name: path, Handle: h}
}

func post(path string, h Handler) Route {
	return Route{Method: "POST", Path: path, Name: path, Handle: h}
}

func TestStatus(t *testing.T) {
	cases := []struct {
		name   string
		err    error
		status int
		text   string
		retry  time.Duration
	}{
		{"invalid", Errorf(Invalid, "bad %d", 1), 400, "bad 1", 0},
		{"not found", Errorf(NotFound, "none"), 404, "none", 0},
		{"sentinel of the store", fmt.Errorf("reading: %w", schemas.ErrNotFound), 404, "Not found.", 0},
		{"exists", Errorf(AlreadyExists, "there"), 409, "there", 0},
		{"contention", Errorf(Aborted, "again"), 429, "again", time.Second},
		{"unavailable", &Error{Code: Unavailable, Msg: "wait", RetryAfter: 5 * time.Second}, 503, "wait", 5 * time.Second},
		{"precondition", Errorf(FailedPrecondition, "no"), 400, "no", 0},
		{"interpretation", Errorf(Interpretation, "no"), 409, "no", 0},
		{"disabled", Errorf(Disabled, "off"), 501, "off", 0},
		{"too large", Errorf(TooLarge, "big"), 413, "big", 0},
		{"rate", Errorf(RateLimited, "slow"), 429, "slow", time.Second},
		{"timeout", fmt.Errorf("query: %w", context.DeadlineExceeded), 503, "The request took too long and was stopped.", time.Second},
		{"shutdown", context.Canceled, 503, "The server is shutting down.", time.Second},
		{"unknown hides its cause", errors.New("table x on host y"), 500, "An unexpected error occurred.", 0},
		{"internal hides its message", Errorf(Internal, "secret"), 500, "An unexpected error occurred.", 0},
		{"wrapped", fmt.Errorf("outer: %w", Errorf(NotFound, "inner")), 404, "inner", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, text, retry := Status(c.err)
			if status != c.status || text != c.text || retry != c.retry {
				t.Errorf("Status(%v) = %d %q %v, want %d %q %v", c.err, status, text, retry, c.status, c.text, c.retry)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	url := start(t, Config{MaxBodyBytes: 1000},
		get("/ok", func(_ context.Context, r *Request) error { return r.JSON(map[string]int{"a": 1}) }),
		get("/fail", func(context.Context, *Request) error { return errors.New("host 10.0.0.1 is down") }),
		get("/panic", func(context.Context, *Request) error { panic("boom") }),
		get("/item/{id}", func(_ context.Context, r *Request) error {
			id, err := r.Path("id")
			if err != nil {
				return err
			}
			return r.JSON(id)
		}),
		post("/body", func(_ context.Context, r *Request) error { return r.Body().Err() }),
	)
	cases := []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"success", "GET", "/ok", "", 200, `{"a":1}`},
		{"below the prefix", "GET", "/api/x/ok", "", 200, `{"a":1}`},
		{"head", "HEAD", "/ok", "", 200, ""},
		{"internal error says nothing", "GET", "/fail", "", 500, `{"error":"An unexpected error occurred."}`},
		{"panic", "GET", "/panic", "", 500, `{"error":"An unexpected error occurred."}`},
		{"unknown path", "GET", "/nowhere", "", 404, `{"error":"There is no such path."}`},
		{"trailing slash is another path", "GET", "/ok/", "", 404, `{"error":"There is no such path."}`},
		{"wrong method", "POST", "/ok", "{}", 405, `{"error":"The path does not support this method."}`},
		{"path decoded once", "GET", "/item/a%3A%3Ab%252F", "", 200, `"a::b%2F"`},
		{"encoded slash stays in its segment", "GET", "/item/a%2Fb", "", 200, `"a/b"`},
		{"body at the limit", "POST", "/body", `{"a":"` + strings.Repeat("x", 992) + `"}`, 200, ""},
		{"body above the limit", "POST", "/body", `{"a":"` + strings.Repeat("x", 993) + `"}`, 413, `{"error":"The body is larger than 1000 bytes."}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := do(t, c.method, url+c.path, c.body)
			if a.status != c.status || a.body != c.want {
				t.Errorf("%s %s = %d %s, want %d %s", c.method, c.path, a.status, a.body, c.status, c.want)
			}
			if a.status >= 400 && a.header.Get("Content-Type") != jsonType {
				t.Errorf("content type of an error is %q", a.header.Get("Content-Type"))
			}
			if a.status == 405 && !strings.Contains(a.header.Get("Allow"), "GET") {
				t.Errorf("Allow is %q", a.header.Get("Allow"))
			}
		})
	}
}

func TestLargeRefusedBodyStillGetsItsAnswer(t *testing.T) {
	url := start(t, Config{}, post("/body", func(_ context.Context, r *Request) error { return r.Body().Err() }))
	for range 5 {
		if a := do(t, "POST", url+"/body", strings.Repeat("x", 6<<20)); a.status != 413 {
			t.Fatalf("status %d %s, want 413", a.status, a.body)
		}
	}
}

// A client that listens only when it has sent everything learns why it was refused.
func TestHugeBodyThatIsSentWholeGetsItsAnswer(t *testing.T) {
	const size = 100 << 20
	url := start(t, Config{}, post("/body", func(_ context.Context, r *Request) error { return r.Body().Err() }))
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size); err != nil {
		t.Fatal(err)
	}
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range size / len(piece) {
		if _, err := conn.Write(piece); err != nil {
			t.Fatalf("sending: %v", err)
		}
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") || strings.Count(string(answer), "HTTP/1.1") != 1 ||
		!strings.Contains(string(answer), "Connection: close") || !strings.HasSuffix(string(answer), `{"error":"The body is larger than 1048576 bytes."}`) {
		t.Errorf("answer %q, %v", answer, err)
	}
}

func TestRequestIDs(t *testing.T) {
	url := start(t, Config{}, get("/id", func(_ context.Context, r *Request) error { return r.JSON(r.ID()) }))
	if a := do(t, "GET", url+"/id", "", "X-Request-Id", "abc-1"); a.header.Get("X-Request-Id") != "abc-1" || a.body != `"abc-1"` {
		t.Errorf("a given id came back as %q, in the handler %s", a.header.Get("X-Request-Id"), a.body)
	}
	first, second := do(t, "GET", url+"/id", "", "X-Request-Id", `x"y`), do(t, "GET", url+"/none", "")
	one, two := first.header.Get("X-Request-Id"), second.header.Get("X-Request-Id")
	if one == "" || two == "" || one == two || strings.Contains(one, `"`) {
		t.Errorf("generated ids are %q and %q", one, two)
	}
}

func TestOverloadIsRefusedAndLeavesProbesAlone(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{}, 100)
	probe := get("/probe", func(_ context.Context, r *Request) error { return r.JSON(true) })
	probe.Probe = true
	url := start(t, Config{Admission: NewAdmission(AdmissionConfig{MaxConcurrent: 2, QueueTimeout: 30 * time.Millisecond})}, probe,
		get("/slow", func(_ context.Context, r *Request) error {
			entered <- struct{}{}
			<-release
			return r.JSON(true)
		}))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if a, err := try("GET", url+"/slow", ""); err != nil || a.status != 200 {
				t.Errorf("a request within the limit got %d %v", a.status, err)
			}
		})
		<-entered
	}
	a := do(t, "GET", url+"/slow", "")
	if a.status != 503 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "busy") {
		t.Errorf("the third request got %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
	}
	if a := do(t, "GET", url+"/probe", ""); a.status != 200 {
		t.Errorf("the probe got %d under load", a.status)
	}
	close(release)
	wg.Wait()
	if a := do(t, "GET", url+"/slow", ""); a.status != 200 {
		t.Errorf("after the load a request got %d", a.status)
	}
}

// stalled sends a request and takes nothing of the answer until the test ends.
func stalled(t *testing.T, url, path string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
}

func TestSlowClientsHoldNoSlotWhileThereIsMemory(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
		want   int
	}{{"memory left", 1 << 30, 200}, {"no memory left", 4000, 503}} {
		t.Run(c.name, func(t *testing.T) {
			made := make(chan struct{}, 1)
			page := pieces(1, 32<<20, -1) // more than the connection buffers
			url := start(t, Config{Admission: NewAdmission(AdmissionConfig{MaxConcurrent: 1, QueueTimeout: 50 * time.Millisecond, Memory: c.memory}), ShutdownTimeout: 10 * time.Millisecond},
				get("/page", func(ctx context.Context, r *Request) error {
					defer func() { made <- struct{}{} }()
					return r.Produce(ctx, page)
				}),
				get("/small", func(_ context.Context, r *Request) error { return r.JSON(true) }))
			stalled(t, url, "/page")
			<-made
			if a := do(t, "GET", url+"/small", ""); a.status != c.want {
				t.Errorf("beside a stalled client a request got %d, want %d", a.status, c.want)
			}
		})
	}
}

func TestRateLimits(t *testing.T) {
	ok := get("/ok", func(_ context.Context, r *Request) error { return r.JSON(true) })
	still := time.Now()
	for name, cfg := range map[string]Config{
		"all clients": {RateLimit: 3, Now: func() time.Time { return still }},
		"one client":  {ClientRateLimit: 3, Now: func() time.Time { return still }},
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t, cfg, ok)
			for i := range 5 {
				a := do(t, "GET", url+"/ok", "")
				if want := map[bool]int{true: 200, false: 429}[i < 3]; a.status != want {
					t.Errorf("request %d got %d, want %d", i, a.status, want)
				}
				if a.status == 429 && a.header.Get("Retry-After") == "" {
					t.Error("429 without Retry-After")
				}
			}
		})
	}
}

func TestClientTableIsBounded(t *testing.T) {
	still := time.Now()
	r := newRates(0, 5, func() time.Time { return still })
	for i := range 3 * maxClients {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if err := r.allow(addr); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.clients) > maxClients {
		t.Errorf("%d clients are remembered, at most %d may be", len(r.clients), maxClients)
	}
}

func TestDeadline(t *testing.T) {
	url := start(t, Config{RequestTimeout: 20 * time.Millisecond}, get("/slow", func(ctx context.Context, _ *Request) error {
		<-ctx.Done()
		return fmt.Errorf("waiting: %w", ctx.Err())
	}))
	if a := do(t, "GET", url+"/slow", ""); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestConfigErrors(t *testing.T) {
	ok := get("/ok", func(_ context.Context, r *Request) error { return r.JSON(true) })
	log := testLog(t)
	for name, cfg := range map[string]Config{
		"no log":         {Address: "127.0.0.1:0"},
		"no address":     {Log: log},
		"negative limit": {Address: "127.0.0.1:0", Log: log, MaxTransfers: -1},
		"doubled path":   {Address: "127.0.0.1:0", Log: log, Mounts: []Mount{{Prefixes: []string{"", ""}, Routes: []Route{ok}}}},
		"bad address":    {Address: "256.0.0.1:99999", Log: log},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMetricsAndPprof(t *testing.T) {
	ok := get("/ok", func(_ context.Context, r *Request) error { return r.JSON(true) })
	plain := start(t, Config{}, ok)
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if a := do(t, "GET", plain+path, ""); a.status != 404 {
			t.Errorf("%s answers %d without being configured", path, a.status)
		}
	}
	url := start(t, Config{Metrics: prometheus.NewRegistry(), Pprof: true}, ok)
	do(t, "GET", url+"/ok", "")
	do(t, "GET", url+"/nowhere", "")
	a := do(t, "GET", url+"/metrics", "")
	for _, want := range []string{
		`ledgerlake_http_requests_total{code="200",route="/ok"} 1`,
		`ledgerlake_http_requests_total{code="404",route="none"} 1`,
		`ledgerlake_http_request_duration_seconds_count{route="/ok"} 1`,
		`ledgerlake_http_response_bytes_total{route="/ok"} 4`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("metrics lack %s:\n%s", want, a.body)
		}
	}
	if a := do(t, "GET", url+"/debug/pprof/cmdline", ""); a.status != 200 {
		t.Errorf("pprof answers %d", a.status)
	}
}

func TestStalledClientIsCutOff(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	c := &progressConn{Conn: server, stall: 20 * time.Millisecond}
	if _, err := c.Write(make([]byte, 10)); err == nil {
		t.Error("a write that nobody takes succeeded")
	}
	go io.Copy(io.Discard, client)
	if n, err := c.Write(make([]byte, 3*progressPiece+1)); err != nil || n != 3*progressPiece+1 {
		t.Errorf("a write that is taken gave %d, %v", n, err)
	}
}

func FuzzBodyParams(f *testing.F) {
	f.Add(`{"page_size":10,"after":{"after_migration_id":1,"after_record_time":"2026-07-01T00:00:00Z"}}`)
	f.Add(`{"page_size":null,"list":["a"]}`)
	f.Fuzz(func(t *testing.T, body string) {
		p := bodyParams([]byte(body))
		p.Limit("page_size", 1000)
		p.Texts("list")
		if after := p.Object("after"); after != nil {
			after.Int64("after_migration_id")
			after.Time("after_record_time")
		}
		err := p.Err()
		if err == nil && !json.Valid([]byte(body)) {
			t.Errorf("accepted %q", body)
		}
		if err != nil {
			if status, _, _ := Status(err); status != 400 {
				t.Errorf("%q gives status %d", body, status)
			}
		}
	})
}

// A client that hangs up while its request is worked on ends that work.
func TestHangUpEndsTheWork(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	url := start(t, Config{}, post("/slow", func(ctx context.Context, r *Request) error {
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-time.After(20 * time.Second):
			ended <- errors.New("went on for 20 s")
		}
		return ctx.Err()
	}))
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * lookAround) // a client that only waits is left alone
	select {
	case err := <-ended:
		t.Fatalf("ended with %v before the client hung up", err)
	default:
	}
	conn.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
}
