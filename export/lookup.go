package export

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// A lookup object holds the updates of a segment as lines of canonical JSON, in their
// order, in small zstd frames, and behind them an index and a filter, each in a
// skippable frame: zstd -d gives the lines and nothing else. See docs/formats/lookup.md.
//
// Parquet keeps the columns of a row group apart, so that one update costs a request for
// each of them; here it costs one for the place and one for the frame.
const (
	// A frame is closed by the line with which it holds frameBytes before compression.
	// On the simulated network that is about 50 KB in the object; a quarter of it would
	// make the objects 12 % larger, four times as much 11 % smaller.
	frameBytes = 512 << 10
	// A part is closed by the update with which it has keysPerPart keys, which bounds
	// what a writer holds in memory.
	keysPerPart = 1 << 20
	// keysPerBucket is how many keys a bucket of the index has on average: a reader
	// fetches one bucket. Buckets have room for the fullest one.
	keysPerBucket = 512
	// filterBits per key and filterHashes let about 1 in 1,700 absent keys pass.
	filterBits   = 16
	filterHashes = 8
	// An entry of the index is the lower half of the key, 6 bytes, then offset and
	// length of the frame in 5 and 4 bytes, all big-endian. Zeros are no entry.
	keyBytes = 6
)

// lookupKey is an id that can be looked up: the first 16 bytes of a SHA-256.
type lookupKey struct{ high, low uint64 }

// updateKey is the key of an update.
func updateKey(updateID string) lookupKey { return keyOfID('u', updateID) }

// contractKey is the key of the updates that create a contract or take it in.
func contractKey(contractID string) lookupKey { return keyOfID('c', contractID) }

func keyOfID(kind byte, id string) lookupKey {
	h := sha256.Sum256(append([]byte{kind}, id...))
	return lookupKey{binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])}
}

// bucketOf spreads keys over buckets by their upper half.
func (k lookupKey) bucketOf(buckets int) int {
	hi, _ := bits.Mul64(k.high, uint64(buckets))
	return int(hi)
}

// lower is the part of the key that an entry holds.
func (k lookupKey) lower() uint64 { return k.low >> (64 - 8*keyBytes) }

// bit is the place of the key's i-th bit in a filter.
func (k lookupKey) bit(i int, filter int) (at int, mask byte) {
	hi, _ := bits.Mul64(k.high+uint64(i)*(k.low|1), uint64(filter)*8)
	return int(hi / 8), 1 << (hi % 8)
}

// passes reports whether a filter may know the key.
func (k lookupKey) passes(filter []byte) bool {
	for i := range filterHashes {
		if at, mask := k.bit(i, len(filter)); filter[at]&mask == 0 {
			return false
		}
	}
	return len(filter) > 0
}

// createdIn lists the contracts that an update creates or takes in.
func createdIn(u *schemas.Update) []string {
	var ids []string
	for i := range u.Events {
		if u.Events[i].Kind == schemas.Created {
			ids = append(ids, u.Events[i].ContractID)
		}
	}
	return ids
}
