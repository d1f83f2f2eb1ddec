package typed

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Row returns the cells of a row, by column: an int64, a bool, a string, a Units, a Days or a schemas.Micros,
// nil for none; of a list an []any of them, of a map one with keys and values in turn. texts are the values
// of the parts of the plan in compact_json, canonical. An error wraps ErrUnfit.
func (p *Plan) Row(texts ...[]byte) ([]any, error) {
	cells := p.Zeros()
	for i, root := range p.roots {
		var in input
		in.Reset(texts[i])
		if err := root.read(&in, cells); err != nil {
			return nil, err
		}
		if err := in.End(); err != nil {
			return nil, unfit("%v", err)
		}
	}
	return cells, nil
}

// Zeros are the cells of a row that has no values.
func (p *Plan) Zeros() []any {
	cells := slices.Clone(p.zeros)
	for i, zero := range cells {
		if _, ok := zero.([]any); ok {
			cells[i] = []any{}
		}
	}
	return cells
}

// AppendValue appends what a part of a row was made of, without the optional fields at the end of records
// that are none, and with the instants and dates that the columns have.
func (p *Plan) AppendValue(dst []byte, part int, cells []any) []byte {
	return p.roots[part].write(dst, cells, 0)
}

// input is canonical JSON.
type input struct{ jsonscan.Scanner }

// raw reads any value as its text.
func (in *input) raw() (any, error) {
	in.Peek()
	start := in.Offset()
	if err := in.Skip(); err != nil {
		return nil, unfit("%v", err)
	}
	return string(in.Slice(start)), nil
}

func (in *input) boolean() (any, error) {
	if in.Peek() == 't' {
		return true, in.literal("true")
	}
	return false, in.literal("false")
}

func (in *input) literal(word string) error {
	if err := in.Literal(word); err != nil {
		return unfit("%v", err)
	}
	return nil
}

// members calls each after each key of an object, to read its value.
func (in *input) members(each func(key string) error) error {
	if err := in.Open('{'); err != nil {
		return unfit("%v", err)
	}
	for more := in.First('}'); more; {
		key, err := in.Key()
		if err != nil {
			return unfit("%v", err)
		}
		if err := each(string(key)); err != nil {
			return err
		}
		if more, err = in.More('}'); err != nil {
			return unfit("%v", err)
		}
	}
	return nil
}

// elements calls each to read each element of an array.
func (in *input) elements(each func() error) error {
	if err := in.Open('['); err != nil {
		return unfit("%v", err)
	}
	for more := in.First(']'); more; {
		if err := each(); err != nil {
			return err
		}
		var err error
		if more, err = in.More(']'); err != nil {
			return unfit("%v", err)
		}
	}
	return nil
}

// pair reads an array of two.
func (in *input) pair(key, value node, to row) error {
	parts := []node{key, value}
	err := in.elements(func() error {
		if len(parts) == 0 {
			return unfit("an entry of a map with more than a key and a value")
		}
		part := parts[0]
		parts = parts[1:]
		return part.read(in, to)
	})
	if err == nil && len(parts) > 0 {
		return unfit("an entry of a map without a key or a value")
	}
	return err
}

// tag reads a variant up to its content.
func (in *input) tag() (string, error) {
	if !in.Accept(`{"tag":`) {
		return "", unfit("no variant")
	}
	tag, err := in.Text()
	name := string(tag)
	if err != nil || !in.Accept(`,"value":`) {
		return "", unfit("a variant without tag or value")
	}
	return name, nil
}

// close reads the end of an object.
func (in *input) close() error {
	if more, err := in.More('}'); err != nil || more {
		return unfit("a variant with more than tag and value")
	}
	return nil
}
