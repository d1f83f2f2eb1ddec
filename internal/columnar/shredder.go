package columnar

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"
)

// Shredder makes rows of Parquet: a row is the values of its leaf columns, each with two levels, by which
// lists and nulls are found again. Every value may be null but the keys of maps.
type Shredder struct {
	fields  []arrow.Field
	columns [][]parquet.Value // of the leaf columns
	row     parquet.Row
	size    int // bytes of texts
}

// level is where a value is.
type level struct {
	column     int // of its first leaf
	repetition int // 0 for the first value of a row, else the depth of the list that goes on
	definition int // how many of the optional and repeated parts around it there are
	depth      int // of the lists around it
}

// NewShredder returns that of rows with some columns.
func NewShredder(fields []arrow.Field) *Shredder {
	return &Shredder{fields: fields, columns: make([][]parquet.Value, leaves(arrow.StructOf(fields...)))}
}

// leaves is how many leaf columns values of a type have.
func leaves(of arrow.DataType) int {
	nested, ok := of.(arrow.NestedType)
	if !ok {
		return 1
	}
	n := 0
	for _, field := range nested.Fields() {
		n += leaves(field.Type)
	}
	return n
}

// Shred returns a row and the bytes of its texts. The row is valid until the next call.
func (s *Shredder) Shred(values []any) (row parquet.Row, size int, err error) {
	s.row, s.size = s.row[:0], 0
	for i := range s.columns {
		s.columns[i] = s.columns[i][:0]
	}
	at := level{}
	for i, v := range values {
		if err := s.optional(s.fields[i].Type, v, at); err != nil {
			return nil, 0, fmt.Errorf("column %s: %w", s.fields[i].Name, err)
		}
		at.column += leaves(s.fields[i].Type)
	}
	for _, column := range s.columns {
		s.row = append(s.row, column...)
	}
	return s.row, s.size, nil
}

func (s *Shredder) optional(of arrow.DataType, v any, at level) error {
	value := content(v)
	if !value.IsValid() {
		s.absent(of, at)
		return nil
	}
	at.definition++
	return s.present(of, value, at)
}

// absent says in all leaf columns of a type that nothing is below a level.
func (s *Shredder) absent(of arrow.DataType, at level) {
	for column := at.column; column < at.column+leaves(of); column++ {
		s.add(parquet.NullValue(), level{column: column, repetition: at.repetition, definition: at.definition})
	}
}

func (s *Shredder) add(v parquet.Value, at level) {
	s.columns[at.column] = append(s.columns[at.column], v.Level(at.repetition, at.definition, at.column))
}

func (s *Shredder) present(of arrow.DataType, v reflect.Value, at level) error {
	switch of := of.(type) {
	case *arrow.StructType:
		for i, field := range of.Fields() {
			if err := s.optional(field.Type, element(v, i, field.Name), at); err != nil {
				return err
			}
			at.column += leaves(field.Type)
		}
		return nil
	case *arrow.ListType:
		return s.repeated(of, v.Len(), at, func(i int, at level) error { return s.optional(of.Elem(), v.Index(i).Interface(), at) })
	case *arrow.MapType:
		keys := keysOf(v)
		return s.repeated(of, len(keys), at, func(i int, at level) error {
			if err := s.present(of.KeyType(), content(keys[i].Interface()), at); err != nil {
				return err
			}
			at.column += leaves(of.KeyType())
			return s.optional(of.ItemType(), v.MapIndex(keys[i]).Interface(), at)
		})
	}
	leaf, err := s.leaf(of, v)
	s.add(leaf, at)
	return err
}

// repeated calls do for each of n elements with its level.
func (s *Shredder) repeated(of arrow.DataType, n int, at level, do func(i int, at level) error) error {
	if n == 0 {
		s.absent(of, at)
		return nil
	}
	at.definition++
	at.depth++
	for i := range n {
		if err := do(i, at); err != nil {
			return err
		}
		at.repetition = at.depth
	}
	return nil
}

// leaf is a value of a type without parts, as leafOf has it.
func (s *Shredder) leaf(of arrow.DataType, v reflect.Value) (parquet.Value, error) {
	switch of := of.(type) {
	case *arrow.StringType:
		text, err := Text(v.Interface())
		s.size += len(text)
		return parquet.ByteArrayValue([]byte(text)), err
	case *arrow.BooleanType:
		return parquet.BooleanValue(v.Bool()), nil
	case *arrow.Float32Type:
		return parquet.FloatValue(float32(v.Float())), nil
	case *arrow.Float64Type:
		return parquet.DoubleValue(v.Float()), nil
	case arrow.DecimalType:
		return decimalLeaf(of, v.Interface())
	case *arrow.Date32Type, *arrow.TimestampType:
		return timeLeaf(of, v.Interface())
	}
	bits, n := of.(arrow.FixedWidthDataType).BitWidth(), int64(0)
	if v.CanUint() {
		n = int64(v.Uint())
	} else {
		n = v.Int()
	}
	if bits == 64 {
		return parquet.Int64Value(n), nil
	}
	return parquet.Int32Value(int32(n)), nil
}

// decimalLeaf is a number in units of its last digit. As bytes it is in two's complement, the high byte first.
func decimalLeaf(of arrow.DecimalType, v any) (parquet.Value, error) {
	n, ok := unitsOf(v, of.GetScale())
	if !ok {
		return parquet.Value{}, doesNotFit(v, of)
	}
	switch decimalStorage(of).Kind() {
	case parquet.Int32:
		return parquet.Int32Value(int32(n.Int64())), nil
	case parquet.Int64:
		return parquet.Int64Value(n.Int64()), nil
	}
	if n.Sign() < 0 {
		n.Add(n, twoTo(of.BitWidth()))
	}
	return parquet.FixedLenByteArrayValue(n.FillBytes(make([]byte, of.BitWidth()/8))), nil
}

// timeLeaf is a day, or a time in the unit of timestamps; of seconds, which Parquet does not have, in milliseconds.
func timeLeaf(of arrow.DataType, v any) (parquet.Value, error) {
	stamp, isStamp := of.(*arrow.TimestampType)
	if !isStamp {
		day, err := dayOf(v)
		return parquet.Int32Value(int32(day)), err
	}
	unit := stamp.Unit
	if unit == arrow.Second {
		unit = arrow.Millisecond
	}
	n, err := timeOf(v, unit)
	return parquet.Int64Value(int64(n)), err
}
