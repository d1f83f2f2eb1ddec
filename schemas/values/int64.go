package values

import (
	"fmt"
	"math"
	"strconv"
)

// appendInt64 appends the decimal form of text, an optionally signed decimal number in the
// range of int64.
func appendInt64(dst, text []byte) ([]byte, error) {
	n, ok := parseInt64(text)
	if !ok {
		return dst, fmt.Errorf("%w: int64 %.40q", ErrInvalid, text)
	}
	return strconv.AppendInt(dst, n, 10), nil
}

// parseInt64 is strconv.ParseInt for bytes, without its error.
func parseInt64(text []byte) (int64, bool) {
	digits, negative := text, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits, negative = text[1:], text[0] == '-'
	}
	if len(digits) == 0 {
		return 0, false
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	var n uint64
	for _, c := range digits {
		c -= '0'
		if c > 9 || n > (limit-uint64(c))/10 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}
