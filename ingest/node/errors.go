package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	// ErrPruned means that the node has pruned updates that the stream does not hold
	// yet. It wraps schemas.ErrDiverged: a person must decide how to continue.
	ErrPruned = fmt.Errorf("%w: the node has pruned history that is not stored yet", schemas.ErrDiverged)
	// ErrDenied means that the node refuses the token, or that the token lacks a right.
	ErrDenied = errors.New("the node denies access")

	// errLate means that the stream lacks an update, which came too late.
	errLate = fmt.Errorf("%w: the node returned an update after later ones that are already stored, so the stream lacks it", schemas.ErrDiverged)

	// errIdle ends a websocket on which nothing arrives any more.
	errIdle = errors.New("neither an update nor a checkpoint within the idle timeout")
	// errDead ends a websocket whose peer answered pings once and no longer does.
	errDead = errors.New("the websocket's peer no longer answers pings")
	// errSilent ends a websocket that keeps back updates which the node has.
	errSilent = errors.New("the websocket is silent although the node has later updates")
	// errRenewed ends a websocket whose token is about to expire and was renewed.
	errRenewed = errors.New("the token was renewed")
	// errChange ends a session of list calls when the websocket is to be tried again.
	errChange = errors.New("time to try the websocket again")
)

// Codes of the node's errors that decide something.
const (
	codePruned          = "PARTICIPANT_PRUNED_DATA_ACCESSED"
	codeAfterEnd        = "OFFSET_AFTER_LEDGER_END"
	codeUnauthenticated = "UNAUTHENTICATED"
	codeStaleToken      = "STALE_STREAM_AUTHORIZATION"
	codeDenied          = "PERMISSION_DENIED"
	codeListTooLong     = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
)

// Error is a failed call of the node: what was asked, from where on, and why it did not
// work. It never contains credentials.
type Error struct {
	// Upstream is the base URL without user, password and query.
	Upstream string
	// Operation is the node's path, such as /v2/updates.
	Operation string
	// Cursor says where in the stream the call stood; "" when it had no cursor.
	Cursor string
	// Status is the HTTP status, or 0 when there was no answer or it came in a frame.
	Status int
	// Code and Category are those of the node's own error; "" and 0 when it gave none.
	Code     string
	Category int
	// Err is the cause.
	Err error

	retryAfter time.Duration
}

// Error reads as one sentence.
func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s of %s", e.Operation, e.Upstream)
	if e.Cursor != "" {
		s.WriteString(" after " + e.Cursor)
	}
	if e.Status != 0 && e.Status != http.StatusOK {
		fmt.Fprintf(&s, ": status %d", e.Status)
	}
	if e.Code != "" {
		s.WriteString(": " + e.Code)
	}
	return s.String() + ": " + e.Err.Error()
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	switch {
	case errors.Is(e.Err, remote.ErrTooLarge), schemas.NeedsPerson(e.Err), e.refused(), e.unauthenticated(), e.denied():
		return false
	case e.Status == 0 && e.Code == "", e.Category >= 1 && e.Category <= 3:
		return true
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusTooManyRequests:
		return true
	case e.Status >= 500:
		return e.Status != http.StatusHTTPVersionNotSupported
	case e.Status == 0:
		return retryableCategory(e.Category)
	}
	return e.Status == http.StatusOK
}

// retryableCategory is for errors in frames, which have no status: those of which the
// node says that the request itself is wrong are not tried for ever.
func retryableCategory(category int) bool { return category == 4 || category == 13 }

// refused reports whether the node, or a proxy in front of it, does not offer the
// operation in this form.
func (e *Error) refused() bool {
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUpgradeRequired, http.StatusNotImplemented:
		return true
	}
	return false
}

func (e *Error) unauthenticated() bool {
	return e.Status == http.StatusUnauthorized || e.Code == codeUnauthenticated || e.Code == codeStaleToken
}

func (e *Error) denied() bool {
	return e.Status == http.StatusForbidden || e.Code == codeDenied
}

// foreign reports whether e comes from something in front of the node, such as a proxy, and
// not from the node itself, whose errors have a code.
func (e *Error) foreign() bool {
	return e.Code == "" && (e.refused() || e.unauthenticated() || e.denied() || errors.Is(e.Err, remote.ErrPage))
}

// refused reports whether err says that the operation is not offered.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.refused()
}

// tooLong reports whether err says that a list has more elements than the node gives.
func tooLong(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusRequestEntityTooLarge || e.Code == codeListTooLong)
}

// final wraps an error after which the ingester must not continue.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// ownErrorOf returns an answer or frame that is one of the node's own errors as such, nil for
// any other.
func ownErrorOf(body []byte) *Error {
	own, ok := remote.ParseLedgerError(body)
	if !ok {
		return nil
	}
	e := &Error{}
	fill(e, own)
	return e
}

// fill puts what the node says into e.
func fill(e *Error, l remote.LedgerError) {
	e.Code, e.Category, e.Err, e.retryAfter = l.Code, l.Category, errors.New(remote.OneLine(l.Cause)), l.RetryAfter
}
