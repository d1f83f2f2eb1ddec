package reshard

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/create_notes.sql
	createNotes string
	//go:embed sql/notes.sql
	selectNotes string
	//go:embed sql/states.sql
	selectStates string
)

// The names of the table of notes, while a store is filled and afterwards.
const (
	unfinished = "reshard"
	finished   = "reshard_done"
)

// note says how far the copy of a partition is. The one without a table has the digest of the source's
// journal in Attempt.
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

// state is the name of the table of notes, "" if there is none.
func (n *notes) state(ctx context.Context) (string, error) {
	type name struct {
		Table string `column:"table_name"`
	}
	row, _, err := store.SelectOne(ctx, n.db, selectStates, nil, store.NewRecords[name]())
	if err != nil {
		return "", fmt.Errorf("looking for notes of an earlier copy: %w", err)
	}
	return row.Table, nil
}

func (n *notes) create(ctx context.Context) error {
	if err := n.db.Exec(ctx, createNotes, "", nil); err != nil {
		return fmt.Errorf("creating table %s: %w", unfinished, err)
	}
	return nil
}

// read reads the notes of the table of a name.
func (n *notes) read(ctx context.Context, from string) error {
	list, err := store.SelectAll(ctx, n.db, selectNotes, store.Params{"notes": from}, store.NewRecords[note]())
	if err != nil {
		return fmt.Errorf("reading how far the copy is: %w", err)
	}
	n.last, n.step = make(map[[2]string]note), 0
	for _, row := range list {
		n.last[[2]string{row.Table, row.Partition}], n.step = row, row.Step
	}
	return nil
}

// source is the digest of the source's journal when it was noted.
func (n *notes) source() string { return n.last[[2]string{}].Attempt }

// of is the last note of a partition; the zero value has none.
func (n *notes) of(p Partition) note { return n.last[[2]string{p.Table, p.ID}] }

func (n *notes) write(ctx context.Context, row note) error {
	n.step++
	row.Step = n.step
	block := store.NewRecords[note]()
	block.Append(row)
	if err := n.db.Insert(ctx, unfinished, "", block); err != nil {
		return fmt.Errorf("noting how far the copy is: %w", err)
	}
	n.last[[2]string{row.Table, row.Partition}] = row
	return nil
}

// restart forgets all notes: the source is another one, or has changed.
func (n *notes) restart(ctx context.Context, source string) error {
	if err := n.db.Exec(ctx, "TRUNCATE TABLE "+unfinished, "", nil); err != nil {
		return fmt.Errorf("forgetting how far the copy was: %w", err)
	}
	n.last = make(map[[2]string]note)
	return n.write(ctx, note{Attempt: source})
}

// finish lets the store be used.
func (n *notes) finish(ctx context.Context) error {
	if err := n.db.Exec(ctx, "RENAME TABLE "+unfinished+" TO "+finished, "", nil); err != nil {
		return fmt.Errorf("noting that the copy is complete: %w", err)
	}
	return nil
}
