package store

import (
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// components are the columns that another one is made of. Unlike those of ch-go, which have the type of their values
// as a parameter, they can be of any type that is known at run time only.
type components []proto.Column

// DecodeState reads what comes before the rows.
func (p components) DecodeState(r *proto.Reader) error {
	for _, c := range p {
		if s, ok := c.(proto.StateDecoder); ok {
			if err := s.DecodeState(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// EncodeState writes what comes before the rows.
func (p components) EncodeState(b *proto.Buffer) {
	for _, c := range p {
		if s, ok := c.(proto.StateEncoder); ok {
			s.EncodeState(b)
		}
	}
}

// Prepare makes the components ready to be written.
func (p components) Prepare() error {
	for _, c := range p {
		if s, ok := c.(proto.Preparable); ok {
			if err := s.Prepare(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p components) decode(r *proto.Reader, rows int) error {
	for _, c := range p {
		if err := c.DecodeColumn(r, rows); err != nil {
			return err
		}
	}
	return nil
}

// Reset empties the column.
func (p components) Reset() {
	for _, c := range p {
		c.Reset()
	}
}

// EncodeColumn writes the components.
func (p components) EncodeColumn(b *proto.Buffer) {
	for _, c := range p {
		c.EncodeColumn(b)
	}
}

// WriteColumn writes the components.
func (p components) WriteColumn(w *proto.Writer) {
	for _, c := range p {
		c.WriteColumn(w)
	}
}

// nullable is Nullable(T): a mark for each row, and its value, which is of no meaning where there is none.
type nullable struct{ components }

func newNullable(values proto.Column) proto.Column {
	if values == nil {
		return nil
	}
	return nullable{components{new(proto.ColUInt8), values}}
}

func (c nullable) marks() *proto.ColUInt8 { return c.components[0].(*proto.ColUInt8) }
func (c nullable) values() proto.Column   { return c.components[1] }

// Type is the name of the type.
func (c nullable) Type() proto.ColumnType { return proto.ColumnTypeNullable.Sub(c.values().Type()) }

// Rows returns the number of rows.
func (c nullable) Rows() int { return c.components[0].Rows() }

// DecodeColumn reads a block's rows.
func (c nullable) DecodeColumn(r *proto.Reader, rows int) error { return c.decode(r, rows) }

// lists is Array(T), or with two components Map(K, V).
type lists struct {
	components // the elements of all rows
	name       string
	ends       proto.ColUInt64
}

func newLists(name string, elements ...proto.Column) proto.Column {
	for _, c := range elements {
		if _, isEnum := c.(*proto.ColEnum); c == nil || isEnum {
			return nil // the names of an enum are learned from a column that is one
		}
	}
	return &lists{components: elements, name: name}
}

func (c *lists) isMap() bool { return len(c.components) == 2 }

// Type is the name of the type.
func (c *lists) Type() proto.ColumnType { return proto.ColumnType(c.name) }

// Rows returns the number of rows.
func (c *lists) Rows() int { return len(c.ends) }

// Reset empties the column.
func (c *lists) Reset() {
	c.ends.Reset()
	c.components.Reset()
}

// DecodeColumn reads a block's rows.
func (c *lists) DecodeColumn(r *proto.Reader, rows int) error {
	if err := c.ends.DecodeColumn(r, rows); err != nil {
		return err
	}
	return c.decode(r, rowStart(c.ends, rows))
}

// EncodeColumn writes the rows.
func (c *lists) EncodeColumn(b *proto.Buffer) {
	c.ends.EncodeColumn(b)
	c.components.EncodeColumn(b)
}

// WriteColumn writes the rows.
func (c *lists) WriteColumn(w *proto.Writer) {
	c.ends.WriteColumn(w)
	c.components.WriteColumn(w)
}

// end ends a row of which the elements were added.
func (c *lists) end() { c.ends = append(c.ends, uint64(c.components[0].Rows())) }

// nullableTerms is LowCardinality(Nullable(String)): the first term stands for none.
type nullableTerms struct{ *lowCardinality }

// Type is the name of the type.
func (c nullableTerms) Type() proto.ColumnType { return "LowCardinality(Nullable(String))" }

// put adds a row: a string, or nil.
func (c nullableTerms) put(v any) {
	if len(c.terms) == 0 {
		c.terms = append(c.terms, "")
		c.index.Append("")
	}
	var n uint32
	if text, ok := v.(string); ok {
		if n, ok = c.numbers[text]; !ok {
			n = c.add(text)
		}
	}
	c.keys = append(c.keys, n)
}

func (c nullableTerms) value(row int) any {
	if n := c.keys[row]; n > 0 {
		return c.terms[n]
	}
	return nil
}

// cutType splits the name of a type, such as Nullable(Int64).
func cutType(name string) (outer, inner string) {
	outer, inner, _ = strings.Cut(name, "(")
	return outer, strings.TrimSuffix(inner, ")")
}
