package reshard

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/notes.sql
	selectNotes string
	//go:embed sql/has_notes.sql
	hasNotes string
)

// note says how far the copy of a partition is. The one without a table has the digest of the source's
// journal in Attempt, and is Done when all is.
type note struct {
	Step      uint64 `column:"step"`
	Table     string `column:"table_name"`
	Partition string `column:"partition_id"`
	// Attempt is part of the tokens of all pieces.
	Attempt string `column:"attempt"`
	// Copied are the rows that were copied from shard Shard of the source, counted from 0, in pieces of
	// PieceRows; of the shards before it all were. Of a partition that is Done it is the number of all its
	// rows.
	Shard     int64 `column:"source_shard"`
	Copied    int64 `column:"copied"`
	PieceRows int64 `column:"piece_rows"`
	Done      bool  `column:"done"`
}

// notes are those of the target.
type notes struct {
	db   *store.DB // the first shard
	last map[[2]string]note
	step uint64
}

// exist reports whether a copy was begun.
func (n *notes) exist(ctx context.Context) (bool, error) {
	tables, _, err := store.SelectOne(ctx, n.db, hasNotes, nil, store.NewRecords[store.Count]())
	if err != nil {
		return false, fmt.Errorf("looking for notes of an earlier copy: %w", err)
	}
	return tables.N > 0, nil
}

func (n *notes) read(ctx context.Context) error {
	list, err := store.SelectAll(ctx, n.db, selectNotes, nil, store.NewRecords[note]())
	if err != nil {
		return fmt.Errorf("reading how far the copy is: %w", err)
	}
	n.last, n.step = make(map[[2]string]note), 0
	for _, row := range list {
		n.last[[2]string{row.Table, row.Partition}], n.step = row, row.Step
	}
	return nil
}

// source is the digest of the source's journal when it was noted, and whether all is copied.
func (n *notes) source() (digest string, complete bool) {
	row := n.last[[2]string{}]
	return row.Attempt, row.Done
}

// of is the last note of a partition; the zero value has none.
func (n *notes) of(p Partition) note { return n.last[[2]string{p.Table, p.ID}] }

func (n *notes) write(ctx context.Context, row note) error {
	n.step++
	row.Step = n.step
	block := store.NewRecords[note]()
	block.Append(row)
	if err := n.db.Insert(ctx, "reshard", "", block); err != nil {
		return fmt.Errorf("noting how far the copy is: %w", err)
	}
	n.last[[2]string{row.Table, row.Partition}] = row
	return nil
}

// restart forgets all notes: the source is another one, or has changed.
func (n *notes) restart(ctx context.Context, source string) error {
	if err := n.db.Exec(ctx, "TRUNCATE TABLE reshard", "", nil); err != nil {
		return fmt.Errorf("forgetting how far the copy was: %w", err)
	}
	n.last = make(map[[2]string]note)
	return n.write(ctx, note{Attempt: source})
}

// finish lets the store be used.
func (n *notes) finish(ctx context.Context) error {
	row := n.last[[2]string{}]
	row.Done = true
	return n.write(ctx, row)
}
