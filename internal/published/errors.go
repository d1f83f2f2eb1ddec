package published

import (
	"errors"
	"fmt"
)

var (
	// ErrNotClosed means that a segment may still grow or has no history.
	ErrNotClosed = errors.New("segment is not closed")
	// ErrFuture means that the stream is later than Config.Ahead allows. What its history
	// lacks before that is unknown, so nothing of it counts as closed.
	ErrFuture = errors.New("the stream is ahead of this machine's clock")
	// ErrSegmentLength means that a bucket or its catalogue has segments of another length than
	// the configured one. The two do not mix: the same updates would be published twice, and no
	// listing nor chain could tell which segment follows which.
	ErrSegmentLength = errors.New("segments of another length are published")
	// ErrConflict means that the bucket holds another object under the key of one that
	// is to be published. Nothing was overwritten.
	ErrConflict = errors.New("another object has this key")
)

// Mismatch is a published object that is not what the catalogue or its manifest says.
type Mismatch struct{ error }

// AsMismatch marks an error as one of an object.
func AsMismatch(err error) error { return Mismatch{err} }

// Mismatchf is AsMismatch of fmt.Errorf.
func Mismatchf(format string, args ...any) error { return Mismatch{fmt.Errorf(format, args...)} }
