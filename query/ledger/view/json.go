package view

import (
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// appendText appends a JSON string.
func appendText(dst []byte, text string) []byte {
	return jsonscan.AppendString(dst, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// appendTexts appends a list of JSON strings.
func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, t)
	}
	return append(dst, ']')
}

// appendMembers appends the members of a canonical JSON object, nil for none, to an object
// that has members already.
func appendMembers(dst, object []byte) []byte {
	if len(object) <= len(`{}`) {
		return dst
	}
	return append(append(dst, ','), object[1:len(object)-1]...)
}
