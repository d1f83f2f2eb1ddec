package store

import "github.com/ClickHouse/ch-go/proto"

// Backfilled is the milestone of a stream that has reached its upstream's end once.
const Backfilled = "backfilled"

// Stopped begins the milestone of a stream that must not go on; the reason follows.
const Stopped = "stopped: "

// Names are result rows of one name each.
type Names struct{ name *lowCardinality }

// NewNames returns a block without rows.
func NewNames() *Names { return &Names{name: newLowCardinality()} }

func (b *Names) columns() []column { return []column{{"name", b.name}} }

// Rows returns the number of rows.
func (b *Names) Rows() int { return b.name.Rows() }

// Row returns the name of row i.
func (b *Names) Row(i int) string { return b.name.Row(i) }

// Count is a result row of one number.
type Count struct{ n proto.ColUInt64 }

// NewCount returns a block without rows.
func NewCount() *Count { return &Count{} }

func (b *Count) columns() []column { return []column{{"n", &b.n}} }

// Rows returns the number of rows.
func (b *Count) Rows() int { return b.n.Rows() }

// Value returns the number.
func (b *Count) Value() uint64 { return b.n.Row(0) }

// Span is a result row of two numbers, first and last.
type Span struct{ first, last proto.ColInt64 }

// NewSpan returns a block without rows.
func NewSpan() *Span { return &Span{} }

func (b *Span) columns() []column { return []column{{"first", &b.first}, {"last", &b.last}} }

// Rows returns the number of rows.
func (b *Span) Rows() int { return b.first.Rows() }

// Value returns the numbers.
func (b *Span) Value() (first, last int64) { return b.first.Row(0), b.last.Row(0) }
