package devnet

import "math/bits"

// golden is 2^64 divided by the golden ratio, the step of splitmix64.
const golden = 0x9e3779b97f4a7c15

// random is the splitmix64 generator: eight bytes of state, one multiplication
// chain per number, and the same numbers on every machine.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns a number in [0, n); n must be positive.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between returns a number in [low, high].
func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// percent is true in p of 100 cases.
func (r *random) percent(p int) bool { return r.below(100) < p }

// decimalBetween returns an amount in [low, high] with all ten digits in use.
func (r *random) decimalBetween(low, high decimal) decimal {
	hi, _ := bits.Mul64(r.next(), uint64(high-low)+1)
	return low + decimal(hi)
}

// mix is the finalizer of splitmix64, a bijection of 64-bit numbers.
func mix(x uint64) uint64 {
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
