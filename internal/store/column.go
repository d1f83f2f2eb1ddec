package store

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

func newParties() *proto.ColArr[string] { return proto.NewArray[string](newLowCardinality()) }

func newTime() *proto.ColDateTime64 {
	return new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro).WithLocation(time.UTC)
}

func appendTime(c *proto.ColDateTime64, m schemas.Micros) { c.AppendRaw(proto.DateTime64(m)) }

func timeAt(c *proto.ColDateTime64, i int) schemas.Micros { return schemas.Micros(c.Data[i]) }

// bytesOf copies the rows of a string column of the current block into one piece of
// memory and returns them by row.
func bytesOf(c *texts) func(i int) []byte {
	buf := append([]byte(nil), c.Buf...)
	return func(i int) []byte { p := c.Pos[i]; return buf[p.Start:p.End:p.End] }
}

// stringsOf does the same for texts.
func stringsOf(c *texts) func(i int) string {
	buf := string(c.Buf)
	return func(i int) string { p := c.Pos[i]; return buf[p.Start:p.End] }
}

// sharedText is row i without a copy: it changes when the column is read again.
func sharedText(c *texts, i int) string {
	return sharedString(c.RowBytes(i))
}

// sharedString is b as a string, for as long as b stays as it is.
func sharedString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Clamp brings m into the range of instants that the store can hold. History lies
// within it; positions at year 1 do not.
func Clamp(m schemas.Micros) schemas.Micros {
	return min(max(m, BeforeHistory), NeverArchived)
}

// partiesOf returns the rows of a column of parties of the current block. They are parts of
// what is appended to list, which is returned too, for the memory to be used again.
func partiesOf(c *proto.ColArr[string], list []string) (all []string, row func(i int) []string) {
	names := c.Data.(*lowCardinality)
	all = slices.Grow(list, names.Rows())
	for _, k := range names.keys {
		all = append(all, names.terms[k])
	}
	own := all[len(list):]
	return all, func(i int) []string { return rowOf(own, c.Offsets, i) }
}

// rowOf is row i of a list of lists of which ends are the ends, nil if it is empty or the
// column was not read.
func rowOf[T any](all []T, ends proto.ColUInt64, i int) []T {
	if len(ends) == 0 {
		return nil
	}
	start, end := rowStart(ends, i), int(ends[i])
	if start == end {
		return nil
	}
	return all[start:end:end]
}

// Numbers that do not fit do not exist on the network: sums of what it stores have at most 38
// digits, and whoever reads a number checks that it is Storable.
func decimal128(d decimal.Decimal) proto.Decimal128 {
	high, low, ok := d.Int128()
	if !ok {
		panic(fmt.Sprintf("the number %s has more digits than a Decimal(38, 10)", d))
	}
	return proto.Decimal128{High: high, Low: low}
}

func decimalOf(v proto.Decimal128) decimal.Decimal { return decimal.OfInt128(v.High, v.Low) }

// decimals is a column Decimal(38, 10).
func decimals(c *proto.ColDecimal128) proto.Column { return alias{c, coinType} }

// coinType is the type of amounts.
const coinType = "Decimal(38, 10)"

// alias is a column under the name of another type. Unlike proto.Alias it shows which column it is.
type alias struct {
	proto.Column
	name proto.ColumnType
}

// Type returns the name.
func (a alias) Type() proto.ColumnType { return a.name }

// picked are some rows of another block.
type picked struct {
	list []column
	rows int
}

func (b *picked) columns() []column { return b.list }

// Rows returns the number of rows.
func (b *picked) Rows() int { return b.rows }

// pick copies rows of a column.
func pick(from proto.Column, rows []int) proto.Column {
	switch c := from.(type) {
	case *proto.ColInt64:
		return pickNumbers(c, rows)
	case *proto.ColInt32:
		return pickNumbers(c, rows)
	case *proto.ColUInt64:
		return pickNumbers(c, rows)
	case *proto.ColBool:
		return pickNumbers(c, rows)
	case *proto.ColDecimal128:
		return pickNumbers(c, rows)
	case *proto.ColDateTime64:
		to := newTime()
		to.Data = *pickNumbers(&c.Data, rows)
		return to
	case *proto.ColEnum:
		to := new(proto.ColEnum)
		for _, row := range rows {
			to.Append(c.Row(row))
		}
		return to
	case *texts:
		return c.pick(rows)
	case *lowCardinality:
		return c.pick(rows)
	case *proto.ColArr[string]:
		return pickLists(c, rows)
	case *proto.ColArr[int32]:
		return pickLists(c, rows)
	case *proto.ColArr[proto.Decimal128]:
		return pickLists(c, rows)
	case *proto.ColDate32:
		return pickNumbers(c, rows)
	case *proto.ColUInt8:
		return pickNumbers(c, rows)
	case nullableTerms:
		to := nullableTerms{newLowCardinality()}
		for _, row := range rows {
			to.put(c.value(row))
		}
		return to
	case nullable:
		return nullable{components{pick(c.marks(), rows), pick(c.values(), rows)}}
	case *lists:
		elements, ends := elementsOf(c.ends, rows)
		to := &lists{name: c.name, ends: ends}
		for _, part := range c.components {
			to.components = append(to.components, pick(part, elements))
		}
		return to
	case alias:
		return alias{pick(c.Column, rows), c.name}
	}
	panic(fmt.Sprintf("rows of a column of type %T cannot be picked", from)) // a test splits each table
}

func pickNumbers[S ~[]N, N any](from *S, rows []int) *S {
	to := make(S, len(rows))
	for i, row := range rows {
		to[i] = (*from)[row]
	}
	return &to
}

// elementsOf are the elements of some rows of lists that have ends, and their ends among these.
func elementsOf(of proto.ColUInt64, rows []int) (elements []int, ends proto.ColUInt64) {
	elements, ends = make([]int, 0, len(rows)), make(proto.ColUInt64, len(rows))
	for i, row := range rows {
		for at := rowStart(of, row); at < int(of[row]); at++ {
			elements = append(elements, at)
		}
		ends[i] = uint64(len(elements))
	}
	return elements, ends
}

func pickLists[T any](from *proto.ColArr[T], rows []int) *proto.ColArr[T] {
	elements, ends := elementsOf(from.Offsets, rows)
	data := pick(from.Data, elements).(proto.ColumnOf[T]) // it has the type of what it was picked from
	return &proto.ColArr[T]{Offsets: ends, Data: data}
}

// pick copies rows.
func (c *texts) pick(rows []int) *texts {
	size := 0
	for _, row := range rows {
		size += c.Pos[row].End - c.Pos[row].Start
	}
	to := new(texts)
	to.Buf, to.Pos = make([]byte, 0, size), make([]proto.Position, 0, len(rows))
	for _, row := range rows {
		to.AppendBytes(c.RowBytes(row))
	}
	return to
}

// pick copies rows, and the terms that they have.
func (c *lowCardinality) pick(rows []int) *lowCardinality {
	to := newLowCardinality()
	to.keys = make([]uint32, len(rows))
	numbers := make([]uint32, len(c.terms)) // in to, plus 1
	for i, row := range rows {
		k := c.keys[row]
		if numbers[k] == 0 {
			numbers[k] = to.add(c.terms[k]) + 1
		}
		to.keys[i] = numbers[k] - 1
	}
	return to
}
