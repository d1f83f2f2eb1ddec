package analytics

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query/analytics/filter"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// arrowTypes are those of values, by what filters see in them.
var arrowTypes = map[filter.Kind]arrow.DataType{
	filter.Text: arrow.BinaryTypes.String, filter.Integer: arrow.PrimitiveTypes.Int64, filter.Truth: arrow.FixedWidthTypes.Boolean,
	filter.Number: &arrow.Decimal128Type{Precision: 38, Scale: 10}, filter.Instant: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
}

// encodeArrow writes a stream of one record batch.
func encodeArrow(dst []byte, of []string, page tables.Page, _ string) ([]byte, error) {
	fields := make([]arrow.Field, len(page.Columns))
	for i, c := range page.Columns {
		as := filter.NewColumn(c.Name, c.Type)
		fields[i] = arrow.Field{Name: c.Name, Type: arrowTypes[as.Kind], Nullable: c.Nullable}
		if as.List {
			fields[i].Type = arrow.ListOfNonNullable(fields[i].Type)
		}
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for _, row := range page.Rows {
		for i, value := range row {
			appendArrow(builder.Field(i), value)
		}
	}
	batch := builder.NewRecordBatch()
	defer batch.Release()
	text := bytes.NewBuffer(dst)
	w := ipc.NewWriter(text, ipc.WithSchema(schema))
	if err := w.Write(batch); err != nil {
		return nil, fmt.Errorf("writing rows of %s as Arrow: %w", of[1], err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("ending an Arrow stream of %s: %w", of[1], err)
	}
	return text.Bytes(), nil
}

func appendArrow(to array.Builder, value any) {
	switch v := value.(type) {
	case nil:
		to.AppendNull()
	case string:
		to.(*array.StringBuilder).Append(v)
	case int64:
		to.(*array.Int64Builder).Append(v)
	case bool:
		to.(*array.BooleanBuilder).Append(v)
	case decimal.Decimal:
		high, low, _ := v.Int128()
		to.(*array.Decimal128Builder).Append(decimal128.New(int64(high), low))
	case schemas.Micros:
		to.(*array.TimestampBuilder).Append(arrow.Timestamp(v))
	case []string:
		appendArrowList(to, v)
	case []int64:
		appendArrowList(to, v)
	case []decimal.Decimal:
		appendArrowList(to, v)
	}
}

func appendArrowList[T any](to array.Builder, list []T) {
	b := to.(*array.ListBuilder)
	b.Append(true)
	for _, v := range list {
		appendArrow(b.ValueBuilder(), v)
	}
}
