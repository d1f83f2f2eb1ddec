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
	// ErrFuture means that the stream stands later than Config.Ahead allows. What its history
	// lacks before that nobody knows, so nothing of it counts as closed.
	ErrFuture = errors.New("the stream is ahead of this machine's clock")
)
