package scan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// ClientConfig names the upstream of a Client and its limits.
type ClientConfig struct {
	// BaseURL is the upstream, with or without a trailing /api/scan. Required. User
	// and password in it are sent as basic authentication.
	BaseURL string
	// HTTPClient defaults to a client with its own connection pool.
	HTTPClient *http.Client
	// RequestsPerSecond caps all requests together. 0 means 10, the network's own
	// limit per address, or no limit when the upstream is on this machine; below 0
	// means no limit.
	RequestsPerSecond float64
	// RequestTimeout ends an attempt that makes no progress for so long, or too little: see
	// remote.Pace. Default 30s.
	RequestTimeout time.Duration
	// Backoff is the wait before the attempt that follows n failures in a row. Default
	// remote.Backoff.
	Backoff func(n int) time.Duration
	// MaxRetryAfter limits how long the upstream's Retry-After is obeyed. Default
	// remote.LongestRest.
	MaxRetryAfter time.Duration
	// GiveUpAfter ends the retries of one operation; 0 means never.
	GiveUpAfter time.Duration
	// MaxPageBytes caps one answer after decompression. Default 256 MiB.
	MaxPageBytes int64
	// Values has the types of values that the upstream gives in compact_json. Default values.Default().
	Values *values.Catalog
	// Version is sent as User-Agent ledgerlake/<version>. Default "dev".
	Version string
	// Log is required.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
	// OnRetry, when set, is called with every failure that will be retried. It must be
	// safe for concurrent use.
	OnRetry func(error)

	// once leaves the decision about every failure to the caller, who has other
	// upstreams to ask: no retries.
	once bool
	// stallTimeout, when set, is called at each attempt and replaces RequestTimeout.
	stallTimeout func() time.Duration
	// defaultRate takes the place of the network's limit where RequestsPerSecond is 0.
	defaultRate float64
	// onAttempt, when set, is called after every attempt with the operation, when it began
	// and how it ended. It must be safe for concurrent use.
	onAttempt func(operation string, began time.Time, err error)
}

func (c *ClientConfig) setDefaults() {
	if c.HTTPClient == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 32
		transport.DisableCompression = true // gzip is asked for and undone here
		transport.WriteBufferSize, transport.ReadBufferSize = 16<<10, 64<<10
		c.HTTPClient = &http.Client{Transport: transport}
	}
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = 30 * time.Second
	}
	if c.Values == nil {
		c.Values = values.Default()
	}
	if c.Backoff == nil {
		c.Backoff = remote.Backoff
	}
	if c.stallTimeout == nil {
		c.stallTimeout = func() time.Duration { return c.RequestTimeout }
	}
	if c.onAttempt == nil {
		c.onAttempt = func(string, time.Time, error) {}
	}
	if c.MaxPageBytes <= 0 {
		c.MaxPageBytes = 256 << 20
	}
	c.Version = cmp.Or(c.Version, "dev")
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Client asks one upstream scan. Every operation is retried, with exponential
// backoff or after the upstream's Retry-After, until it works, fails for good, ctx
// ends, or ClientConfig.GiveUpAfter has passed. Failures are *Error. A Client is
// safe for concurrent use.
type Client struct {
	cfg      ClientConfig
	name     string   // base URL without credentials
	bases    []string // where the operations may be, in the order of trying
	base     atomic.Pointer[string]
	limiter  *rate.Limiter
	compress bool

	mu          sync.Mutex
	pausedUntil time.Time // the upstream asked for a rest
	// worked has the operations that have answered once.
	worked map[string]bool
}

// NewClient checks cfg and fills in its defaults.
func NewClient(cfg ClientConfig) (*Client, error) {
	if cfg.Log == nil {
		return nil, errors.New("a scan client needs a logger")
	}
	cfg.setDefaults()
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("upstream %q is not an http or https URL", remote.Redact(u))
	}
	base := strings.TrimRight(u.JoinPath().String(), "/")
	bases := []string{base}
	if !strings.HasSuffix(base, "/api/scan") {
		bases = append(bases, base+"/api/scan")
	}
	local := remote.IsLoopback(u.Hostname())
	limit := rate.Limit(cfg.RequestsPerSecond)
	switch {
	case limit < 0 || limit == 0 && local:
		limit = rate.Inf
	case limit == 0:
		limit = rate.Limit(cmp.Or(cfg.defaultRate, 10))
	}
	return &Client{
		cfg: cfg, name: remote.Redact(u), bases: bases,
		worked:  make(map[string]bool),
		limiter: rate.NewLimiter(limit, max(1, int(min(limit, 100)))),
		// On this machine bandwidth is free and compressing costs both sides.
		compress: !local,
	}, nil
}

// Upstream names the upstream without credentials.
func (c *Client) Upstream() string { return c.name }

// place names the service that the upstream's base URL leads to.
func (c *Client) place() string {
	return strings.TrimSuffix(strings.TrimRight(c.name, "/"), "/api/scan")
}

// call is one operation to be carried out.
type call struct {
	method    string
	operation string // path below the base
	cursor    string // for errors
	body      any    // JSON body, nil for none
	// once leaves the decision about a failure to the caller: no retries, and a refusal is
	// taken at its word.
	once bool
	// reserve, when set, is asked before the answer takes size bytes of memory.
	reserve func(size int64) error
	// expect is about how large the answer will be, 0 if unknown.
	expect int64
}

// do carries out k with retries and returns the body of the answer.
func (c *Client) do(ctx context.Context, k *call) ([]byte, error) {
	var request []byte
	if k.body != nil {
		var err error
		if request, err = json.Marshal(k.body); err != nil {
			return nil, fmt.Errorf("encoding the request of %s: %w", k.operation, err)
		}
	}
	var firstFailure time.Time
	for failures := 1; ; failures++ {
		answer, err := c.attempt(ctx, k, request)
		if err == nil {
			return answer, nil
		}
		if reason := remote.Ended(ctx); reason != nil {
			return nil, reason
		}
		var e *Error
		if !errors.As(err, &e) || k.once || c.cfg.once || !e.retryable && !c.mayBeFlapping(k.operation, e, failures) {
			return nil, err
		}
		if failures == 1 {
			firstFailure = c.cfg.Now()
		}
		wait := max(c.cfg.Backoff(failures), e.retryAfter)
		outage := c.cfg.Now().Add(wait).Sub(firstFailure)
		if c.cfg.GiveUpAfter > 0 && outage > c.cfg.GiveUpAfter {
			return nil, fmt.Errorf("giving up after %d attempts: %w", failures, err)
		}
		if c.cfg.OnRetry != nil {
			c.cfg.OnRetry(err)
		}
		if remote.Growing(failures) {
			c.cfg.Log.WarnContext(ctx, "upstream request failed", "err", err, "attempts", failures, "retry_in", wait)
		}
		if err := remote.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// attempt carries out k once. As long as no base has answered with 200, all of them
// are tried in turn: any other answer may come from whatever serves the wrong one,
// such as a gateway or a web page. Of several refusals the most informative one counts.
func (c *Client) attempt(ctx context.Context, k *call, request []byte) ([]byte, error) {
	if base := c.base.Load(); base != nil {
		return c.attemptAt(ctx, *base, k, request)
	}
	var worst *Error
	for i := range c.bases {
		answer, err := c.attemptAt(ctx, c.bases[i], k, request)
		var e *Error
		failed := errors.As(err, &e)
		switch {
		case err == nil, failed && e.Status == http.StatusOK:
			c.base.CompareAndSwap(nil, &c.bases[i])
			return answer, err
		case !failed, e.Status == 0, e.Status == http.StatusTooManyRequests:
			return nil, err
		case worst == nil, informative(e) > informative(worst):
			worst = e
		}
	}
	return nil, worst
}

// informative ranks refusals by how much they say of the operation asked for.
func informative(e *Error) int {
	switch {
	case e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed:
		return 2
	case noData(e):
		return 1
	}
	return 0
}

// attemptAt sends the request of k to one base, when it is its turn, and reads the
// answer.
func (c *Client) attemptAt(ctx context.Context, base string, k *call, request []byte) ([]byte, error) {
	if err := c.waitForTurn(ctx); err != nil {
		return nil, err
	}
	began := c.cfg.Now()
	answer, err := c.exchange(ctx, base, k, request)
	if remote.Ended(ctx) == nil {
		c.cfg.onAttempt(k.operation, began, err)
	}
	return answer, err
}

func (c *Client) exchange(ctx context.Context, base string, k *call, request []byte) ([]byte, error) {
	fail := func(status int, retryable bool, err error) *Error {
		return &Error{Upstream: c.name, Operation: k.operation, Cursor: k.cursor, Status: status, Err: err, retryable: retryable}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stallTimeout := c.cfg.stallTimeout()
	pace := remote.NewPace(stallTimeout, func(cause error) { cancel(cause) })
	defer pace.Stop()

	req, err := c.request(ctx, base, k, request)
	if err != nil {
		return nil, fail(0, false, err)
	}
	resp, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, fail(0, true, reasonOr(ctx, remote.WithoutURL(err)))
	}
	defer resp.Body.Close()
	pace.Wait(stallTimeout, remote.ErrStalled)
	if resp.StatusCode != http.StatusOK {
		e := c.refused(resp, k)
		e.retryable = e.retryable || odd(e) && !k.once && c.hasWorked(k.operation)
		return nil, e
	}
	body := remote.Reader{Limit: c.cfg.MaxPageBytes, Expect: k.expect, Progress: pace.Received}
	if k.reserve != nil {
		body.Reserve = func(size int64) error {
			pace.Stop() // waiting for our own memory is not the upstream's fault
			defer pace.Wait(stallTimeout, remote.ErrStalled)
			return k.reserve(size)
		}
	}
	answer, err := body.Body(resp)
	if err != nil {
		return nil, fail(resp.StatusCode, !errors.Is(err, remote.ErrTooLarge), reasonOr(ctx, err))
	}
	if remote.IsPage(answer) {
		if !k.once && c.hasWorked(k.operation) {
			return nil, fail(resp.StatusCode, true, remote.ErrPage)
		}
		return answer, nil // the caller reports what it should have been
	}
	c.works(k.operation)
	return answer, nil
}

// reasonOr prefers the reason for which ctx was ended over the symptom.
func reasonOr(ctx context.Context, err error) error {
	if reason := remote.Ended(ctx); reason != nil {
		return reason
	}
	return err
}

func (c *Client) request(ctx context.Context, base string, k *call, body []byte) (*http.Request, error) {
	req, err := remote.NewRequest(ctx, k.method, base+k.operation, body, remote.Header(c.cfg.Version, ""))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if c.compress {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	return req, nil
}

// works notes that an operation has answered.
func (c *Client) works(operation string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worked[operation] = true
}

// hasWorked reports whether an operation has answered once. From then on a refusal of it
// comes from something in front of the upstream that comes and goes, such as a proxy, and
// not from a wrong address.
func (c *Client) hasWorked(operation string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worked[operation]
}

// mayBeFlapping reports whether a refused operation that has not answered yet is to be
// asked for again, after so many failures: others for history have answered.
func (c *Client) mayBeFlapping(operation string, e *Error, failures int) bool {
	if !refusal(e) || failures >= refusalTries || pagedOperation(operation) == "" {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.worked {
		if other != operation && pagedOperation(other) != "" {
			return true
		}
	}
	return false
}

// pagedOperation returns operation if it is one that gives pages of history, else "".
func pagedOperation(operation string) string {
	switch operation {
	case eventsOperation, updatesOperation, updatesBeforeOperation, importUpdatesOperation:
		return operation
	}
	return ""
}

// refused turns an answer that is not 200 into an error, and keeps the other
// requests back as well when the upstream asks for a rest.
func (c *Client) refused(resp *http.Response, k *call) *Error {
	const longest = 64 << 10
	text, err := remote.Reader{Limit: longest}.Body(resp)
	if err != nil {
		text = nil // the status alone decides; the text only explains it
	}
	e := &Error{
		Upstream: c.name, Operation: k.operation, Cursor: k.cursor, Status: resp.StatusCode,
		Err: errors.New(errorText(text)), retryable: retryableStatus(resp.StatusCode),
	}
	if k.operation == migrationInfoOperation {
		_, e.own = jsonReason(text) // that it has no such migration
	}
	if e.retryable {
		e.retryAfter = remote.RetryAfter(resp.Header.Get("Retry-After"), c.cfg.Now(), cmp.Or(c.cfg.MaxRetryAfter, remote.LongestRest))
		c.pause(e.retryAfter)
	}
	return e
}

func (c *Client) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := c.cfg.Now().Add(d); until.After(c.pausedUntil) {
		c.pausedUntil = until
	}
}

// waitForTurn waits until the upstream's rest is over and the rate limit allows one
// more request.
func (c *Client) waitForTurn(ctx context.Context) error {
	for {
		c.mu.Lock()
		rest := c.pausedUntil.Sub(c.cfg.Now())
		c.mu.Unlock()
		if rest <= 0 {
			break
		}
		if err := remote.Sleep(ctx, rest); err != nil {
			return err
		}
	}
	if err := c.limiter.Wait(ctx); err != nil {
		return reasonOr(ctx, err)
	}
	return nil
}

// turn is when the next request could be sent: when the upstream's rest is over and the
// rate limit allows it.
func (c *Client) turn() time.Time {
	now := c.cfg.Now()
	c.mu.Lock()
	turn := c.pausedUntil
	c.mu.Unlock()
	if limit := c.limiter.Limit(); limit != rate.Inf {
		if missing := 1 - c.limiter.Tokens(); missing > 0 {
			now = now.Add(time.Duration(missing / float64(limit) * float64(time.Second)))
		}
	}
	if turn.Before(now) {
		return now
	}
	return turn
}

// jsonReason reads the member error of an error answer.
func jsonReason(body []byte) (string, bool) {
	var answer struct {
		Error *string `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Error == nil {
		return "", false
	}
	return *answer.Error, true
}

// errorText takes the reason out of an error answer, {"error": ...} or plain text, cut to
// one short line.
func errorText(body []byte) string {
	text := string(body)
	if reason, ok := jsonReason(body); ok {
		text = reason
	}
	return remote.OneLine(text)
}
