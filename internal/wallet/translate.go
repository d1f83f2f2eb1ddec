package wallet

import (
	"errors"

	"github.com/ledgerlake/ledgerlake/internal/node"
)

// translate gives an error of the ledger one of the kinds by which callers decide.
func translate(err error) error {
	var r *node.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return refused(r)
	case errors.Is(err, node.ErrUnknown):
		return &Error{Kind: ErrUnknown, Message: "it is unknown whether the command was executed", Err: err}
	case errors.Is(err, node.ErrDuplicate):
		return duplicate(err)
	case errors.Is(err, node.ErrNotSent):
		return &Error{Kind: ErrUnavailable, Message: "the node cannot be reached", Err: err}
	}
	return failedCall(err)
}

// duplicate tells a command that was executed from one that is being executed.
func duplicate(err error) error {
	if node.HasCode(err, node.CodeInFlight) {
		return &Error{Kind: ErrInFlight, Message: "an identical submission is in flight", Err: err}
	}
	return &Error{Kind: ErrConflict, Message: "this was submitted before", Err: err}
}

// failedCall is for calls that are no commands.
func failedCall(err error) error {
	var e *node.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Refused():
		return refused(e.Refusal())
	}
	return &Error{Kind: ErrUnavailable, Message: "the node does not answer", Err: err}
}

// refused maps what the node refuses. Its own words are shown: they name contracts and
// amounts of the request, and nothing else.
func refused(r *node.Refusal) error {
	e := &Error{Kind: ErrInvalid, Message: r.Message, Err: r}
	switch {
	case r.Code == node.CodeContractNotFound:
		e.Kind, e.Message = ErrNotFound, "A contract of the request no longer exists"
	case r.Retryable():
		e.Kind = ErrInFlight
	case r.Category == 10:
		e.Kind = ErrConflict
	case r.Category == 11:
		e.Kind = ErrNotFound
	case r.Category == 6 || r.Category == 7: // the credentials are ours, not the user's
		e.Kind, e.Message = ErrUnavailable, "The node does not let this validator act"
	}
	return e
}
