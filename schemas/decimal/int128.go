package decimal

import "math/big"

// OfInt128 returns the number of so many units of 10^-10, given as the two halves of a
// signed 128-bit integer. It is how Decimal(38, 10) is stored.
func OfInt128(high, low uint64) Decimal {
	units := new(big.Int).SetUint64(high)
	units.Lsh(units, 64).Or(units, new(big.Int).SetUint64(low))
	if high>>63 == 1 {
		units.Sub(units, two128)
	}
	return Decimal{units}
}

// Int128 returns the units of d as OfInt128 takes them; ok is false if it has too many.
func (d Decimal) Int128() (high, low uint64, ok bool) {
	units := d.int()
	if units.BitLen() > 127 {
		return 0, 0, false
	}
	if units.Sign() < 0 {
		units = new(big.Int).Add(units, two128)
	}
	low = new(big.Int).And(units, low64).Uint64()
	return new(big.Int).Rsh(units, 64).Uint64(), low, true
}

var (
	two128 = new(big.Int).Lsh(big.NewInt(1), 128)
	low64  = new(big.Int).SetUint64(1<<64 - 1)
)
