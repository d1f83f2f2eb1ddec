package schemas

import (
	"errors"
	"fmt"
)

// Conditions that callers on the other side of a package border decide on.
var (
	// ErrDiverged means that history we hold and history we are given differ. A
	// person must look: retrying would store wrong rows.
	ErrDiverged = errors.New("history diverged")
	// ErrReplaced means that another process writes the stream since, so that this one must
	// not. It wraps ErrDiverged.
	ErrReplaced = fmt.Errorf("%w: another process writes the stream", ErrDiverged)
	// ErrDisagreement means that upstreams which have to agree on a range of history do
	// not, so that none of what they gave was stored.
	ErrDisagreement = errors.New("upstreams disagree")
	// ErrMalformed means that an upstream's answer does not follow the interface.
	ErrMalformed = errors.New("malformed history")
	// ErrNoSpace means that the disk below the store is full.
	ErrNoSpace = errors.New("the disk of the store is full: free space on it, or give it more")
	// ErrDamaged means that the store has lost rows or holds some twice, or cannot read a part of
	// its files: what it would give is not history. See docs/operations.md.
	ErrDamaged = errors.New("the store is damaged")
	// ErrNotFound means that the store holds no such thing.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable means that whoever knows cannot be asked at present.
	ErrUnavailable = errors.New("unavailable at the moment")
)

// NeedsPerson reports whether err will stay until somebody acts, so that repeating what
// failed is of no use.
func NeedsPerson(err error) bool {
	return errors.Is(err, ErrDiverged) || errors.Is(err, ErrDisagreement) || errors.Is(err, ErrMalformed) ||
		errors.Is(err, ErrDamaged)
}
