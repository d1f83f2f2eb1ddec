package verify

import (
	"errors"
	"math/big"
	"math/bits"
)

// amount is a number of coins with ten fraction digits, in units of 10^-10: two's
// complement of 128 bits, which is beyond any numeric of the network.
type amount struct {
	hi int64
	lo uint64
}

func (a amount) add(b amount) amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return amount{a.hi + b.hi + int64(carry), lo}
}

func (a amount) sub(b amount) amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return amount{a.hi - b.hi - int64(borrow), lo}
}

func (a amount) negative() bool { return a.hi < 0 }

// String writes a with ten fraction digits.
func (a amount) String() string {
	n := new(big.Int).Lsh(big.NewInt(a.hi), 64)
	n.Add(n, new(big.Int).SetUint64(a.lo))
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
		n.Neg(n)
	}
	whole, fraction := new(big.Int).QuoRem(n, big.NewInt(fractionUnit), new(big.Int))
	digits := fraction.String()
	for len(digits) < fractionDigits {
		digits = "0" + digits
	}
	return sign + whole.String() + "." + digits
}

// MarshalText writes a as String does.
func (a amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (a *amount) UnmarshalText(text []byte) (err error) {
	*a, err = parseAmount(text)
	return err
}

const (
	fractionDigits = 10
	fractionUnit   = 10_000_000_000
)

var errNoAmount = errors.New("not a decimal number of up to 28 digits before the point and 10 after it")

// parseAmount reads a decimal number such as 1.5000000000, or the 0E-10 of some results.
func parseAmount(text []byte) (amount, error) {
	rest, sign := text, false
	if len(rest) > 0 && rest[0] == '-' {
		rest, sign = rest[1:], true
	}
	if string(rest) == "0E-10" {
		return amount{}, nil
	}
	var a amount
	digits, fraction, point := 0, 0, false
	for _, c := range rest {
		switch {
		case c == '.' && !point && digits > 0:
			point = true
			continue
		case c < '0' || c > '9' || point && fraction == fractionDigits:
			return amount{}, errNoAmount
		}
		a = a.timesTen(uint64(c - '0'))
		digits++
		if point {
			fraction++
		}
	}
	if digits == 0 || digits > 38 || digits-fraction > 28 || point && fraction == 0 {
		return amount{}, errNoAmount
	}
	for ; fraction < fractionDigits; fraction++ {
		a = a.timesTen(0)
	}
	if sign {
		return amount{}.sub(a), nil
	}
	return a, nil
}

// timesTen returns 10a + digit of a number that is not negative.
func (a amount) timesTen(digit uint64) amount {
	hi, lo := bits.Mul64(a.lo, 10)
	lo, carry := bits.Add64(lo, digit, 0)
	return amount{a.hi*10 + int64(hi+carry), lo}
}
