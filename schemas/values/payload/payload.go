// Package payload finds parts of contract values where they are stored, in either encoding and without
// converting them.
package payload

import (
	"bytes"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Value is a contract value in one of its encodings: canonical JSON and its type. A
// value that is not there has no JSON, and so have all its parts.
type Value struct {
	JSON    []byte // begins with the value; what follows it is not looked at
	Kind    *values.Type
	Compact bool
}

// New returns a value in an encoding.
func New(json []byte, kind *values.Type, encoding schemas.Encoding) Value {
	return Value{json, kind, encoding == schemas.CompactJSON}
}

// Field returns a field of a record by its label, absent if it is not there.
func (p Value) Field(label string) Value {
	if p.JSON == nil || p.Kind == nil || p.Kind.Kind != values.KindRecord {
		return Value{}
	}
	for i := range p.Kind.Fields {
		if p.Kind.Fields[i].Label != label {
			continue
		}
		f := Value{Kind: p.Kind.Fields[i].Type, Compact: p.Compact}
		if p.Compact {
			f.JSON = member(p.JSON, label)
			return f
		}
		f.JSON = member(element(p.elements("record", "fields"), i), "value")
		return f
	}
	return Value{}
}

// elements returns the array below two members of a value in protobuf_json.
func (p Value) elements(kind, list string) []byte { return member(member(p.JSON, kind), list) }

// AppendFields appends all fields of a record in the order of its type, read in one pass.
// Those that are not there are absent.
func (p Value) AppendFields(dst []Value) []Value {
	if p.JSON == nil || p.Kind == nil || p.Kind.Kind != values.KindRecord {
		return dst
	}
	start := len(dst)
	dst = slices.Grow(dst, len(p.Kind.Fields))[:start+len(p.Kind.Fields)]
	list := dst[start:]
	clear(list)
	set := func(i int, json []byte) {
		if i >= 0 && i < len(list) {
			list[i] = Value{json, p.Kind.Fields[i].Type, p.Compact}
		}
	}
	if p.Compact {
		eachMember(p.JSON, func(key, value []byte) bool {
			set(slices.IndexFunc(p.Kind.Fields, func(f values.Field) bool { return f.Label == string(key) }), value)
			return true
		})
		return dst
	}
	i := 0
	eachElement(p.elements("record", "fields"), func(value []byte) bool {
		set(i, member(value, "value"))
		i++
		return true
	})
	return dst
}

// Path is Field of Field.
func (p Value) Path(labels ...string) Value {
	for _, l := range labels {
		p = p.Field(l)
	}
	return p
}

// Some returns the content of an optional, absent for none.
func (p Value) Some() Value {
	if p.JSON == nil || p.Kind == nil || p.Kind.Kind != values.KindOptional {
		return Value{}
	}
	p.Kind = p.Kind.Elem
	if !p.Compact {
		p.JSON = member(member(p.JSON, "optional"), "value")
	} else if bytes.HasPrefix(p.JSON, []byte("null")) {
		p.JSON = nil
	}
	return p
}

// Each calls f for each element of a list.
func (p Value) Each(f func(Value)) {
	if p.JSON == nil || p.Kind == nil || p.Kind.Kind != values.KindList {
		return
	}
	list := p.JSON
	if !p.Compact {
		list = p.elements("list", "elements")
	}
	eachElement(list, func(value []byte) bool {
		f(Value{value, p.Kind.Elem, p.Compact})
		return true
	})
}

// Raw returns the JSON of a party, contract id, number or numeric, nil if absent. It is not
// cut at its end.
func (p Value) Raw() []byte {
	if p.JSON == nil || p.Kind == nil {
		return nil
	}
	if !p.Compact {
		return member(p.JSON, p.Kind.Kind.String())
	}
	return p.JSON
}

// Text returns the text of a party, contract id, number or numeric, nil if absent.
func (p Value) Text() []byte {
	v := p.Raw()
	if v == nil {
		return nil
	}
	if len(v) > 0 && v[0] == '"' {
		return v[1 : 1+stringEnd(v[1:])]
	}
	return v[:skip(v)]
}

// Amount returns a numeric; ok is false if it is absent or not a number that the network stores.
func (p Value) Amount() (_ decimal.Decimal, ok bool) { return Amount(p.Text()) }

// Amount reads the text of a numeric, nil if it is absent.
func Amount(text []byte) (_ decimal.Decimal, ok bool) {
	if text == nil {
		return decimal.Decimal{}, false
	}
	a, err := decimal.Parse(text)
	return a, err == nil && a.Storable()
}

// The functions below walk canonical JSON, which has no white space: what is malformed
// gives nil or ends the walk. Values they return are not cut at their end.

// eachMember calls f for the members of an object until f returns false.
func eachMember(object []byte, f func(key, value []byte) bool) {
	if len(object) == 0 || object[0] != '{' {
		return
	}
	for rest := object[1:]; len(rest) > 0 && rest[0] == '"'; {
		end := 1 + stringEnd(rest[1:])
		if end+1 >= len(rest) || rest[end+1] != ':' {
			return
		}
		key, value := rest[1:end], rest[end+2:]
		if !f(key, value) {
			return
		}
		rest = next(value)
	}
}

// eachElement calls f for the elements of an array until f returns false.
func eachElement(array []byte, f func(value []byte) bool) {
	if len(array) == 0 || array[0] != '[' {
		return
	}
	for rest := array[1:]; len(rest) > 0 && rest[0] != ']'; rest = next(rest) {
		if !f(rest) {
			return
		}
	}
}

// next returns what follows a value and its comma, nil if there is no comma.
func next(value []byte) []byte {
	rest := value[skip(value):]
	if len(rest) == 0 || rest[0] != ',' {
		return nil
	}
	return rest[1:]
}

// member returns the value of a member of an object, nil if it has none of that name.
func member(object []byte, name string) (found []byte) {
	eachMember(object, func(key, value []byte) bool {
		if string(key) == name {
			found = value
		}
		return found == nil
	})
	return found
}

// element returns element i of an array, nil if it has none.
func element(array []byte, i int) (found []byte) {
	eachElement(array, func(value []byte) bool {
		if i == 0 {
			found = value
		}
		i--
		return found == nil
	})
	return found
}

// skip returns the end of the value that json begins with, at least 1 of a text that is
// not empty, so that walks end. It is 0 of an empty one.
func skip(json []byte) int {
	depth := 0
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '"':
			i += 1 + stringEnd(json[i+1:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			for i < len(json) && json[i] != ',' && json[i] != '}' && json[i] != ']' {
				i++
			}
			return max(i, 1)
		}
		if depth <= 0 {
			return min(i+1, len(json))
		}
	}
	return len(json)
}

// stringEnd returns where the closing quote of a string stands, given what follows the
// opening one.
func stringEnd(s []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(s[at:], '"')
		if n < 0 {
			return len(s)
		}
		at += n
		slashes := 0
		for slashes < at && s[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		at++
	}
}
