package store

import (
	"fmt"
	"math"

	"github.com/ClickHouse/ch-go/proto"
)

// lowCardinality is LowCardinality(String). Unlike the column of that name in ch-go it
// finds a string's number when the string is added, from bytes if need be, and makes
// each distinct string of a block once when reading.
type lowCardinality struct {
	proto.ColLowCardinalityRaw
	index texts
	terms []string // by number
	keys  []uint32 // by row

	// shapes, when set, knows the strings of a dictionary that is read; kinds are those of
	// the current block, by number.
	shapes  *Shapes
	kinds   []*Shape
	numbers map[string]uint32
	last    uint32 // number of the row before: columns tend to repeat
}

func newLowCardinality() *lowCardinality {
	c := &lowCardinality{numbers: make(map[string]uint32)}
	c.Index = &c.index
	return c
}

// Append adds a row.
func (c *lowCardinality) Append(v string) {
	if len(c.keys) > 0 && c.terms[c.last] == v {
		c.keys = append(c.keys, c.last)
		return
	}
	n, ok := c.numbers[v]
	if !ok {
		n = c.add(v)
	}
	c.keys, c.last = append(c.keys, n), n
}

// AppendBytes adds a row and makes a string of v only if it is a new one.
func (c *lowCardinality) AppendBytes(v []byte) {
	n, ok := c.numbers[string(v)]
	if !ok {
		n = c.add(string(v))
	}
	c.keys, c.last = append(c.keys, n), n
}

func (c *lowCardinality) add(v string) uint32 {
	n := uint32(len(c.terms))
	c.numbers[v] = n
	c.terms = append(c.terms, v)
	c.index.Append(v)
	return n
}

// AppendArr adds a row per element.
func (c *lowCardinality) AppendArr(list []string) {
	for _, v := range list {
		c.Append(v)
	}
}

// Row returns row i.
func (c *lowCardinality) Row(i int) string { return c.terms[c.keys[i]] }

// Rows returns the number of rows.
func (c *lowCardinality) Rows() int { return len(c.keys) }

// Reset empties the column.
func (c *lowCardinality) Reset() {
	c.kinds = c.kinds[:0]
	c.ColLowCardinalityRaw.Reset()
	clear(c.numbers)
	c.terms, c.keys, c.last = c.terms[:0], c.keys[:0], 0
}

// Prepare writes the numbers in the narrowest type that holds them.
func (c *lowCardinality) Prepare() error {
	switch n := len(c.terms); {
	case n <= math.MaxUint8+1:
		c.Key, c.Keys8 = proto.KeyUInt8, narrow(c.Keys8, c.keys)
	case n <= math.MaxUint16+1:
		c.Key, c.Keys16 = proto.KeyUInt16, narrow(c.Keys16, c.keys)
	default:
		c.Key, c.Keys32 = proto.KeyUInt32, narrow(c.Keys32, c.keys)
	}
	return nil
}

func narrow[T ~[]K, K uint8 | uint16 | uint32](dst T, keys []uint32) T {
	dst = dst[:0]
	for _, k := range keys {
		dst = append(dst, K(k))
	}
	return dst
}

// DecodeColumn reads a block's rows.
func (c *lowCardinality) DecodeColumn(r *proto.Reader, rows int) error {
	c.terms, c.keys = c.terms[:0], c.keys[:0]
	if err := c.ColLowCardinalityRaw.DecodeColumn(r, rows); err != nil || rows == 0 {
		return err
	}
	c.readTerms()
	switch c.Key {
	case proto.KeyUInt8:
		c.keys = widen(c.keys, c.Keys8)
	case proto.KeyUInt16:
		c.keys = widen(c.keys, c.Keys16)
	case proto.KeyUInt32:
		c.keys = widen(c.keys, c.Keys32)
	default:
		return fmt.Errorf("a dictionary with numbers of type %s", c.Key)
	}
	for _, k := range c.keys {
		if int(k) >= len(c.terms) {
			return fmt.Errorf("number %d in a dictionary of %d", k, len(c.terms))
		}
	}
	return nil
}

// readTerms makes strings of the dictionary, in one piece of memory unless they are interned.
func (c *lowCardinality) readTerms() {
	if c.shapes != nil {
		c.kinds, c.terms = c.shapes.take(&c.index, c.kinds[:0], c.terms)
		return
	}
	term := stringsOf(&c.index)
	for i := range c.index.Rows() {
		c.terms = append(c.terms, term(i))
	}
}

func widen[T ~[]K, K uint8 | uint16 | uint32](dst []uint32, keys T) []uint32 {
	for _, k := range keys {
		dst = append(dst, uint32(k))
	}
	return dst
}
