package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/remote"
)

var (
	// ErrNotSent means that no byte of the request has left: nothing was done.
	ErrNotSent = errors.New("not sent")
	// ErrUnknown means that a command was sent and that it could not be found out whether
	// it was executed.
	ErrUnknown = errors.New("outcome unknown")
	// ErrDuplicate means that a command with the same id was executed before, or is being
	// executed, and that it was another submission than this one.
	ErrDuplicate = errors.New("a command with this id was submitted before")
)

// Codes of the node's errors that decide something here or in callers.
const (
	CodeDuplicate        = "DUPLICATE_COMMAND"
	CodeInFlight         = "SUBMISSION_ALREADY_IN_FLIGHT"
	CodeContractNotFound = "CONTRACT_NOT_FOUND"
	CodeUserNotFound     = "USER_NOT_FOUND"
	CodeUserExists       = "USER_ALREADY_EXISTS"
	codeBackpressure     = "PARTICIPANT_BACKPRESSURE"
	codeUnauthenticated  = "UNAUTHENTICATED"
)

// Error is a failed call of the node. It never contains credentials.
type Error struct {
	// Upstream is the base URL without user, password and query.
	Upstream string
	// Operation is the node's path, such as /v2/commands/submit-and-wait.
	Operation string
	// Status is the HTTP status, or 0 when there was no answer.
	Status int
	// Node is what the node says itself; its code is "" if it does not.
	Node remote.LedgerError
	// Sent says that at least a part of the request may have reached the node.
	Sent bool
	// Err is the cause.
	Err error
}

// Error reads as one sentence.
func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s of %s", e.Operation, e.Upstream)
	if e.Status != 0 && e.Status != http.StatusOK {
		fmt.Fprintf(&s, ": status %d", e.Status)
	}
	if e.Node.Code != "" {
		s.WriteString(": " + e.Node.Code)
	}
	return s.String() + ": " + e.Err.Error()
}

// Unwrap gives the cause to errors.Is and errors.As, and ErrNotSent where it holds.
func (e *Error) Unwrap() []error {
	if !e.Sent {
		return []error{ErrNotSent, e.Err}
	}
	return []error{e.Err}
}

// Refused reports whether this is the node's word that the request was not carried out and
// will not be. What stands before a node, such as a proxy, has no word in this.
func (e *Error) Refused() bool {
	if e.Node.Code == "" {
		return e.Status == http.StatusBadRequest && errors.Is(e.Err, errUndecodable)
	}
	switch e.Node.Code {
	case CodeDuplicate, CodeInFlight:
		return false
	case codeBackpressure:
		return true
	}
	if e.Node.Context["definite_answer"] == "true" {
		return true
	}
	switch e.Node.Category {
	case 1, 2, 3, 4, 13: // transient, contention, deadline, internal, degradation
		return false
	}
	return e.Status >= 400 && e.Status < 500 || e.Status == http.StatusNotImplemented
}

// errUndecodable is the cause of a request that the node could not read.
var errUndecodable = errors.New("the node could not read the request")

// Refusal is the node's word that a command was not executed and will not be.
type Refusal struct {
	// Code is stable and documented, such as CONTRACT_NOT_FOUND; "" if the node could not
	// read the request.
	Code string
	// Message says it in words.
	Message string
	// Category is that of the node's errors, 0 if it is not known.
	Category int
	// Context has details by name, such as error_id and what belongs to it.
	Context map[string]string
	Err     error
}

// Error is the node's own text.
func (r *Refusal) Error() string {
	if r.Code == "" {
		return "refused: " + r.Message
	}
	return "refused with " + r.Code + ": " + r.Message
}

// Unwrap gives the failed call, if there was one.
func (r *Refusal) Unwrap() error { return r.Err }

// Retryable reports whether the same command may be accepted later.
func (r *Refusal) Retryable() bool { return r.Category >= 1 && r.Category <= 3 }

// Refusal is e as the node's word about a command; it makes sense if e is Refused.
func (e *Error) Refusal() *Refusal {
	return &Refusal{Code: e.Node.Code, Message: e.Err.Error(), Category: e.Node.Category, Context: e.Node.Context, Err: e}
}

// HasCode reports whether err comes from a failed call with the node's code.
func HasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Node.Code == code
}
