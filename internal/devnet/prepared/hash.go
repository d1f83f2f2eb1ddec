package prepared

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Scheme is a version of the network's hashing scheme.
type Scheme byte

const (
	V2 Scheme = 2
	V3 Scheme = 3
)

// purpose is what all hashes of prepared transactions begin with.
const purpose = 48

// Hash is the hash of a prepared transaction with those that it is made of, all SHA-256.
type Hash struct {
	Transaction, Metadata []byte
	Signed                []byte // what parties sign
}

// Hash computes the hash of a prepared transaction.
func (t *Transaction) Hash(s Scheme) Hash { return t.newHasher(s).hash(t) }

func (h *hasher) hash(t *Transaction) Hash {
	hash := Hash{Transaction: purposeHash(h.transaction(t.tree)), Metadata: purposeHash(h.metadata(t.metadata))}
	hash.Signed = purposeHash([]byte{byte(h.scheme)}, hash.Transaction, hash.Metadata)
	return hash
}

func purposeHash(content ...[]byte) []byte {
	hash := sha256.Sum256(append([]byte{0, 0, 0, purpose}, bytes.Join(content, nil)...))
	return hash[:]
}

// hasher writes the form of a message that is hashed.
type hasher struct {
	decoder
	scheme Scheme
	// timeless says that times count as 0.
	timeless bool
	nodes    map[string]message // those that were not yet hashed, by id
	seeds    map[string][]byte  // by id of the node
}

func (t *Transaction) newHasher(s Scheme) *hasher {
	h := &hasher{scheme: s, nodes: map[string]message{}, seeds: map[string][]byte{}}
	for _, f := range t.tree[transactionNodes] {
		m := h.open(f.content)
		if h.nodes[m.text(nodeID)] != nil {
			h.fail("two nodes have the id %.20q", m.text(nodeID))
		}
		h.nodes[m.text(nodeID)] = h.open(m.content(nodeV1))
	}
	for _, f := range t.tree[transactionSeeds] {
		m := h.open(f.content)
		h.seeds[strconv.Itoa(int(int32(m.number(nodeID))))] = m.content(seedBytes)
	}
	return h
}

// transaction appends each node once: the nodes are a forest.
func (h *hasher) transaction(m message) []byte {
	dst := appendEach(appendSized(nil, m.content(transactionVersion)), m[transactionRoots], h.nodeNamed)
	if len(h.nodes) > 0 {
		h.fail("%d nodes are below no root", len(h.nodes))
	}
	return dst
}

// nodeNamed appends the hash of the node with an id.
func (h *hasher) nodeNamed(dst []byte, id field) []byte {
	name := string(id.content)
	m := h.nodes[name]
	delete(h.nodes, name)
	seed := h.seeds[name]
	var encoded []byte
	switch {
	case len(seed) != sha256.Size:
		h.fail("node %.20q has a seed of %d bytes, want %d", name, len(seed), sha256.Size)
	case len(m) == 1 && m[nodeCreate] != nil:
		encoded = h.create(h.open(m.content(nodeCreate)), seed)
	case len(m) == 1 && m[nodeExercise] != nil:
		encoded = h.exercise(h.open(m.content(nodeExercise)), seed)
	default:
		h.fail("node %.20q is missing, or named twice, or neither creates nor exercises", name)
	}
	hash := sha256.Sum256(encoded)
	return append(dst, hash[:]...)
}

// begin returns what nodes begin with.
func (h *hasher) begin(m message, tag byte, seed []byte) (dst []byte) {
	dst = append(appendSized(h.version(), m.content(nodeVersion)), tag)
	dst = h.hex(append(dst, seed...), m.content(nodeContract))
	return h.id(appendSized(dst, m.content(nodePackage)), m.content(nodeTemplate))
}

// version returns the number of an encoding, of which the scheme V2 has several.
func (h *hasher) version() []byte {
	if h.scheme == V2 {
		return []byte{1}
	}
	return nil
}

func (h *hasher) create(m message, seed []byte) []byte {
	if seed = append([]byte{1}, seed...); len(seed) == 1 {
		seed[0] = 0
	}
	dst := h.value(h.begin(m, 0, seed), m.content(createArgument), maxDepth)
	dst = appendTexts(appendTexts(dst, m[createSigners]), m[createParties])
	if h.scheme == V3 {
		dst = append(dst, 0) // no key
	}
	return dst
}

func (h *hasher) exercise(m message, seed []byte) []byte {
	dst := appendTexts(h.begin(m, 1, seed), m[exerciseSigners])
	dst = appendTexts(appendTexts(dst, m[exerciseParties]), m[exerciseActors])
	dst = appendSized(h.optionalID(dst, m, exerciseThrough), m.content(exerciseChoice))
	dst = appendBool(h.value(dst, m.content(exerciseArg), maxDepth), m.number(exerciseConsume) != 0)
	if dst = appendBool(dst, m[exerciseResult] != nil); m[exerciseResult] != nil {
		dst = h.value(dst, m.content(exerciseResult), maxDepth)
	}
	dst = appendTexts(dst, m[exerciseInforms])
	if h.scheme == V3 {
		dst = append(dst, 0, 0) // not by key, no key
	}
	return appendEach(dst, m[exerciseBelow], h.nodeNamed)
}

func (h *hasher) metadata(m message) []byte {
	submitter := h.open(m.content(metadataSubmitter))
	dst := appendTexts(h.version(), submitter[submitterActAs])
	dst = appendSized(dst, submitter.content(submitterCommandID))
	dst = appendSized(dst, m.content(metadataUUID))
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.number(metadataMediators)))
	dst = appendSized(dst, m.content(metadataSynchronizer))
	dst = appendOptionalNumber(dst, m[metadataMinTime])
	dst = appendOptionalNumber(dst, m[metadataMaxTime])
	dst = binary.BigEndian.AppendUint64(dst, m.number(metadataPreparedAt))
	dst = appendEach(dst, m[metadataInputs], h.input)
	if h.scheme == V3 {
		dst = appendOptionalNumber(dst, m[metadataMaxRecordTime])
	}
	return dst
}

func (h *hasher) input(dst []byte, f field) []byte {
	m := h.open(f.content)
	hash := sha256.Sum256(h.create(h.open(m.content(inputV1)), nil))
	return append(binary.BigEndian.AppendUint64(dst, m.number(inputCreatedAt)), hash[:]...)
}

// instant returns a time, or 0 if times do not count.
func (h *hasher) instant(micros uint64) uint64 {
	if h.timeless {
		return 0
	}
	return micros
}

// hex appends the bytes that a text gives in hex, behind their number.
func (h *hasher) hex(dst, text []byte) []byte {
	b, err := hex.AppendDecode(nil, text)
	if err != nil {
		h.fail("contract id %.150q is not hex: %v", text, err)
	}
	return appendSized(dst, b)
}

func (h *hasher) optionalID(dst []byte, m message, n protowire.Number) []byte {
	if dst = appendBool(dst, m[n] != nil); m[n] != nil {
		dst = h.id(dst, m.content(n))
	}
	return dst
}

// id appends the id of a template, interface or type.
func (h *hasher) id(dst, b []byte) []byte {
	m := h.open(b)
	dst = appendSized(dst, m.content(identifierPackage))
	for _, n := range []protowire.Number{identifierModule, identifierEntity} {
		parts := bytes.Split(m.content(n), []byte("."))
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(parts)))
		for _, p := range parts {
			dst = appendSized(dst, p)
		}
	}
	return dst
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// appendSized appends bytes behind their number.
func appendSized(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// appendEach appends the elements of a repeated field behind their number.
func appendEach(dst []byte, all []field, element func([]byte, field) []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(all)))
	for _, f := range all {
		dst = element(dst, f)
	}
	return dst
}

func appendTexts(dst []byte, all []field) []byte {
	return appendEach(dst, all, func(dst []byte, f field) []byte { return appendSized(dst, f.content) })
}

func appendOptionalNumber(dst []byte, all []field) []byte {
	if len(all) == 0 {
		return append(dst, 0)
	}
	return binary.BigEndian.AppendUint64(append(dst, 1), all[len(all)-1].number)
}
