package indexer

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/last_batches.sql
var lastBatches string

//go:embed sql/intents_of_sequence.sql
var intentsOfSequence string

// journal is where one stream stands according to table batches.
type journal struct {
	sequence  int64 // of the last commit, 0 = none
	committed schemas.Position
	pending   *schemas.Intent
}

// readJournal reads the last commit and the intent that follows it, if any.
func readJournal(ctx context.Context, db *store.DB, stream string) (journal, error) {
	rows, err := selectBatches(ctx, db, lastBatches, store.Params{"stream": store.Text(stream)})
	if err != nil {
		return journal{}, fmt.Errorf("reading the journal of %s: %w", stream, err)
	}
	j := journal{committed: schemas.Start}
	for _, r := range rows {
		if r.State == store.Commit && r.Sequence > j.sequence {
			j.sequence, j.committed = r.Sequence, r.Through
		}
	}
	for _, r := range rows {
		if r.State != store.Intent || r.Sequence <= j.sequence {
			continue
		}
		if r.Sequence != j.sequence+1 || r.After != j.committed || (j.pending != nil && j.pending.Hash != r.Hash) {
			return journal{}, fmt.Errorf("%w: %w: intent %d of %s does not follow commit %d",
				schemas.ErrDiverged, errJournal, r.Sequence, stream, j.sequence)
		}
		j.pending = &schemas.Intent{Sequence: r.Sequence, After: r.After, Through: r.Through, Items: int(r.Items), Hash: r.Hash}
	}
	return j, nil
}

func insertJournal(ctx context.Context, db *store.DB, row store.BatchRow, state store.BatchState) error {
	row.State = state
	block := store.NewBatches()
	block.Append(row)
	// The writer is part of an intent's token: the intent of another writer must not
	// be dropped as a repetition, or neither would learn of the other.
	token := fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, state)
	if state == store.Intent {
		token += "/" + row.Writer + "/" + row.Hash
	}
	return db.Insert(ctx, "batches", token, block)
}

func selectBatches(ctx context.Context, db *store.DB, query string, params store.Params) ([]store.BatchRow, error) {
	var rows []store.BatchRow
	block := store.NewBatches()
	err := db.Select(ctx, query, params, block, func() error {
		rows = block.AppendTo(rows)
		return nil
	})
	return rows, err
}
