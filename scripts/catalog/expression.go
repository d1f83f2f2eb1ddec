package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

var scalars = map[packages.Kind]string{
	packages.Unit: "Unit", packages.Bool: "Bool", packages.Int64: "Int64", packages.Date: "Date", packages.Timestamp: "Timestamp",
	packages.Numeric: "Numeric", packages.Party: "Party", packages.Text: "Text",
}

// expression writes a type in the catalogue's notation.
func (f *file) expression(t *packages.Type, variables map[string]string) (string, error) {
	if name := scalars[t.Kind]; name != "" {
		return name, nil
	}
	switch t.Kind {
	case packages.ContractID:
		if len(t.Args) == 1 && t.Args[0].Kind == packages.Named {
			return "ContractId<" + t.Args[0].Ref.Name + ">", nil // for the reader alone
		}
		return "ContractId", nil
	case packages.Variable:
		if text, ok := variables[t.Name]; ok {
			return text, nil
		}
	case packages.Optional:
		if len(t.Args) == 1 {
			text, err := f.expression(t.Args[0], variables)
			return "optional " + text, err
		}
	case packages.List:
		return f.applied("List", t.Args, variables)
	case packages.TextMap:
		return f.applied("TextMap", t.Args, variables)
	case packages.GenMap:
		return f.applied("GenMap", t.Args, variables)
	case packages.Named:
		return f.named(t, variables)
	}
	return "", fmt.Errorf("it is no data")
}

func (f *file) applied(name string, args []*packages.Type, variables map[string]string) (string, error) {
	texts := make([]string, len(args))
	for i, a := range args {
		var err error
		if texts[i], err = f.expression(a, variables); err != nil {
			return "", err
		}
	}
	if len(texts) == 0 {
		return name, nil
	}
	return name + "<" + strings.Join(texts, ", ") + ">", nil
}

// named writes the name of a data type; one with parameters is declared in this file for its arguments.
func (f *file) named(t *packages.Type, variables map[string]string) (string, error) {
	if name := standard(t.Ref); name != "" {
		return f.applied(name, t.Args, variables)
	}
	r := f.g.current(t.Ref)
	data := f.g.types[r]
	if data == nil {
		return "", fmt.Errorf("there is no type %s of package %s", r.Entity(), r.Package)
	}
	if len(data.Params) == 0 {
		return f.reference(r), nil
	}
	arguments, err := f.arguments(data, t.Args, variables)
	if err != nil {
		return "", err
	}
	name := data.Name
	for _, p := range data.Params {
		name += "_" + strings.Map(func(c rune) rune {
			if strings.ContainsRune("<>, /:", c) {
				return '_'
			}
			return c
		}, arguments[p])
	}
	if len(name) > 200 {
		return "", fmt.Errorf("%s is made of itself", data.Name)
	}
	f.declare(name, data, arguments)
	return name, nil
}

// reference is the name of a type that a file declares, this or another one.
func (f *file) reference(r packages.Ref) string {
	p := f.g.byID[r.Package]
	name := f.g.names[p.Name][r]
	if name == "" {
		name = r.Entity() // of a template
	}
	if p != f.p {
		return p.Name + "/" + name
	}
	return name
}

// quoted is an expression as a YAML scalar: in flow style a comma would end it.
func quoted(expression string) string {
	if strings.Contains(expression, ",") {
		return strconv.Quote(expression)
	}
	return expression
}

// key is a name as a YAML key.
func key(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~":
		return strconv.Quote(name)
	}
	if strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_.-:$", c))
	}) || strings.Trim(name, "0123456789.-") == "" {
		return strconv.Quote(name)
	}
	return name
}
