package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// dictionary is the index of a low-cardinality column that makes each distinct
// string of a block once, where proto.ColStr would make one per row.
type dictionary struct {
	proto.ColStr
	values []string
}

// DecodeColumn reads the index and makes its strings.
func (d *dictionary) DecodeColumn(r *proto.Reader, rows int) error {
	if err := d.ColStr.DecodeColumn(r, rows); err != nil {
		return err
	}
	d.values = d.values[:0]
	for i := range rows {
		d.values = append(d.values, d.ColStr.Row(i))
	}
	return nil
}

// Row returns the i-th distinct string of the last decoded block.
func (d *dictionary) Row(i int) string { return d.values[i] }

type lowCardinality = proto.ColLowCardinality[string]

func newLowCardinality() *lowCardinality { return proto.NewLowCardinality[string](&dictionary{}) }

func newParties() *proto.ColArr[string] { return proto.NewArray[string](newLowCardinality()) }

func newTime() *proto.ColDateTime64 {
	return new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro).WithLocation(time.UTC)
}

func appendTime(c *proto.ColDateTime64, m schemas.Micros) { c.AppendRaw(proto.DateTime64(m)) }

func timeAt(c *proto.ColDateTime64, i int) schemas.Micros { return schemas.Micros(c.Data[i]) }

// bytesOf copies the rows of a string column of the current block into one piece of
// memory and returns them by row.
func bytesOf(c *proto.ColStr) func(i int) []byte {
	buf := append([]byte(nil), c.Buf...)
	return func(i int) []byte { p := c.Pos[i]; return buf[p.Start:p.End:p.End] }
}

// stringsOf does the same for texts.
func stringsOf(c *proto.ColStr) func(i int) string {
	buf := string(c.Buf)
	return func(i int) string { p := c.Pos[i]; return buf[p.Start:p.End] }
}

// Clamp brings m into the range of instants that the store can hold. History lies
// within it; positions at year 1 do not.
func Clamp(m schemas.Micros) schemas.Micros {
	return min(max(m, BeforeHistory), NeverArchived)
}
