package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// BatchState says how far a batch has come.
type BatchState string

// A batch is announced by an intent and finished by a commit. An intent is withdrawn
// when its writer gave way to another one before it wrote any row.
const (
	Intent    BatchState = "intent"
	Commit    BatchState = "commit"
	Withdrawn BatchState = "withdrawn"
)

// BatchRow is one line of the writer's journal.
type BatchRow struct {
	Stream         string
	Sequence       int64
	State          BatchState
	After, Through schemas.Position
	Items, Events  uint64
	Hash, Writer   string
}

// Batches are rows of table batches.
type Batches struct {
	stream                               *lowCardinality
	state                                proto.ColEnum
	sequence                             proto.ColInt64
	afterMigration, afterTime            proto.ColInt64
	throughMigration, throughTime        proto.ColInt64
	afterOffset, throughOffset           proto.ColInt64
	afterID, throughID, hash, writerName proto.ColStr
	items, events                        proto.ColUInt64
}

// NewBatches returns a block without rows.
func NewBatches() *Batches { return &Batches{stream: newLowCardinality()} }

func (b *Batches) columns() []column {
	return []column{
		{"stream", b.stream}, {"sequence", &b.sequence}, {"state", &b.state},
		{"after_migration", &b.afterMigration}, {"after_time", &b.afterTime}, {"after_id", &b.afterID}, {"after_offset", &b.afterOffset},
		{"through_migration", &b.throughMigration}, {"through_time", &b.throughTime}, {"through_id", &b.throughID}, {"through_offset", &b.throughOffset},
		{"items", &b.items}, {"events", &b.events}, {"hash", &b.hash}, {"writer", &b.writerName},
	}
}

// Rows returns the number of rows.
func (b *Batches) Rows() int { return b.sequence.Rows() }

// Append adds r.
func (b *Batches) Append(r BatchRow) {
	b.stream.Append(r.Stream)
	b.sequence.Append(r.Sequence)
	b.state.Append(string(r.State))
	b.afterMigration.Append(r.After.MigrationID)
	b.afterTime.Append(int64(r.After.RecordTime))
	b.afterID.Append(r.After.UpdateID)
	b.afterOffset.Append(r.After.Offset)
	b.throughMigration.Append(r.Through.MigrationID)
	b.throughTime.Append(int64(r.Through.RecordTime))
	b.throughID.Append(r.Through.UpdateID)
	b.throughOffset.Append(r.Through.Offset)
	b.items.Append(r.Items)
	b.events.Append(r.Events)
	b.hash.Append(r.Hash)
	b.writerName.Append(r.Writer)
}

// AppendTo appends the block's rows to list.
func (b *Batches) AppendTo(list []BatchRow) []BatchRow {
	for i := range b.Rows() {
		list = append(list, BatchRow{
			Stream: b.stream.Row(i), Sequence: b.sequence.Row(i), State: BatchState(b.state.Row(i)),
			After:   position(b.afterMigration.Row(i), b.afterTime.Row(i), b.afterID.Row(i), b.afterOffset.Row(i)),
			Through: position(b.throughMigration.Row(i), b.throughTime.Row(i), b.throughID.Row(i), b.throughOffset.Row(i)),
			Items:   b.items.Row(i), Events: b.events.Row(i), Hash: b.hash.Row(i), Writer: b.writerName.Row(i),
		})
	}
	return list
}

func position(migration, micros int64, id string, offset int64) schemas.Position {
	return schemas.Position{MigrationID: migration, RecordTime: schemas.Micros(micros), UpdateID: id, Offset: offset}
}
