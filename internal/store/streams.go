package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// StreamRow is how a stream stands according to the journal.
type StreamRow struct {
	Stream    string
	Batches   int64
	Items     uint64
	Events    uint64
	Watermark schemas.Position
	// WrittenAt is the server's clock at the last commit.
	WrittenAt schemas.Micros
}

// Streams are result rows over table batches.
type Streams struct {
	stream                  *lowCardinality
	batches                 proto.ColInt64
	items, events           proto.ColUInt64
	migration, time, offset proto.ColInt64
	id                      proto.ColStr
	writtenAt               *proto.ColDateTime64
}

// NewStreams returns a block without rows.
func NewStreams() *Streams { return &Streams{stream: newLowCardinality(), writtenAt: newTime()} }

func (b *Streams) columns() []column {
	return []column{
		{"stream", b.stream}, {"sequence", &b.batches}, {"all_items", &b.items}, {"all_events", &b.events},
		{"migration", &b.migration}, {"time", &b.time}, {"id", &b.id}, {"offset", &b.offset}, {"last_written", b.writtenAt},
	}
}

// Rows returns the number of rows.
func (b *Streams) Rows() int { return b.batches.Rows() }

// AppendTo appends the block's rows to list.
func (b *Streams) AppendTo(list []StreamRow) []StreamRow {
	for i := range b.Rows() {
		list = append(list, StreamRow{
			Stream: b.stream.Row(i), Batches: b.batches.Row(i), Items: b.items.Row(i), Events: b.events.Row(i),
			Watermark: position(b.migration.Row(i), b.time.Row(i), b.id.Row(i), b.offset.Row(i)), WrittenAt: timeAt(b.writtenAt, i),
		})
	}
	return list
}
