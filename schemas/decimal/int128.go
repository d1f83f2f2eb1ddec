package decimal

import (
	"math"
	"math/big"
)

// OfInt128 returns the number of so many units of 10^-10, given as the two halves of a
// signed 128-bit integer. It is how Decimal(38, 10) is stored.
func OfInt128(high, low uint64) Decimal { return Decimal{high: int64(high), low: low} }

// Int128 returns the units of d as OfInt128 takes them; ok is false if it has too many.
func (d Decimal) Int128() (high, low uint64, ok bool) {
	return uint64(d.high), d.low, d.wide == nil
}

// units returns the units, which must not be changed.
func (d Decimal) units() *big.Int {
	if d.wide != nil {
		return d.wide
	}
	units := big.NewInt(d.high)
	return units.Lsh(units, 64).Or(units, new(big.Int).SetUint64(d.low))
}

var (
	least = new(big.Int).Lsh(big.NewInt(math.MinInt64), 64)
	low64 = new(big.Int).SetUint64(math.MaxUint64)
)

// of returns the number of so many units, which it may keep. All that fits has no wide.
func of(units *big.Int) Decimal {
	if units.BitLen() > 127 && units.Cmp(least) != 0 {
		return Decimal{wide: units}
	}
	// And and Rsh take a negative number as two's complement.
	return Decimal{high: new(big.Int).Rsh(units, 64).Int64(), low: new(big.Int).And(units, low64).Uint64()}
}
