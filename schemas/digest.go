package schemas

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
)

// Digest identifies a set of rows whatever their order: the sum modulo 2^256 of
// the SHA-256 of each row. A row that is missing, doubled or changed changes it.
// The zero value is the digest of no rows.
type Digest struct {
	Rows uint64
	sum  [4]uint64 // little-endian limbs
}

// Add takes one row in and returns its SHA-256.
func (d *Digest) Add(row []byte) Hash {
	h := sha256.Sum256(row)
	d.addSum([4]uint64{
		binary.BigEndian.Uint64(h[24:]), binary.BigEndian.Uint64(h[16:]),
		binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint64(h[:]),
	})
	d.Rows++
	return h
}

// Merge takes all rows of e in, so that parts can be digested apart.
func (d *Digest) Merge(e Digest) {
	d.addSum(e.sum)
	d.Rows += e.Rows
}

func (d *Digest) addSum(s [4]uint64) {
	var carry uint64
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], s[i], carry)
	}
}

// Hash is the digest's sum as 64 lower-case hex digits.
func (d Digest) Hash() string {
	var b [32]byte
	for i, limb := range d.sum {
		binary.BigEndian.PutUint64(b[24-8*i:], limb)
	}
	return hex.EncodeToString(b[:])
}

// String writes rows and hash for logs and errors.
func (d Digest) String() string { return fmt.Sprintf("%d rows, %s", d.Rows, d.Hash()) }

type digestJSON struct {
	Rows uint64 `json:"rows"`
	Hash string `json:"hash"`
}

// MarshalJSON writes {"rows": n, "hash": hex}.
func (d Digest) MarshalJSON() ([]byte, error) { return json.Marshal(digestJSON{d.Rows, d.Hash()}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Digest) UnmarshalJSON(b []byte) error {
	var j digestJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	raw, err := hex.DecodeString(j.Hash)
	if err != nil || len(raw) != 32 {
		return fmt.Errorf("digest hash %q is not 64 hex digits", j.Hash)
	}
	d.Rows = j.Rows
	for i := range d.sum {
		d.sum[i] = binary.BigEndian.Uint64(raw[24-8*i:])
	}
	return nil
}
