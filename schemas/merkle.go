package schemas

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// What is hashed begins with a byte that says what it is, so that no hash of one kind
// can be passed off as one of another.
const (
	merkleLeaf    = 0x00 // the id of a row and its SHA-256 follow
	merkleNode    = 0x01 // the hashes of the left and the right half follow
	merkleTable   = 0x02 // name, number of rows and root follow
	merkleSegment = 0x03 // name and the hashes of the tables follow
	merkleLink    = 0x04 // the link before and the root of the segment follow
)

// MerkleTree sums up rows in their order. The tree has the shape of RFC 6962: the left
// half of n leaves has the largest power of two below n. It takes memory for one hash
// per level, whatever the number of rows. The zero value is a tree without rows.
type MerkleTree struct {
	rows uint64
	// full are the roots of complete subtrees: full[i] has 2^i leaves and counts if bit
	// i of rows is set.
	full [64]Hash
}

// Add takes the next row in: its id, and the SHA-256 of its canonical JSON.
func (t *MerkleTree) Add(id string, row Hash) { t.add(leafHash(id, row), nil) }

func (t *MerkleTree) add(h Hash, p *MerklePath) {
	level := 0
	for ; t.rows>>level&1 == 1; level++ {
		h = p.join(level, t.full[level], h)
	}
	t.full[level] = h
	t.rows++
	p.moved(level)
}

// Rows is the number of rows.
func (t *MerkleTree) Rows() uint64 { return t.rows }

// Root is the hash over all rows: of no rows, the SHA-256 of nothing.
func (t *MerkleTree) Root() Hash { return t.root(nil) }

func (t *MerkleTree) root(p *MerklePath) Hash {
	if t.rows == 0 {
		return sha256.Sum256(nil)
	}
	level := bits.TrailingZeros64(t.rows)
	h := t.full[level]
	for level++; level < 64; level++ {
		if t.rows>>level&1 == 1 {
			h = p.join(level, t.full[level], h)
		}
	}
	return h
}

// leafHash has the id beside the row, so that a path proves of whom the row is also to
// those who do not have it.
func leafHash(id string, row Hash) Hash {
	b := append(make([]byte, 0, 256), merkleLeaf)
	return sha256.Sum256(append(appendTextContent(b, id), row[:]...))
}

func nodeHash(left, right Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = merkleNode
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// MerklePath collects what proves that one row is in a tree, while the rows go by.
type MerklePath struct {
	MerkleTree
	// Index is the row's place from 0, Siblings are the hashes beside its way to the
	// root, from below.
	Index    uint64
	Siblings []Hash

	met bool
	// level is that of the complete subtree with the row, or -1 once it was joined with
	// what is right of it at the end.
	level int
	right bool // the subtree that is being joined holds the row
}

// Add takes the next row in. wanted says that it is the one to prove: once only.
func (p *MerklePath) Add(id string, row Hash, wanted bool) {
	if wanted {
		p.met, p.Index, p.level, p.right = true, p.rows, 0, true
	}
	p.add(leafHash(id, row), p)
}

// join joins two subtrees of 2^level leaves and notes the one beside the row.
func (p *MerklePath) join(level int, left, right Hash) Hash {
	if p != nil && p.met {
		switch {
		case p.right:
			p.Siblings = append(p.Siblings, left)
		case p.level == level:
			p.Siblings = append(p.Siblings, right)
			p.right = true
		}
	}
	return nodeHash(left, right)
}

// moved notes where the subtree that was made last stands.
func (p *MerklePath) moved(level int) {
	if p != nil && p.met && p.right {
		p.level, p.right = level, false
	}
}

// Finish returns the root and completes the siblings. ok is false if the wanted row was
// not among the rows. The path must not be used for more rows.
func (p *MerklePath) Finish() (root Hash, ok bool) {
	if !p.met {
		return p.Root(), false
	}
	p.right = p.level == bits.TrailingZeros64(p.rows)
	return p.root(p), true
}

var errMerklePath = errors.New("the path does not fit the number of rows")

// MerkleRoot returns the root of a tree of the given number of rows that has the row at
// index, by the siblings of a MerklePath: section 2.1.3.2 of RFC 9162.
func MerkleRoot(id string, row Hash, index, rows uint64, siblings []Hash) (Hash, error) {
	if index >= rows {
		return Hash{}, fmt.Errorf("row %d of %d: %w", index, rows, errMerklePath)
	}
	h, at, last := leafHash(id, row), index, rows-1
	for _, sibling := range siblings {
		if last == 0 {
			return Hash{}, errMerklePath
		}
		if at&1 == 1 || at == last {
			h = nodeHash(sibling, h)
			for at&1 == 0 && at != 0 {
				at, last = at>>1, last>>1
			}
		} else {
			h = nodeHash(h, sibling)
		}
		at, last = at>>1, last>>1
	}
	if last != 0 {
		return Hash{}, errMerklePath
	}
	return h, nil
}

// TableHash names a table with its rows in the root of a segment.
func TableHash(table ParquetTable, rows uint64, root Hash) Hash {
	b := appendTextContent([]byte{merkleTable}, table)
	b = binary.BigEndian.AppendUint64(b, rows)
	return sha256.Sum256(append(b, root[:]...))
}

// SegmentRoot is the hash over all tables of a segment, in the order of its manifest.
func SegmentRoot(ref SegmentRef, tables []Hash) Hash {
	b := appendTextContent([]byte{merkleSegment}, ref.String())
	for _, table := range tables {
		b = append(b, table[:]...)
	}
	return sha256.Sum256(b)
}

// ChainLink binds a segment to all segments before it. The link before the first
// segment is zero.
func ChainLink(before, root Hash) Hash {
	return sha256.Sum256(append(append([]byte{merkleLink}, before[:]...), root[:]...))
}
