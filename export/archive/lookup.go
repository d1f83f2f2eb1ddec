package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A lookup object holds the updates of a segment as lines of canonical JSON, in their
// order, in small zstd frames, and behind them an index and a filter, each in a
// skippable frame: zstd -d gives the lines and nothing else. See docs/formats/lookup.md.
//
// Parquet keeps the columns of a row group apart, so that one update costs a request for
// each of them; here it costs one for the place and one for the frame.
const (
	// FilterHashes is how many bits of a filter a key sets. With 16 bits per key about 1 in
	// 1,700 absent keys pass.
	FilterHashes = 8
	// An entry of the index is the lower half of the key, 6 bytes, then offset and
	// length of the frame in 5 and 4 bytes, all big-endian. Zeros are no entry.
	LookupKeyBytes = 6
)

// LookupKey is an id that can be looked up: the first 16 bytes of a SHA-256.
type LookupKey struct{ High, Low uint64 }

// UpdateKey is the key of an update.
func UpdateKey(updateID string) LookupKey { return keyOfID('u', updateID) }

// ContractKey is the key of the updates that create a contract or take it in.
func ContractKey(contractID string) LookupKey { return keyOfID('c', contractID) }

func keyOfID(kind byte, id string) LookupKey {
	h := sha256.Sum256(append([]byte{kind}, id...))
	return LookupKey{binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])}
}

// BucketOf spreads keys over buckets by their upper half.
func (k LookupKey) BucketOf(buckets int) int {
	hi, _ := bits.Mul64(k.High, uint64(buckets))
	return int(hi)
}

// Lower is the part of the key that an entry holds.
func (k LookupKey) Lower() uint64 { return k.Low >> (64 - 8*LookupKeyBytes) }

// Bit is the place of the key's i-th bit in a filter.
func (k LookupKey) Bit(i int, filter int) (at int, mask byte) {
	hi, _ := bits.Mul64(k.High+uint64(i)*(k.Low|1), uint64(filter)*8)
	return int(hi / 8), 1 << (hi % 8)
}

// Passes reports whether a filter may know the key.
func (k LookupKey) Passes(filter []byte) bool {
	for i := range FilterHashes {
		if at, mask := k.Bit(i, len(filter)); filter[at]&mask == 0 {
			return false
		}
	}
	return len(filter) > 0
}

// CreatedIn lists the contracts that an update creates or takes in.
func CreatedIn(u *schemas.Update) []string {
	var ids []string
	for i := range u.Events {
		if u.Events[i].Kind == schemas.Created {
			ids = append(ids, u.Events[i].ContractID)
		}
	}
	return ids
}

// AppendEntry appends an entry of the index: the frame at an offset has what a key names.
func AppendEntry(dst []byte, key LookupKey, offset int64, length int) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], key.Lower())
	dst = append(dst, b[8-LookupKeyBytes:]...)
	binary.BigEndian.PutUint64(b[:], uint64(offset))
	dst = append(dst, b[3:]...)
	return binary.BigEndian.AppendUint32(dst, uint32(length))
}

// AppendLine appends an update's canonical JSON: what a row of table updates is, or of
// table imports.
func AppendLine(dst []byte, u *schemas.Update) []byte {
	return schemas.AppendUpdate(dst, u, schemas.UpdateForm{WithOffset: u.IsImport()})
}

// ReadLookupIndex returns the index of a segment from the bucket, or nil if it has none. One
// of other rows is an error.
func ReadLookupIndex(ctx context.Context, objects Reads, m *published.Manifest) (*published.LookupIndex, []byte, error) {
	key := schemas.LookupIndexKey(m.Ref())
	data, err := readObject(ctx, objects, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	x, err := published.DecodeLookupIndex(data)
	if err == nil {
		err = x.Check(m)
	}
	if err != nil {
		return nil, nil, published.Mismatchf("%s: %w", key, err)
	}
	return x, data, nil
}
