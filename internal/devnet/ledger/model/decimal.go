package model

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Decimal is a number with ten fraction digits, in units of 10^-10. It reaches
// to about 922 million, which bounds the coin supply of a devnet.
type Decimal int64

// One is 1.0000000000.
const One Decimal = 1e10

// Coins returns n whole coins (or USD).
func Coins(n int) Decimal { return Decimal(n) * One }

// Times returns d*e, rounded half even to ten digits. Both must be non-negative
// and the product within range.
func (d Decimal) Times(e Decimal) Decimal {
	hi, lo := bits.Mul64(uint64(d), uint64(e))
	quo, rem := bits.Div64(hi, lo, uint64(One))
	return Decimal(roundHalfEven(quo, rem, uint64(One)))
}

// Over returns d/e, rounded half even to ten digits. d must be non-negative, e
// positive and the quotient within range.
func (d Decimal) Over(e Decimal) Decimal {
	hi, lo := bits.Mul64(uint64(d), uint64(One))
	quo, rem := bits.Div64(hi, lo, uint64(e))
	return Decimal(roundHalfEven(quo, rem, uint64(e)))
}

func roundHalfEven(quo, rem, divisor uint64) uint64 {
	half := divisor - rem
	if rem > half || rem == half && quo&1 == 1 {
		quo++
	}
	return quo
}

// ceilOver returns the least whole number that is not below d/e.
func (d Decimal) ceilOver(e Decimal) int64 { return int64((d + e - 1) / e) }

// appendTo appends d with exactly ten fraction digits.
func (d Decimal) appendTo(dst []byte) []byte {
	u := uint64(d)
	if d < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = append(strconv.AppendUint(dst, u/uint64(One), 10), '.')
	var digits [10]byte
	for i, f := 9, u%uint64(One); i >= 0; i, f = i-1, f/10 {
		digits[i] = '0' + byte(f%10)
	}
	return append(dst, digits[:]...)
}

// String has exactly ten fraction digits.
func (d Decimal) String() string { return string(d.appendTo(nil)) }

// Short has no zeros at its end but one behind the point: as contracts see d.
func (d Decimal) Short() string {
	s := strings.TrimRight(d.String(), "0")
	if strings.HasSuffix(s, ".") {
		s += "0"
	}
	return s
}

const (
	integerDigits  = 28
	fractionDigits = 10
)

// ParseDecimal reads a decimal as the network has it, with up to 28 digits before the
// point and 10 behind it. More than a devnet can count is an error too.
func ParseDecimal(s string) (Decimal, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, pointed := strings.Cut(digits, ".")
	switch {
	case !onlyDigits(whole) || pointed && !onlyDigits(fraction):
		return 0, errors.New("is not a decimal number")
	case len(fraction) > fractionDigits:
		return 0, fmt.Errorf("has more than %d fraction digits", fractionDigits)
	case len(strings.TrimLeft(whole, "0")) > integerDigits:
		return 0, fmt.Errorf("has more than %d digits before the point", integerDigits)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", fractionDigits-len(fraction)), 10, 64)
	if err != nil {
		return 0, errors.New("is more than a devnet can count")
	}
	if negative {
		n = -n
	}
	return Decimal(n), nil
}

func onlyDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
