package bucket

import (
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

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
