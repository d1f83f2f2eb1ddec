package schemas

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// rootByHalves is the definition of RFC 6962, section 2.1, word for word.
func rootByHalves(rows []Hash) Hash {
	switch len(rows) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte("\x00\x02id"), rows[0][:]...))
	}
	k := 1
	for k*2 < len(rows) {
		k *= 2
	}
	left, right := rootByHalves(rows[:k]), rootByHalves(rows[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func testRows(n int) []Hash {
	rows := make([]Hash, n)
	for i := range rows {
		rows[i] = sha256.Sum256(fmt.Appendf(nil, "row %d", i))
	}
	return rows
}

// TestMerklePaths proves every row of every tree of up to 70 rows, and finds that no
// other row, place or path gives the same root.
func TestMerklePaths(t *testing.T) {
	for n := range 71 {
		rows := testRows(n)
		want := rootByHalves(rows)
		var tree MerkleTree
		for _, row := range rows {
			tree.Add("id", row)
		}
		if tree.Root() != want || tree.Rows() != uint64(n) {
			t.Fatalf("the root of %d rows is %x, want %x", n, tree.Root(), want)
		}
		for wanted := range rows {
			var p MerklePath
			for i, row := range rows {
				p.Add("id", row, i == wanted)
			}
			if root, ok := p.Finish(); !ok || root != want || p.Index != uint64(wanted) {
				t.Fatalf("row %d of %d: root %x at %d, found %v", wanted, n, root, p.Index, ok)
			}
			checkPath(t, rows, uint64(wanted), p.Siblings, want)
		}
	}
}

func checkPath(t *testing.T, rows []Hash, index uint64, siblings []Hash, want Hash) {
	t.Helper()
	n := uint64(len(rows))
	if root, err := MerkleRoot("id", rows[index], index, n, siblings); err != nil || root != want {
		t.Fatalf("row %d of %d: the path gives %x, %v; want %x", index, n, root, err, want)
	}
	other := func(what string, row Hash, at, rows uint64, path []Hash) {
		if root, err := MerkleRoot("id", row, at, rows, path); err == nil && root == want {
			t.Fatalf("row %d of %d: %s is proven as well", index, n, what)
		}
	}
	if root, err := MerkleRoot("di", rows[index], index, n, siblings); err == nil && root == want {
		t.Fatalf("row %d of %d: another id is proven as well", index, n)
	}
	other("another row", sha256.Sum256(rows[index][:]), index, n, siblings)
	other("a longer path", rows[index], index, n, append(siblings[:len(siblings):len(siblings)], want))
	other("a place behind the end", rows[index], n, n, siblings)
	if len(siblings) > 0 {
		other("a shorter path", rows[index], index, n, siblings[1:])
		other("its neighbour's place", rows[index], index^1, n, siblings)
		changed := append([]Hash(nil), siblings...)
		changed[len(changed)-1][5] ^= 1
		other("a changed path", rows[index], index, n, changed)
	}
}

func TestMerkleWithoutTheRow(t *testing.T) {
	var p MerklePath
	for _, row := range testRows(9) {
		p.Add("id", row, false)
	}
	if root, ok := p.Finish(); ok || root != rootByHalves(testRows(9)) {
		t.Errorf("a row that is not there was found, or the root is %x", root)
	}
}
