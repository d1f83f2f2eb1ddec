package values

import (
	"fmt"
	"strconv"
	"time"
)

// The range of the network's dates, 0001-01-01 to 9999-12-31, in days since 1970.
const (
	minDay = -719162
	maxDay = 2932896
)

const secondsPerDay = 86400

// appendDate appends the date that text, the decimal number of days since 1970, stands
// for: 19986 -> 2024-09-20.
func appendDate(dst, text []byte) ([]byte, error) {
	day, ok := parseInt64(text)
	if !ok || day < minDay || day > maxDay {
		return dst, fmt.Errorf("%w: date %.40q", ErrInvalid, text)
	}
	return time.Unix(day*secondsPerDay, 0).UTC().AppendFormat(dst, time.DateOnly), nil
}

// appendDays is the inverse of appendDate.
func appendDays(dst, text []byte) ([]byte, error) {
	date, err := time.Parse(time.DateOnly, string(text))
	if err != nil || date.Year() < 1 {
		return dst, fmt.Errorf("%w: date %.40q", ErrInvalid, text)
	}
	return strconv.AppendInt(dst, date.Unix()/secondsPerDay, 10), nil
}
