package bucket

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// newHTTPClient returns a client whose connections end when they stall, see Timeouts.
func newHTTPClient(t Timeouts) *http.Client {
	dialer := &net.Dialer{Timeout: t.Connect, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: t.Connect,
			MaxIdleConnsPerHost: 256, // as many downloads at once keep theirs
			// Below Stall, so that an idle connection is closed in order and not found
			// stalled.
			IdleConnTimeout:    t.Stall / 2,
			DisableCompression: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &stallConn{Conn: conn, limit: t.Stall}, nil
			},
		},
		// The SDK follows redirects between regions by itself; a plain redirect would
		// drop the signature.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// stallConn fails a read or write when nothing moved for limit. A write extends the
// deadline of a pending read too: HTTP keeps one pending while a request is sent.
type stallConn struct {
	net.Conn
	limit time.Duration
}

// Read implements net.Conn.
func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// firstPause and longestPause bound the wait between two attempts of one request.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

// newRetryer repeats requests that may succeed another time. The SDK's own waits begin at a
// second, and it gives up after some hundred failures of a client: that spares a service with
// thousands of clients. Ours are few, an object that fails costs more than its repetition, and
// who calls waits longer by itself. Only where the store asks for less do we wait like the SDK.
func newRetryer(attempts int) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.RateLimiter = ratelimit.None
		o.Backoff = pauses{throttled: retry.NewExponentialJitterBackoff(longestPause)}
		o.Retryables = append(o.Retryables, retry.RetryableErrorCode{
			// Two writers met on one key; the winner is known a moment later.
			Codes: map[string]struct{}{"ConditionalRequestConflict": {}, "OperationAborted": {}},
		})
	})
}

// pauses are the waits between attempts: they double, and each is shortened by up to a half by
// chance, so that clients do not come back together.
type pauses struct{ throttled retry.BackoffDelayer }

// BackoffDelay returns the wait after an attempt, counted from 1, that failed with err.
func (p pauses) BackoffDelay(attempt int, err error) (time.Duration, error) {
	throttle := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if throttle.IsErrorThrottle(err) == aws.TrueTernary {
		return p.throttled.BackoffDelay(attempt, err)
	}
	const doublings = 7 // of the first are more than the longest
	wait := min(firstPause<<min(max(attempt-1, 0), doublings), longestPause)
	return wait/2 + rand.N(wait/2), nil
}
