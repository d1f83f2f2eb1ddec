package store

import (
	"slices"

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
	Stream   string           `column:"stream,low"`
	Sequence int64            `column:"sequence"`
	State    BatchState       `column:"state,enum"`
	After    schemas.Position `column:"after_"`
	Through  schemas.Position `column:"through_"`
	Items    uint64           `column:"items"`
	Events   uint64           `column:"events"`
	Hash     string           `column:"hash"`
	Writer   string           `column:"writer"`
	// Epoch is that of the writer's claim: of two writers the one with the higher epoch
	// came later.
	Epoch int64 `column:"epoch"`
	// Counts are nil where they are not known.
	Counts *RowCounts
}

// RowCounts says how many rows a batch has in tables other than events. Those of a stream's own
// journal have no lifetimes, and those of the journal of lifetimes nothing else.
type RowCounts struct {
	Updates   int64 `column:"update_rows"`
	Imports   int64 `column:"import_rows"`
	Verdicts  int64 `column:"verdict_rows"`
	Lifetimes int64 `column:"lifetime_rows"`
	// Places are not known of batches that an earlier version wrote.
	Places int64 `column:"place_rows"`
}

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
	*Records[BatchRow]
	counts *Records[RowCounts]
}

// NewBatches returns a block without rows.
func NewBatches() *Batches { return &Batches{NewRecords[BatchRow](), NewRecords[RowCounts]()} }

func (b *Batches) columns() []column { return append(b.Records.columns(), b.counts.columns()...) }

// Append adds r.
func (b *Batches) Append(r BatchRow) {
	b.Records.Append(r)
	if r.Counts == nil {
		r.Counts = &RowCounts{unknown, unknown, unknown, unknown, unknown}
	}
	b.counts.Append(*r.Counts)
}

// AppendTo appends the block's rows to list.
func (b *Batches) AppendTo(list []BatchRow) []BatchRow {
	first := len(list)
	list = b.Records.AppendTo(list)
	for i, counts := range b.counts.AppendTo(nil) {
		if counts.Updates != unknown {
			list[first+i].Counts = &counts
		}
	}
	return list
}
