package values

import (
	"bytes"
	"fmt"
	"strconv"
)

const (
	// numericScale is the number of fraction digits of the network's amounts.
	numericScale = 10
	// maxNumericText bounds the text of a number, as it is read and as it is written.
	// Numerics of the network have at most 38 digits.
	maxNumericText = 100
)

// appendNumeric appends the decimal number text with at least 10 fraction digits. Digits
// are kept as they are, a plus sign and an exponent are not:
//
//	1.5 -> 1.5000000000   0E-10 -> 0.0000000000   -12e1 -> -120.0000000000
func appendNumeric(dst, text []byte) ([]byte, error) {
	whole, fraction, exponent, ok := splitNumeric(text)
	if !ok {
		return dst, fmt.Errorf("%w: numeric %.60q", ErrInvalid, text)
	}
	start := len(dst)
	if text[0] == '-' {
		dst = append(dst, '-')
	}
	if exponent == 0 {
		dst = appendFraction(append(dst, whole...), fraction)
	} else {
		dst = appendShifted(dst, whole, fraction, exponent)
	}
	if len(dst)-start > maxNumericText {
		return dst[:start], fmt.Errorf("%w: numeric %.60q is too long", ErrInvalid, text)
	}
	return dst, nil
}

// appendPublishedNumeric is appendNumeric with an exponent for numbers below a millionth. It is how
// Java prints a number, and thus the network's own services:
//
//	0.0000000000 -> 0E-10   -0.0000009990 -> -9.990E-7   0.0000010000 -> 0.0000010000
func appendPublishedNumeric(dst, text []byte) ([]byte, error) {
	start := len(dst)
	dst, err := appendNumeric(dst, text)
	if err != nil {
		return dst, err
	}
	point := start + bytes.IndexByte(dst[start:], '.')
	if dst[point-1] != '0' || point-1 > start && dst[point-2] != '-' {
		return dst, nil
	}
	fraction := dst[point+1:]
	digits := bytes.TrimLeft(fraction, "0")
	zeros := len(fraction) - len(digits)
	if zeros < 6 {
		return dst, nil
	}
	if len(digits) == 0 {
		return strconv.AppendInt(append(dst[:start], "0E-"...), int64(len(fraction)), 10), nil
	}
	digits = bytes.Clone(digits)
	dst = append(dst[:point-1], digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(dst, "E-"...), int64(zeros+1), 10), nil
}

// appendFraction appends a point, the digits and the zeros that are missing to the scale.
func appendFraction(dst, digits []byte) []byte {
	dst = append(dst, '.')
	dst = append(dst, digits...)
	for n := len(digits); n < numericScale; n++ {
		dst = append(dst, '0')
	}
	return dst
}

// appendShifted appends whole.fraction times ten to the power of exponent.
func appendShifted(dst, whole, fraction []byte, exponent int) []byte {
	digits := append(bytes.Clone(whole), fraction...)
	point := len(whole) + exponent
	for ; point < 1; point++ {
		digits = append([]byte{'0'}, digits...)
	}
	for len(digits) < point {
		digits = append(digits, '0')
	}
	for point > 1 && digits[0] == '0' {
		digits, point = digits[1:], point-1
	}
	dst = append(dst, digits[:point]...)
	rest := digits[point:]
	for len(rest) > numericScale && rest[len(rest)-1] == '0' {
		rest = rest[:len(rest)-1]
	}
	return appendFraction(dst, rest)
}

// splitNumeric splits [+-]digits[.digits][e[+-]digits].
func splitNumeric(text []byte) (whole, fraction []byte, exponent int, ok bool) {
	rest := text
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	whole, rest = cutDigits(rest)
	ok = len(whole) > 0
	if len(rest) > 0 && rest[0] == '.' {
		fraction, rest = cutDigits(rest[1:])
		ok = ok && len(fraction) > 0
	}
	if len(rest) > 0 && rest[0]|0x20 == 'e' {
		n, valid := parseInt64(rest[1:])
		if !valid || n < -maxNumericText || n > maxNumericText {
			return nil, nil, 0, false
		}
		exponent, rest = int(n), nil
	}
	return whole, fraction, exponent, ok && len(rest) == 0 && len(text) <= maxNumericText
}

func cutDigits(s []byte) (digits, rest []byte) {
	i := 0
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return s[:i], s[i:]
}
