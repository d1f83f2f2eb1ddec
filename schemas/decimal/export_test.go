package decimal

import "math/big"

// What tests from outside look at: they use packages that import this one.
var (
	Of    = of
	One   = one
	Least = least
)

const MaxDigits = maxDigits

// Units is the number in units of 10^-10.
func (d Decimal) Units() *big.Int { return d.units() }

// IsWide reports whether the number has the form of those beyond 128 bits.
func (d Decimal) IsWide() bool { return d.wide != nil }
