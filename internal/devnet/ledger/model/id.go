package model

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/google/uuid"
)

// idSpace turns the numbers 0, 1, 2... of one kind of thing into 32-byte hashes.
// The first eight bytes are a permutation of the number: ids of one space never
// collide, sort by those bytes, and can be turned back into their number.
type idSpace struct{ Key uint64 }

// NewIDSpace derives the space of one kind of thing from the ledger's seed.
func NewIDSpace(seed uint64, kind string) idSpace {
	key := Mix(seed + Golden)
	for _, c := range []byte(kind) {
		key = Mix(key ^ uint64(c)*Golden)
	}
	return idSpace{key}
}

// Hash is the hash of number n.
func (s idSpace) Hash(n uint64) [32]byte {
	var h [32]byte
	lane := Mix(n + s.Key)
	binary.BigEndian.PutUint64(h[:], lane)
	for i := 8; i < 32; i += 8 {
		lane = Mix(lane + s.Key ^ Golden)
		binary.BigEndian.PutUint64(h[i:], lane)
	}
	return h
}

// Rank orders numbers the way their ids sort as text.
func (s idSpace) Rank(n uint64) uint64 { return Mix(n + s.Key) }

// number is the inverse of hash; it reports false for a hash of another space.
func (s idSpace) number(h [32]byte) (uint64, bool) {
	n := unmix(binary.BigEndian.Uint64(h[:])) - s.Key
	return n, s.Hash(n) == h
}

const (
	updateIDPrefix     = "1220"
	updateIDLength     = len(updateIDPrefix) + 64
	contractIDPrefix   = "00"
	contractIDSuffix   = "ca101220"
	contractIDLength   = len(contractIDPrefix) + 64 + len(contractIDSuffix) + 64
	FingerprintPrefix  = "1220"
	PartyNamespaceMark = "::"
)

// IDSpaces are the spaces of one ledger.
type IDSpaces struct {
	Updates, Contracts, salts, Reassignments idSpace
	Hashes                                   idSpace // of transactions signed by external parties
	Commands, Traces                         idSpace // of a participant's own stream
	blobs                                    idSpace // of contracts in serialized form
	Prepared, Seeds                          idSpace // of prepared transactions, and of their nodes
}

// NewIDSpaces derives the spaces from the seed.
func NewIDSpaces(seed uint64) IDSpaces {
	return IDSpaces{
		Updates:       NewIDSpace(seed, "update"),
		Contracts:     NewIDSpace(seed, "contract"),
		salts:         NewIDSpace(seed, "contract salt"),
		Reassignments: NewIDSpace(seed, "reassignment"),
		Hashes:        NewIDSpace(seed, "external transaction"),
		Commands:      NewIDSpace(seed, "command"),
		Traces:        NewIDSpace(seed, "trace"),
		blobs:         NewIDSpace(seed, "blob"),
		Prepared:      NewIDSpace(seed, "prepared transaction"),
		Seeds:         NewIDSpace(seed, "node seed"),
	}
}

// AppendUpdateID appends the id of entry n: 1220 and 64 hex digits.
func (s *IDSpaces) AppendUpdateID(dst []byte, n uint64) []byte {
	return AppendHash(append(dst, updateIDPrefix...), s.Updates.Hash(n))
}

// AppendContractID appends the id of contract n, 138 hex digits.
func (s *IDSpaces) AppendContractID(dst []byte, n uint64) []byte {
	dst = AppendHash(append(dst, contractIDPrefix...), s.Contracts.Hash(n))
	return AppendHash(append(dst, contractIDSuffix...), s.salts.Hash(n))
}

// UpdateNumber finds the entry number behind an update id.
func (s *IDSpaces) UpdateNumber(id string) (uint64, bool) {
	if len(id) != updateIDLength || id[:len(updateIDPrefix)] != updateIDPrefix {
		return 0, false
	}
	var h [32]byte
	if _, err := hex.Decode(h[:], []byte(id[len(updateIDPrefix):])); err != nil {
		return 0, false
	}
	n, ok := s.Updates.number(h)
	// Decoding accepts upper case, ids are lower case only.
	return n, ok && string(s.AppendUpdateID(nil, n)) == id
}

// ContractNumber finds the number of the contract with an id.
func (s *IDSpaces) ContractNumber(id string) (uint64, bool) {
	if len(id) != contractIDLength || id[:len(contractIDPrefix)] != contractIDPrefix {
		return 0, false
	}
	var h [32]byte
	if _, err := hex.Decode(h[:], []byte(id[len(contractIDPrefix):len(contractIDPrefix)+64])); err != nil {
		return 0, false
	}
	n, ok := s.Contracts.number(h)
	return n, ok && string(s.AppendContractID(nil, n)) == id
}

// BlobNumber finds the number of the contract with a serialized form.
func (s *IDSpaces) BlobNumber(blob string) (uint64, bool) {
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || len(raw) < 8 {
		return 0, false
	}
	n := unmix(binary.BigEndian.Uint64(raw)) - s.blobs.Key
	return n, string(AppendBlob(nil, s, n)) == blob
}

// UUID is the UUID (version 8) of prepared transaction n.
func (s *IDSpaces) UUID(n uint64) uuid.UUID {
	h := s.Prepared.Hash(n)
	u := uuid.UUID(slices.Concat(h[:4], h[8:16], h[4:8])) // the rank of n stays clear of the version
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return u
}

// UUIDNumber finds the number behind a UUID.
func (s *IDSpaces) UUIDNumber(text string) (uint64, bool) {
	u, err := uuid.Parse(text)
	n := unmix(uint64(binary.BigEndian.Uint32(u[:]))<<32|uint64(binary.BigEndian.Uint32(u[12:]))) - s.Prepared.Key
	return n, err == nil && s.UUID(n).String() == text
}

// HashNumber finds the entry number behind the hash of an external transaction.
func (s *IDSpaces) HashNumber(hash string) (uint64, bool) {
	var h [32]byte
	if len(hash) != 2*len(h) {
		return 0, false
	}
	if _, err := hex.Decode(h[:], []byte(hash)); err != nil {
		return 0, false
	}
	return s.Hashes.number(h)
}

const hexDigits = "0123456789abcdef"

// hexPairs are the two hex digits of each byte. IDs are a quarter of all text.
var hexPairs = func() (pairs [256][2]byte) {
	for b := range pairs {
		pairs[b] = [2]byte{hexDigits[b>>4], hexDigits[b&15]}
	}
	return pairs
}()

// AppendHash appends h as 64 hex digits.
func AppendHash(dst []byte, h [32]byte) []byte {
	var text [64]byte
	for i, b := range h {
		*(*[2]byte)(text[2*i:]) = hexPairs[b]
	}
	return append(dst, text[:]...)
}

// blobHashes is the length of a serialized contract, in hashes of 30 bytes.
const blobHashes = 3

// Blob is what stands for a contract's serialized form.
func Blob(ids *IDSpaces, contract uint64) []byte {
	h := ids.blobs.Hash(contract)
	return bytes.Repeat(h[:30], blobHashes)
}

// AppendBlob appends Blob in base64.
func AppendBlob(dst []byte, ids *IDSpaces, contract uint64) []byte {
	return base64.StdEncoding.AppendEncode(dst, Blob(ids, contract))
}
