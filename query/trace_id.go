package query

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
)

// traceOf returns the trace id of a header traceparent, such as
// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", or a new one.
// https://www.w3.org/TR/trace-context/#traceparent-header
func traceOf(traceparent []byte) string {
	const version, trace, parent, flags = 2, 32, 16, 2
	parts := bytes.Split(traceparent, []byte("-"))
	if len(parts) >= 4 && len(parts[0]) == version && len(parts[1]) == trace && len(parts[2]) == parent && len(parts[3]) == flags &&
		isLowerHex(traceparent) && string(parts[0]) != "ff" && len(bytes.Trim(parts[1], "0")) > 0 {
		return string(parts[1])
	}
	var id [trace / 2]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// isLowerHex also lets the hyphens between the parts pass.
func isLowerHex(text []byte) bool {
	return len(bytes.Trim(text, "0123456789abcdef-")) == 0 && len(text) < 128
}
