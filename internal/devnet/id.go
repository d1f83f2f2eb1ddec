package devnet

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

// idSpace turns the numbers 0, 1, 2... of one kind of thing into 32-byte hashes.
// The first eight bytes are a permutation of the number: ids of one space never
// collide, sort by those bytes, and can be turned back into their number.
type idSpace struct{ key uint64 }

// newIDSpace derives the space of one kind of thing from the ledger's seed.
func newIDSpace(seed uint64, kind string) idSpace {
	key := mix(seed + golden)
	for _, c := range []byte(kind) {
		key = mix(key ^ uint64(c)*golden)
	}
	return idSpace{key}
}

func (s idSpace) hash(n uint64) [32]byte {
	var h [32]byte
	lane := mix(n + s.key)
	binary.BigEndian.PutUint64(h[:], lane)
	for i := 8; i < 32; i += 8 {
		lane = mix(lane + s.key ^ golden)
		binary.BigEndian.PutUint64(h[i:], lane)
	}
	return h
}

// rank orders numbers the way their ids sort as text.
func (s idSpace) rank(n uint64) uint64 { return mix(n + s.key) }

// number is the inverse of hash; it reports false for a hash of another space.
func (s idSpace) number(h [32]byte) (uint64, bool) {
	n := unmix(binary.BigEndian.Uint64(h[:])) - s.key
	return n, s.hash(n) == h
}

const (
	updateIDPrefix     = "1220"
	updateIDLength     = len(updateIDPrefix) + 64
	contractIDPrefix   = "00"
	contractIDSuffix   = "ca101220"
	contractIDLength   = len(contractIDPrefix) + 64 + len(contractIDSuffix) + 64
	fingerprintPrefix  = "1220"
	partyNamespaceMark = "::"
)

// idSpaces are the spaces of one ledger.
type idSpaces struct {
	updates, contracts, salts, reassignments idSpace
	hashes                                   idSpace // of transactions signed by external parties
	commands, traces                         idSpace // of a participant's own stream
	blobs                                    idSpace // of contracts in serialized form
}

func newIDSpaces(seed uint64) idSpaces {
	return idSpaces{
		updates:       newIDSpace(seed, "update"),
		contracts:     newIDSpace(seed, "contract"),
		salts:         newIDSpace(seed, "contract salt"),
		reassignments: newIDSpace(seed, "reassignment"),
		hashes:        newIDSpace(seed, "external transaction"),
		commands:      newIDSpace(seed, "command"),
		traces:        newIDSpace(seed, "trace"),
		blobs:         newIDSpace(seed, "blob"),
	}
}

// appendUpdateID appends the id of entry n: 1220 and 64 hex digits.
func (s *idSpaces) appendUpdateID(dst []byte, n uint64) []byte {
	return appendHash(append(dst, updateIDPrefix...), s.updates.hash(n))
}

// appendContractID appends the id of contract n, 138 hex digits.
func (s *idSpaces) appendContractID(dst []byte, n uint64) []byte {
	dst = appendHash(append(dst, contractIDPrefix...), s.contracts.hash(n))
	return appendHash(append(dst, contractIDSuffix...), s.salts.hash(n))
}

// updateNumber finds the entry number behind an update id.
func (s *idSpaces) updateNumber(id string) (uint64, bool) {
	if len(id) != updateIDLength || id[:len(updateIDPrefix)] != updateIDPrefix {
		return 0, false
	}
	var h [32]byte
	if _, err := hex.Decode(h[:], []byte(id[len(updateIDPrefix):])); err != nil {
		return 0, false
	}
	n, ok := s.updates.number(h)
	// Decoding accepts upper case, ids are lower case only.
	return n, ok && string(s.appendUpdateID(nil, n)) == id
}

// contractNumber finds the number of the contract with an id.
func (s *idSpaces) contractNumber(id string) (uint64, bool) {
	if len(id) != contractIDLength || id[:len(contractIDPrefix)] != contractIDPrefix {
		return 0, false
	}
	var h [32]byte
	if _, err := hex.Decode(h[:], []byte(id[len(contractIDPrefix):len(contractIDPrefix)+64])); err != nil {
		return 0, false
	}
	n, ok := s.contracts.number(h)
	return n, ok && string(s.appendContractID(nil, n)) == id
}

// blobNumber finds the number of the contract with a serialized form.
func (s *idSpaces) blobNumber(blob string) (uint64, bool) {
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || len(raw) < 8 {
		return 0, false
	}
	n := unmix(binary.BigEndian.Uint64(raw)) - s.blobs.key
	return n, string(appendBlob(nil, s, n)) == blob
}

// hashNumber finds the entry number behind the hash of an external transaction.
func (s *idSpaces) hashNumber(hash string) (uint64, bool) {
	var h [32]byte
	if len(hash) != 2*len(h) {
		return 0, false
	}
	if _, err := hex.Decode(h[:], []byte(hash)); err != nil {
		return 0, false
	}
	return s.hashes.number(h)
}

const hexDigits = "0123456789abcdef"

// hexPairs are the two hex digits of each byte. Ids are a quarter of all text.
var hexPairs = func() (pairs [256][2]byte) {
	for b := range pairs {
		pairs[b] = [2]byte{hexDigits[b>>4], hexDigits[b&15]}
	}
	return pairs
}()

func appendHash(dst []byte, h [32]byte) []byte {
	var text [64]byte
	for i, b := range h {
		*(*[2]byte)(text[2*i:]) = hexPairs[b]
	}
	return append(dst, text[:]...)
}

// blobHashes is the length of a serialized contract, in hashes of 30 bytes.
const blobHashes = 3

// appendBlob appends what stands for a contract's serialized form, in base64.
func appendBlob(dst []byte, ids *idSpaces, contract uint64) []byte {
	h := ids.blobs.hash(contract)
	for range blobHashes {
		dst = base64.StdEncoding.AppendEncode(dst, h[:30]) // no padding in between
	}
	return dst
}
