package rewards

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Batch is a node of the tree over the allowances of a round: batches by their hashes, or, if there
// are none, allowances.
type Batch struct {
	Children   []string
	Allowances []Allowance
}

// Hash is the SHA-256 by which the network's contracts name the batch, in hexadecimal digits.
func (b *Batch) Hash() string {
	if len(b.Children) > 0 {
		return hashOf("BatchOfBatches", "1", hashList(b.Children))
	}
	hashes := make([]string, len(b.Allowances))
	for i, a := range b.Allowances {
		hashes[i] = hashList([]string{hashOf(a.Provider), hashOf(a.Amount.Short())})
	}
	return hashOf("BatchOfMintingAllowances", "1", hashList(hashes))
}

// Root is the hash of the tree over allowances, in their order, with batches of so many elements,
// at least 2. Without allowances it is that of an empty batch.
func Root(all []Allowance, batchSize int64) string {
	level := []string{}
	for part := range slices.Chunk(all, int(batchSize)) {
		level = append(level, (&Batch{Allowances: part}).Hash())
	}
	if len(level) == 0 {
		return new(Batch).Hash()
	}
	for len(level) > 1 {
		above := level[:0]
		for part := range slices.Chunk(level, int(batchSize)) {
			above = append(above, (&Batch{Children: part}).Hash())
		}
		level = above
	}
	return level[0]
}

// hashList hashes a list, or the fields of a record, by the hashes of its elements.
func hashList(hashes []string) string {
	return hashOf(append([]string{strconv.Itoa(len(hashes))}, hashes...)...)
}

// hashOf hashes a text, or the parts of a value.
func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "|")))
	return hex.EncodeToString(sum[:])
}
