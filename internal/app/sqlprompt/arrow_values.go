package sqlprompt

import (
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
)

// appendValue appends a value of a row to a column, and returns how many bytes of text it has.
func appendValue(to array.Builder, v any) (size int, err error) {
	at := content(v)
	if !at.IsValid() {
		to.AppendNull()
		return 0, nil
	}
	switch to := to.(type) {
	case *array.StringBuilder:
		text, err := sqlText(at.Interface())
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
		to.Append(uint8(at.Uint()))
	case *array.Uint16Builder:
		to.Append(uint16(at.Uint()))
	case *array.Uint32Builder:
		to.Append(uint32(at.Uint()))
	case *array.Uint64Builder:
		to.Append(at.Uint())
	case *array.Float32Builder:
		to.Append(float32(at.Float()))
	case *array.Float64Builder:
		to.Append(at.Float())
	default:
		return appendTyped(to, at.Interface())
	}
	return nil
}

// coefficient is a decimal number in units of its last digit.
type coefficient interface {
	Coefficient() *big.Int
	Exponent() int32
}

// appendTyped appends a day, a time or a decimal number.
func appendTyped(to array.Builder, v any) error {
	switch v := v.(type) {
	case string: // eachRow makes days texts
		return to.AppendValueFromString(v)
	case time.Time:
		switch to := to.(type) {
		case *array.TimestampBuilder:
			at, err := arrow.TimestampFromTime(v, to.Type().(*arrow.TimestampType).Unit)
			to.Append(at)
			return err
		case *array.Date32Builder:
			to.Append(arrow.Date32FromTime(v))
			return nil
		}
	case coefficient:
		switch to := to.(type) {
		case *array.Decimal128Builder:
			to.Append(decimal128.FromBigInt(scaled(v, to.Type().(*arrow.Decimal128Type).Scale)))
			return nil
		case *array.Decimal256Builder:
			to.Append(decimal256.FromBigInt(scaled(v, to.Type().(*arrow.Decimal256Type).Scale)))
			return nil
		}
	}
	return doesNotFit(v, to.Type())
}

func doesNotFit(v any, of arrow.DataType) error {
	return fmt.Errorf("a value of type %T does not fit a column of type %s", v, of)
}

// scaled is a number in units of the digit scale after the point. The server's have no further digits.
func scaled(v coefficient, scale int32) *big.Int {
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale+v.Exponent())), nil)
	return shift.Mul(shift, v.Coefficient())
}

// twoTo is a power of two.
func twoTo(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

func appendList(to array.Builder, list reflect.Value) (size int, err error) {
	for i := range list.Len() {
		n, err := appendValue(to, list.Index(i).Interface())
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
		ofKey, err := appendValue(to.KeyBuilder(), key.Interface())
		if err != nil {
			return size, err
		}
		ofItem, err := appendValue(to.ItemBuilder(), entries.MapIndex(key).Interface())
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
		n, err := appendValue(to.FieldBuilder(i), element(tuple, i, field.Name))
		if err != nil {
			return size, err
		}
		size += n
	}
	return size, nil
}
