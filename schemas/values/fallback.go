package values

import (
	"bytes"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Fallback appends what stands in the place of a value that cannot be converted:
//
//	{"error":"field amount: ...","value":<value>}
//
// value is the value as stored, in whichever encoding. If it is not JSON it becomes a
// JSON string, with the replacement character for bytes that are not UTF-8.
func Fallback(dst, value []byte, err error) []byte {
	dst = append(dst, `{"error":`...)
	dst = jsonscan.AppendString(dst, toUTF8([]byte(err.Error())))
	dst = append(dst, `,"value":`...)
	dst = appendAnyText(dst, value)
	return append(dst, '}')
}

// unwrapped returns the value in what Fallback wrote; ok is false for any other text.
func unwrapped(text []byte) (value []byte, ok bool) {
	var s jsonscan.Scanner
	s.Reset(text)
	if !s.Accept(`{"error":`) {
		return nil, false
	}
	if _, err := s.Text(); err != nil || !s.Accept(`,"value":`) {
		return nil, false
	}
	start := s.Offset()
	if s.Skip() != nil {
		return nil, false
	}
	value = text[start:s.Offset()]
	return value, s.Accept("}") && s.End() == nil
}

// appendAnyText appends text in canonical form if it is JSON, else as a JSON string.
func appendAnyText(dst, text []byte) []byte {
	out, err := jsonscan.AppendCanonical(dst, text)
	if err == nil {
		return out
	}
	return jsonscan.AppendString(dst, toUTF8(text))
}

// toUTF8 replaces what is not UTF-8.
func toUTF8(text []byte) []byte { return bytes.ToValidUTF8(text, []byte("\uFFFD")) }
