package devnet

import "sort"

// kind is the type constructor of a value.
type kind uint8

const (
	kindUnit kind = iota
	kindBool
	kindInt64
	kindNumeric
	kindText
	kindParty
	kindContractID
	kindTimestamp
	kindDate
	kindRecord
	kindVariant
	kindEnum
	kindList
	kindOptional
	kindTextMap
	kindGenMap
)

// value is a contract value. What the members hold depends on the kind:
//
//	num    bool (0, 1), int64, numeric (units of 10^-10), party number, contract
//	       number, timestamp (µs since 1970), date (days since 1970)
//	text   text, constructor of a variant or enum
//	shape  labels of a record
//	elems  fields of a record, elements of a list, the content of a variant or an
//	       optional (none when empty), alternating keys and values of a map
//
// A record may have fewer fields than its shape has labels: the trailing optional
// ones that an older package version did not know are then missing.
type value struct {
	kind  kind
	shape *shape
	num   int64
	text  string
	elems []value
}

// shape holds the labels of a record type, in positional order.
type shape struct {
	labels []string
	sorted []int // positions, ordered by label
}

func newShape(labels ...string) *shape {
	s := &shape{labels: labels, sorted: make([]int, len(labels))}
	for i := range s.sorted {
		s.sorted[i] = i
	}
	sort.Slice(s.sorted, func(i, j int) bool { return labels[s.sorted[i]] < labels[s.sorted[j]] })
	return s
}

func unit() value                  { return value{kind: kindUnit} }
func int64Value(n int64) value     { return value{kind: kindInt64, num: n} }
func numeric(d decimal) value      { return value{kind: kindNumeric, num: int64(d)} }
func text(s string) value          { return value{kind: kindText, text: s} }
func partyValue(p party) value     { return value{kind: kindParty, num: int64(p)} }
func contractID(n uint64) value    { return value{kind: kindContractID, num: int64(n)} }
func timestamp(micros int64) value { return value{kind: kindTimestamp, num: micros} }
func date(days int64) value        { return value{kind: kindDate, num: days} }
func enum(constructor string) value {
	return value{kind: kindEnum, text: constructor}
}

func boolean(b bool) value {
	if b {
		return value{kind: kindBool, num: 1}
	}
	return value{kind: kindBool}
}

func none() value { return value{kind: kindOptional} }

// arena hands out the element slices of values. Slices stay valid until reset, so
// a batch of updates costs no garbage. Not safe for concurrent use.
type arena struct {
	chunks [][]value
	chunk  int // index of the chunk in use
}

const arenaChunk = 4096

// alloc returns n zero values.
func (a *arena) alloc(n int) []value {
	if n > arenaChunk {
		return make([]value, n)
	}
	for {
		if a.chunk == len(a.chunks) {
			a.chunks = append(a.chunks, make([]value, 0, arenaChunk))
		}
		c := a.chunks[a.chunk]
		if len(c)+n <= cap(c) {
			a.chunks[a.chunk] = c[:len(c)+n]
			return c[len(c) : len(c)+n : len(c)+n]
		}
		a.chunk++
	}
}

// reset takes all slices back and drops what their values refer to.
func (a *arena) reset() {
	for i, c := range a.chunks {
		clear(c)
		a.chunks[i] = c[:0]
	}
	a.chunk = 0
}

func (a *arena) copyOf(vs []value) []value {
	elems := a.alloc(len(vs))
	copy(elems, vs)
	return elems
}

func (a *arena) record(s *shape, fields ...value) value {
	return value{kind: kindRecord, shape: s, elems: a.copyOf(fields)}
}

func (a *arena) variant(constructor string, content value) value {
	elems := a.alloc(1)
	elems[0] = content
	return value{kind: kindVariant, text: constructor, elems: elems}
}

func (a *arena) some(content value) value {
	elems := a.alloc(1)
	elems[0] = content
	return value{kind: kindOptional, elems: elems}
}

func (a *arena) list(vs ...value) value {
	return value{kind: kindList, elems: a.copyOf(vs)}
}

// textMap takes alternating keys (texts) and values, sorted by key.
func (a *arena) textMap(vs ...value) value {
	return value{kind: kindTextMap, elems: a.copyOf(vs)}
}

// genMap takes alternating keys and values, in the order of the keys.
func (a *arena) genMap(vs ...value) value {
	return value{kind: kindGenMap, elems: a.copyOf(vs)}
}
