package export

import "errors"

var (
	// ErrNotClosed means that a segment may still grow or has no history.
	ErrNotClosed = errors.New("segment is not closed")
	// ErrConflict means that the bucket holds another object under the key of one that
	// is to be published. Nothing was overwritten.
	ErrConflict = errors.New("another object has this key")
	// ErrOrder means that a source did not give its rows in ascending order.
	ErrOrder = errors.New("rows are out of order")
)
