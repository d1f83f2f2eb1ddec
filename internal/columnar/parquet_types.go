package columnar

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"
)

// group is a group of fields in their order: parquet.Group has them by name.
type group struct {
	parquet.Group
	order []parquet.Field
}

// Fields implements parquet.Node.
func (g group) Fields() []parquet.Field { return g.order }

// Group has fields, each of which may be null, in their order. Two of one name are an error.
func Group(fields []arrow.Field) (parquet.Node, error) {
	g := group{Group: make(parquet.Group, len(fields))}
	for _, field := range fields {
		if _, twice := g.Group[field.Name]; twice {
			return nil, fmt.Errorf("two columns have the name %s: give one of them another with AS", field.Name)
		}
		node, err := nodeOf(field.Type)
		if err != nil {
			return nil, err
		}
		g.Group[field.Name] = parquet.Optional(node)
	}
	byName := make(map[string]parquet.Field, len(fields))
	for _, field := range g.Group.Fields() {
		byName[field.Name()] = field
	}
	for _, field := range fields {
		g.order = append(g.order, byName[field.Name])
	}
	return g, nil
}

// nodeOf is the type in Parquet of one that arrowType returns.
func nodeOf(of arrow.DataType) (parquet.Node, error) {
	switch of := of.(type) {
	case *arrow.StructType:
		return Group(of.Fields())
	case *arrow.ListType:
		element, err := nodeOf(of.Elem())
		if err != nil {
			return nil, err
		}
		return parquet.List(parquet.Optional(element)), nil
	case *arrow.MapType:
		key, err := nodeOf(of.KeyType())
		if err != nil {
			return nil, err
		}
		item, err := nodeOf(of.ItemType())
		if err != nil {
			return nil, err
		}
		return parquet.Map(key, parquet.Optional(item)), nil
	}
	return leafOf(of), nil
}

// leafOf is the type in Parquet of values without parts.
func leafOf(of arrow.DataType) parquet.Node {
	switch of := of.(type) {
	case *arrow.TimestampType:
		return parquet.Timestamp(map[arrow.TimeUnit]parquet.TimeUnit{
			arrow.Second: parquet.Millisecond, arrow.Millisecond: parquet.Millisecond, // there are no seconds
			arrow.Microsecond: parquet.Microsecond, arrow.Nanosecond: parquet.Nanosecond,
		}[of.Unit])
	case arrow.DecimalType:
		return parquet.Decimal(int(of.GetScale()), int(of.GetPrecision()), decimalStorage(of))
	case *arrow.Date32Type:
		return parquet.Date()
	case *arrow.BooleanType:
		return parquet.Leaf(parquet.BooleanType)
	case *arrow.Float32Type:
		return parquet.Leaf(parquet.FloatType)
	case *arrow.Float64Type:
		return parquet.Leaf(parquet.DoubleType)
	case *arrow.StringType:
		return parquet.String()
	}
	bits := of.(arrow.FixedWidthDataType).BitWidth()
	if arrow.IsUnsignedInteger(of.ID()) {
		return parquet.Uint(bits)
	}
	return parquet.Int(bits)
}

// decimalStorage is the smallest type that holds a decimal number: some readers take wider ones wrongly.
func decimalStorage(of arrow.DecimalType) parquet.Type {
	switch {
	case of.GetPrecision() <= 9:
		return parquet.Int32Type
	case of.GetPrecision() <= 18:
		return parquet.Int64Type
	}
	return parquet.FixedLenByteArrayType(of.BitWidth() / 8)
}
