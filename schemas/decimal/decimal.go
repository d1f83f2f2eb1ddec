// Package decimal has the network's numbers of coins and dollars: exact, with ten fraction
// digits. Nothing is ever rounded unless the method's name says how.
package decimal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Decimal is a number in units of 10^-10. The zero value is 0. It is immutable. Numbers that
// the network can store take no memory beyond the value itself and may be compared with ==; any
// others are compared with Cmp.
type Decimal struct {
	// The units as a signed integer of 128 bits, in two's complement.
	high int64
	low  uint64
	// wide has the units instead if they need more bits; nil otherwise.
	wide *big.Int
}

const (
	// FractionDigits are the digits behind the point.
	FractionDigits = 10
	// WholeDigits are the most digits before the point that the network stores.
	WholeDigits = 28
	// maxDigits bounds what is read: sums may be larger than what the network stores.
	maxDigits = 60
)

var (
	one   = big.NewInt(1e10)
	limit = Must("1" + strings.Repeat("0", WholeDigits)) // the least number that cannot be stored
)

// ErrSyntax means that a text is no decimal number with at most ten fraction digits.
var ErrSyntax = errors.New("not a decimal number with at most 10 fraction digits")

// Parse reads a number such as "1.5", or the "0E-10" of some results. More than ten
// fraction digits are accepted if the rest are zeros.
func Parse[T string | []byte](text T) (Decimal, error) {
	d, ok := parse(text)
	if !ok {
		return Decimal{}, fmt.Errorf("%.80q is %w", string(text), ErrSyntax)
	}
	return d, nil
}

func parse[T string | []byte](text T) (d Decimal, ok bool) {
	digits, negative := text, len(text) > 0 && text[0] == '-'
	if negative {
		digits = text[1:]
	}
	whole, places := 0, -1 // digits before and behind the point; -1 before there is one
	for i := range len(digits) {
		c := digits[i]
		switch {
		case c == '.' && places < 0 && whole > 0:
			places = 0
			continue
		case c < '0' || c > '9':
			return Decimal{}, string(text) == "0E-10"
		case places < 0 && whole == maxDigits:
			return Decimal{}, false
		case places < 0:
			whole++
		case places < FractionDigits:
			places++
		case c == '0':
			continue
		default:
			return Decimal{}, false
		}
		d = d.timesTenPlus(c - '0')
	}
	if whole == 0 || places == 0 {
		return Decimal{}, false
	}
	for n := max(places, 0); n < FractionDigits; n++ {
		d = d.timesTenPlus(0)
	}
	if negative {
		d = d.Neg()
	}
	return d, true
}

// timesTenPlus appends a digit to a number that is not negative.
func (d Decimal) timesTenPlus(digit byte) Decimal {
	const most = 1<<63/10 - 1 // the largest high that stays positive
	if d.wide != nil || d.high > most {
		units := new(big.Int).Mul(d.units(), big.NewInt(10))
		return of(units.Add(units, big.NewInt(int64(digit))))
	}
	high, low := bits.Mul64(d.low, 10)
	low, carry := bits.Add64(low, uint64(digit), 0)
	return Decimal{high: d.high*10 + int64(high+carry), low: low}
}

// Must is Parse for constants: it panics if text is no number.
func Must(text string) Decimal {
	d, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}

// FromInt returns n.
func FromInt(n int64) Decimal { return of(new(big.Int).Mul(big.NewInt(n), one)) }

// Storable reports whether the network can store d: at most 28 digits before the point.
func (d Decimal) Storable() bool { return d.Less(limit) && limit.Neg().Less(d) }

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.wide != nil:
		return d.wide.Sign()
	case d.high < 0:
		return -1
	case d.high == 0 && d.low == 0:
		return 0
	}
	return 1
}

// Cmp is -1, 0 or 1 as d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int {
	if d.wide != nil || e.wide != nil {
		return d.units().Cmp(e.units())
	}
	if c := cmp.Compare(d.high, e.high); c != 0 {
		return c
	}
	return cmp.Compare(d.low, e.low)
}

// Less reports whether d < e.
func (d Decimal) Less(e Decimal) bool { return d.Cmp(e) < 0 }

// Plus returns d + e.
func (d Decimal) Plus(e Decimal) Decimal {
	if d.wide == nil && e.wide == nil {
		low, carry := bits.Add64(d.low, e.low, 0)
		high := d.high + e.high + int64(carry)
		// It has overflowed if both have one sign and the sum has the other.
		if (d.high^high)&(e.high^high) >= 0 {
			return Decimal{high: high, low: low}
		}
	}
	return of(new(big.Int).Add(d.units(), e.units()))
}

// Minus returns d - e.
func (d Decimal) Minus(e Decimal) Decimal { return d.Plus(e.Neg()) }

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	if d.wide == nil && d.high != math.MinInt64 {
		low, borrow := bits.Sub64(0, d.low, 0)
		return Decimal{high: -d.high - int64(borrow), low: low}
	}
	return of(new(big.Int).Neg(d.units()))
}

// TimesInt returns d × n.
func (d Decimal) TimesInt(n int64) Decimal {
	return of(new(big.Int).Mul(d.units(), big.NewInt(n)))
}

// Times returns d × e, rounded to the nearest number and from the middle to the even one.
func (d Decimal) Times(e Decimal) Decimal {
	return of(halfEven(new(big.Int).Mul(d.units(), e.units()), one))
}

// Over returns d / e, rounded like Times. It panics if e is 0.
func (d Decimal) Over(e Decimal) Decimal {
	return of(halfEven(new(big.Int).Mul(d.units(), one), e.units()))
}

// OverUp returns d / e, rounded up, towards positive infinity. It panics if e is 0.
func (d Decimal) OverUp(e Decimal) Decimal {
	divisor := e.units()
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Mul(d.units(), one), divisor, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() == divisor.Sign() {
		quotient.Add(quotient, big.NewInt(1))
	}
	return of(quotient)
}

// OverAway returns d / e, rounded to the nearest number and from the middle away from zero. It panics
// if e is 0.
func (d Decimal) OverAway(e Decimal) Decimal {
	n, m := new(big.Int).Mul(d.units(), one), e.units()
	quotient, rest := new(big.Int).QuoRem(n, m, new(big.Int))
	if rest.Lsh(rest, 1).CmpAbs(m) >= 0 {
		quotient.Add(quotient, big.NewInt(int64(n.Sign()*m.Sign())))
	}
	return of(quotient)
}

// Floor returns the largest whole number that is not above d; ok is false if it is no int64.
func (d Decimal) Floor() (n int64, ok bool) {
	whole := new(big.Int).Div(d.units(), one) // Euclidean: down, as one is positive
	return whole.Int64(), whole.IsInt64()
}

// halfEven is n / m, rounded to the nearest and from the middle to the even one.
func halfEven(n, m *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(n, m, new(big.Int))
	twice := new(big.Int).Abs(rest)
	twice.Lsh(twice, 1)
	switch c := twice.CmpAbs(m); {
	case c > 0, c == 0 && quotient.Bit(0) == 1:
		quotient.Add(quotient, big.NewInt(int64(n.Sign()*m.Sign())))
	}
	return quotient
}

// String writes d with exactly ten fraction digits.
func (d Decimal) String() string {
	sign, digits := "", new(big.Int).Abs(d.units()).String()
	if d.Sign() < 0 {
		sign = "-"
	}
	if missing := FractionDigits + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - FractionDigits
	return sign + digits[:point] + "." + digits[point:]
}

// Short writes d as the contract language does: without zeros at the end, but with at least one
// fraction digit, such as "1.5" or "2.0".
func (d Decimal) Short() string {
	text := strings.TrimRight(d.String(), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

// MarshalJSON writes the text of String.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// UnmarshalJSON reads a JSON text or number.
func (d *Decimal) UnmarshalJSON(raw []byte) (err error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	*d, err = Parse(text)
	return err
}
