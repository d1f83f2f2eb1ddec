// Package columnar has values of ClickHouse's types in Arrow and in Parquet. It takes values as the client of package
// sqlprompt scans them, and as package store reads them.
package columnar

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// plainTypes are ClickHouse's types without parameters that Arrow has, too.
var plainTypes = map[string]arrow.DataType{
	"Bool": arrow.FixedWidthTypes.Boolean,
	"Int8": arrow.PrimitiveTypes.Int8, "Int16": arrow.PrimitiveTypes.Int16, "Int32": arrow.PrimitiveTypes.Int32, "Int64": arrow.PrimitiveTypes.Int64,
	"UInt8": arrow.PrimitiveTypes.Uint8, "UInt16": arrow.PrimitiveTypes.Uint16, "UInt32": arrow.PrimitiveTypes.Uint32, "UInt64": arrow.PrimitiveTypes.Uint64,
	"Float32": arrow.PrimitiveTypes.Float32, "Float64": arrow.PrimitiveTypes.Float64,
	"Date": arrow.FixedWidthTypes.Date32, "Date32": arrow.FixedWidthTypes.Date32,
	"DateTime": &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
}

// Field is a column, or a part of one, with a type of ClickHouse. There may be no value.
func Field(name, of string) arrow.Field {
	return arrow.Field{Name: name, Type: arrowType(of), Nullable: true}
}

// arrowType is the type in Arrow of a type in ClickHouse, such as Array(LowCardinality(String)). What Arrow has
// no type for is text: identifiers, addresses, integers of more than 64 bits, JSON.
func arrowType(name string) arrow.DataType {
	head, rest, _ := strings.Cut(name, "(")
	args := splitArguments(strings.TrimSuffix(rest, ")"))
	switch {
	case head == "Nullable" || head == "LowCardinality" || head == "SimpleAggregateFunction":
		return arrowType(args[len(args)-1])
	case head == "Array":
		return arrow.ListOf(arrowType(args[0]))
	case head == "Map":
		return arrow.MapOf(arrowType(args[0]), arrowType(args[1]))
	case head == "Tuple":
		return tupleType(args)
	case head == "DateTime64":
		return timestampType(args[0])
	case head == "DateTime":
		return plainTypes[head]
	case head == "Decimal" && len(args) == 2:
		precision, scale := number(args[0]), number(args[1])
		if precision > 38 {
			return &arrow.Decimal256Type{Precision: precision, Scale: scale}
		}
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	case plainTypes[name] != nil:
		return plainTypes[name]
	}
	return arrow.BinaryTypes.String
}

// number is one that ClickHouse wrote.
func number(text string) int32 {
	n, _ := strconv.ParseInt(text, 10, 32)
	return int32(n)
}

// timestampType holds times of at least as many digits after the second.
func timestampType(digits string) arrow.DataType {
	unit := arrow.Nanosecond
	switch d := number(digits); {
	case d == 0:
		unit = arrow.Second
	case d <= 3:
		unit = arrow.Millisecond
	case d <= 6:
		unit = arrow.Microsecond
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
}

// tupleType is a structure: elements without a name have their number, from 1, as in ClickHouse.
func tupleType(elements []string) arrow.DataType {
	fields := make([]arrow.Field, len(elements))
	for i, element := range elements {
		name, of, named := strings.Cut(element, " ")
		if !named || strings.Contains(name, "(") {
			name, of = strconv.Itoa(i+1), element
		}
		fields[i] = Field(strings.Trim(name, "`"), of)
	}
	return arrow.StructOf(fields...)
}

// splitArguments splits at the commas that are outside of parentheses and quotes.
func splitArguments(text string) (args []string) {
	depth, quoted, start := 0, false, 0
	for i, c := range []byte(text) {
		switch {
		case c == '\'' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(args, strings.TrimSpace(text[start:]))
}
