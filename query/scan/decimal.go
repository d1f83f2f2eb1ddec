package scan

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// decimal is an exact amount with ten fraction digits, in units of 10^-10. The zero decimal
// is 0.
type decimal struct{ units big.Int }

const (
	fractionDigits = 10
	// maxDigits bounds what is read; amounts of the network have at most 38 digits.
	maxDigits = 60
)

// UnmarshalJSON reads a JSON string such as "1.5", with up to ten fraction digits that are
// not zero.
func (d *decimal) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	whole, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > fractionDigits || len(whole) > maxDigits || strings.TrimPrefix(whole, "-") == "" {
		return fmt.Errorf("%.80q is not an amount", s)
	}
	digits := whole + fraction + strings.Repeat("0", fractionDigits-len(fraction))
	if _, ok := d.units.SetString(digits, 10); !ok {
		return fmt.Errorf("%.80q is not an amount", s)
	}
	return nil
}

// MarshalJSON writes a string with exactly ten fraction digits.
func (d decimal) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// String writes d with exactly ten fraction digits.
func (d decimal) String() string {
	sign, digits := "", new(big.Int).Abs(&d.units).String()
	if d.units.Sign() < 0 {
		sign = "-"
	}
	if missing := fractionDigits + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - fractionDigits
	return sign + digits[:point] + "." + digits[point:]
}

func (d decimal) plus(e decimal) (sum decimal) {
	sum.units.Add(&d.units, &e.units)
	return sum
}

func (d decimal) minus(e decimal) (difference decimal) {
	difference.units.Sub(&d.units, &e.units)
	return difference
}

func (d decimal) times(n int64) (product decimal) {
	product.units.Mul(&d.units, big.NewInt(n))
	return product
}

func (d decimal) less(e decimal) bool { return d.units.Cmp(&e.units) < 0 }
