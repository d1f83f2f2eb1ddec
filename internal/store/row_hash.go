package store

import "github.com/zeebo/xxh3"

// The functions here hash rows as SQL does that adds nothing to the texts of columns, so that
// what is read and what stands in the store can be compared without the rows.

// Fold takes numbers into a hash, one after another: intHash64(hash + number) in SQL.
func Fold(hash uint64, numbers ...uint64) uint64 {
	for _, n := range numbers {
		hash = intHash64(hash + n)
	}
	return hash
}

// intHash64 is ClickHouse's function of that name.
func intHash64(x uint64) uint64 {
	x ^= 0x4cf2d2baae6da887
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// ListHash is the sum of the hashes of texts, each times its number counted from 1:
// arraySum(arrayMap((text, n) -> xxh3(text) * n, list, arrayEnumerate(list))) in SQL.
func ListHash(texts []string) (sum uint64) {
	for i, text := range texts {
		sum += xxh3.HashString(text) * uint64(i+1)
	}
	return sum
}

// PackedKey tells a text that is stored in four columns from all others: by the hash of each
// of the columns.
type PackedKey struct{ Shape, Scalars, IDs, Parties uint64 }
