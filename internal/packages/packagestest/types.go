package packagestest

import "github.com/ledgerlake/ledgerlake/internal/packages"

// Of returns a type of a kind with arguments.
func Of(kind packages.Kind, args ...*packages.Type) *packages.Type {
	return &packages.Type{Kind: kind, Args: args}
}

// Decimal is a Numeric with 10 digits after the point.
func Decimal() *packages.Type {
	return Of(packages.Numeric, &packages.Type{Kind: packages.Natural, N: 10})
}

// TypeOf returns a data type with arguments; pkg is "" for one of the package itself.
func TypeOf(pkg, module, name string, args ...*packages.Type) *packages.Type {
	return &packages.Type{Kind: packages.Named, Ref: packages.Ref{Package: pkg, Module: module, Name: name}, Args: args}
}

// Param is a parameter of the data type in which it stands.
func Param(name string) *packages.Type { return &packages.Type{Kind: packages.Variable, Name: name} }

// F is a field.
func F(name string, t *packages.Type) packages.Field { return packages.Field{Name: name, Type: t} }

// Data returns a data type.
func Data(shape packages.Shape, name string, fields ...packages.Field) packages.DataType {
	return packages.DataType{Name: name, Shape: shape, Fields: fields}
}

// EnumOf returns an enum.
func EnumOf(name string, constructors ...string) packages.DataType {
	t := Data(packages.Enum, name)
	for _, c := range constructors {
		t.Fields = append(t.Fields, packages.Field{Name: c})
	}
	return t
}
