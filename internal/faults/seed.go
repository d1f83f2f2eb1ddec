package faults

import (
	"hash/fnv"
	"math/rand/v2"
)

// Seed is what all chance in one run comes from.
type Seed uint64

// Rand returns the numbers that the seed has for one purpose, such as "engine faults".
// They do not depend on what other purposes take.
func (s Seed) Rand(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose)) // never fails
	return rand.New(rand.NewPCG(uint64(s), h.Sum64()))
}
