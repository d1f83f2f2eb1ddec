package store

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// LookupRows are rows of table lookup_rows.
type LookupRows struct {
	key  proto.ColUInt64
	body proto.ColStr
}

// NewLookupRows returns a block without rows.
func NewLookupRows() *LookupRows { return &LookupRows{} }

func (b *LookupRows) columns() []column { return []column{{"key", &b.key}, {"body", &b.body}} }

// Rows returns the number of rows.
func (b *LookupRows) Rows() int { return b.key.Rows() }

// Append adds a row.
func (b *LookupRows) Append(key uint64, body []byte) {
	b.key.Append(key)
	b.body.AppendBytes(body)
}

// Each calls so with every row. Bodies stay as they are when the block changes.
func (b *LookupRows) Each(so func(key uint64, body []byte)) {
	kept := bytes.Clone(b.body.Buf)
	for i, at := range b.body.Pos {
		so(b.key.Row(i), kept[at.Start:at.End:at.End])
	}
}

// LookupDictionary is one of those that bodies refer to: a row of table lookup_dictionaries.
type LookupDictionary struct {
	ID      uint32 `column:"id"`
	Content []byte `column:"content"`
}

// Numbers is the parameter value of an Array(UInt64).
func Numbers(list []uint64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(n, 10))
	}
	b.WriteByte(']')
	return b.String()
}
