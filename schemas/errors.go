package schemas

import "errors"

// Conditions that callers on the other side of a package border decide on.
var (
	// ErrDiverged means that history we hold and history we are given differ. A
	// person must look: retrying would store wrong rows.
	ErrDiverged = errors.New("history diverged")
	// ErrMalformed means that an upstream's answer does not follow the interface.
	ErrMalformed = errors.New("malformed history")
	// ErrNotFound means that the store holds no such thing.
	ErrNotFound = errors.New("not found")
)
