package values

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// input is the canonical JSON that is being converted. All its errors are ErrInvalid.
type input struct{ jsonscan.Scanner }

// unexpected is the error for JSON of another shape than the encoding has at this place.
func (in *input) unexpected() error {
	return fmt.Errorf("%w: unexpected JSON at byte %d", ErrInvalid, in.Offset())
}

// members reads an object and calls visit after each key. visit must read the value; key
// is good until it reads.
func (in *input) members(visit func(key []byte) error) error {
	if in.Open('{') != nil {
		return in.unexpected()
	}
	for more := in.First('}'); more; {
		key, err := in.Key()
		if err != nil {
			return in.unexpected()
		}
		if err := visit(key); err != nil {
			return err
		}
		if more, err = in.More('}'); err != nil {
			return in.unexpected()
		}
	}
	return nil
}

// elements reads an array and calls visit before each element with its index. visit must
// read the element.
func (in *input) elements(visit func(i int) error) error {
	if in.Open('[') != nil {
		return in.unexpected()
	}
	for i, more := 0, in.First(']'); more; i++ {
		if err := visit(i); err != nil {
			return err
		}
		var err error
		if more, err = in.More(']'); err != nil {
			return in.unexpected()
		}
	}
	return nil
}

// text reads a string; see jsonscan.Scanner.Text.
func (in *input) text() ([]byte, error) {
	text, err := in.Text()
	if err != nil {
		return nil, in.unexpected()
	}
	return text, nil
}

// numberText reads a number that may be written as a string, and returns its text.
func (in *input) numberText() ([]byte, error) {
	if in.Peek() == '"' {
		return in.text()
	}
	number, err := in.Number()
	if err != nil {
		return nil, in.unexpected()
	}
	return number, nil
}

// boolean reads true or false and returns the word.
func (in *input) boolean() (string, error) {
	word := "false"
	if in.Peek() == 't' {
		word = "true"
	}
	if in.Literal(word) != nil {
		return "", in.unexpected()
	}
	return word, nil
}

// empty reads an object without members.
func (in *input) empty() error {
	return in.members(func([]byte) error { return in.unexpected() })
}
