// Package decimal has the network's numbers of coins and dollars: exact, with ten fraction
// digits. Nothing is ever rounded unless the name of the method says how.
package decimal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Decimal is a number in units of 10^-10. The zero value is 0. It is immutable.
type Decimal struct{ units *big.Int }

const (
	// FractionDigits are the digits behind the point.
	FractionDigits = 10
	// WholeDigits are the most digits before the point that the network stores.
	WholeDigits = 28
	// maxDigits bounds what is read: sums may be larger than what the network stores.
	maxDigits = 60
)

var one = big.NewInt(1e10)

// ErrSyntax means that a text is no decimal number with at most ten fraction digits.
var ErrSyntax = errors.New("not a decimal number with at most 10 fraction digits")

// Parse reads a number such as "1.5", or the "0E-10" of some results. More than ten
// fraction digits are accepted if the rest are zeros.
func Parse(text string) (Decimal, error) {
	if text == "0E-10" {
		return Decimal{}, nil
	}
	sign, digits := "", text
	if strings.HasPrefix(text, "-") {
		sign, digits = "-", text[1:]
	}
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" || !onlyDigits(whole) || !onlyDigits(fraction) {
		return Decimal{}, fmt.Errorf("%.80q is %w", text, ErrSyntax)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > FractionDigits || len(whole) > maxDigits {
		return Decimal{}, fmt.Errorf("%.80q is %w", text, ErrSyntax)
	}
	units, ok := new(big.Int).SetString(sign+whole+fraction+strings.Repeat("0", FractionDigits-len(fraction)), 10)
	if !ok {
		return Decimal{}, fmt.Errorf("%.80q is %w", text, ErrSyntax)
	}
	return Decimal{units}, nil
}

func onlyDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
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
func FromInt(n int64) Decimal { return Decimal{new(big.Int).Mul(big.NewInt(n), one)} }

func (d Decimal) int() *big.Int {
	if d.units == nil {
		return new(big.Int)
	}
	return d.units
}

// Storable reports whether the network can store d: at most 28 digits before the point.
func (d Decimal) Storable() bool {
	return len(strings.TrimPrefix(d.int().String(), "-")) <= WholeDigits+FractionDigits
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.int().Sign() }

// Cmp is -1, 0 or 1 as d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int { return d.int().Cmp(e.int()) }

// Less reports whether d < e.
func (d Decimal) Less(e Decimal) bool { return d.Cmp(e) < 0 }

// Plus returns d + e.
func (d Decimal) Plus(e Decimal) Decimal { return Decimal{new(big.Int).Add(d.int(), e.int())} }

// Minus returns d - e.
func (d Decimal) Minus(e Decimal) Decimal { return Decimal{new(big.Int).Sub(d.int(), e.int())} }

// Neg returns -d.
func (d Decimal) Neg() Decimal { return Decimal{new(big.Int).Neg(d.int())} }

// TimesInt returns d × n.
func (d Decimal) TimesInt(n int64) Decimal {
	return Decimal{new(big.Int).Mul(d.int(), big.NewInt(n))}
}

// Times returns d × e, rounded to the nearest number and from the middle to the even one.
func (d Decimal) Times(e Decimal) Decimal {
	return Decimal{halfEven(new(big.Int).Mul(d.int(), e.int()), one)}
}

// Over returns d / e, rounded like Times. It panics if e is 0.
func (d Decimal) Over(e Decimal) Decimal {
	return Decimal{halfEven(new(big.Int).Mul(d.int(), one), e.int())}
}

// OverUp returns d / e, rounded up, away from what is smaller. It panics if e is 0.
func (d Decimal) OverUp(e Decimal) Decimal {
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Mul(d.int(), one), e.int(), new(big.Int))
	if rest.Sign() != 0 && rest.Sign() == e.Sign() {
		quotient.Add(quotient, big.NewInt(1))
	}
	return Decimal{quotient}
}

// CeilInt returns the least whole number that is not less than d, and false if it has no
// int64.
func (d Decimal) CeilInt() (int64, bool) {
	quotient, rest := new(big.Int).QuoRem(d.int(), one, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient.Int64(), quotient.IsInt64()
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
	sign, digits := "", new(big.Int).Abs(d.int()).String()
	if d.Sign() < 0 {
		sign = "-"
	}
	if missing := FractionDigits + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - FractionDigits
	return sign + digits[:point] + "." + digits[point:]
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
