package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
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

// Append adds a row with a value for each column: what Value returns of it, but numbers as typed.Units, and a
// map as a list with keys and values in turn.
func (b *Columns) Append(row []any) {
	for i, c := range b.list {
		put(c.data, row[i])
	}
}

// columnOf is an empty column of a type, nil if there is none.
func columnOf(name string) proto.Column {
	outer, inner := cutType(name)
	switch outer {
	case "String":
		return new(texts)
	case "Int64":
		return new(proto.ColInt64)
	case "Int32":
		return new(proto.ColInt32)
	case "UInt64":
		return new(proto.ColUInt64)
	case "UInt32":
		return new(proto.ColUInt32)
	case "Bool":
		return new(proto.ColBool)
	case "Date32":
		return new(proto.ColDate32)
	case "Enum8":
		return new(proto.ColEnum)
	case "Nullable":
		return newNullable(columnOf(inner))
	case "Array":
		return newLists(name, columnOf(inner))
	case "Map":
		key, value, _ := strings.Cut(inner, ", ")
		return newLists(name, columnOf(key), columnOf(value))
	}
	switch {
	case name == "LowCardinality(String)":
		return newLowCardinality()
	case name == "LowCardinality(Nullable(String))":
		return nullableTerms{newLowCardinality()}
	case name == "DateTime64(6, 'UTC')":
		return newTime()
	case outer == "Decimal" && strings.HasPrefix(inner, "38, "):
		return alias{new(proto.ColDecimal128), proto.ColumnType(name)}
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
	case *proto.ColDate32:
		addValues(dst, c, from, to)
	case *proto.ColUInt8:
		addValues(dst, c, from, to)
	case nullableTerms:
		for row := from; row < to; row++ {
			dst.(nullableTerms).put(c.value(row))
		}
	case nullable:
		for i, part := range c.components {
			addRows(dst.(nullable).components[i], part, from, to)
		}
	case *lists:
		dst.(*lists).add(c, from, to)
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

func (c *lists) add(src *lists, from, to int) {
	first, end := rowStart(src.ends, from), uint64(c.components[0].Rows())
	for row := from; row < to; row++ {
		c.ends = append(c.ends, end+src.ends[row]-uint64(first))
	}
	for i, part := range src.components {
		addRows(c.components[i], part, first, rowStart(src.ends, to))
	}
}

// HasType reports whether rows with a column of a type, such as "LowCardinality(String)", can be read
// into Columns.
func HasType(name string) bool { return columnOf(name) != nil }

// Value is the value of a column in a row of the current block: a string, an int64, a bool, a
// decimal.Decimal, a typed.Number of another scale, a typed.Days, a schemas.Micros, nil for none, an []any of
// them, or a map[string]any.
func (b *Columns) Value(i, row int) any { return valueAt(b.list[i].data, row) }

// Row are the values of all columns in a row of the current block.
func (b *Columns) Row(row int) []any {
	values := make([]any, len(b.list))
	for i := range b.list {
		values[i] = b.Value(i, row)
	}
	return values
}

func valueAt(column proto.Column, row int) any {
	switch c := column.(type) {
	case *texts:
		return c.Row(row)
	case *lowCardinality:
		return c.Row(row)
	case nullableTerms:
		return c.value(row)
	case *proto.ColEnum:
		return c.Values[row]
	case *proto.ColInt64:
		return c.Row(row)
	case *proto.ColInt32:
		return int64(c.Row(row))
	case *proto.ColUInt64:
		return int64(c.Row(row))
	case *proto.ColUInt32:
		return int64(c.Row(row))
	case *proto.ColBool:
		return c.Row(row)
	case *proto.ColDate32:
		return typed.Days((*c)[row])
	case *proto.ColDateTime64:
		return timeAt(c, row)
	case nullable:
		if (*c.marks())[row] == 1 {
			return nil
		}
		return valueAt(c.values(), row)
	case *lists:
		return c.value(row)
	case alias:
		return numberOf(c.Column.(*proto.ColDecimal128).Row(row), c.name)
	}
	panic("there is no value of column type " + string(column.Type())) // a test reads each
}

func (c *lists) value(row int) any {
	from, to := rowStart(c.ends, row), int(c.ends[row])
	if c.isMap() {
		entries := make(map[string]any, to-from)
		for at := from; at < to; at++ {
			entries[valueAt(c.components[0], at).(string)] = valueAt(c.components[1], at)
		}
		return entries
	}
	elements := make([]any, to-from)
	for i := range elements {
		elements[i] = valueAt(c.components[0], from+i)
	}
	return elements
}

// numberOf is a number of a type such as Decimal(38, 10).
func numberOf(v proto.Decimal128, name proto.ColumnType) any {
	if name == coinType {
		return decimalOf(v)
	}
	_, digits := cutType(string(name))
	scale, _ := strconv.Atoi(strings.TrimPrefix(digits, "38, ")) // columnOf has looked at it
	return typed.Number{Units: typed.Units{High: v.High, Low: v.Low}, Scale: scale}
}

// put adds a row to a column.
func put(column proto.Column, v any) {
	switch c := column.(type) {
	case *texts:
		c.Append(v.(string))
	case *lowCardinality:
		c.Append(v.(string))
	case nullableTerms:
		c.put(v)
	case *proto.ColInt64:
		c.Append(v.(int64))
	case *proto.ColInt32:
		c.Append(int32(v.(int64)))
	case *proto.ColBool:
		c.Append(v.(bool))
	case *proto.ColDate32:
		*c = append(*c, proto.Date32(v.(typed.Days)))
	case *proto.ColDateTime64:
		appendTime(c, v.(schemas.Micros))
	case nullable:
		c.put(v)
	case *lists:
		for i, element := range v.([]any) {
			put(c.components[i%len(c.components)], element)
		}
		c.end()
	case alias:
		u := v.(typed.Units)
		c.Column.(*proto.ColDecimal128).Append(proto.Decimal128{High: u.High, Low: u.Low})
	default:
		panic(fmt.Sprintf("a value cannot be added to a column of type %T", column)) // a test adds to each
	}
}

func (c nullable) put(v any) {
	if v != nil {
		c.marks().Append(0)
		put(c.values(), v)
		return
	}
	c.marks().Append(1)
	put(c.values(), typed.Zero(string(c.values().Type())))
}

// SelectWithin is Select for a query that somebody wrote, who may not know what it takes: it may take
// so long, and so much memory of the server. IsOverBudget says of the error that it would take more.
func (db *DB) SelectWithin(ctx context.Context, query string, params Params, most time.Duration, memory int64, b Block, each func() error) error {
	return db.selectInto(ctx, query, params, b, []ch.Setting{
		{Key: "max_execution_time", Value: strconv.FormatFloat(most.Seconds(), 'f', -1, 64), Important: true},
		{Key: "max_memory_usage", Value: strconv.FormatInt(memory, 10), Important: true},
	}, each)
}

// Described are the columns that a query returns, which runs with the limits of SelectAsked.
func (db *DB) Described(ctx context.Context, query string, params Params, most time.Duration, memory int64) ([]TableColumn, error) {
	b := NewRecords[describedRow]()
	var list []TableColumn
	settings := append(asked(most, memory), ch.Setting{Key: "describe_compact_output", Value: "1", Important: true})
	err := db.selectInto(ctx, "DESCRIBE TABLE (\n"+query+"\n)", params, b, settings, func() error {
		for _, row := range b.AppendTo(nil) {
			list = append(list, TableColumn{Name: row.Name, Type: row.Type})
		}
		return nil
	})
	return list, err
}

// describedRow is a column as the server describes it.
type describedRow struct {
	Name string `column:"name"`
	Type string `column:"type"`
}

// SelectAsked is SelectWithin for a query that reads whatever it wants and can change nothing.
func (db *DB) SelectAsked(ctx context.Context, query string, params Params, most time.Duration, memory int64, b Block, each func() error) error {
	return db.selectInto(ctx, query, params, b, asked(most, memory), each)
}

// asked are the settings of queries that change nothing, and of which little is known.
func asked(most time.Duration, memory int64) []ch.Setting {
	return []ch.Setting{
		{Key: "max_execution_time", Value: strconv.FormatFloat(most.Seconds(), 'f', -1, 64), Important: true},
		{Key: "max_memory_usage", Value: strconv.FormatInt(memory, 10), Important: true},
		{Key: "readonly", Value: "2", Important: true},
	}
}

// IsOverBudget reports whether the server ended a query of SelectWithin because of what it may take.
func IsOverBudget(err error) bool {
	e, ok := ch.AsException(err)
	return ok && e.IsCode(proto.ErrTimeoutExceeded, proto.ErrMemoryLimitExceeded, proto.ErrTooSlow)
}

// IsUnknownTable reports whether the server has no table that a query reads.
func IsUnknownTable(err error) bool {
	e, ok := ch.AsException(err)
	return ok && e.IsCode(proto.ErrUnknownTable)
}

// IsBadParameter reports whether the server could not read the value of a parameter as its type.
func IsBadParameter(err error) bool {
	e, ok := ch.AsException(err)
	return ok && e.IsCode(proto.ErrBadQueryParameter, proto.ErrCannotParseText, proto.ErrCannotParseNumber, proto.ErrCannotParseDate, proto.ErrCannotParseDatetime, proto.ErrCannotParseInputAssertionFailed)
}
