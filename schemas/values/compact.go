package values

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// compact reads a protobuf_json value and appends its compact_json form. depth counts the
// value itself. nested says that the value is the content of an optional, where another
// optional is written as a list of none or one.
func (c *converter) compact(dst []byte, t *Type, depth int, nested bool) ([]byte, error) {
	if depth > MaxDepth {
		return dst, ErrDepth
	}
	kind, err := c.openKind()
	if err != nil {
		return dst, err
	}
	typ := t
	if !nested {
		typ = plain(t, kind)
	}
	if !fits(typ, kind) {
		return dst, fmt.Errorf("%w: %s instead of %s", ErrMismatch, kind, t.Kind)
	}
	if dst, err = c.compactKind(dst, kind, typ, depth, nested); err != nil {
		return dst, err
	}
	return dst, c.closeKind()
}

// openKind reads a value up to its kind and the colon after it.
func (c *converter) openKind() (Kind, error) {
	if c.scan.Open('{') != nil {
		return 0, c.scan.unexpected()
	}
	if !c.scan.First('}') {
		return 0, fmt.Errorf("%w: a value without a kind", ErrInvalid)
	}
	key, err := c.scan.Key()
	if err != nil {
		return 0, c.scan.unexpected()
	}
	kind := kindOf(key)
	if kind == 0 {
		return 0, notOneKind(key)
	}
	return kind, nil
}

// closeKind reads the end of a value, which has no other member.
func (c *converter) closeKind() error {
	more, err := c.scan.More('}')
	if err != nil {
		return c.scan.unexpected()
	}
	if more {
		key, err := c.scan.Key()
		if err != nil {
			return c.scan.unexpected()
		}
		return notOneKind(key)
	}
	return nil
}

func notOneKind(key []byte) error {
	return fmt.Errorf("%w: a value has one member that names its kind, not %.40q", ErrInvalid, key)
}

// plain returns the type of the content if a value of a plain kind has an optional type.
// In compact_json the two look alike.
func plain(t *Type, kind Kind) *Type {
	for t != nil && t.Kind == KindOptional && kind != KindOptional {
		t = t.Elem
	}
	return t
}

// fits tells whether a value of the kind can have the type. An optional also fits the type
// of its content, and unit a record without fields.
func fits(t *Type, kind Kind) bool {
	switch {
	case t == nil || t.Kind == kind || kind == KindOptional:
		return true
	case t.Kind == KindUnit:
		return kind == KindRecord
	}
	return t.isUnit() && kind == KindUnit
}

// fitting returns t, or nil if the next value does not fit it. It is for values that t is
// known to belong to by name: a difference then puts no label at risk.
func (c *converter) fitting(t *Type) *Type {
	ahead := c.scan
	if t == nil || ahead.Open('{') != nil || !ahead.First('}') {
		return t
	}
	key, err := ahead.Key()
	if kind := kindOf(key); err == nil && kind != 0 && !fits(plain(t, kind), kind) {
		return nil
	}
	return t
}

func (c *converter) compactKind(dst []byte, kind Kind, t *Type, depth int, nested bool) ([]byte, error) {
	switch kind {
	case KindRecord:
		return c.compactRecord(dst, t, depth)
	case KindVariant:
		return c.compactVariant(dst, t, depth)
	case KindEnum:
		return c.compactEnum(dst)
	case KindOptional:
		if t != nil && t.Kind != KindOptional {
			return c.compactOptional(dst, t, depth, nested)
		}
		return c.compactOptional(dst, elemOf(t), depth, nested)
	case KindList:
		return c.compactList(dst, elemOf(t), depth)
	case KindTextMap:
		return c.compactTextMap(dst, elemOf(t), depth)
	case KindGenMap:
		return c.compactGenMap(dst, t, depth)
	}
	return c.compactScalar(dst, kind)
}

func elemOf(t *Type) *Type {
	if t == nil {
		return nil
	}
	return t.Elem
}

func (c *converter) compactScalar(dst []byte, kind Kind) ([]byte, error) {
	switch kind {
	case KindUnit:
		return append(dst, "{}"...), c.scan.empty()
	case KindBool:
		word, err := c.scan.boolean()
		return append(dst, word...), err
	case KindText, KindParty, KindContractID:
		text, err := c.scan.text()
		return jsonscan.AppendString(dst, text), err
	}
	number, err := c.scan.numberText()
	if err != nil {
		return dst, err
	}
	switch kind {
	case KindInt64:
		return appendQuoted(dst, number, appendInt64)
	case KindNumeric:
		if c.published {
			return appendQuoted(dst, number, appendPublishedNumeric)
		}
		return appendQuoted(dst, number, appendNumeric)
	case KindTimestamp:
		return appendQuoted(dst, number, appendISOTime)
	}
	return appendQuoted(dst, number, appendDate)
}

func (c *converter) compactRecord(dst []byte, t *Type, depth int) ([]byte, error) {
	mark := c.sorter.Begin()
	dst = append(dst, '{')
	fields := 0
	err := c.parts(`{"fields":`, func(i int) error {
		fields = i + 1
		var err error
		dst, err = c.compactField(dst, t, i, depth)
		return err
	})
	if err != nil {
		return dst, err
	}
	if c.published && t != nil {
		dst = c.appendNulls(dst, t, fields)
	}
	return c.sorter.End(append(dst, '}'), mark)
}

// appendNulls appends the optional fields of a record after its first ones.
func (c *converter) appendNulls(dst []byte, t *Type, first int) []byte {
	for i := first; i < len(t.Fields); i++ {
		if t.Fields[i].Type.Kind == KindOptional {
			var m jsonscan.Member
			dst, m = c.sorter.QuotedKey(dst, t.Fields[i].quoted)
			dst = append(dst, "null"...)
			c.sorter.Add(m, dst)
		}
	}
	return dst
}

// compactField reads element i of a record's fields. A label in the value goes before the
// label in the type.
func (c *converter) compactField(dst []byte, t *Type, i, depth int) ([]byte, error) {
	if c.scan.Accept(`{"value":`) { // as most fields are
		dst, err := c.compactPositional(dst, t, i, depth)
		if err != nil {
			return dst, err
		}
		return dst, c.skipRest()
	}
	var field *Field
	var m jsonscan.Member
	labelled, seen := false, false
	err := c.scan.members(func(key []byte) error {
		switch string(key) {
		case "label":
			label, err := c.scan.text()
			if err != nil || len(label) == 0 {
				return err
			}
			labelled = true
			if t != nil {
				field = t.fieldAt(i, label)
			}
			dst, m = c.sorter.Key(dst, label)
			return nil
		case "value":
			seen = true
			var err error
			if labelled {
				dst, err = c.compactContent(dst, field, m, depth, true)
			} else {
				dst, err = c.compactPositional(dst, t, i, depth)
			}
			return err
		}
		return c.scan.Skip()
	})
	if err == nil && !seen {
		err = fmt.Errorf("%w: field %d has no value", ErrInvalid, i)
	}
	return dst, err
}

// skipRest reads what is left of an object after a member.
func (c *converter) skipRest() error {
	for {
		more, err := c.scan.More('}')
		if err != nil {
			return c.scan.unexpected()
		}
		if !more {
			return nil
		}
		if _, err := c.scan.Key(); err != nil {
			return c.scan.unexpected()
		}
		if err := c.scan.Skip(); err != nil {
			return err
		}
	}
}

// compactPositional reads the value of a field without a label.
func (c *converter) compactPositional(dst []byte, t *Type, i, depth int) ([]byte, error) {
	switch {
	case t == nil:
		return dst, fmt.Errorf("%w: field %d has no label", ErrUnknownType, i)
	case i >= len(t.Fields):
		return dst, c.dropNone(t, i)
	}
	dst, m := c.sorter.QuotedKey(dst, t.Fields[i].quoted)
	return c.compactContent(dst, &t.Fields[i], m, depth, false)
}

// compactContent reads the value of the field whose key m was appended last. field is nil
// if the type does not have it. labelled says that the key came with the value.
func (c *converter) compactContent(dst []byte, field *Field, m jsonscan.Member, depth int, labelled bool) ([]byte, error) {
	var t *Type
	if field != nil {
		t = field.Type
	}
	if labelled {
		t = c.fitting(t)
	}
	dst, err := c.compact(dst, t, depth+1, false)
	if err != nil && field != nil {
		err = fmt.Errorf("%s: %w", field.Label, err)
	}
	c.sorter.Add(m, dst)
	return dst, err
}

// dropNone reads a field beyond those of the type, which must be none.
func (c *converter) dropNone(t *Type, i int) error {
	start := c.scan.Offset()
	if err := c.scan.Skip(); err != nil {
		return err
	}
	if c.scan.Offset()-start != len(`{"optional":{}}`) || !c.scan.HasAt(start, `{"optional":{}}`) {
		return fmt.Errorf("%w: field %d of %s, which has %d", ErrUnknownField, i, t.Name, len(t.Fields))
	}
	return nil
}

func (c *converter) compactVariant(dst []byte, t *Type, depth int) ([]byte, error) {
	var content *Type
	tagged, seen := false, false
	err := c.scan.members(func(key []byte) error {
		switch string(key) {
		case "constructor":
			tag, err := c.scan.text()
			if err != nil {
				return err
			}
			tagged = true
			content = contentOf(t, tag)
			dst = jsonscan.AppendString(append(dst, `{"tag":`...), tag)
			return nil
		case "value":
			if !tagged {
				return fmt.Errorf("%w: a variant without a constructor", ErrInvalid)
			}
			seen = true
			var err error
			dst, err = c.compact(append(dst, `,"value":`...), c.fitting(content), depth+1, false)
			return err
		}
		return c.scan.Skip() // variantId
	})
	if err == nil && !seen {
		err = fmt.Errorf("%w: a variant without constructor or value", ErrInvalid)
	}
	return append(dst, '}'), err
}

// contentOf returns the type of a constructor's content, nil if it is not known.
func contentOf(t *Type, tag []byte) *Type {
	if t == nil {
		return nil
	}
	if f := t.constructor(tag); f != nil {
		return f.Type
	}
	return nil
}

func (c *converter) compactEnum(dst []byte) ([]byte, error) {
	seen := false
	err := c.scan.members(func(key []byte) error {
		if string(key) != "constructor" {
			return c.scan.Skip() // enumId
		}
		seen = true
		name, err := c.scan.text()
		dst = jsonscan.AppendString(dst, name)
		return err
	})
	if err == nil && !seen {
		err = fmt.Errorf("%w: an enum without a constructor", ErrInvalid)
	}
	return dst, err
}

func (c *converter) compactOptional(dst []byte, elem *Type, depth int, nested bool) ([]byte, error) {
	start := len(dst)
	if nested {
		dst = append(dst, '[')
	}
	content := len(dst)
	err := c.scan.members(func(key []byte) error {
		if string(key) != "value" {
			return c.scan.Skip()
		}
		if c.scan.Peek() == 'n' {
			return c.scan.Literal("null")
		}
		var err error
		dst, err = c.compact(dst, elem, depth+1, true)
		return err
	})
	switch {
	case nested:
		dst = append(dst, ']')
	case len(dst) == content:
		dst = append(dst[:start], "null"...)
	}
	return dst, err
}

func (c *converter) compactList(dst []byte, elem *Type, depth int) ([]byte, error) {
	dst = append(dst, '[')
	err := c.parts(`{"elements":`, func(i int) error {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		dst, err = c.compact(dst, elem, depth+1, false)
		return err
	})
	return append(dst, ']'), err
}

func (c *converter) compactTextMap(dst []byte, elem *Type, depth int) ([]byte, error) {
	mark := c.sorter.Begin()
	dst = append(dst, '{')
	err := c.parts(`{"entries":`, func(int) error {
		var m jsonscan.Member
		keyed, seen := false, false
		err := c.scan.members(func(key []byte) error {
			switch string(key) {
			case "key":
				text, err := c.scan.text()
				if err != nil {
					return err
				}
				keyed = true
				dst, m = c.sorter.Key(dst, text)
				return nil
			case "value":
				if !keyed { // the empty key may be left out
					dst, m = c.sorter.Key(dst, nil)
				}
				seen = true
				var err error
				dst, err = c.compact(dst, elem, depth+1, false)
				c.sorter.Add(m, dst)
				return err
			}
			return c.scan.Skip()
		})
		if err == nil && !seen {
			err = fmt.Errorf("%w: a text map entry without a value", ErrInvalid)
		}
		return err
	})
	if err != nil {
		return dst, err
	}
	return c.sorter.End(append(dst, '}'), mark)
}

func (c *converter) compactGenMap(dst []byte, t *Type, depth int) ([]byte, error) {
	var keyType, elem *Type
	if t != nil {
		keyType, elem = t.Key, t.Elem
	}
	dst = append(dst, '[')
	err := c.parts(`{"entries":`, func(i int) error {
		if i > 0 {
			dst = append(dst, ',')
		}
		parts := 0
		err := c.scan.members(func(key []byte) error {
			var err error
			switch {
			case string(key) == "key":
				dst, err = c.compact(append(dst, '['), keyType, depth+1, false)
			case string(key) == "value" && parts == 1:
				dst, err = c.compact(append(dst, ','), elem, depth+1, false)
			default:
				err = c.scan.unexpected()
			}
			parts++
			return err
		})
		dst = append(dst, ']')
		if err == nil && parts != 2 {
			err = fmt.Errorf("%w: a gen map entry without key or value", ErrInvalid)
		}
		return err
	})
	return append(dst, ']'), err
}

// parts reads the content of a record, list or map: an object whose one member of note holds
// the array of its parts, unless there are none. opening is how it begins if that member
// comes first, such as {"fields":. visit must read part i.
func (c *converter) parts(opening string, visit func(i int) error) error {
	if c.scan.Accept(opening) { // as most do
		if err := c.array(visit); err != nil {
			return err
		}
		return c.skipRest()
	}
	name := opening[2 : len(opening)-2]
	return c.scan.members(func(key []byte) error {
		if string(key) != name {
			return c.scan.Skip() // recordId
		}
		return c.array(visit)
	})
}

// array reads an array as elements does, or null.
func (c *converter) array(visit func(i int) error) error {
	if c.scan.Peek() == 'n' {
		return c.scan.Literal("null")
	}
	return c.scan.elements(visit)
}
