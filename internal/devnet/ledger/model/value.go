package model

import "sort"

// kind is the type constructor of a value.
type kind uint8

const (
	KindUnit kind = iota
	KindBool
	KindInt64
	KindNumeric
	KindText
	KindParty
	KindContractID
	KindTimestamp
	KindDate
	KindRecord
	KindVariant
	KindEnum
	KindList
	KindOptional
	KindTextMap
	KindGenMap
)

// Value is a contract value. What the members hold depends on the kind:
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
type Value struct {
	Kind  kind
	Shape *Shape
	Num   int64
	Text  string
	Elems []Value
}

// Shape holds the labels of a record type, in positional order.
type Shape struct {
	labels []string
	sorted []int // positions, ordered by label
}

// NewShape returns the shape of a record with labels in positional order.
func NewShape(labels ...string) *Shape {
	s := &Shape{labels: labels, sorted: make([]int, len(labels))}
	for i := range s.sorted {
		s.sorted[i] = i
	}
	sort.Slice(s.sorted, func(i, j int) bool { return labels[s.sorted[i]] < labels[s.sorted[j]] })
	return s
}

// Label is the name of the field at a position.
func (s *Shape) Label(at int) string { return s.labels[at] }

func Unit() Value                  { return Value{Kind: KindUnit} }
func Int64Value(n int64) Value     { return Value{Kind: KindInt64, Num: n} }
func Numeric(d Decimal) Value      { return Value{Kind: KindNumeric, Num: int64(d)} }
func Text(s string) Value          { return Value{Kind: KindText, Text: s} }
func PartyValue(p Party) Value     { return Value{Kind: KindParty, Num: int64(p)} }
func ContractID(n uint64) Value    { return Value{Kind: KindContractID, Num: int64(n)} }
func Timestamp(micros int64) Value { return Value{Kind: KindTimestamp, Num: micros} }
func Date(days int64) Value        { return Value{Kind: KindDate, Num: days} }
func Enum(constructor string) Value {
	return Value{Kind: KindEnum, Text: constructor}
}

// Boolean is the value of type bool.
func Boolean(b bool) Value {
	if b {
		return Value{Kind: KindBool, Num: 1}
	}
	return Value{Kind: KindBool}
}

// None is the optional without content.
func None() Value { return Value{Kind: KindOptional} }

// Arena hands out the element slices of values. Slices stay valid until reset, so
// a batch of updates costs no garbage. Not safe for concurrent use.
type Arena struct {
	chunks [][]Value
	chunk  int // index of the chunk in use
}

const arenaChunk = 4096

// Alloc returns n zero values.
func (a *Arena) Alloc(n int) []Value {
	if n > arenaChunk {
		return make([]Value, n)
	}
	for {
		if a.chunk == len(a.chunks) {
			a.chunks = append(a.chunks, make([]Value, 0, arenaChunk))
		}
		c := a.chunks[a.chunk]
		if len(c)+n <= cap(c) {
			a.chunks[a.chunk] = c[:len(c)+n]
			return c[len(c) : len(c)+n : len(c)+n]
		}
		a.chunk++
	}
}

// Reset takes all slices back and drops what their values refer to.
func (a *Arena) Reset() {
	for i, c := range a.chunks {
		clear(c)
		a.chunks[i] = c[:0]
	}
	a.chunk = 0
}

func (a *Arena) copyOf(vs []Value) []Value {
	elems := a.Alloc(len(vs))
	copy(elems, vs)
	return elems
}

// Record returns a record with the fields in the order of the shape.
func (a *Arena) Record(s *Shape, fields ...Value) Value {
	return Value{Kind: KindRecord, Shape: s, Elems: a.copyOf(fields)}
}

// Variant returns a variant.
func (a *Arena) Variant(constructor string, content Value) Value {
	elems := a.Alloc(1)
	elems[0] = content
	return Value{Kind: KindVariant, Text: constructor, Elems: elems}
}

// Some returns an optional with content.
func (a *Arena) Some(content Value) Value {
	elems := a.Alloc(1)
	elems[0] = content
	return Value{Kind: KindOptional, Elems: elems}
}

// List returns a list.
func (a *Arena) List(vs ...Value) Value {
	return Value{Kind: KindList, Elems: a.copyOf(vs)}
}

// ListOf returns a list with the value of each item.
func ListOf[T any](a *Arena, items []T, value func(T) Value) Value {
	elems := a.Alloc(len(items))
	for i, item := range items {
		elems[i] = value(item)
	}
	return Value{Kind: KindList, Elems: elems}
}

// TextMap takes alternating keys (texts) and values, sorted by key.
func (a *Arena) TextMap(vs ...Value) Value {
	return Value{Kind: KindTextMap, Elems: a.copyOf(vs)}
}

// GenMap takes alternating keys and values, in the order of the keys.
func (a *Arena) GenMap(vs ...Value) Value {
	return Value{Kind: KindGenMap, Elems: a.copyOf(vs)}
}
