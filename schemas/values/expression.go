package values

import (
	"fmt"
	"strings"
)

// scalars by their name in type expressions.
var scalars = map[string]*Type{
	"Unit": unit, "Bool": Scalar(KindBool), "Int64": Scalar(KindInt64),
	"Numeric": Scalar(KindNumeric), "Text": Scalar(KindText), "Party": Scalar(KindParty),
	"ContractId": Scalar(KindContractID), "Timestamp": Scalar(KindTimestamp),
	"Date": Scalar(KindDate), "RelTime": relTime,
}

// relTime is the length of a time, a record of the network's standard library.
var relTime = Record(Field{Label: "microseconds", Type: Scalar(KindInt64)})

// sourceNames are how the network's contract language spells types, with our spelling.
var sourceNames = map[string]string{
	"Decimal": "Numeric", "Int": "Int64", "Integer": "Int64", "Time": "Timestamp", "String": "Text",
	"ContractID": "ContractId", "Boolean": "Bool", "()": "Unit", "AnyContractId": "ContractId",
	"Optional": "optional T", "Map": "GenMap<K, V>", "Map.Map": "GenMap<K, V>", "TextMap.TextMap": "TextMap<T>",
	"Set.Set": "Set<T>", "GenMap": "GenMap<K, V>", "TextMap": "TextMap<T>", "List": "List<T>", "Set": "Set<T>",
	"Tuple": "Tuple<A, B>",
}

// parse reads a type expression:
//
//	expression = { "optional" } name [ "<" expression { "," expression } ">" ]
//
// The argument of ContractId is for the reader only.
func (r resolver) parse(expression string) (*Type, error) {
	p := expressionParser{resolver: r, rest: expression}
	t, err := p.expression()
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = fmt.Errorf("unexpected %.60q at the end", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("type %.100s: %w", expression, err)
	}
	return t, nil
}

type expressionParser struct {
	resolver
	rest  string
	depth int
}

func (p *expressionParser) expression() (*Type, error) {
	// No value is nested deeper, and a hostile expression must not exhaust the stack.
	if p.depth++; p.depth > MaxDepth {
		return nil, fmt.Errorf("types nested deeper than %d", MaxDepth)
	}
	defer func() { p.depth-- }()
	name := p.name()
	if name != "optional" {
		return p.applied(name)
	}
	t, err := p.expression()
	if err != nil {
		return nil, err
	}
	return Optional(t), nil
}

// applied reads the arguments of a name, if it has any, and returns the type.
func (p *expressionParser) applied(name string) (*Type, error) {
	if name == "ContractId" && p.accept("<") {
		p.name() // of a template that need not be in a catalogue
		if !p.accept(">") {
			return nil, fmt.Errorf("no > after ContractId<")
		}
		return scalars[name], nil
	}
	if !p.accept("<") {
		return p.lookup(name)
	}
	var arguments []*Type
	for {
		t, err := p.expression()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, t)
		if p.accept(">") {
			return apply(name, arguments)
		}
		if !p.accept(",") {
			return nil, fmt.Errorf("expected , or > before %q", p.rest)
		}
	}
}

// apply returns the built-in type name of the arguments.
func apply(name string, arguments []*Type) (*Type, error) {
	switch {
	case name == "List" && len(arguments) == 1:
		return List(arguments[0]), nil
	case name == "TextMap" && len(arguments) == 1:
		return TextMap(arguments[0]), nil
	case name == "GenMap" && len(arguments) == 2:
		return GenMap(arguments[0], arguments[1]), nil
	case name == "Set" && len(arguments) == 1:
		return Record(Field{Label: "map", Type: GenMap(arguments[0], unit)}), nil
	case name == "Tuple" && len(arguments) >= 2:
		return tuple(arguments), nil
	}
	return nil, fmt.Errorf("no type %s with %d arguments", name, len(arguments))
}

// tuple returns the record _1, _2 and so on.
func tuple(parts []*Type) *Type {
	fields := make([]Field, len(parts))
	for i, t := range parts {
		fields[i] = Field{Label: fmt.Sprintf("_%d", i+1), Type: t}
	}
	return Record(fields...)
}

// lookup finds a type by name: a scalar, a type of this file's package, or one of its
// imports in their order. package/Name names a type of one import.
func (r resolver) lookup(name string) (*Type, error) {
	if t := scalars[name]; t != nil {
		return t, nil
	}
	if pkg, bare, ok := strings.Cut(name, "/"); ok {
		if t := r.l.named[pkg][bare]; t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("no type %.60s in package %.60s: a file with that package must declare it", bare, pkg)
	}
	for _, pkg := range append([]string{r.f.Package}, r.f.Imports...) {
		t, ok := r.l.named[pkg][name]
		if t != nil {
			return t, nil
		}
		if ok {
			return nil, fmt.Errorf("package %s has more than one template %s: name it with its module, as in Acme.Trade:%s", pkg, name, name)
		}
	}
	fix := "declare it, or add its package to imports"
	if ours := sourceNames[name]; ours != "" {
		fix = "write " + ours
	}
	return nil, fmt.Errorf("no type %.60q in package %s and its imports: %s", name, r.f.Package, fix)
}

// name cuts off the next name.
func (p *expressionParser) name() string {
	p.rest = strings.TrimSpace(p.rest)
	end := strings.IndexAny(p.rest, "<>, ")
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name
}

func (p *expressionParser) accept(mark string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(p.rest), mark)
	if ok {
		p.rest = rest
	}
	return ok
}
