package store

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Records are rows of a table or of a result. T is a struct whose fields name their columns, in
// the order of the columns:
//
//	Stream  string           `column:"stream,low"` // LowCardinality(String)
//	State   string           `column:"state,enum"`
//	EndedAt schemas.Micros   `column:"ended_at"` // DateTime64(6)
//	Through schemas.Position `column:"through_"` // through_migration, _time, _id and _offset
//	Amount  decimal.Decimal  `column:"amount"`   // Decimal(38, 10)
//
// Rows are written and read by reflection: tables of history have blocks of their own.
type Records[T any] struct{ fields []field }

// field is a column and where in T its values are.
type field struct {
	column
	index []int
	put   func(from reflect.Value)
	take  func(to reflect.Value, row int)
}

// NewRecords returns a block without rows.
func NewRecords[T any]() *Records[T] {
	b, row := &Records[T]{}, reflect.TypeFor[T]()
	for i := range row.NumField() {
		f := row.Field(i)
		tag, ok := f.Tag.Lookup("column")
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case !ok:
		case f.Type == reflect.TypeFor[schemas.Position]():
			b.addPosition(name, option, i)
		default:
			b.fields = append(b.fields, newField(name, option, f.Type, i))
		}
	}
	return b
}

// addPosition adds the columns of a position; option "public" leaves out its offset. Record times
// are numbers there because DateTime64 cannot hold year 1.
func (b *Records[T]) addPosition(prefix, option string, index int) {
	row := reflect.TypeFor[schemas.Position]()
	for i, name := range []string{"migration", "time", "id", "offset"} {
		if name != "offset" || option != "public" {
			b.fields = append(b.fields, newField(prefix+name, "number", row.Field(i).Type, index, i))
		}
	}
}

func newField(name, option string, of reflect.Type, index ...int) field {
	f := fieldOf(option, of)
	if f.data == nil {
		panic(fmt.Sprintf("there is no column %s of type %s", name, of)) // a test makes each
	}
	f.name, f.index = name, index
	return f
}

func fieldOf(option string, of reflect.Type) field {
	switch {
	case option == "low":
		return textField(newLowCardinality())
	case option == "enum":
		return textField(new(proto.ColEnum))
	case option == "" && of == reflect.TypeFor[schemas.Micros]():
		c := newTime()
		return fieldWith(c, func(v reflect.Value) { appendTime(c, schemas.Micros(v.Int())) }, func(v reflect.Value, i int) { v.SetInt(int64(timeAt(c, i))) })
	}
	if of == reflect.TypeFor[decimal.Decimal]() {
		c := new(proto.ColDecimal128)
		return fieldWith(decimals(c), func(v reflect.Value) { c.Append(decimal128(v.Interface().(decimal.Decimal))) }, func(v reflect.Value, i int) { v.Set(reflect.ValueOf(decimalOf(c.Row(i)))) })
	}
	switch of.Kind() {
	case reflect.String:
		return textField(new(texts))
	case reflect.Int64:
		c := new(proto.ColInt64)
		return fieldWith(c, func(v reflect.Value) { c.Append(v.Int()) }, func(v reflect.Value, i int) { v.SetInt(c.Row(i)) })
	case reflect.Int32:
		c := new(proto.ColInt32)
		return fieldWith(c, func(v reflect.Value) { c.Append(int32(v.Int())) }, func(v reflect.Value, i int) { v.SetInt(int64(c.Row(i))) })
	case reflect.Uint64:
		c := new(proto.ColUInt64)
		return fieldWith(c, func(v reflect.Value) { c.Append(v.Uint()) }, func(v reflect.Value, i int) { v.SetUint(c.Row(i)) })
	case reflect.Uint32:
		c := new(proto.ColUInt32)
		return fieldWith(c, func(v reflect.Value) { c.Append(uint32(v.Uint())) }, func(v reflect.Value, i int) { v.SetUint(uint64(c.Row(i))) })
	case reflect.Float64:
		c := new(proto.ColFloat64)
		return fieldWith(c, func(v reflect.Value) { c.Append(v.Float()) }, func(v reflect.Value, i int) { v.SetFloat(c.Row(i)) })
	case reflect.Bool:
		c := new(proto.ColBool)
		return fieldWith(c, func(v reflect.Value) { c.Append(v.Bool()) }, func(v reflect.Value, i int) { v.SetBool(c.Row(i)) })
	case reflect.Slice:
		return sliceField(of)
	}
	return field{}
}

// sliceField is a column of texts, or of lists.
func sliceField(of reflect.Type) field {
	switch of {
	case reflect.TypeFor[[]byte]():
		c := new(texts)
		return fieldWith(c, func(v reflect.Value) { c.AppendBytes(v.Bytes()) }, func(v reflect.Value, i int) { v.SetBytes([]byte(c.Row(i))) })
	case reflect.TypeFor[[]string]():
		return listField(proto.NewArray[string](new(texts)))
	case reflect.TypeFor[[]uint32]():
		return listField(proto.NewArray[uint32](new(proto.ColUInt32)))
	}
	return field{}
}

func listField[T any](c *proto.ColArr[T]) field {
	return fieldWith(c, func(v reflect.Value) { c.Append(v.Interface().([]T)) }, func(v reflect.Value, i int) { v.Set(reflect.ValueOf(c.Row(i))) })
}

func textField(c proto.ColumnOf[string]) field {
	return fieldWith(c, func(v reflect.Value) { c.Append(v.String()) }, func(v reflect.Value, i int) { v.SetString(c.Row(i)) })
}

func fieldWith(c proto.Column, put func(reflect.Value), take func(reflect.Value, int)) field {
	return field{column: column{data: c}, put: put, take: take}
}

func (b *Records[T]) columns() []column {
	columns := make([]column, len(b.fields))
	for i := range b.fields {
		columns[i] = b.fields[i].column
	}
	return columns
}

// Rows returns the number of rows.
func (b *Records[T]) Rows() int { return b.fields[0].data.Rows() }

// Append adds a row.
func (b *Records[T]) Append(row T) {
	v := reflect.ValueOf(&row).Elem()
	for _, f := range b.fields {
		f.put(v.FieldByIndex(f.index))
	}
}

// AppendTo appends the block's rows to list.
func (b *Records[T]) AppendTo(list []T) []T {
	for i := range b.Rows() {
		var row T
		v := reflect.ValueOf(&row).Elem()
		for _, f := range b.fields {
			f.take(v.FieldByIndex(f.index), i)
		}
		list = append(list, row)
	}
	return list
}

// StreamRecords are Records of a table whose first column is the stream, which T does not have.
type StreamRecords[T any] struct {
	stream *lowCardinality
	*Records[T]
}

// NewStreamRecords returns a block without rows.
func NewStreamRecords[T any]() *StreamRecords[T] {
	return &StreamRecords[T]{newLowCardinality(), NewRecords[T]()}
}

func (b *StreamRecords[T]) columns() []column {
	return append([]column{{"stream", b.stream}}, b.Records.columns()...)
}

// Append adds a row of a stream.
func (b *StreamRecords[T]) Append(stream string, row T) {
	b.stream.Append(stream)
	b.Records.Append(row)
}
