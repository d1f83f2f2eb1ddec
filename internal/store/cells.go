package store

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

// Cells are rows of a typed table, whose columns are known at run time only. Their values are those of
// typed.Plan.Row.
type Cells struct {
	list  []column
	cells []cells
}

// NewCells returns a block without rows, or an error that names a type that no plan has.
func NewCells(of []typed.Column) (*Cells, error) {
	b := new(Cells)
	for _, c := range of {
		made, ok := cellsOf(c.Type)
		if !ok {
			return nil, fmt.Errorf("column %s has type %s, which no typed table has", c.Name, c.Type)
		}
		b.list, b.cells = append(b.list, column{c.Name, made.data}), append(b.cells, made)
	}
	return b, nil
}

func (b *Cells) columns() []column { return b.list }

// Rows returns the number of rows.
func (b *Cells) Rows() int { return b.list[0].data.Rows() }

// Append adds a row with a cell for each column.
func (b *Cells) Append(row []any) {
	for i, c := range b.cells {
		c.put(row[i])
	}
}

// Row is row i of the current block.
func (b *Cells) Row(i int) []any {
	row := make([]any, len(b.cells))
	for n, c := range b.cells {
		row[n] = c.at(i)
	}
	return row
}

// cells is a column by its cells.
type cells struct {
	data proto.Column
	put  func(cell any)
	at   func(row int) any
}

// cellKind makes columns of values of type T.
type cellKind[T any] struct {
	name string
	make func() proto.ColumnOf[T]
	to   func(any) T
	from func(T) any
}

// cellsOf is an empty column of a type.
func cellsOf(name string) (cells, bool) {
	base, list := strings.CutPrefix(name, "Array(")
	if list {
		base = strings.TrimSuffix(base, ")")
	}
	value, isMap := strings.CutPrefix(base, "Map(String, ")
	if isMap {
		base = strings.TrimSuffix(value, ")")
	}
	inner, nullable := strings.CutPrefix(base, "Nullable(")
	if nullable {
		base = strings.TrimSuffix(inner, ")")
	}
	shape := cellShape{name, list, isMap, nullable}
	switch {
	case base == "String":
		return madeOf(shape, plain("String", func() proto.ColumnOf[string] { return new(texts) })), true
	case base == "LowCardinality(String)":
		return madeOf(shape, plain(base, func() proto.ColumnOf[string] { return newLowCardinality() })), true
	case base == "LowCardinality(Nullable(String))":
		terms := plain(base, func() proto.ColumnOf[proto.Nullable[string]] { return nullableTerms{newLowCardinality()} })
		terms.to, terms.from = nullableTo(textTo), nullableFrom[string](textFrom)
		return madeOf(shape, terms), true
	case base == "Int64":
		return madeOf(shape, plain("Int64", func() proto.ColumnOf[int64] { return new(proto.ColInt64) })), true
	case base == "Int32":
		k := plain("Int32", func() proto.ColumnOf[int32] { return new(proto.ColInt32) })
		return madeOf(shape, k), true
	case base == "Bool":
		return madeOf(shape, plain("Bool", func() proto.ColumnOf[bool] { return new(proto.ColBool) })), true
	case base == "Date32":
		return madeOf(shape, cellKind[int32]{
			base, func() proto.ColumnOf[int32] { return new(proto.ColInt32) },
			func(v any) int32 { return int32(v.(typed.Days)) }, func(v int32) any { return typed.Days(v) },
		}), true
	case base == "DateTime64(6, 'UTC')":
		return madeOf(shape, cellKind[int64]{
			base, func() proto.ColumnOf[int64] { return new(proto.ColInt64) },
			func(v any) int64 { return int64(v.(schemas.Micros)) }, func(v int64) any { return schemas.Micros(v) },
		}), true
	case strings.HasPrefix(base, "Decimal(38, "):
		return madeOf(shape, cellKind[proto.Decimal128]{
			base, func() proto.ColumnOf[proto.Decimal128] { return new(proto.ColDecimal128) },
			func(v any) proto.Decimal128 {
				u := v.(typed.Units)
				return proto.Decimal128{High: u.High, Low: u.Low}
			},
			func(v proto.Decimal128) any { return typed.Units{High: v.High, Low: v.Low} },
		}), true
	}
	return cells{}, false
}

func textTo(v any) string   { return v.(string) }
func textFrom(v string) any { return v }

// plain is the kind of columns whose values are cells as they are.
func plain[T any](name string, column func() proto.ColumnOf[T]) cellKind[T] {
	return cellKind[T]{name, column, func(v any) T { return v.(T) }, func(v T) any { return v }}
}

// cellShape is what is around the values of a column.
type cellShape struct {
	name                  string
	list, isMap, nullable bool
}

// madeOf makes a column.
func madeOf[T any](shape cellShape, k cellKind[T]) cells {
	if shape.nullable {
		return inShape(shape, cellKind[proto.Nullable[T]]{
			shape.name, func() proto.ColumnOf[proto.Nullable[T]] { return proto.NewColNullable(k.make()) }, nullableTo(k.to), nullableFrom(k.from),
		})
	}
	return inShape(shape, k)
}

// inShape makes a column for values that may be none. One that the client names otherwise than the server
// is renamed; no dictionary is among these, which would be lost below another name.
func inShape[T any](shape cellShape, k cellKind[T]) cells {
	var c cells
	switch {
	case shape.list:
		c = listCells(k)
	case shape.isMap:
		c = mapCells(k)
	default:
		col := k.make()
		c = cells{col, func(v any) { col.Append(k.to(v)) }, func(row int) any { return k.from(col.Row(row)) }}
	}
	if string(c.data.Type()) != shape.name {
		c.data = alias{c.data, proto.ColumnType(shape.name)}
	}
	return c
}

func nullableTo[T any](to func(any) T) func(any) proto.Nullable[T] {
	return func(v any) proto.Nullable[T] {
		if v == nil {
			return proto.Null[T]()
		}
		return proto.NewNullable(to(v))
	}
}

func nullableFrom[T any](from func(T) any) func(proto.Nullable[T]) any {
	return func(v proto.Nullable[T]) any {
		if !v.Set {
			return nil
		}
		return from(v.Value)
	}
}

func listCells[T any](k cellKind[T]) cells {
	col := proto.NewArray(k.make())
	var list []T
	return cells{col, func(v any) {
		list = list[:0]
		for _, element := range v.([]any) {
			list = append(list, k.to(element))
		}
		col.Append(list)
	}, func(row int) any {
		elements := []any{}
		for _, v := range col.Row(row) {
			elements = append(elements, k.from(v))
		}
		return elements
	}}
}

// mapCells are maps from texts, whose cells have keys and values in turn.
func mapCells[T any](k cellKind[T]) cells {
	col := proto.NewMap[string, T](new(proto.ColStr), k.make())
	var pairs []proto.KV[string, T]
	return cells{col, func(v any) {
		list := v.([]any)
		pairs = pairs[:0]
		for i := 0; i < len(list); i += 2 {
			pairs = append(pairs, proto.KV[string, T]{Key: list[i].(string), Value: k.to(list[i+1])})
		}
		col.AppendKV(pairs)
	}, func(row int) any {
		list := []any{}
		for _, pair := range col.RowKV(row) {
			list = append(list, pair.Key, k.from(pair.Value))
		}
		return list
	}}
}

// nullableTerms is LowCardinality(Nullable(String)): the first term stands for none.
type nullableTerms struct{ *lowCardinality }

// Type is the name of the type.
func (c nullableTerms) Type() proto.ColumnType { return "LowCardinality(Nullable(String))" }

// Append adds a row.
func (c nullableTerms) Append(v proto.Nullable[string]) {
	if len(c.terms) == 0 {
		c.terms = append(c.terms, "")
		c.index.Append("")
	}
	var n uint32
	if v.Set {
		var ok bool
		if n, ok = c.numbers[v.Value]; !ok {
			n = c.add(v.Value)
		}
	}
	c.keys = append(c.keys, n)
}

// AppendArr adds a row per element.
func (c nullableTerms) AppendArr(list []proto.Nullable[string]) {
	for _, v := range list {
		c.Append(v)
	}
}

// Row returns row i.
func (c nullableTerms) Row(i int) proto.Nullable[string] {
	if n := c.keys[i]; n > 0 {
		return proto.NewNullable(c.terms[n])
	}
	return proto.Null[string]()
}
