package values

import (
	"errors"
	"fmt"
)

// MaxDepth is how many values may be nested, the outermost included.
const MaxDepth = 128

// Why a value cannot be converted; test with errors.Is. Malformed JSON gives the errors of
// package jsonscan instead.
var (
	// ErrUnknownType says that a part of the value needs a type and has none.
	ErrUnknownType = errors.New("type not in the catalogue")
	// ErrUnknownField says that a record has a field that its type lacks.
	ErrUnknownField = errors.New("field not in the type")
	// ErrMissingField says that a record lacks a field that is not optional.
	ErrMissingField = errors.New("field missing")
	// ErrMismatch says that the value is of another kind or shape than its type.
	ErrMismatch = errors.New("value does not fit its type")
	// ErrInvalid says that the text of a number, time or date is wrong or out of range.
	ErrInvalid = errors.New("invalid value")
	// ErrDepth says that values are nested deeper than MaxDepth.
	ErrDepth = fmt.Errorf("values nested deeper than %d", MaxDepth)
)
