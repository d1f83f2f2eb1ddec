// Package journal keeps the record of what was announced and committed of each stream, in
// table batches, and follows streams in ranges that are recorded there as well. What is
// announced without a commit is repeated; two writers of one stream never both continue.
package journal

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/last_batches.sql
var lastBatches string

//go:embed sql/last_claims.sql
var lastClaims string

//go:embed sql/intents_of_sequence.sql
var intentsOfSequence string

// State is the position of one stream according to table batches.
type State struct {
	Sequence  int64 // of the last commit, 0 = none
	Committed schemas.Position
	Hash      string // of the last commit, or else of the intent
	Pending   *schemas.Intent
	Epoch     int64 // of our claim, 0 = none
}

// TakeOver claims a stream and reads its position, in this order: what an earlier writer
// announced after the reading does not count.
func TakeOver(ctx context.Context, db *store.DB, stream, writer string) (State, error) {
	epoch, err := Claim(ctx, db, stream, writer)
	if err != nil {
		return State{}, err
	}
	j, err := read(ctx, db, stream)
	j.Epoch = epoch
	if err == nil {
		db.CommittedHere(stream)
	}
	return j, err
}

// read reads the last commit and the intent that follows it, if any.
func read(ctx context.Context, db *store.DB, stream string) (State, error) {
	rows, err := selectBatches(ctx, db, lastBatches, store.Params{"stream": store.Text(stream)})
	if err != nil {
		return State{}, fmt.Errorf("reading the journal of %s: %w", stream, err)
	}
	j := State{Committed: schemas.Start}
	for _, r := range rows {
		if r.State == store.Commit && r.Sequence > j.Sequence {
			j.Sequence, j.Committed, j.Hash = r.Sequence, r.Through, r.Hash
		}
	}
	for _, r := range store.StandingIntents(rows) {
		switch {
		case r.Sequence <= j.Sequence:
			continue
		case r.Sequence != j.Sequence+1 || r.After != j.Committed:
			return State{}, fmt.Errorf("%w: intent %d of %s, after %s, does not follow commit %d, through %s",
				schemas.ErrDiverged, r.Sequence, stream, r.After, j.Sequence, j.Committed)
		case j.Pending != nil && (j.Pending.Hash != r.Hash || j.Pending.Through != r.Through):
			return State{}, fmt.Errorf("%w: two processes announced different content as batch %d of %s and both ended before they could step down; delete the intents of one writer from table batches",
				schemas.ErrDiverged, r.Sequence, stream)
		}
		if j.Sequence == 0 {
			j.Hash = r.Hash
		}
		j.Pending = &schemas.Intent{Sequence: r.Sequence, After: r.After, Through: r.Through, Items: int(r.Items), Hash: r.Hash}
	}
	return j, nil
}

// Claim takes a stream over: intents of earlier writers that arrive after it do not count,
// and a writer that still lives ends when it looks for later claims. It returns the epoch
// of the claim.
func Claim(ctx context.Context, db *store.DB, stream, writer string) (int64, error) {
	for {
		last, err := selectBatches(ctx, db, lastClaims, store.Params{"stream": store.Text(stream)})
		if err != nil {
			return 0, fmt.Errorf("reading the writer of %s: %w", stream, err)
		}
		row := store.BatchRow{Stream: stream, Writer: writer, Epoch: 1}
		if len(last) > 0 {
			row.Epoch = last[0].Epoch + 1
		}
		if err := Insert(ctx, db, row, store.Claim); err != nil {
			return 0, fmt.Errorf("claiming stream %s: %w", stream, err)
		}
		claims, err := selectBatches(ctx, db, lastClaims, store.Params{"stream": store.Text(stream)})
		if err != nil {
			return 0, fmt.Errorf("reading the writer of %s: %w", stream, err)
		}
		if !slices.ContainsFunc(claims, func(c store.BatchRow) bool { return c.Epoch >= row.Epoch && c.Writer != writer }) {
			return row.Epoch, nil
		}
		_ = remote.Sleep(ctx, rand.N(100*time.Millisecond)) // another one starts just now
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
}

// Announce persists an intent and makes sure that no later writer took the stream over,
// and that no other announced other content under the same sequence number. Who finds one
// withdraws the intent and steps down.
func Announce(ctx context.Context, db *store.DB, row store.BatchRow) error {
	if err := Insert(ctx, db, row, store.Intent); err != nil {
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
		if err := Insert(ctx, db, row, store.Withdrawn); err != nil {
			return fmt.Errorf("withdrawing batch %d of %s: %w", row.Sequence, row.Stream, err)
		}
		return fmt.Errorf("%w: it has claimed %s since; this one steps down before batch %d: run only one",
			schemas.ErrReplaced, row.Stream, row.Sequence)
	}
	return nil
}

func claimsOf(rows []store.BatchRow) []store.BatchRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r store.BatchRow) bool { return r.State != store.Claim })
}

// Insert records a batch or range in a state. It is safe to repeat.
func Insert(ctx context.Context, db *store.DB, row store.BatchRow, state store.BatchState) error {
	row.State = state
	block := store.NewBatches()
	block.Append(row)
	// The writer is part of an intent's token: the intent of another writer must not
	// be dropped as a repetition, or neither would learn of the other.
	token := fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, state)
	if state != store.Commit {
		token += fmt.Sprintf("/%s/%d/%s", row.Writer, row.Epoch, row.Hash)
	}
	if err := db.Insert(ctx, "batches", token, block); err != nil {
		return err
	}
	if state == store.Commit {
		db.Committed(row)
	}
	return nil
}

func selectBatches(ctx context.Context, db *store.DB, query string, params store.Params) ([]store.BatchRow, error) {
	return store.SelectAll(ctx, db.First(), query, params, store.NewBatches())
}
