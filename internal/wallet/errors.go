package wallet

import (
	"errors"
	"fmt"
)

// Kinds of errors that a caller decides by; what has none of them is internal.
var (
	// ErrInvalid means that the request itself is wrong, or cannot be done in the present
	// state: too little money, a receiver without preapproval.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound means that the wallet, contract, party or user does not exist, or does not have
	// the role that the action needs.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that the same was done before: the tracking id or deduplication id
	// has succeeded, the user exists, the proposal is pending.
	ErrConflict = errors.New("done before")
	// ErrInFlight means that the same is being done right now, or that too much is waiting
	// for this wallet: try again in a while.
	ErrInFlight = errors.New("in flight")
	// ErrDisabled means that the configuration does not allow the action.
	ErrDisabled = errors.New("disabled")
	// ErrUnavailable means that the node or the store could not be reached; nothing was done.
	ErrUnavailable = errors.New("unavailable")
	// ErrUnknown means that a command was sent and its outcome is unknown.
	// Repeating the action with the same tracking id is safe.
	ErrUnknown = errors.New("outcome unknown")
)

// Error is a failed action.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Message may be shown to the user.
	Message string
	// ContractID is the contract that exists already, for ErrConflict, if it is known.
	ContractID string
	// Err is the cause, for the log; nil if the message says it all.
	Err error
}

// Error is the message, and the cause behind it.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives kind and cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func fail(kind error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error  { return fail(ErrInvalid, format, args...) }
func notFound(format string, args ...any) *Error { return fail(ErrNotFound, format, args...) }

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
func isConflict(err error) bool { return errors.Is(err, ErrConflict) }
