package columnar

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

// Append appends a value of a row to a column that has the type of its Field, and returns how many bytes of text
// it has.
func Append(to array.Builder, v any) (size int, err error) {
	at := content(v)
	if !at.IsValid() {
		to.AppendNull()
		return 0, nil
	}
	switch to := to.(type) {
	case *array.StringBuilder:
		text, err := Text(at.Interface())
		to.Append(text)
		return len(text), err
	case *array.ListBuilder:
		to.Append(true)
		return appendList(to.ValueBuilder(), at)
	case *array.MapBuilder:
		to.Append(true)
		return appendMap(to, at)
	case *array.StructBuilder:
		to.Append(true)
		return appendTuple(to, at)
	}
	return 0, appendScalar(to, at)
}

// content is what a value points to, invalid for NULL.
func content(v any) reflect.Value {
	at := reflect.ValueOf(v)
	for at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
		if _, whole := at.Interface().(*big.Int); whole {
			break
		}
		at = at.Elem()
	}
	return at
}

// appendScalar appends a value of a type without parts.
func appendScalar(to array.Builder, at reflect.Value) error {
	switch to := to.(type) {
	case *array.BooleanBuilder:
		to.Append(at.Bool())
	case *array.Int8Builder:
		to.Append(int8(at.Int()))
	case *array.Int16Builder:
		to.Append(int16(at.Int()))
	case *array.Int32Builder:
		to.Append(int32(at.Int()))
	case *array.Int64Builder:
		to.Append(at.Int())
	case *array.Uint8Builder:
		to.Append(uint8(unsigned(at)))
	case *array.Uint16Builder:
		to.Append(uint16(unsigned(at)))
	case *array.Uint32Builder:
		to.Append(uint32(unsigned(at)))
	case *array.Uint64Builder:
		to.Append(unsigned(at))
	case *array.Float32Builder:
		to.Append(float32(at.Float()))
	case *array.Float64Builder:
		to.Append(at.Float())
	default:
		return appendTyped(to, at.Interface())
	}
	return nil
}

// unsigned is a number that is not negative.
func unsigned(at reflect.Value) uint64 {
	if at.CanInt() {
		return uint64(at.Int())
	}
	return at.Uint()
}

// digits is a decimal number in units of its last digit.
type digits interface {
	Coefficient() *big.Int
	Exponent() int32
}

// unitsOf is a decimal number in units of the digit scale after its point. The server's have no further digits.
func unitsOf(v any, scale int32) (units *big.Int, ok bool) {
	var from int32
	switch v := v.(type) {
	case digits:
		units, from = v.Coefficient(), -v.Exponent()
	case decimal.Decimal:
		high, low, _ := v.Int128() // columns have no others
		units, from = decimal128.New(int64(high), low).BigInt(), decimal.FractionDigits
	case typed.Number:
		units, from = decimal128.New(int64(v.High), v.Low).BigInt(), int32(v.Scale)
	default:
		return nil, false
	}
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-from)), nil)
	return shift.Mul(shift, units), true
}

// appendTyped appends a day, a time or a decimal number.
func appendTyped(to array.Builder, v any) error {
	switch to := to.(type) {
	case *array.Date32Builder:
		day, err := dayOf(v)
		to.Append(day)
		return err
	case *array.TimestampBuilder:
		at, err := timeOf(v, to.Type().(*arrow.TimestampType).Unit)
		to.Append(at)
		return err
	case *array.Decimal128Builder:
		if units, ok := unitsOf(v, to.Type().(*arrow.Decimal128Type).Scale); ok {
			to.Append(decimal128.FromBigInt(units))
			return nil
		}
	case *array.Decimal256Builder:
		if units, ok := unitsOf(v, to.Type().(*arrow.Decimal256Type).Scale); ok {
			to.Append(decimal256.FromBigInt(units))
			return nil
		}
	}
	return doesNotFit(v, to.Type())
}

// dayOf is a day. Texts are such as 2026-07-01.
func dayOf(v any) (arrow.Date32, error) {
	switch v := v.(type) {
	case string:
		at, err := time.Parse(time.DateOnly, v)
		return arrow.Date32FromTime(at), err
	case time.Time:
		return arrow.Date32FromTime(v), nil
	case typed.Days:
		return arrow.Date32(v), nil
	}
	return 0, doesNotFit(v, arrow.FixedWidthTypes.Date32)
}

// timeOf is a time in a unit. Those of the store are in microseconds, as their columns are.
func timeOf(v any, unit arrow.TimeUnit) (arrow.Timestamp, error) {
	switch v := v.(type) {
	case time.Time:
		return arrow.TimestampFromTime(v, unit)
	case schemas.Micros:
		return arrow.Timestamp(v), nil
	}
	return 0, doesNotFit(v, &arrow.TimestampType{Unit: unit})
}

func doesNotFit(v any, of arrow.DataType) error {
	return fmt.Errorf("a value of type %T does not fit a column of type %s", v, of)
}

// twoTo is a power of two.
func twoTo(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

func appendList(to array.Builder, list reflect.Value) (size int, err error) {
	for i := range list.Len() {
		n, err := Append(to, list.Index(i).Interface())
		if err != nil {
			return size, err
		}
		size += n
	}
	return size, nil
}

// keysOf are the keys of a map in the order of their texts.
func keysOf(entries reflect.Value) []reflect.Value {
	keys := entries.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

func appendMap(to *array.MapBuilder, entries reflect.Value) (size int, err error) {
	for _, key := range keysOf(entries) {
		ofKey, err := Append(to.KeyBuilder(), key.Interface())
		if err != nil {
			return size, err
		}
		ofItem, err := Append(to.ItemBuilder(), entries.MapIndex(key).Interface())
		if err != nil {
			return size, err
		}
		size += ofKey + ofItem
	}
	return size, nil
}

// element is one of a tuple: those with names come as a map.
func element(tuple reflect.Value, i int, name string) any {
	if tuple.Kind() == reflect.Map {
		return tuple.MapIndex(reflect.ValueOf(name)).Interface()
	}
	return tuple.Index(i).Interface()
}

func appendTuple(to *array.StructBuilder, tuple reflect.Value) (size int, err error) {
	for i, field := range to.Type().(*arrow.StructType).Fields() {
		n, err := Append(to.FieldBuilder(i), element(tuple, i, field.Name))
		if err != nil {
			return size, err
		}
		size += n
	}
	return size, nil
}

// Text is a value as people read it; lists and maps are JSON.
func Text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.999999999Z"), nil
	case fmt.Stringer:
		return v.String(), nil
	}
	at := reflect.Indirect(reflect.ValueOf(v))
	switch at.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		text, err := json.Marshal(v)
		return string(text), err
	}
	return fmt.Sprint(at.Interface()), nil
}
