package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// record is a record of a create argument. It remembers the first field that is not as its type says,
// with all records of the argument; such a field reads as nothing.
type record struct {
	jsonscan.Value
	name  string // of the field that has it, "" for the whole argument
	fault *error
}

// none is how an absent optional value is written.
var none = jsonscan.Value("null")

// expect notes a field that is not what it should be.
func (r record) expect(ok bool, label, what string) {
	if !ok && *r.fault == nil {
		*r.fault = fmt.Errorf("%s is no %s", strings.TrimPrefix(r.name+"."+label, "."), what)
	}
}

// record reads a field that is a record.
func (r record) record(label string) record {
	v := r.At(label)
	r.expect(len(v) > 0 && v[0] == '{', label, "record")
	return record{Value: v, name: label, fault: r.fault}
}

// text reads a text, party, contract id or timestamp.
func (r record) text(label string) jsonscan.Value {
	v := r.At(label)
	r.expect(v.IsText(), label, "text")
	return v
}

func (r record) optionalText(label string) jsonscan.Value {
	if r.At(label) == nil {
		return none
	}
	return r.text(label)
}

func (r record) numeric(label string) jsonscan.Value {
	v := r.text(label)
	_, err := decimal.Parse(v.Text())
	r.expect(err == nil, label, "number")
	return v
}

// list reads a list of texts.
func (r record) list(label string) jsonscan.Value {
	v := r.At(label)
	r.expect(len(v) > 0 && v[0] == '[', label, "list")
	for _, element := range v.Elements() {
		r.expect(element.IsText(), label, "list of texts")
	}
	return v
}

// flag reads a truth value.
func (r record) flag(label string) bool {
	v := r.At(label)
	r.expect(string(v) == "true" || string(v) == "false", label, "truth value")
	return string(v) == "true"
}

// metadata reads the entries of a field of type Metadata.
func (r record) metadata(label string) metadata {
	values := r.record(label).record("values")
	values.EachMember(func(key string, value jsonscan.Value) bool {
		values.expect(value.IsText(), key, "text")
		return true
	})
	return metadata{values.Value}
}

// metadata are texts by key.
type metadata struct{ jsonscan.Value }

// without is a value of type Metadata with all entries but some.
func (m metadata) without(keys ...string) jsonscan.Value {
	const head = `{"values":{`
	out := jsonscan.Value(head)
	m.EachMember(func(key string, value jsonscan.Value) bool {
		if slices.Contains(keys, key) {
			return true
		}
		if len(out) > len(head) {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendString(out, []byte(key)), ':'), value...)
		return true
	})
	return append(out, `}}`...)
}

// fill appends a pattern with values in place of its dollar signs.
func fill(dst []byte, pattern string, values ...jsonscan.Value) []byte {
	for _, v := range values {
		before, after, _ := strings.Cut(pattern, "$")
		dst, pattern = append(append(dst, before...), v...), after
	}
	return append(dst, pattern...)
}
