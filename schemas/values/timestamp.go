package values

import (
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// appendISOTime appends the time that text, the decimal number of µs since 1970, stands
// for: with 0, 3 or 6 fraction digits, the fewest that are exact.
//
//	1726839089552807 -> 2024-09-20T13:31:29.552807Z
func appendISOTime(dst, text []byte) ([]byte, error) {
	micros, ok := parseInt64(text)
	if m := schemas.Micros(micros); ok && m >= schemas.MinMicros && m <= schemas.MaxMicros {
		return schemas.AppendShortTime(dst, m), nil
	}
	return dst, fmt.Errorf("%w: timestamp %.40q", ErrInvalid, text)
}

// appendMicros appends the number of µs since 1970 of text, a time in UTC with 0 to 9
// fraction digits. What is below a microsecond is cut off.
func appendMicros(dst, text []byte) ([]byte, error) {
	micros, ok := schemas.ParseUTC(text)
	if !ok {
		return dst, fmt.Errorf("%w: timestamp %.40q", ErrInvalid, text)
	}
	return strconv.AppendInt(dst, int64(micros), 10), nil
}
