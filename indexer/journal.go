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
	for _, r := range standing(rows) {
		switch {
		case r.Sequence <= j.sequence:
			continue
		case r.Sequence != j.sequence+1 || r.After != j.committed:
			return journal{}, fmt.Errorf("%w: intent %d of %s, after %s, does not follow commit %d, through %s",
				schemas.ErrDiverged, r.Sequence, stream, r.After, j.sequence, j.committed)
		case j.pending != nil && (j.pending.Hash != r.Hash || j.pending.Through != r.Through):
			return journal{}, fmt.Errorf("%w: two processes announced other content as batch %d of %s and both ended before they could give way; delete the intents of one writer from table batches",
				schemas.ErrDiverged, r.Sequence, stream)
		}
		j.pending = &schemas.Intent{Sequence: r.Sequence, After: r.After, Through: r.Through, Items: int(r.Items), Hash: r.Hash}
	}
	return j, nil
}

// standing returns the intents among rows that are not withdrawn.
func standing(rows []store.BatchRow) []store.BatchRow {
	type key struct {
		sequence int64
		writer   string
	}
	withdrawn := make(map[key]bool)
	for _, r := range rows {
		if r.State == store.Withdrawn {
			withdrawn[key{r.Sequence, r.Writer}] = true
		}
	}
	var intents []store.BatchRow
	for _, r := range rows {
		if r.State == store.Intent && !withdrawn[key{r.Sequence, r.Writer}] {
			intents = append(intents, r)
		}
	}
	return intents
}

// announce persists an intent and makes sure that no other writer announced other
// content under the same sequence number. Of two that race, at least the later one sees
// both intents; it withdraws its own, so that the other, or a restart, can go on.
func announce(ctx context.Context, db *store.DB, row store.BatchRow) error {
	if err := insertJournal(ctx, db, row, store.Intent); err != nil {
		return fmt.Errorf("announcing batch %d of %s: %w", row.Sequence, row.Stream, err)
	}
	rows, err := selectBatches(ctx, db, intentsOfSequence, store.Params{
		"stream": store.Text(row.Stream), "sequence": store.Int(row.Sequence),
	})
	if err != nil {
		return fmt.Errorf("looking for other writers of %s: %w", row.Stream, err)
	}
	for _, other := range standing(rows) {
		if other.Writer == row.Writer || other.Hash == row.Hash && other.Through == row.Through {
			continue
		}
		if err := insertJournal(ctx, db, row, store.Withdrawn); err != nil {
			return fmt.Errorf("withdrawing batch %d of %s: %w", row.Sequence, row.Stream, err)
		}
		return fmt.Errorf("%w: another process writes %s and announced batch %d through %s; this one gives way: run only one",
			schemas.ErrDiverged, row.Stream, row.Sequence, other.Through)
	}
	return nil
}

func insertJournal(ctx context.Context, db *store.DB, row store.BatchRow, state store.BatchState) error {
	row.State = state
	block := store.NewBatches()
	block.Append(row)
	// The writer is part of an intent's token: the intent of another writer must not
	// be dropped as a repetition, or neither would learn of the other.
	token := fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, state)
	if state != store.Commit {
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
