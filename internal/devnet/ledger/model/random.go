package model

import "math/bits"

// Golden is 2^64 divided by the golden ratio, the step of splitmix64.
const Golden = 0x9e3779b97f4a7c15

// Random is the splitmix64 generator: eight bytes of state, one multiplication
// chain per number, and the same numbers on every machine.
type Random struct{ State uint64 }

// Next returns the next number.
func (r *Random) Next() uint64 {
	r.State += Golden
	return Mix(r.State)
}

// Below returns a number in [0, n); n must be positive.
func (r *Random) Below(n int) int {
	hi, _ := bits.Mul64(r.Next(), uint64(n))
	return int(hi)
}

// Between returns a number in [low, high].
func (r *Random) Between(low, high int) int { return low + r.Below(high-low+1) }

// Percent is true in p of 100 cases.
func (r *Random) Percent(p int) bool { return r.Below(100) < p }

// DecimalBetween returns an amount in [low, high] with all ten digits in use.
func (r *Random) DecimalBetween(low, high Decimal) Decimal {
	hi, _ := bits.Mul64(r.Next(), uint64(high-low)+1)
	return low + Decimal(hi)
}

// Mix is the finalizer of splitmix64, a bijection of 64-bit numbers.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unmix inverts mix. The factors are the inverses modulo 2^64 of those in mix, and
// a right shift by s is undone by repeating it.
func unmix(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}
