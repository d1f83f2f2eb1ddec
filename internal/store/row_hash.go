package store

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// The functions here hash rows by the fields of items, texts taken apart, as
// docs/formats/batch-hash.md defines, and by operations that SQL has, too: what stands in the store can
// be hashed without putting texts together, and lists without being sent.

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

// CreateKey tells what a contract is created with from all else: its argument, as it is stored,
// and its stakeholders.
type CreateKey struct {
	// Shape and Scalars are the XXH3 of two columns of the argument.
	Shape, Scalars uint64
	// Rest is a Fold of when it was created, of the ListHash of its signatories and of its
	// observers, and of the ids and parties of its argument.
	Rest uint64
}

// NewCreateKey returns the key of a created event, given that of its argument.
func NewCreateKey(e *schemas.Event, argument PackedKey) CreateKey {
	return CreateKey{
		Shape: argument.Shape, Scalars: argument.Scalars,
		Rest: Fold(0, uint64(e.CreatedAt), ListHash(e.Signatories), ListHash(e.Observers), argument.IDs, argument.Parties),
	}
}

// appendHashes appends the hash of each row of some columns: a Fold over the columns in their
// order, which is that of the fields. A number stands for itself, a text as its XXH3, a list of texts as its ListHash, and a
// list of numbers as the same sum of their intHash64.
func appendHashes(list []uint64, columns []column, rows int) []uint64 {
	start := len(list)
	list = slices.Grow(list, rows)[:start+rows]
	hashes := list[start:]
	clear(hashes)
	for _, c := range columns {
		foldColumn(hashes, c)
	}
	return list
}

func foldColumn(hashes []uint64, c column) {
	switch data := c.data.(type) {
	case *proto.ColInt64:
		foldNumbers(hashes, *data)
	case *proto.ColInt32:
		foldNumbers(hashes, *data)
	case *proto.ColDateTime64:
		foldNumbers(hashes, data.Data)
	case *proto.ColBool:
		for i, is := range *data {
			n := uint64(0)
			if is {
				n = 1
			}
			hashes[i] = intHash64(hashes[i] + n)
		}
	case *texts:
		for i := range hashes {
			hashes[i] = intHash64(hashes[i] + xxh3.Hash(data.RowBytes(i)))
		}
	case *lowCardinality:
		terms := data.termHashes()
		for i, k := range data.keys {
			hashes[i] = intHash64(hashes[i] + terms[k])
		}
	case *proto.ColArr[string]:
		foldLists(hashes, data.Offsets, textHashes(data.Data))
	case *proto.ColArr[int32]:
		numbers := *data.Data.(*proto.ColInt32)
		foldLists(hashes, data.Offsets, func(i int) uint64 { return intHash64(uint64(numbers[i])) })
	default:
		panic(fmt.Sprintf("column %s of type %T has no hash", c.name, c.data)) // a test hashes every column
	}
}

func foldNumbers[S ~[]N, N ~int32 | ~int64](hashes []uint64, numbers S) {
	for i, n := range numbers {
		hashes[i] = intHash64(hashes[i] + uint64(n))
	}
}

// foldLists takes lists, one a row, of which ends are the ends and hash is that of an element.
func foldLists(hashes []uint64, ends proto.ColUInt64, hash func(i int) uint64) {
	start := 0
	for i := range hashes {
		sum, end := uint64(0), int(ends[i])
		for at := start; at < end; at++ {
			sum += hash(at) * uint64(at-start+1)
		}
		hashes[i], start = intHash64(hashes[i]+sum), end
	}
}

// textHashes gives the hashes of the elements of a column of lists.
func textHashes(elements proto.ColumnOf[string]) func(i int) uint64 {
	if names, ok := elements.(*lowCardinality); ok {
		terms := names.termHashes()
		return func(i int) uint64 { return terms[names.keys[i]] }
	}
	list := elements.(*texts)
	return func(i int) uint64 { return xxh3.Hash(list.RowBytes(i)) }
}

// termHashes are the hashes of the terms by number.
func (c *lowCardinality) termHashes() []uint64 {
	hashes := make([]uint64, len(c.terms))
	for i, term := range c.terms {
		if i < len(c.kinds) {
			hashes[i] = c.kinds[i].hash
			continue
		}
		hashes[i] = xxh3.HashString(term)
	}
	return hashes
}

// BatchHash hashes the rows of a batch, the records of docs/formats/batch-hash.md: XXH3-128 over the hashes of its
// rows, table by table, in the order of history. It guards against accidents; what is compared
// with others are digests, which are cryptographic. The zero value has no rows.
type BatchHash struct{ updates, events, imports, verdicts []byte }

// AddUpdates takes the next rows of table updates in, by their hashes. A row must be there for
// each column that it has, so only those of one table may stand in for each other.
func (h *BatchHash) AddUpdates(rows ...uint64) { h.updates = appendNumbers(h.updates, rows) }

// AddEvents is AddUpdates for events.
func (h *BatchHash) AddEvents(rows ...uint64) { h.events = appendNumbers(h.events, rows) }

// AddImports is AddUpdates for imports.
func (h *BatchHash) AddImports(rows ...uint64) { h.imports = appendNumbers(h.imports, rows) }

// AddVerdicts is AddUpdates for verdicts.
func (h *BatchHash) AddVerdicts(rows ...uint64) { h.verdicts = appendNumbers(h.verdicts, rows) }

func appendNumbers(dst []byte, numbers []uint64) []byte {
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

// batchHashForm begins the hash of a batch and tells it from those of other forms.
const batchHashForm = "rows1:"

// IsBatchHash reports whether a hash has the form that Sum gives. A store that an earlier
// version wrote has others.
func IsBatchHash(hash string) bool { return strings.HasPrefix(hash, batchHashForm) }

// Sum returns the hash of the rows since the last Reset: its form and 32 hexadecimal digits.
func (h *BatchHash) Sum() string {
	var all xxh3.Hasher
	for _, table := range [][]byte{h.updates, h.events, h.imports, h.verdicts} {
		_, _ = all.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(table)))) // a hash takes everything
		_, _ = all.Write(table)
	}
	sum := all.Sum128().Bytes()
	return batchHashForm + hex.EncodeToString(sum[:])
}

// Reset forgets all rows.
func (h *BatchHash) Reset() {
	h.updates, h.events, h.imports, h.verdicts = h.updates[:0], h.events[:0], h.imports[:0], h.verdicts[:0]
}
