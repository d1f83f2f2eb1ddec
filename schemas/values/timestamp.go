package values

import (
	"fmt"
	"strconv"
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86400 * microsPerSecond
	// The range of the network's timestamps: 0001-01-01T00:00:00Z up to
	// 9999-12-31T23:59:59.999999Z, in µs since 1970.
	minMicros = minDay * microsPerDay
	maxMicros = (maxDay+1)*microsPerDay - 1
)

// appendISOTime appends the time that text, the decimal number of µs since 1970, stands
// for: with 0, 3 or 6 fraction digits, the fewest that are exact.
//
//	1726839089552807 -> 2024-09-20T13:31:29.552807Z
func appendISOTime(dst, text []byte) ([]byte, error) {
	micros, ok := parseInt64(text)
	if !ok || micros < minMicros || micros > maxMicros {
		return dst, fmt.Errorf("%w: timestamp %.40q", ErrInvalid, text)
	}
	day, rest := micros/microsPerDay, micros%microsPerDay
	if rest < 0 {
		day, rest = day-1, rest+microsPerDay
	}
	dst = append(appendDay(dst, day), 'T')
	seconds, fraction := rest/microsPerSecond, int(rest%microsPerSecond)
	dst = append(appendDigits(dst, int(seconds/3600), 2), ':')
	dst = append(appendDigits(dst, int(seconds/60%60), 2), ':')
	dst = appendDigits(dst, int(seconds%60), 2)
	switch {
	case fraction == 0:
	case fraction%1000 == 0:
		dst = appendDigits(append(dst, '.'), fraction/1000, 3)
	default:
		dst = appendDigits(append(dst, '.'), fraction, 6)
	}
	return append(dst, 'Z'), nil
}

// appendMicros appends the number of µs since 1970 of text, a time in UTC with 0 to 9
// fraction digits. What is below a microsecond is cut off.
func appendMicros(dst, text []byte) ([]byte, error) {
	micros, ok := parseISOTime(text)
	if !ok {
		return dst, fmt.Errorf("%w: timestamp %.40q", ErrInvalid, text)
	}
	return strconv.AppendInt(dst, micros, 10), nil
}

func parseISOTime(text []byte) (int64, bool) {
	const shortest = len("2024-09-20T13:31:29Z")
	if len(text) < shortest || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[len(text)-1] != 'Z' {
		return 0, false
	}
	day, ok := parseDay(text[:10])
	hour, okHour := number(text[11:13])
	minute, okMinute := number(text[14:16])
	second, okSecond := number(text[17:19])
	fraction, okFraction := parseFraction(text[19 : len(text)-1])
	if !ok || !okHour || !okMinute || !okSecond || !okFraction || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return day*microsPerDay + int64(hour*3600+minute*60+second)*microsPerSecond + int64(fraction), true
}

// parseFraction reads nothing or a point and 1 to 9 digits, and returns it in µs.
func parseFraction(text []byte) (micros int, ok bool) {
	if len(text) == 0 {
		return 0, true
	}
	if text[0] != '.' || len(text) < 2 || len(text) > 10 {
		return 0, false
	}
	if _, ok := number(text[1:]); !ok {
		return 0, false
	}
	for i := 1; i <= 6; i++ {
		micros *= 10
		if i < len(text) {
			micros += int(text[i] - '0')
		}
	}
	return micros, true
}

// number reads a few decimal digits, nothing else.
func number(text []byte) (n int, ok bool) {
	for _, c := range text {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, len(text) > 0
}

// appendDigits appends n with leading zeros to the given width.
func appendDigits(dst []byte, n, width int) []byte {
	start := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= start; i-- {
		dst[i] = '0' + byte(n%10)
		n /= 10
	}
	return dst
}
