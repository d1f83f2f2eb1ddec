package values

import (
	"sync"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// AppendCompact appends the compact_json form of protobufJSON to dst. t supplies the labels
// that the value lacks; it may be nil for a value that needs none, else the error is
// ErrUnknownType. On error dst is returned as it was given. dst must not overlap
// protobufJSON.
func AppendCompact(dst, protobufJSON []byte, t *Type) ([]byte, error) {
	return convert(dst, protobufJSON, t, (*converter).compactValue)
}

func (c *converter) compactValue(dst []byte, t *Type) ([]byte, error) {
	return c.compact(dst, c.fitting(t), 1, false)
}

// AppendPublished is AppendCompact in the text of the network's own services: optional fields that
// the value lacks at the end of a record of type t are null, and numbers below a millionth have an
// exponent, zero included, such as 0E-10 and 9.990E-7.
func AppendPublished(dst, protobufJSON []byte, t *Type) ([]byte, error) {
	return convert(dst, protobufJSON, t, (*converter).publishedValue)
}

func (c *converter) publishedValue(dst []byte, t *Type) ([]byte, error) {
	c.published = true
	return c.compactValue(dst, t)
}

// AppendProtobuf appends the protobuf_json form of compactJSON, a value of type t, to dst.
// Without t the error is ErrUnknownType. On error dst is returned as it was given. dst
// must not overlap compactJSON.
func AppendProtobuf(dst, compactJSON []byte, t *Type) ([]byte, error) {
	return convert(dst, compactJSON, t, (*converter).protobufValue)
}

func (c *converter) protobufValue(dst []byte, t *Type) ([]byte, error) {
	return c.protobuf(dst, t, 1, false)
}

// converter reads one value in canonical form. That spares it all checks of the JSON
// itself, and members come in the order of their names: "constructor", "key" and "label"
// before "value".
type converter struct {
	scan   input
	sorter jsonscan.Sorter
	source []byte // canonical form of a source that was not

	published bool // write compact_json as AppendPublished does
	dropNones bool // write protobuf_json as RestoreUpdate does

	spans []span // fields of the records that protobuf has open, innermost last
	moved []byte
}

var converters = sync.Pool{New: func() any { return new(converter) }}

// conversion appends the one value that is being read, of a type, in another form.
type conversion func(c *converter, dst []byte, t *Type) ([]byte, error)

func convert(dst, src []byte, t *Type, to conversion) ([]byte, error) {
	if jsonscan.IsCanonical(src) {
		return convertCanonical(dst, src, t, to)
	}
	c := converters.Get().(*converter)
	defer converters.Put(c)
	var err error
	if c.source, err = jsonscan.AppendCanonical(c.source[:0], src); err != nil {
		return dst, err
	}
	return c.run(dst, c.source, t, to)
}

// convertCanonical is convert for a text that is known to be canonical, as all that is stored
// is: to check that takes a third as long as to convert it.
func convertCanonical(dst, src []byte, t *Type, to conversion) ([]byte, error) {
	c := converters.Get().(*converter)
	defer converters.Put(c)
	return c.run(dst, src, t, to)
}

func (c *converter) run(dst, src []byte, t *Type, to conversion) ([]byte, error) {
	c.sorter.Reset()
	c.spans = c.spans[:0]
	c.published, c.dropNones = false, false
	c.scan.Reset(src)
	defer c.scan.Reset(nil) // the pool must not keep src alive
	out, err := to(c, dst, t)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// appendQuoted appends a quote, what appendTo appends for text, and a quote.
func appendQuoted(dst, text []byte, appendTo func(dst, text []byte) ([]byte, error)) ([]byte, error) {
	dst, err := appendTo(append(dst, '"'), text)
	return append(dst, '"'), err
}
