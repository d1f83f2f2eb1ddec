package reshard

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// attempts is how often a partition is copied whose rows turn out to be others than the source's.
const attempts = 2

// move has the target have the rows of a partition of the source.
func (r *Reshard) move(ctx context.Context, t *table, p Partition) error {
	n := r.notes.of(p)
	if n.Attempt == "" { // a copy of an earlier state of the source may still be right
		have, err := t.digest(ctx, r.cfg.Target, p.ID)
		if err != nil {
			return err
		}
		if have.Rows > 0 {
			if want, err := t.digest(ctx, r.cfg.Source, p.ID); err != nil {
				return err
			} else if have == want {
				return r.done(ctx, p, n, have)
			}
		}
	}
	for try := 1; ; try++ {
		if n.Attempt == "" {
			if err := r.drop(ctx, p); err != nil {
				return err
			}
			n = note{Table: p.Table, Partition: p.ID, Attempt: uuid.NewString(), PieceRows: r.pieceRows(p)}
			if err := r.notes.write(ctx, n); err != nil {
				return err
			}
		}
		if err := r.copy(ctx, t, n); err != nil {
			return fmt.Errorf("copying partition %s of table %s: %w", p.ID, p.Table, err)
		}
		want, err := t.digest(ctx, r.cfg.Source, p.ID)
		if err != nil {
			return err
		}
		have, err := t.digest(ctx, r.cfg.Target, p.ID)
		if err != nil {
			return err
		}
		if have == want {
			return r.done(ctx, p, n, have)
		}
		if try == attempts {
			return fmt.Errorf("partition %s of table %s was copied %d times, and has %s where the source has %s: make sure that nothing writes to the source, and check it with ledgerlake verify; then run reshard again", p.ID, p.Table, try, have, want)
		}
		r.cfg.Log.WarnContext(ctx, "a partition differs from the source's and is copied again", "table", p.Table, "partition", p.ID, "rows", have.Rows, "rows_of_source", want.Rows)
		n = note{}
	}
}

// done notes that a partition is complete.
func (r *Reshard) done(ctx context.Context, p Partition, n note, have digest) error {
	if err := r.at(atNote); err != nil {
		return err
	}
	n.Table, n.Partition, n.Done, n.Copied = p.Table, p.ID, true, int64(have.Rows)
	if n.Attempt != "" {
		r.result.Copied++
	}
	return r.notes.write(ctx, n)
}

// pieceRows is how many rows of a partition are copied at a time.
func (r *Reshard) pieceRows(p Partition) int64 {
	size := max(p.Size/max(p.Rows, 1), 1)
	return int64(min(max(r.cfg.PieceBytes/size, 1), r.cfg.PieceRows))
}

// drop removes what the target has of a partition.
func (r *Reshard) drop(ctx context.Context, p Partition) error {
	statement := fmt.Sprintf("ALTER TABLE %s DROP PARTITION ID '%s' SETTINGS max_partition_size_to_drop = 0", p.Table, p.ID)
	if err := r.cfg.Target.Change(ctx, p.Table, statement, "", nil); err != nil {
		return fmt.Errorf("dropping partition %s of table %s of the target: %w", p.ID, p.Table, err)
	}
	return nil
}

// copy copies what is left of a partition.
func (r *Reshard) copy(ctx context.Context, t *table, n note) error {
	for shards := r.cfg.Source.Shards(); int(n.Shard) < len(shards); n.Shard, n.Copied = n.Shard+1, 0 {
		if err := r.copyFrom(ctx, shards[n.Shard], t, &n); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom copies from one shard of the source. One piece is read while the one before is written.
func (r *Reshard) copyFrom(ctx context.Context, from *store.DB, t *table, n *note) error {
	pieces := make(chan *store.Columns)
	params := store.Params{"partition": store.Text(n.Partition), "offset": store.Int(n.Copied)}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error {
		defer close(pieces)
		return from.SelectPieces(ctx, t.rowsQuery(), params, t.columns, int(n.PieceRows), func(piece *store.Columns) error {
			select {
			case pieces <- piece:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error {
		for piece := range pieces {
			if err := r.write(ctx, n, piece); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// write inserts a piece and notes it.
func (r *Reshard) write(ctx context.Context, n *note, piece *store.Columns) error {
	token := fmt.Sprintf("reshard/%s/%s/%d/%d", n.Partition, n.Attempt, n.Shard, n.Copied)
	if err := r.cfg.Target.Insert(ctx, n.Table, token, piece); err != nil {
		return err
	}
	if err := r.at(atInsert); err != nil {
		return err
	}
	n.Copied += int64(piece.Rows())
	r.progress.Rows += uint64(piece.Rows())
	r.cfg.Report(r.progress)
	return r.notes.write(ctx, *n)
}
