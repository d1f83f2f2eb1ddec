package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// TableColumn is a column of a table as the server describes it.
type TableColumn struct {
	Table string `column:"table_name"`
	Name  string `column:"column_name"`
	Type  string `column:"column_type"`
	// SortedAs is the place of the column in the sorting key of the table, from 1, 0 if it is not there.
	SortedAs uint64 `column:"sorted_as"`
	// Replaces says that the table keeps one row of those that are equal by its sorting key.
	Replaces bool `column:"replaces"`
}

// Rows of any table are held by Columns, which are made of what the server says of the table.
type Columns struct{ list []column }

// NewColumns returns columns without rows, or an error that names a type that no table has had so far.
func NewColumns(of []TableColumn) (*Columns, error) {
	b := new(Columns)
	for _, c := range of {
		data := columnOf(c.Type)
		if data == nil {
			return nil, fmt.Errorf("column %s of table %s has type %s, of which rows cannot be copied", c.Name, c.Table, c.Type)
		}
		b.list = append(b.list, column{c.Name, data})
	}
	return b, nil
}

func (b *Columns) columns() []column { return b.list }

// Rows returns the number of rows.
func (b *Columns) Rows() int { return b.list[0].data.Rows() }

// columnOf is an empty column of a type, nil if there is none.
func columnOf(name string) proto.Column {
	switch {
	case name == "String":
		return new(texts)
	case name == "LowCardinality(String)":
		return newLowCardinality()
	case name == "Int64":
		return new(proto.ColInt64)
	case name == "Int32":
		return new(proto.ColInt32)
	case name == "UInt64":
		return new(proto.ColUInt64)
	case name == "Bool":
		return new(proto.ColBool)
	case name == "DateTime64(6, 'UTC')":
		return newTime()
	case name == "Decimal(38, 10)":
		return decimals(new(proto.ColDecimal128))
	case strings.HasPrefix(name, "Enum8("):
		return new(proto.ColEnum)
	case name == "Array(String)":
		return proto.NewArray[string](new(texts))
	case name == "Array(LowCardinality(String))":
		return newParties()
	case name == "Array(Int32)":
		return proto.NewArray[int32](new(proto.ColInt32))
	case name == "Array(UInt32)":
		return proto.NewArray[uint32](new(proto.ColUInt32))
	case name == "Array(Decimal(38, 10))":
		return alias{proto.NewArray[proto.Decimal128](new(proto.ColDecimal128)), proto.ColumnType(name)}
	}
	return nil
}

// SelectPieces runs a query whose result has the columns of, and calls each with pieces of exactly
// rows rows, but for the last one: a query with a total order is cut in the same places whenever it is
// repeated. A piece may be used until each has returned for the next one.
func (db *DB) SelectPieces(ctx context.Context, query string, params Params, of []TableColumn, rows int, each func(*Columns) error) error {
	var blocks [3]*Columns
	for i := range blocks {
		var err error
		if blocks[i], err = NewColumns(of); err != nil {
			return err
		}
	}
	read, piece, next := blocks[0], blocks[1], blocks[2]
	settings := append(blocksOf(min(rows, keptRows)), ch.Setting{Key: "optimize_read_in_order", Value: "1", Important: true})
	err := db.selectInto(ctx, query, params, read, settings, func() error {
		for from := 0; from < read.Rows(); {
			to := min(read.Rows(), from+rows-piece.Rows())
			for i, c := range read.list {
				addRows(piece.list[i].data, c.data, from, to)
			}
			if from = to; piece.Rows() < rows {
				continue
			}
			if err := each(piece); err != nil {
				return err
			}
			piece, next = next, piece
			Reset(piece)
		}
		return nil
	})
	if err != nil || piece.Rows() == 0 {
		return err
	}
	return each(piece)
}

// addRows adds rows from up to to of a column to another one of its type.
func addRows(dst, src proto.Column, from, to int) {
	switch c := src.(type) {
	case *proto.ColInt64:
		addValues(dst, c, from, to)
	case *proto.ColInt32:
		addValues(dst, c, from, to)
	case *proto.ColUInt32:
		addValues(dst, c, from, to)
	case *proto.ColUInt64:
		addValues(dst, c, from, to)
	case *proto.ColBool:
		addValues(dst, c, from, to)
	case *proto.ColDecimal128:
		addValues(dst, c, from, to)
	case *proto.ColDateTime64:
		addValues(&dst.(*proto.ColDateTime64).Data, &c.Data, from, to)
	case *proto.ColEnum:
		addValues(&dst.(*proto.ColEnum).Values, &c.Values, from, to)
	case *texts:
		for row := from; row < to; row++ {
			dst.(*texts).AppendBytes(c.RowBytes(row))
		}
	case *lowCardinality:
		for row := from; row < to; row++ {
			dst.(*lowCardinality).Append(c.Row(row))
		}
	case *proto.ColArr[string]:
		addLists(dst, c, from, to)
	case *proto.ColArr[int32]:
		addLists(dst, c, from, to)
	case *proto.ColArr[uint32]:
		addLists(dst, c, from, to)
	case *proto.ColArr[proto.Decimal128]:
		addLists(dst, c, from, to)
	case alias:
		addRows(dst.(alias).Column, c.Column, from, to)
	default:
		panic(fmt.Sprintf("rows of a column of type %T cannot be added", src)) // a test adds each
	}
}

func addValues[S ~[]N, N any](dst any, src *S, from, to int) {
	list := dst.(*S)
	*list = append(*list, (*src)[from:to]...)
}

func addLists[T any](dst proto.Column, src *proto.ColArr[T], from, to int) {
	list := dst.(*proto.ColArr[T])
	if from == to {
		return
	}
	first, end := rowStart(src.Offsets, from), uint64(list.Data.Rows())
	for row := from; row < to; row++ {
		list.Offsets = append(list.Offsets, end+src.Offsets[row]-uint64(first))
	}
	addRows(list.Data, src.Data, first, int(src.Offsets[to-1]))
}

// HasType reports whether rows with a column of a type, such as "LowCardinality(String)", can be read
// into Columns.
func HasType(name string) bool { return columnOf(name) != nil }

// Value is the value of a column in a row of the current block: a string, an int64, a bool, a
// decimal.Decimal, a schemas.Micros, or a list of one of them.
func (b *Columns) Value(i, row int) any { return rowValue(b.list[i].data, row) }

func rowValue(column proto.Column, row int) any {
	switch c := column.(type) {
	case *texts:
		return c.Row(row)
	case *lowCardinality:
		return c.Row(row)
	case *proto.ColEnum:
		return c.Values[row]
	case *proto.ColInt64:
		return c.Row(row)
	case *proto.ColInt32:
		return int64(c.Row(row))
	case *proto.ColUInt64:
		return int64(c.Row(row))
	case *proto.ColBool:
		return c.Row(row)
	case *proto.ColDateTime64:
		return timeAt(c, row)
	case *proto.ColDecimal128:
		return decimalOf(c.Row(row))
	case *proto.ColArr[string]:
		return c.Row(row)
	case *proto.ColArr[int32]:
		return listOf(c.Row(row), func(v int32) int64 { return int64(v) })
	case *proto.ColArr[uint32]:
		return listOf(c.Row(row), func(v uint32) int64 { return int64(v) })
	case *proto.ColArr[proto.Decimal128]:
		return listOf(c.Row(row), decimalOf)
	case alias:
		return rowValue(c.Column, row)
	}
	panic("there is no value of column type " + string(column.Type())) // a test reads each
}

func listOf[T, V any](list []T, value func(T) V) []V {
	values := make([]V, len(list))
	for i, v := range list {
		values[i] = value(v)
	}
	return values
}

// SelectWithin is Select for a query that somebody wrote, who may not know what it takes: it may take
// so long, and so much memory of the server. IsOverBudget says of the error that it would take more.
func (db *DB) SelectWithin(ctx context.Context, query string, params Params, most time.Duration, memory int64, b Block, each func() error) error {
	return db.selectInto(ctx, query, params, b, []ch.Setting{
		{Key: "max_execution_time", Value: strconv.FormatFloat(most.Seconds(), 'f', -1, 64), Important: true},
		{Key: "max_memory_usage", Value: strconv.FormatInt(memory, 10), Important: true},
	}, each)
}

// IsOverBudget reports whether the server ended a query of SelectWithin because of what it may take.
func IsOverBudget(err error) bool {
	e, ok := ch.AsException(err)
	return ok && e.IsCode(proto.ErrTimeoutExceeded, proto.ErrMemoryLimitExceeded, proto.ErrTooSlow)
}
