package history

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/journal.sql
var journalQuery string

// JournalRow is one line of the writer's journal; see store.BatchRow.
type JournalRow = store.BatchRow

// States of a journal line.
const (
	Intent    = store.Intent
	Commit    = store.Commit
	Withdrawn = store.Withdrawn
)

// Journal returns all lines of the journal of r's stream by ascending sequence number,
// a batch's intents before its commit: about 300 bytes for each batch ever written.
func (r *Reader) Journal(ctx context.Context) ([]JournalRow, error) {
	return r.journal(ctx, r.stream)
}

// ContractsJournal returns the same of the lifetimes that are derived from the stream.
func (r *Reader) ContractsJournal(ctx context.Context) ([]JournalRow, error) {
	return r.journal(ctx, r.stream+"/contracts")
}

func (r *Reader) journal(ctx context.Context, stream string) ([]JournalRow, error) {
	var rows []JournalRow
	block := store.NewBatches()
	err := r.db.Select(ctx, journalQuery, store.Params{"stream": store.Text(stream)}, block, func() error {
		rows = block.AppendTo(rows)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the journal of %s: %w", stream, err)
	}
	return rows, nil
}

// StandingIntents returns the intents among rows that count; see store.StandingIntents.
func StandingIntents(rows []JournalRow) []JournalRow { return store.StandingIntents(rows) }
