package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Paths of the node that are used here.
const (
	updatesOperation     = "/v2/updates"
	flatsOperation       = "/v2/updates/flats"
	pagesOperation       = "/v2/updates/get-updates-page"
	ledgerEndOperation   = "/v2/state/ledger-end"
	prunedOperation      = "/v2/state/latest-pruned-offsets"
	participantOperation = "/v2/parties/participant-id"
	activeOperation      = "/v2/state/active-contracts"
	activePagesOperation = "/v2/state/active-contracts-page"
)

const (
	connectTimeout   = 10 * time.Second
	connectionBuffer = 256 << 10
)

// client makes the calls of one node. No call is retried here: the caller decides.
// It is safe for concurrent use.
type client struct {
	http     *http.Client
	base     string // without a slash at the end
	name     string // base without credentials
	version  string
	timeout  time.Duration
	ping     time.Duration
	rest     time.Duration
	limit    int64
	compress bool
	tokens   *remote.Tokens
	// pongs says that the node has answered a ping once.
	pongs atomic.Bool
	now   func() time.Time
}

func newClient(cfg *Config) (*client, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("node %q is not an http or https URL", remote.Redact(u))
	}
	c := &client{
		http: cfg.HTTPClient, base: strings.TrimRight(u.JoinPath().String(), "/"), name: remote.Redact(u), version: cfg.Version,
		timeout: cfg.RequestTimeout, ping: cfg.PingInterval, rest: cfg.MaxRetryAfter, limit: cfg.MaxFrameBytes, now: cfg.Now,
		// On this machine bandwidth is free and compressing costs both sides.
		compress: !remote.IsLoopback(u.Hostname()),
		tokens:   remote.NewTokens(cfg.Token, cfg.TokenFile, cfg.Now),
	}
	if c.http == nil {
		c.http = &http.Client{Transport: newTransport()}
	}
	return c, nil
}

// newTransport reads connections through a large buffer: a websocket library reads each
// frame in several small pieces, which would be a system call each.
func newTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // gzip is asked for and undone here
	transport.ForceAttemptHTTP2 = false // a websocket needs HTTP/1.1
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newBufferedConn(conn), nil
	}
	return transport
}

// call is one request of the node.
type call struct {
	method    string
	operation string
	query     url.Values
	cursor    string // for errors
	body      any    // JSON body, nil for none
}

// get asks for the JSON object at operation.
func (c *client) get(ctx context.Context, operation string, into any) error {
	k := &call{method: http.MethodGet, operation: operation}
	answer, err := c.do(ctx, k)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(answer, " \t\r\n"), []byte("{")) { // null would do as an object without members
		return c.fail(k, http.StatusOK, fmt.Errorf("%w: the answer is not an object", schemas.ErrMalformed))
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return c.fail(k, http.StatusOK, fmt.Errorf("%w: %w", schemas.ErrMalformed, err))
	}
	return nil
}

// do carries out k and returns the body of the answer. Failures are *Error, but for the
// reason why ctx ended.
func (c *client) do(ctx context.Context, k *call) ([]byte, error) {
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return nil, c.fail(k, 0, err)
	}
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pace := remote.NewPace(c.timeout, func(cause error) { cancel(cause) })
	defer pace.Stop()
	answer, err := c.send(ctx, k, token, pace)
	if err == nil {
		return answer, nil
	}
	if reason := remote.Ended(outer); reason != nil {
		return nil, reason
	}
	return nil, c.clean(k, err, token, ctx)
}

func (c *client) send(ctx context.Context, k *call, token string, pace *remote.Pace) ([]byte, error) {
	req, err := c.request(ctx, k, token)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, remote.WithoutURL(err)
	}
	defer resp.Body.Close()
	pace.Wait(c.timeout, remote.ErrStalled)
	if resp.StatusCode != http.StatusOK {
		return nil, c.refusal(k, resp, token)
	}
	answer, err := remote.Reader{Limit: c.limit, Progress: pace.Received}.Body(resp)
	if err == nil && remote.IsPage(answer) {
		return nil, c.fail(k, http.StatusOK, remote.ErrPage)
	}
	return answer, err
}

// clean makes an *Error of err, with the reason for which ctx was ended, if it was, and
// without the token, which an upstream may repeat.
func (c *client) clean(k *call, err error, token string, ctx context.Context) *Error {
	var e *Error
	if !errors.As(err, &e) {
		if reason := remote.Ended(ctx); reason != nil {
			err = reason
		}
		e = c.fail(k, 0, err)
	}
	e.Err = remote.WithoutToken(e.Err, token)
	return e
}

func (c *client) fail(k *call, status int, err error) *Error {
	return &Error{Upstream: c.name, Operation: k.operation, Cursor: k.cursor, Status: status, Err: err}
}

func (c *client) request(ctx context.Context, k *call, token string) (*http.Request, error) {
	body, err := remote.EncodeBody(k.body)
	if err != nil {
		return nil, err
	}
	address := c.base + k.operation
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	req, err := remote.NewRequest(ctx, k.method, address, body, c.header(token))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if c.compress {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	return req, nil
}

// header has what every request carries.
func (c *client) header(token string) http.Header { return remote.Header(c.version, token) }

// refusal turns an answer that is not what was asked for into an error.
func (c *client) refusal(k *call, resp *http.Response, token string) *Error {
	text := remote.ReadRefusal(resp)
	e := c.fail(k, resp.StatusCode, errors.New(remote.OneLine(string(text))))
	if own, ok := remote.ParseLedgerError(text); ok {
		fill(e, own)
	}
	if after := remote.RetryAfter(resp.Header.Get("Retry-After"), c.now(), c.rest); after > 0 {
		e.retryAfter = after
	}
	return c.clean(k, e, token, context.Background())
}
