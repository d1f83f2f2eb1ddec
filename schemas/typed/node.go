package typed

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// ErrUnfit says that a value has no place in the columns of its table.
var ErrUnfit = errors.New("the value does not fit the columns of its table")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnfit, fmt.Sprintf(format, args...))
}

// row are the cells of a row, by column. A cell is an int64, a bool, a string, a Units, a Days or a
// schemas.Micros, nil for none; or an []any of them, which of a map has keys and values in turn.
type row []any

// node reads the part of a value that it stands for into a row, and writes it back. at counts in the lists
// that its columns have, if they do.
type node interface {
	read(in *input, to row) error
	// none adds to lists what an element has that is not there.
	none(to row)
	// isNone reports whether an optional part is not there.
	isNone(from row, at int) bool
	write(dst []byte, from row, at int) []byte
}

// slot is a column.
type slot struct {
	column int
	list   bool
	broken bool // the column that was recorded has another type
}

func (s slot) put(to row, v any) error {
	if s.broken {
		return unfit("a version of its type had another one here")
	}
	if s.list {
		v = append(to[s.column].([]any), v)
	}
	to[s.column] = v
	return nil
}

func (s slot) get(from row, at int) any {
	if s.list {
		return from[s.column].([]any)[at]
	}
	return from[s.column]
}

// scalar has one column.
type scalar struct {
	slot
	kind     values.Kind
	scale    int
	nullable bool // of JSON
}

func (s *scalar) read(in *input, to row) error {
	if s.nullable && in.Peek() == 'n' {
		return errors.Join(in.Literal("null"), s.put(to, nil))
	}
	cell, err := s.cell(in)
	if err != nil {
		return err
	}
	return s.put(to, cell)
}

func (s *scalar) none(to row)                  { s.noneIn(to, nil) }
func (s *scalar) isNone(from row, at int) bool { return s.get(from, at) == nil }
func (s *scalar) write(dst []byte, from row, at int) []byte {
	return s.appendCell(dst, s.get(from, at))
}

// noneIn adds to a list what stands there for nothing.
func (s slot) noneIn(to row, nothing any) {
	if s.list {
		to[s.column] = append(to[s.column].([]any), nothing)
	}
}

// unit has no column.
type unit struct{}

func (unit) read(in *input, _ row) error {
	if err := in.Open('{'); err != nil || in.First('}') {
		return unfit("a value where there is none")
	}
	return nil
}
func (unit) none(row)                              {}
func (unit) isNone(row, int) bool                  { return false }
func (unit) write(dst []byte, _ row, _ int) []byte { return append(dst, "{}"...) }

// optional notes whether there is a value, if its columns cannot.
type optional struct {
	elem    node
	present *slot
}

func (o *optional) read(in *input, to row) error {
	if in.Peek() == 'n' {
		o.none(to)
		return in.Literal("null")
	}
	if o.present != nil {
		if err := o.present.put(to, true); err != nil {
			return err
		}
	}
	return o.elem.read(in, to)
}

func (o *optional) none(to row) {
	if o.present != nil {
		o.present.noneIn(to, false)
	}
	o.elem.none(to)
}

func (o *optional) isNone(from row, at int) bool {
	if o.present != nil {
		return o.present.get(from, at) != true
	}
	return o.elem.isNone(from, at)
}

func (o *optional) write(dst []byte, from row, at int) []byte {
	if o.isNone(from, at) {
		return append(dst, "null"...)
	}
	return o.elem.write(dst, from, at)
}

// record has the columns of its fields.
type record struct {
	fields  []recordField
	byLabel []int // in the order of members
}

type recordField struct {
	label    string
	node     node
	optional bool
}

func (r *record) sort() {
	for i := range r.fields {
		r.byLabel = append(r.byLabel, i)
	}
	slices.SortFunc(r.byLabel, func(a, b int) int { return strings.Compare(r.fields[a].label, r.fields[b].label) })
}

// read reads members, which come in the order of their labels. Those at the end of a type may be missing.
func (r *record) read(in *input, to row) error {
	next := 0
	missing := func(label string) error {
		for ; next < len(r.byLabel); next++ {
			f := &r.fields[r.byLabel[next]]
			if label != "" && f.label >= label {
				break
			}
			if !f.optional {
				return unfit("no field %s", f.label)
			}
			f.node.none(to)
		}
		return nil
	}
	err := in.members(func(key string) error {
		if err := missing(key); err != nil {
			return err
		}
		if next == len(r.byLabel) || r.fields[r.byLabel[next]].label != key {
			return unfit("a field %.60q that its type does not have", key)
		}
		f := &r.fields[r.byLabel[next]]
		next++
		if err := f.node.read(in, to); err != nil {
			return fmt.Errorf("%s: %w", f.label, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return missing("")
}

func (r *record) none(to row) {
	for _, f := range r.fields {
		f.node.none(to)
	}
}

func (r *record) isNone(row, int) bool { return false }

// write leaves out the optional fields at the end that are none, as nodes do.
func (r *record) write(dst []byte, from row, at int) []byte {
	last := len(r.fields) - 1
	for last >= 0 && r.fields[last].optional && r.fields[last].node.isNone(from, at) {
		last--
	}
	dst = append(dst, '{')
	first := true
	for _, i := range r.byLabel {
		if i > last {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonscan.AppendString(dst, []byte(r.fields[i].label)), ':')
		dst = r.fields[i].node.write(dst, from, at)
	}
	return append(dst, '}')
}

// variant has its constructor, and the columns of the content of each; or one with the content as JSON.
type variant struct {
	tag      slot
	contents map[string]node
	all      []node
	content  node
}

func (v *variant) read(in *input, to row) error {
	tag, err := in.tag()
	if err == nil {
		err = v.tag.put(to, tag)
	}
	if err != nil {
		return err
	}
	chosen := v.content
	if chosen == nil {
		if chosen = v.contents[tag]; chosen == nil {
			return unfit("a constructor %.60q that its type does not have", tag)
		}
		for _, n := range v.all {
			if n != chosen {
				n.none(to)
			}
		}
	}
	if err := chosen.read(in, to); err != nil {
		return fmt.Errorf("%s: %w", tag, err)
	}
	return in.close()
}

func (v *variant) none(to row) {
	v.tag.noneIn(to, nil)
	for _, n := range v.all {
		n.none(to)
	}
	if v.content != nil {
		v.content.none(to)
	}
}

func (v *variant) isNone(from row, at int) bool { return v.tag.get(from, at) == nil }

func (v *variant) write(dst []byte, from row, at int) []byte {
	tag, _ := v.tag.get(from, at).(string)
	chosen := v.content
	if chosen == nil {
		chosen = v.contents[tag]
	}
	dst = append(jsonscan.AppendString(append(dst, `{"tag":`...), []byte(tag)), `,"value":`...)
	if chosen == nil { // what nobody has written
		return append(dst, "null}"...)
	}
	return append(chosen.write(dst, from, at), '}')
}

// firstSlot is a column that tells how many elements a list has, -1 without one.
func firstSlot(n node) int {
	switch n := n.(type) {
	case *scalar:
		return n.column
	case *variant:
		return n.tag.column
	case *optional:
		if n.present != nil {
			return n.present.column
		}
		return firstSlot(n.elem)
	case *record:
		for _, f := range n.fields {
			if c := firstSlot(f.node); c >= 0 {
				return c
			}
		}
	}
	return -1
}
