package values

import (
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// span is where a field lies in the output; end is 0 if the field is missing.
type span struct{ start, end int }

// protobuf reads a compact_json value of type t and appends its protobuf_json form. depth
// and nested are as for compact.
func (c *converter) protobuf(dst []byte, t *Type, depth int, nested bool) ([]byte, error) {
	if depth > MaxDepth {
		return dst, ErrDepth
	}
	if t == nil {
		return dst, ErrUnknownType
	}
	dst = append(dst, '{', '"')
	dst = append(dst, t.Kind.String()...)
	dst = append(dst, '"', ':')
	dst, err := c.protobufKind(dst, t, depth, nested)
	return append(dst, '}'), err
}

func (c *converter) protobufKind(dst []byte, t *Type, depth int, nested bool) ([]byte, error) {
	switch t.Kind {
	case KindRecord:
		return c.protobufRecord(dst, t, depth)
	case KindVariant:
		return c.protobufVariant(dst, t, depth)
	case KindOptional:
		return c.protobufOptional(dst, t.Elem, depth, nested)
	case KindList:
		return c.protobufList(dst, t.Elem, depth)
	case KindTextMap:
		return c.protobufTextMap(dst, t.Elem, depth)
	case KindGenMap:
		return c.protobufGenMap(dst, t, depth)
	}
	return c.protobufScalar(dst, t.Kind)
}

func (c *converter) protobufScalar(dst []byte, kind Kind) ([]byte, error) {
	switch kind {
	case KindUnit:
		return append(dst, "{}"...), c.scan.empty()
	case KindBool:
		word, err := c.scan.boolean()
		return append(dst, word...), err
	case KindInt64, KindNumeric:
		number, err := c.scan.numberText()
		if err != nil {
			return dst, err
		}
		if kind == KindInt64 {
			return appendQuoted(dst, number, appendInt64)
		}
		return appendQuoted(dst, number, appendNumeric)
	}
	text, err := c.scan.text()
	if err != nil {
		return dst, err
	}
	switch kind {
	case KindTimestamp:
		return appendQuoted(dst, text, appendMicros)
	case KindDate:
		return appendDays(dst, text)
	case KindEnum:
		dst = jsonscan.AppendString(append(dst, `{"constructor":`...), text)
		return append(dst, '}'), nil
	}
	return jsonscan.AppendString(dst, text), nil
}

// protobufRecord converts the fields in the order in which they come, by label, and then
// moves them to the order of the type.
func (c *converter) protobufRecord(dst []byte, t *Type, depth int) ([]byte, error) {
	base, start := len(c.spans), len(dst)
	c.spans = slices.Grow(c.spans, len(t.Fields))[:base+len(t.Fields)]
	clear(c.spans[base:])
	next := 0 // in t.byLabel: labels before it have passed
	err := c.scan.members(func(key []byte) error {
		i := t.advance(&next, key)
		if i < 0 {
			return c.skipNull(t, key)
		}
		from := len(dst)
		var err error
		dst, err = c.protobuf(append(dst, `{"value":`...), t.Fields[i].Type, depth+1, false)
		dst = append(dst, '}')
		if !c.dropNones || !isNone(dst[from:]) {
			c.spans[base+i] = span{from, len(dst)}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Fields[i].Label, err)
		}
		return nil
	})
	fields := c.spans[base:]
	c.spans = c.spans[:base]
	if err != nil {
		return dst, err
	}
	c.moved = append(c.moved[:0], dst[start:]...)
	return appendFields(dst[:start], t, fields, c.moved, start)
}

// advance moves next over the labels up to key and returns the index of the field that key
// names, -1 if there is none. Keys must come in byte order.
func (t *Type) advance(next *int, key []byte) int {
	for *next < len(t.byLabel) {
		i := t.byLabel[*next]
		label := t.Fields[i].Label
		if label > string(key) {
			return -1
		}
		*next++
		if label == string(key) {
			return i
		}
	}
	return -1
}

// skipNull reads the value of a member that the type does not have, which must be null.
func (c *converter) skipNull(t *Type, key []byte) error {
	if c.scan.Peek() == 'n' {
		return c.scan.Literal("null")
	}
	return fmt.Errorf("%w: %.60q of %s", ErrUnknownField, key, t.Name)
}

// appendFields appends the content of a record. fields tells where each field of t lies in
// converted, offsets counted from start.
func appendFields(dst []byte, t *Type, fields []span, converted []byte, start int) ([]byte, error) {
	last := len(fields) - 1
	for ; last >= 0 && fields[last].end == 0; last-- {
		if t.Fields[last].Type.Kind != KindOptional {
			return dst, fmt.Errorf("%w: %s", ErrMissingField, t.Fields[last].Label)
		}
	}
	if last < 0 {
		return append(dst, "{}"...), nil
	}
	dst = append(dst, `{"fields":[`...)
	for i, f := range fields[:last+1] {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case f.end != 0:
			dst = append(dst, converted[f.start-start:f.end-start]...)
		case t.Fields[i].Type.Kind == KindOptional:
			dst = append(dst, `{"value":{"optional":{}}}`...)
		default:
			return dst, fmt.Errorf("%w: %s", ErrMissingField, t.Fields[i].Label)
		}
	}
	return append(dst, ']', '}'), nil
}

func (c *converter) protobufVariant(dst []byte, t *Type, depth int) ([]byte, error) {
	var content *Type
	tagged, seen := false, false
	err := c.scan.members(func(key []byte) error {
		switch {
		case string(key) == "tag":
			tag, err := c.scan.text()
			if err != nil {
				return err
			}
			tagged = true
			content = contentOf(t, tag)
			dst = jsonscan.AppendString(append(dst, `{"constructor":`...), tag)
			return nil
		case string(key) == "value" && tagged:
			seen = true
			var err error
			dst, err = c.protobuf(append(dst, `,"value":`...), content, depth+1, false)
			return err
		}
		return c.scan.unexpected()
	})
	if err == nil && !seen {
		err = fmt.Errorf("%w: a variant without tag or value", ErrInvalid)
	}
	return append(dst, '}'), err
}

func (c *converter) protobufOptional(dst []byte, elem *Type, depth int, nested bool) ([]byte, error) {
	if nested {
		return c.protobufNested(dst, elem, depth)
	}
	if c.scan.Peek() == 'n' {
		return append(dst, "{}"...), c.scan.Literal("null")
	}
	return c.protobufSome(dst, elem, depth)
}

// protobufNested reads an optional inside another one: a list of none or one.
func (c *converter) protobufNested(dst []byte, elem *Type, depth int) ([]byte, error) {
	some := false
	err := c.scan.elements(func(i int) error {
		if i > 0 {
			return fmt.Errorf("%w: an optional with more than one value", ErrInvalid)
		}
		some = true
		var err error
		dst, err = c.protobufSome(dst, elem, depth)
		return err
	})
	if !some {
		dst = append(dst, "{}"...)
	}
	return dst, err
}

func (c *converter) protobufSome(dst []byte, elem *Type, depth int) ([]byte, error) {
	dst, err := c.protobuf(append(dst, `{"value":`...), elem, depth+1, true)
	return append(dst, '}'), err
}

func (c *converter) protobufList(dst []byte, elem *Type, depth int) ([]byte, error) {
	start := len(dst)
	err := c.scan.elements(func(i int) error {
		dst = appendPart(dst, `{"elements":[`, i)
		var err error
		dst, err = c.protobuf(dst, elem, depth+1, false)
		return err
	})
	return closeParts(dst, start), err
}

func (c *converter) protobufTextMap(dst []byte, elem *Type, depth int) ([]byte, error) {
	start, i := len(dst), 0
	err := c.scan.members(func(key []byte) error {
		dst = appendPart(dst, `{"entries":[`, i)
		i++
		dst = jsonscan.AppendString(append(dst, `{"key":`...), key)
		var err error
		dst, err = c.protobuf(append(dst, `,"value":`...), elem, depth+1, false)
		dst = append(dst, '}')
		return err
	})
	return closeParts(dst, start), err
}

func (c *converter) protobufGenMap(dst []byte, t *Type, depth int) ([]byte, error) {
	start := len(dst)
	err := c.scan.elements(func(i int) error {
		dst = appendPart(dst, `{"entries":[`, i)
		parts := 0
		err := c.scan.elements(func(part int) error {
			parts++
			var err error
			switch part {
			case 0:
				dst, err = c.protobuf(append(dst, `{"key":`...), t.Key, depth+1, false)
			case 1:
				dst, err = c.protobuf(append(dst, `,"value":`...), t.Elem, depth+1, false)
			}
			return err
		})
		dst = append(dst, '}')
		if err == nil && parts != 2 {
			err = fmt.Errorf("%w: a gen map entry has %d parts instead of 2", ErrInvalid, parts)
		}
		return err
	})
	return closeParts(dst, start), err
}

// appendPart appends what goes before part i of a list or map.
func appendPart(dst []byte, opening string, i int) []byte {
	if i == 0 {
		return append(dst, opening...)
	}
	return append(dst, ',')
}

// closeParts ends the list or map that began at start; {} if it has no parts.
func closeParts(dst []byte, start int) []byte {
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	return append(dst, ']', '}')
}
