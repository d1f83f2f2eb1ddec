package packages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// What is made of the types of a package: parameters can make endlessly many types of a few lines.
const (
	maxMade     = 1_000_000
	maxMadeDeep = 200
	maxScale    = 37 // of numerics
)

var errNotData = errors.New("it is no data")

// resolver finds the data types of packages and makes values' types of them.
type resolver struct {
	types map[Ref]*DataType
	// made are types by what they are made of, ids numbers the types.
	made map[string]*values.Type
	ids  map[*values.Type]int
	// outside is the scope of all that has no parameters.
	outside *scope
	left    int // types that may still be made
	// current are the keys of made that belong to the type that was asked for.
	current []string
}

// scope is where variables stand for types.
type scope struct {
	variables map[string]*values.Type
	done      map[*Type]*values.Type
}

func newScope() *scope {
	return &scope{variables: map[string]*values.Type{}, done: map[*Type]*values.Type{}}
}

func newResolver(list []*Package) *resolver {
	r := &resolver{types: map[Ref]*DataType{}, made: map[string]*values.Type{}, ids: map[*values.Type]int{}, outside: newScope()}
	for _, p := range list {
		for _, m := range p.Modules {
			for i, t := range m.Types {
				r.types[Ref{p.ID, m.Name, t.Name}] = &m.Types[i]
			}
		}
	}
	return r
}

// valueOf returns the type of values of a type without variables, nil if there is none: it is not data,
// refers to what no package has, or is endless.
func (r *resolver) valueOf(t *Type) *values.Type {
	r.current = r.current[:0]
	v, err := r.value(t, r.outside, 0)
	if err == nil {
		return v
	}
	// What was made on the way may refer to what was not finished.
	for _, key := range r.current {
		delete(r.made, key)
	}
	r.outside = newScope()
	return nil
}

var scalars = map[Kind]values.Kind{
	Unit: values.KindUnit, Bool: values.KindBool, Int64: values.KindInt64, Date: values.KindDate, Timestamp: values.KindTimestamp,
	Numeric: values.KindNumeric, Party: values.KindParty, Text: values.KindText, ContractID: values.KindContractID,
}

// value makes a type as it stands in a scope.
func (r *resolver) value(t *Type, in *scope, depth int) (*values.Type, error) {
	if v := in.done[t]; v != nil {
		return v, nil
	}
	if r.left--; r.left < 0 || depth > maxMadeDeep {
		return nil, fmt.Errorf("it is made of more than %d types, or of types nested deeper than %d", maxMade, maxMadeDeep)
	}
	if scale := t.Scale(); scale >= 0 && scale <= maxScale {
		return r.once("numeric"+strconv.FormatInt(scale, 10), nil, func() *values.Type { return values.Numeric(int(scale)) }), nil
	}
	if kind, ok := scalars[t.Kind]; ok {
		return r.once(kind.String(), nil, func() *values.Type { return values.Scalar(kind) }), nil
	}
	args := make([]*values.Type, len(t.Args))
	for i, a := range t.Args {
		v, err := r.value(a, in, depth+1)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, err := r.applied(t, in, args, depth)
	if err == nil {
		in.done[t] = v
	}
	return v, err
}

// applied makes a type of its arguments.
func (r *resolver) applied(t *Type, in *scope, args []*values.Type, depth int) (*values.Type, error) {
	switch {
	case t.Kind == Optional && len(args) == 1:
		return r.once("optional", args, func() *values.Type { return values.Optional(args[0]) }), nil
	case t.Kind == List && len(args) == 1:
		return r.once("list", args, func() *values.Type { return values.List(args[0]) }), nil
	case t.Kind == TextMap && len(args) == 1:
		return r.once("textMap", args, func() *values.Type { return values.TextMap(args[0]) }), nil
	case t.Kind == GenMap && len(args) == 2:
		return r.once("genMap", args, func() *values.Type { return values.GenMap(args[0], args[1]) }), nil
	case t.Kind == Named:
		return r.named(t.Ref, args, depth)
	case t.Kind == Variable && len(args) == 0 && in.variables[t.Name] != nil:
		return in.variables[t.Name], nil
	}
	return nil, errNotData
}

// key names what is made of arguments.
func (r *resolver) key(name string, args []*values.Type) string {
	var key strings.Builder
	key.WriteString(name)
	for _, a := range args {
		fmt.Fprintf(&key, " %d", r.ids[a])
	}
	return key.String()
}

func (r *resolver) keep(key string, v *values.Type) {
	r.ids[v] = len(r.ids) + 1
	r.made[key] = v
	r.current = append(r.current, key)
}

// once makes a type of arguments, or returns the one that was made of them before: a type that refers
// to itself is known by its arguments.
func (r *resolver) once(name string, args []*values.Type, make func() *values.Type) *values.Type {
	key := r.key(name, args)
	v := r.made[key]
	if v == nil {
		v = make()
		r.keep(key, v)
	}
	return v
}

// named makes the type of a data type with its arguments. It is there before its fields are, which may
// refer to it.
func (r *resolver) named(ref Ref, args []*values.Type, depth int) (*values.Type, error) {
	data := r.types[ref]
	switch {
	case data == nil:
		return nil, fmt.Errorf("there is no type %s of package %s", ref.Entity(), ref.Package)
	case data.Shape != Record && data.Shape != Variant && data.Shape != Enum, len(args) != len(data.Params):
		return nil, errNotData
	}
	key := r.key(ref.Package+":"+ref.Entity(), args)
	if v := r.made[key]; v != nil {
		return v, nil
	}
	v := &values.Type{Name: data.Name}
	r.keep(key, v)
	in := r.outside
	if len(args) > 0 {
		in = newScope()
		for i, name := range data.Params {
			in.variables[name] = args[i]
		}
	}
	fields := make([]values.Field, len(data.Fields))
	for i, f := range data.Fields {
		fields[i].Label = f.Name
		if data.Shape == Enum {
			continue
		}
		var err error
		if fields[i].Type, err = r.value(f.Type, in, depth+1); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", f.Name, ref.Entity(), err)
		}
	}
	switch data.Shape {
	case Record:
		v.Kind = values.KindRecord
		v.SetFields(fields)
	case Variant:
		v.Kind, v.Fields = values.KindVariant, fields
	case Enum:
		v.Kind, v.Fields = values.KindEnum, fields
	}
	return v, nil
}
