package store

import "github.com/ClickHouse/ch-go/proto"

// Offsets are result rows: node_offset.
type Offsets struct{ offset proto.ColInt64 }

// NewOffsets returns a block without rows.
func NewOffsets() *Offsets { return new(Offsets) }

func (b *Offsets) columns() []column { return []column{{"node_offset", &b.offset}} }

// Rows returns the number of rows.
func (b *Offsets) Rows() int { return b.offset.Rows() }

// AppendTo appends the block's rows to list.
func (b *Offsets) AppendTo(list []int64) []int64 { return append(list, b.offset...) }
