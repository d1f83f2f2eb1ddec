package scan

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error is a failed operation of the upstream: what was asked, from where on, and
// why it did not work. It never contains credentials.
type Error struct {
	// Upstream is the base URL without user, password and query.
	Upstream string
	// Operation is the upstream's path, such as /v0/events.
	Operation string
	// Cursor says where in history the request stood; "" when it had no cursor.
	Cursor string
	// Status is the HTTP status, or 0 when there was no complete answer.
	Status int
	// Err is the cause.
	Err error

	retryable  bool
	own        bool // the interface's own word, by its form, on a migration
	retryAfter time.Duration
}

// Error reads as one sentence.
func (e *Error) Error() string {
	from := ""
	if e.Cursor != "" {
		from = " after " + e.Cursor
	}
	if e.Status != 0 && e.Status != http.StatusOK {
		return fmt.Sprintf("%s of %s%s: status %d: %v", e.Operation, e.Upstream, from, e.Status, e.Err)
	}
	return fmt.Sprintf("%s of %s%s: %v", e.Operation, e.Upstream, from, e.Err)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.retryable }

// unsupported reports whether the upstream does not know the operation at all.
func unsupported(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.retryable {
		return false
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

// refusal reports whether e is how a server refuses what it does not know or does not
// allow, and not the interface's own word.
func refusal(e *Error) bool {
	switch e.Status {
	case http.StatusNotFound:
		return !e.own
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusProxyAuthRequired:
		return true
	}
	return false
}

// odd reports whether e is an answer that says nothing of what an operation, which is known
// to be there, has: a refusal, a redirection, a success without content, or a request that
// was called bad. It is not the interface's own word on what was asked for.
func odd(e *Error) bool {
	return refusal(e) || e.Status != http.StatusNotFound && tooManyItems(e) == 0
}

// retryableStatus reports whether an HTTP status may go away by itself.
func retryableStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}
