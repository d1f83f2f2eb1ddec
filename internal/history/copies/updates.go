package copies

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/node_lookup_rows.sql
var nodeLookupRowsQuery string

// NodeKey is where the copy of the update at an offset of a node's stream is in table
// node_lookup_rows. Two may have one key: pieces tell.
func NodeKey(stream string, offset int64) uint64 { return Key(stream, store.Int(offset)) }

// Updates reads updates of a node's stream out of table node_lookup_rows, by offset. It is
// safe for concurrent use.
type Updates struct{ packed }

// NewUpdates returns the copies of a stream's updates.
func NewUpdates(db *store.DB, stream string) *Updates {
	return &Updates{packed{db: db, stream: stream}}
}

// At returns the updates at some offsets, whole. Offsets without a copy are absent: their updates
// are newer than the copies, or there are none. Copies are made of committed history only, so
// that each may be shown.
func (c *Updates) At(ctx context.Context, offsets []int64) (map[int64]*schemas.Update, error) {
	found, err := c.find(ctx, offsets)
	if err != nil {
		return nil, err
	}
	updates := make(map[int64]*schemas.Update, len(found))
	for offset, f := range found {
		if f.err != nil {
			return nil, fmt.Errorf("reading the copy of the update at offset %d: %w", offset, f.err)
		}
		updates[offset] = f.update
	}
	return updates, nil
}

// foundCopy is a copy, and what it was read out of, or why it could not be read.
type foundCopy struct {
	update *schemas.Update
	piece  []byte
	err    error
}

func (c *Updates) find(ctx context.Context, offsets []int64) (map[int64]foundCopy, error) {
	keys := make([]uint64, len(offsets))
	for i, offset := range offsets {
		keys[i] = NodeKey(c.stream, offset)
	}
	bodies, err := c.bodies(ctx, nodeLookupRowsQuery, keys)
	if err != nil {
		return nil, fmt.Errorf("looking up the copies of %d updates: %w", len(offsets), err)
	}
	found := make(map[int64]foundCopy, len(offsets))
	for i, offset := range offsets {
		for _, body := range bodies[keys[i]] {
			f := c.read(ctx, body)
			if f.err != nil || f.update.Local.Offset == offset { // or another one has its key
				found[offset] = f
			}
		}
	}
	return found, nil
}

func (c *Updates) read(ctx context.Context, body []byte) (f foundCopy) {
	if f.piece, f.err = c.piece(ctx, nil, body); f.err != nil {
		return f
	}
	u, err := ReadNodePiece(f.piece)
	f.update, f.err = &u, err
	return f
}

// Rows says that copies are not counted: those of several streams may stand in the table.
func (c *Updates) Rows(context.Context) (n uint64, ok bool, err error) { return 0, false, nil }

// Compare compares the updates after one position through another with their copies, ascending.
func (c *Updates) Compare(ctx context.Context, after, through schemas.Position, each func(Compared)) error {
	if through.RecordTime == schemas.MinMicros {
		return nil // contracts that the stream began with have no copies
	}
	span := rows.Span{Stream: c.stream, After: after, Through: through}
	for {
		updates, err := rows.Updates(ctx, c.db, span, comparedAtOnce)
		if err != nil || len(updates) == 0 {
			return err
		}
		if err := c.comparePage(ctx, updates, each); err != nil || len(updates) < comparedAtOnce {
			return err
		}
		span.After = updates[len(updates)-1].Position()
	}
}

func (c *Updates) comparePage(ctx context.Context, updates []schemas.Update, each func(Compared)) error {
	offsets := make([]int64, len(updates))
	for i := range updates {
		offsets[i] = updates[i].Local.Offset
	}
	found, err := c.find(ctx, offsets)
	if err != nil {
		return err
	}
	for i := range updates {
		got := Compared{At: updates[i].Position(), State: Same}
		switch f, ok := found[offsets[i]]; {
		case !ok:
			got.State = Missing
		case f.err != nil:
			got.State, got.Err = Unreadable, f.err
		case !bytes.Equal(f.piece, AppendNodePiece(nil, &updates[i])):
			got.State = Differs
		}
		each(got)
	}
	return nil
}
