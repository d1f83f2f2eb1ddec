package indexer

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/last_batches.sql
var lastBatches string

//go:embed sql/last_claims.sql
var lastClaims string

//go:embed sql/intents_of_sequence.sql
var intentsOfSequence string

// journal is where one stream stands according to table batches.
type journal struct {
	sequence  int64 // of the last commit, 0 = none
	committed schemas.Position
	hash      string // of the last commit, or else of the intent
	pending   *schemas.Intent
	epoch     int64 // of our claim, 0 = none
}

// takeOver claims a stream and reads where it stands, in this order: what an earlier writer
// announced after the reading does not count.
func takeOver(ctx context.Context, db *store.DB, stream, writer string) (journal, error) {
	epoch, err := claim(ctx, db, stream, writer)
	if err != nil {
		return journal{}, err
	}
	j, err := readJournal(ctx, db, stream)
	j.epoch = epoch
	return j, err
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
			j.sequence, j.committed, j.hash = r.Sequence, r.Through, r.Hash
		}
	}
	for _, r := range store.StandingIntents(rows) {
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
		if j.sequence == 0 {
			j.hash = r.Hash
		}
		j.pending = &schemas.Intent{Sequence: r.Sequence, After: r.After, Through: r.Through, Items: int(r.Items), Hash: r.Hash}
	}
	return j, nil
}

// claim takes a stream over: intents of earlier writers that arrive after it do not count,
// and a writer that still lives ends when it looks for later claims. It returns the epoch
// of the claim.
func claim(ctx context.Context, db *store.DB, stream, writer string) (int64, error) {
	for {
		last, err := selectBatches(ctx, db, lastClaims, store.Params{"stream": store.Text(stream)})
		if err != nil {
			return 0, fmt.Errorf("reading who writes %s: %w", stream, err)
		}
		row := store.BatchRow{Stream: stream, Writer: writer, Epoch: 1}
		if len(last) > 0 {
			row.Epoch = last[0].Epoch + 1
		}
		if err := insertJournal(ctx, db, row, store.Claim); err != nil {
			return 0, fmt.Errorf("claiming stream %s: %w", stream, err)
		}
		claims, err := selectBatches(ctx, db, lastClaims, store.Params{"stream": store.Text(stream)})
		if err != nil {
			return 0, fmt.Errorf("reading who writes %s: %w", stream, err)
		}
		if !slices.ContainsFunc(claims, func(c store.BatchRow) bool { return c.Epoch >= row.Epoch && c.Writer != writer }) {
			return row.Epoch, nil
		}
		sleep(ctx, time.Duration(rand.Int64N(int64(100*time.Millisecond)))) // another one starts just now
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
}

// announce persists an intent and makes sure that no later writer took the stream over,
// and that no other announced other content under the same sequence number. Who finds one
// withdraws the intent and gives way.
func announce(ctx context.Context, db *store.DB, row store.BatchRow) error {
	if err := insertJournal(ctx, db, row, store.Intent); err != nil {
		return fmt.Errorf("announcing batch %d of %s: %w", row.Sequence, row.Stream, err)
	}
	rows, err := selectBatches(ctx, db, intentsOfSequence, store.Params{
		"stream": store.Text(row.Stream), "sequence": store.Int(row.Sequence), "epoch": store.Int(row.Epoch),
	})
	if err != nil {
		return fmt.Errorf("looking for other writers of %s: %w", row.Stream, err)
	}
	for _, other := range append(store.StandingIntents(rows), claimsOf(rows)...) {
		if other.Writer == row.Writer || other.State == store.Intent && other.Hash == row.Hash && other.Through == row.Through {
			continue
		}
		if err := insertJournal(ctx, db, row, store.Withdrawn); err != nil {
			return fmt.Errorf("withdrawing batch %d of %s: %w", row.Sequence, row.Stream, err)
		}
		return fmt.Errorf("%w: %s has another writer since; this one gives way before batch %d: run only one",
			schemas.ErrReplaced, row.Stream, row.Sequence)
	}
	return nil
}

func claimsOf(rows []store.BatchRow) []store.BatchRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r store.BatchRow) bool { return r.State != store.Claim })
}

func insertJournal(ctx context.Context, db *store.DB, row store.BatchRow, state store.BatchState) error {
	row.State = state
	block := store.NewBatches()
	block.Append(row)
	// The writer is part of an intent's token: the intent of another writer must not
	// be dropped as a repetition, or neither would learn of the other.
	token := fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, state)
	if state != store.Commit {
		token += fmt.Sprintf("/%s/%d/%s", row.Writer, row.Epoch, row.Hash)
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
