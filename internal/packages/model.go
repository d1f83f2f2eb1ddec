package packages

// Package is what a compiled package says of its types.
type Package struct {
	// ID is the SHA-256 of Payload, in hex.
	ID      string
	Payload []byte
	// Name and Version are those of the source, such as splice-amulet and 0.1.8; "" in a package that
	// does not say them, whose templates no event names.
	Name, Version string
	// LF is the version of the compiled language, such as 2.1.
	LF string
	// Upgrades is the id of the package that this one is an upgrade of, mostly "".
	Upgrades string
	Modules  []Module
}

// Module is a module, whose types, templates and choices come in no order of the source.
type Module struct {
	Name       string
	Types      []DataType
	Templates  []Template
	Interfaces []Interface
}

// Shape says what a data type is.
type Shape uint8

// The shapes of data types. An interface has no data of its own, nor has what is of no known shape.
const (
	Record Shape = iota + 1
	Variant
	Enum
	OfInterface
)

// DataType is a record with its fields, a variant with its constructors, or an enum, whose
// constructors have no type; all in the order of the source.
type DataType struct {
	// Name is dotted where the type belongs to another one: a constructor of a variant with named
	// fields has its record in Variant.Constructor.
	Name   string
	Shape  Shape
	Params []string
	Fields []Field
}

// Field is a field of a record or a constructor of a variant or enum.
type Field struct {
	Name string
	Type *Type
}

// Template is a template. Its fields are those of the record of the same name.
type Template struct {
	Name       string
	Choices    []Choice
	Implements []Ref
	Key        *Type // nil for none
}

// Interface is an interface.
type Interface struct {
	Name     string
	Choices  []Choice
	View     *Type
	Requires []Ref
}

// Choice is a choice of a template or an interface. All have an Archive.
type Choice struct {
	Name      string
	Consuming bool
	Argument  *Type
	Result    *Type
}

// Ref names a type, template or interface.
type Ref struct {
	Package string // id
	Module  string
	Name    string
}

// Entity is Module:Name.
func (r Ref) Entity() string { return r.Module + ":" + r.Name }

// Kind says what a type is.
type Kind uint8

// The kinds of types. NotData is all of which no value can be, such as a function, and what this
// version does not know.
const (
	NotData Kind = iota
	Unit
	Bool
	Int64
	Date
	Timestamp
	Numeric
	Party
	Text
	ContractID
	Optional
	List
	GenMap
	TextMap
	// Named is a data type of this or another package.
	Named
	// Variable is a parameter of the data type in which it stands.
	Variable
	// Natural is the argument of a Numeric: how many digits it has after the point.
	Natural
)

// Type is a type as it is used. Types are shared: one may stand in many places.
type Type struct {
	Kind Kind
	Ref  Ref    // of Named
	Name string // of Variable
	N    int64  // of Natural
	Args []*Type
}

// Scale is how many digits a Numeric has after its point, -1 where that is not said.
func (t *Type) Scale() int64 {
	if t.Kind == Numeric && len(t.Args) == 1 && t.Args[0].Kind == Natural {
		return t.Args[0].N
	}
	return -1
}

// Module returns the module with a name, or nil.
func (p *Package) Module(name string) *Module {
	for i := range p.Modules {
		if p.Modules[i].Name == name {
			return &p.Modules[i]
		}
	}
	return nil
}

// Type returns the data type with a name, or nil.
func (m *Module) Type(name string) *DataType {
	for i := range m.Types {
		if m.Types[i].Name == name {
			return &m.Types[i]
		}
	}
	return nil
}

// Templates counts the templates.
func (p *Package) Templates() (n int) {
	for i := range p.Modules {
		n += len(p.Modules[i].Templates)
	}
	return n
}

// Interfaces counts the interfaces.
func (p *Package) Interfaces() (n int) {
	for i := range p.Modules {
		n += len(p.Modules[i].Interfaces)
	}
	return n
}
