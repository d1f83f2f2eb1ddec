package packages

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	typeVariable, typeNamed, typeBuiltin   = 1, 2, 3
	typeNatural, typeInterned, typeApplied = 6, 8, 9

	variableName, variableArgs = 3, 2
	namedOf, namedArgs         = 1, 2
	builtinKind, builtinArgs   = 1, 2
	appliedLeft, appliedRight  = 1, 2

	conModule, conName            = 1, 2
	moduleIDPackage, moduleIDName = 1, 2
	refSelf, refString, refImport = 1, 3, 4
)

// builtins are the kinds of built-in types by their number. TextMap had another one before it was
// released.
var builtins = map[uint64]Kind{
	0: Unit, 1: Bool, 2: Int64, 3: Date, 4: Timestamp, 5: Numeric, 6: Party, 7: Text, 8: ContractID,
	9: Optional, 10: List, 11: GenMap, 19: TextMap, 1001: TextMap,
}

var notData = &Type{Kind: NotData}

// typ reads a type. One that stands in the table may only refer to earlier ones, so that nothing is
// endless.
func (d *decoder) typ(message []byte, depth int) (*Type, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("types nested deeper than %d", maxNesting)
	}
	t := notData // what is not known: a function, a struct, a synonym, or of a later version
	err := walk(message, func(f part) (err error) {
		switch f.num {
		case typeVariable:
			t, err = d.applicable(f.b, depth, Variable, variableName, variableArgs)
		case typeNamed:
			t, err = d.applicable(f.b, depth, Named, namedOf, namedArgs)
		case typeBuiltin:
			t, err = d.applicable(f.b, depth, Unit, builtinKind, builtinArgs)
		case typeNatural:
			t = &Type{Kind: Natural, N: protowire.DecodeZigZag(f.n)}
			err = d.count(1)
		case typeInterned:
			if f.n >= uint64(len(d.types)) {
				return fmt.Errorf("it refers to type %d, and there are %d before it", f.n, len(d.types))
			}
			t = d.types[f.n]
		case typeApplied:
			t, err = d.applied(f.b, depth)
		}
		return err
	})
	return t, err
}

// applicable reads a variable, a named or a built-in type with its arguments.
func (d *decoder) applicable(message []byte, depth int, kind Kind, head, args protowire.Number) (*Type, error) {
	t := &Type{Kind: kind}
	var of part
	err := walk(message, func(f part) error {
		switch f.num {
		case head:
			of = f
		case args:
			arg, err := d.typ(f.b, depth+1)
			if err != nil {
				return err
			}
			return d.apply(t, arg)
		}
		return nil
	})
	if err == nil {
		err = d.count(1)
	}
	if err != nil {
		return nil, err
	}
	switch kind {
	case Variable:
		t.Name, err = d.name(of.n)
	case Named:
		t.Ref, err = d.ref(of.b)
	default:
		if t.Kind = builtins[of.n]; t.Kind == NotData { // one that is not known
			return notData, nil
		}
	}
	return t, err
}

// applied reads a type that is applied to one more argument.
func (d *decoder) applied(message []byte, depth int) (*Type, error) {
	left, right := notData, notData
	err := walk(message, func(f part) (err error) {
		switch f.num {
		case appliedLeft:
			left, err = d.typ(f.b, depth+1)
		case appliedRight:
			right, err = d.typ(f.b, depth+1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if left.Kind == NotData {
		return notData, nil
	}
	t := *left // which may stand elsewhere, too
	t.Args = append([]*Type(nil), left.Args...)
	if err := d.count(1 + len(t.Args)); err != nil {
		return nil, err
	}
	return &t, d.apply(&t, right)
}

func (d *decoder) apply(t, arg *Type) error {
	if len(t.Args) == maxArguments {
		return fmt.Errorf("a type with more than %d arguments", maxArguments)
	}
	t.Args = append(t.Args, arg)
	return d.count(1)
}

// ref reads the name of a type, template or interface.
func (d *decoder) ref(message []byte) (r Ref, err error) {
	var module []byte
	var name uint64
	err = walk(message, func(f part) error {
		switch f.num {
		case conModule:
			module = f.b
		case conName:
			name = f.n
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	var in []byte
	var moduleName uint64
	err = walk(module, func(f part) error {
		switch f.num {
		case moduleIDPackage:
			in = f.b
		case moduleIDName:
			moduleName = f.n
		}
		return nil
	})
	if err == nil {
		r.Package, err = d.packageRef(in)
	}
	if err == nil {
		r.Module, err = d.dottedName(moduleName)
	}
	if err == nil {
		r.Name, err = d.dottedName(name)
	}
	return r, err
}

func (d *decoder) packageRef(message []byte) (id string, err error) {
	id = d.id
	err = walk(message, func(f part) (err error) {
		switch f.num {
		case refSelf:
			id = d.id
		case refString:
			id, err = d.name(f.n)
		case refImport:
			if f.n >= uint64(len(d.imports)) {
				return fmt.Errorf("it refers to import %d, and there are %d", f.n, len(d.imports))
			}
			id = d.imports[f.n]
		}
		return err
	})
	return id, err
}
