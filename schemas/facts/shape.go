package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Check returns an upstream's answer as the body of a fact: canonical JSON with the members
// that the operation is known to have. Errors wrap schemas.ErrMalformed.
func (k Key) Check(answer []byte) ([]byte, error) {
	body, err := k.check(answer)
	if err != nil {
		return nil, fmt.Errorf("answer to %s: %w: %w", k, schemas.ErrMalformed, err)
	}
	return body, nil
}

func (k Key) check(answer []byte) ([]byte, error) {
	kind, ok := KindOf(k.Operation)
	if !ok {
		return nil, fmt.Errorf("%q is not a kind of fact", k.Operation)
	}
	if err := jsonscan.Valid(answer); err != nil { // nesting and encoding are bounded there
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the answer")
	}
	known, err := kind.shape(v)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(known)
	if err != nil {
		return nil, err
	}
	return jsonscan.AppendCanonical(nil, raw)
}

// shape returns the part of a JSON value that is known, or an error if the value is not
// what it should be.
type shape func(v any) (any, error)

// member is a member of an object.
type member struct {
	name, alias string
	needed      bool
	shape       shape
}

func required(name string, s shape) member { return member{name: name, needed: true, shape: s} }
func optional(name string, s shape) member { return member{name: name, shape: s} }

// or gives the member a second name under which upstreams may write it.
func (m member) or(alias string) member {
	m.alias = alias
	return m
}

func (m member) of(o map[string]any) (any, bool) {
	for _, name := range []string{m.name, m.alias} {
		if v := o[name]; v != nil { // null means absent
			return v, true
		}
	}
	return nil, false
}

// object is an object with members; others are left out.
func object(members ...member) shape {
	return func(v any) (any, error) {
		o, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("not an object")
		}
		known := make(map[string]any, len(members))
		for _, m := range members {
			value, has := m.of(o)
			if !has {
				if m.needed {
					return nil, fmt.Errorf("member %s is missing", m.name)
				}
				continue
			}
			part, err := m.shape(value)
			if err != nil {
				return nil, fmt.Errorf("member %s: %w", m.name, err)
			}
			known[m.name] = part
		}
		return known, nil
	}
}

// list is an array of values of one shape.
func list(s shape) shape {
	return func(v any) (any, error) {
		array, ok := v.([]any)
		if !ok {
			return nil, errors.New("not an array")
		}
		known := make([]any, len(array))
		for i, element := range array {
			part, err := s(element)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			known[i] = part
		}
		return known, nil
	}
}

// oneOf is a value of the first shape that fits.
func oneOf(shapes ...shape) shape {
	return func(v any) (any, error) {
		var errs []error
		for _, s := range shapes {
			known, err := s(v)
			if err == nil {
				return known, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}

// status is an object whose members are there if its status is Ok.
func status(members ...member) shape {
	return oneOf(
		object(append(members, required("status", only("Ok")))...),
		object(required("status", only("Undetermined", "CannotProvide"))),
	)
}

func text(v any) (any, error) {
	if _, ok := v.(string); !ok {
		return nil, errors.New("not a string")
	}
	return v, nil
}

func instant(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, errors.New("not a string")
	}
	if _, err := schemas.ParseTime(s); err != nil {
		return nil, err
	}
	return v, nil
}

func integer(v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, errors.New("not a number")
	}
	if _, err := n.Int64(); err != nil {
		return nil, errors.New("not an integer of 64 bits")
	}
	return v, nil
}

// only is one of some texts.
func only(texts ...string) shape {
	return func(v any) (any, error) {
		for _, t := range texts {
			if v == t {
				return v, nil
			}
		}
		return nil, fmt.Errorf("not one of %q", texts)
	}
}
