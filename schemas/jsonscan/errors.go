package jsonscan

import (
	"errors"
	"fmt"
)

// MaxDepth is how many arrays and objects may be open at once. It is far above any
// contract payload and keeps recursion bounded for hostile input.
const MaxDepth = 512

// What is wrong with a text; test with errors.Is. The returned error adds the byte offset.
var (
	ErrSyntax       = errors.New("malformed JSON")
	ErrUTF8         = errors.New("invalid UTF-8 in JSON")
	ErrDuplicateKey = errors.New("duplicate object key in JSON")
	ErrDepth        = fmt.Errorf("JSON nested deeper than %d", MaxDepth)
)

// errorAt is err with the byte offset at which it was noticed.
func errorAt(err error, offset int) error {
	return fmt.Errorf("%w at byte %d", err, offset)
}
