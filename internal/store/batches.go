package store

import (
	"slices"

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
	// Claim is not about a batch: it says that a writer takes over the stream.
	Claim BatchState = "claim"
)

// BatchRow is one line of the writer's journal.
type BatchRow struct {
	Stream         string
	Sequence       int64
	State          BatchState
	After, Through schemas.Position
	Items, Events  uint64
	Hash, Writer   string
	// Counts are nil where they are not known.
	Counts *RowCounts
	// Epoch is that of the writer's claim: of two writers the one with the higher epoch
	// came later.
	Epoch int64
}

// RowCounts says how many rows a batch has in tables other than events. Those of a stream's own
// journal have no lifetimes, and those of the journal of lifetimes nothing else.
type RowCounts struct{ Updates, Imports, Verdicts, Parties, Lifetimes int64 }

// unknown is the count of rows that nobody knows.
const unknown = -1

// IsMark reports whether the line only says that the stream was taken back to where it begins
// and ends; see indexer.Rewind.
func (r *BatchRow) IsMark() bool { return r.State == Commit && r.After == r.Through }

// StandingIntents returns the intents among rows that count: those that are not withdrawn
// and beside which no intent of a later writer stands. A writer claims its stream before it
// reads the journal and looks for later claims after each intent and before any row. So
// an intent that a later writer did not see was either followed by no row, or by those of
// a writer that had ended; it came late and is void.
func StandingIntents(rows []BatchRow) []BatchRow {
	type key struct {
		sequence, epoch int64
		writer          string
	}
	withdrawn := make(map[key]bool)
	for _, r := range rows {
		if r.State == Withdrawn {
			withdrawn[key{r.Sequence, r.Epoch, r.Writer}] = true
		}
	}
	latest := make(map[int64]int64) // sequence -> epoch
	var intents []BatchRow
	for _, r := range rows {
		if r.State == Intent && !withdrawn[key{r.Sequence, r.Epoch, r.Writer}] {
			intents = append(intents, r)
			latest[r.Sequence] = max(latest[r.Sequence], r.Epoch)
		}
	}
	return slices.DeleteFunc(intents, func(r BatchRow) bool { return r.Epoch < latest[r.Sequence] })
}

// Batches are rows of table batches.
type Batches struct {
	stream                               *lowCardinality
	state                                proto.ColEnum
	sequence                             proto.ColInt64
	afterMigration, afterTime            proto.ColInt64
	throughMigration, throughTime        proto.ColInt64
	afterOffset, throughOffset, epoch    proto.ColInt64
	afterID, throughID, hash, writerName proto.ColStr
	items, events                        proto.ColUInt64

	updates, imports, verdicts, parties, lifetimes proto.ColInt64
}

// NewBatches returns a block without rows.
func NewBatches() *Batches { return &Batches{stream: newLowCardinality()} }

func (b *Batches) columns() []column {
	return []column{
		{"stream", b.stream}, {"sequence", &b.sequence}, {"state", &b.state},
		{"after_migration", &b.afterMigration}, {"after_time", &b.afterTime}, {"after_id", &b.afterID}, {"after_offset", &b.afterOffset},
		{"through_migration", &b.throughMigration}, {"through_time", &b.throughTime}, {"through_id", &b.throughID}, {"through_offset", &b.throughOffset},
		{"items", &b.items}, {"events", &b.events},
		{"update_rows", &b.updates}, {"import_rows", &b.imports}, {"verdict_rows", &b.verdicts}, {"party_rows", &b.parties},
		{"lifetime_rows", &b.lifetimes},
		{"hash", &b.hash}, {"writer", &b.writerName}, {"epoch", &b.epoch},
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
	c := r.Counts
	if c == nil {
		c = &RowCounts{unknown, unknown, unknown, unknown, unknown}
	}
	b.updates.Append(c.Updates)
	b.imports.Append(c.Imports)
	b.verdicts.Append(c.Verdicts)
	b.parties.Append(c.Parties)
	b.lifetimes.Append(c.Lifetimes)
	b.hash.Append(r.Hash)
	b.writerName.Append(r.Writer)
	b.epoch.Append(r.Epoch)
}

// AppendTo appends the block's rows to list.
func (b *Batches) AppendTo(list []BatchRow) []BatchRow {
	for i := range b.Rows() {
		list = append(list, BatchRow{
			Stream: b.stream.Row(i), Sequence: b.sequence.Row(i), State: BatchState(b.state.Row(i)),
			After:   position(b.afterMigration.Row(i), b.afterTime.Row(i), b.afterID.Row(i), b.afterOffset.Row(i)),
			Through: position(b.throughMigration.Row(i), b.throughTime.Row(i), b.throughID.Row(i), b.throughOffset.Row(i)),
			Items:   b.items.Row(i), Events: b.events.Row(i), Hash: b.hash.Row(i), Writer: b.writerName.Row(i), Epoch: b.epoch.Row(i),
			Counts: b.counts(i),
		})
	}
	return list
}

func (b *Batches) counts(i int) *RowCounts {
	if b.updates.Row(i) == unknown {
		return nil
	}
	return &RowCounts{b.updates.Row(i), b.imports.Row(i), b.verdicts.Row(i), b.parties.Row(i), b.lifetimes.Row(i)}
}

func position(migration, micros int64, id string, offset int64) schemas.Position {
	return schemas.Position{MigrationID: migration, RecordTime: schemas.Micros(micros), UpdateID: id, Offset: offset}
}
