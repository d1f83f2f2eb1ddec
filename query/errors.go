package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Code classifies an error that a caller may learn about. Each maps to one status.
type Code uint8

const (
	// Internal is the class of every error without a class of its own: 500 with a
	// fixed text, the cause only in the log.
	Internal Code = iota
	// Invalid is a request that can never succeed as it is: 400.
	Invalid
	// NotFound is an object or a state that does not exist: 404.
	NotFound
	// AlreadyExists is a conflict with something that exists, or goes on: 409.
	AlreadyExists
	// Aborted is contention with another request: 429.
	Aborted
	// Unavailable is a passing inability, a backfill or a timeout included: 503.
	Unavailable
	// FailedPrecondition is a request that the present state forbids: 400.
	FailedPrecondition
	// Interpretation is a precondition that failed inside contract code: 409.
	Interpretation
	// Disabled is a feature that this deployment does not offer: 501.
	Disabled
	// TooLarge is a request body above the limit: 413.
	TooLarge
	// RateLimited is a caller, or all of them, above the allowed rate: 429.
	RateLimited
	// MethodNotAllowed is a known path with a method it does not have: 405.
	MethodNotAllowed
	// RangeNotSatisfiable is a byte range outside the object: 416.
	RangeNotSatisfiable
	// HeaderTooLarge is a request head above the limit: 431.
	HeaderTooLarge
	// SlowRequest is a request that did not arrive in time: 408.
	SlowRequest
	// Unauthenticated is a request whose token does not say who sends it: 401.
	Unauthenticated
	// Denied is a caller who is known and may not do this: 403.
	Denied
)

// statuses is indexed by Code.
var statuses = [...]int{
	Internal:            fasthttp.StatusInternalServerError,
	Invalid:             fasthttp.StatusBadRequest,
	NotFound:            fasthttp.StatusNotFound,
	AlreadyExists:       fasthttp.StatusConflict,
	Aborted:             fasthttp.StatusTooManyRequests,
	Unavailable:         fasthttp.StatusServiceUnavailable,
	FailedPrecondition:  fasthttp.StatusBadRequest,
	Interpretation:      fasthttp.StatusConflict,
	Disabled:            fasthttp.StatusNotImplemented,
	TooLarge:            fasthttp.StatusRequestEntityTooLarge,
	RateLimited:         fasthttp.StatusTooManyRequests,
	MethodNotAllowed:    fasthttp.StatusMethodNotAllowed,
	RangeNotSatisfiable: fasthttp.StatusRequestedRangeNotSatisfiable,
	HeaderTooLarge:      fasthttp.StatusRequestHeaderFieldsTooLarge,
	SlowRequest:         fasthttp.StatusRequestTimeout,
	Unauthenticated:     fasthttp.StatusUnauthorized,
	Denied:              fasthttp.StatusForbidden,
}

const internalText = "An unexpected error occurred."

// Error is what a handler returns when the caller may learn the reason.
type Error struct {
	Code Code
	// Msg is sent to the caller: no SQL, hosts or keys in it.
	Msg string
	// Err is the cause. It is logged and never sent.
	Err error
	// RetryAfter is sent with statuses 429 and 503; 0 means one second.
	RetryAfter time.Duration
}

// Errorf makes an Error of the given class without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Error gives message and cause, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Msg + ": " + e.Err.Error()
	}
	return e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Status maps any error of a handler to what the caller gets. It is the only place
// where errors become statuses.
func Status(err error) (status int, text string, retryAfter time.Duration) {
	e := classify(err)
	status, text = statuses[e.Code], e.Msg
	if e.Code == Internal {
		text = internalText
	}
	if status == fasthttp.StatusTooManyRequests || status == fasthttp.StatusServiceUnavailable {
		retryAfter = max(e.RetryAfter, time.Second)
	}
	return status, text, retryAfter
}

func classify(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, schemas.ErrNotFound):
		return &Error{Code: NotFound, Msg: "Not found.", Err: err}
	case errors.Is(err, schemas.ErrUnavailable):
		return &Error{Code: Unavailable, Msg: "The service that has the answer is not available at the moment.", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Unavailable, Msg: "The request took too long and was stopped.", Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Unavailable, Msg: "The server is shutting down.", Err: err}
	}
	return &Error{Code: Internal, Msg: internalText, Err: err}
}
