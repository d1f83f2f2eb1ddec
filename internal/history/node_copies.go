package history

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/node_lookup_rows.sql
var nodeLookupRowsQuery string

// NodeCopies reads updates of a node's stream out of table node_lookup_rows, by offset. It is
// safe for concurrent use.
type NodeCopies struct{ packed }

// NewNodeCopies returns the copies of a stream's updates.
func NewNodeCopies(db *store.DB, stream string) *NodeCopies {
	return &NodeCopies{packed{db: db, stream: stream}}
}

// UseCopies has updates that are read by their offsets looked up in copies first. It must be
// called before anything is read.
func (r *Reader) UseCopies(c *NodeCopies) { r.copies = c }

// At returns the updates at some offsets, whole. Offsets without a copy are absent: their updates
// are newer than the copies, or there are none. Copies are made of committed history only, so
// that each may be shown.
func (c *NodeCopies) At(ctx context.Context, offsets []int64) (map[int64]*schemas.Update, error) {
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

func (c *NodeCopies) find(ctx context.Context, offsets []int64) (map[int64]foundCopy, error) {
	keys := make([]uint64, len(offsets))
	for i, offset := range offsets {
		keys[i] = store.NodeLookupKey(c.stream, offset)
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

func (c *NodeCopies) read(ctx context.Context, body []byte) (f foundCopy) {
	if f.piece, f.err = c.piece(ctx, nil, body); f.err != nil {
		return f
	}
	u, err := store.ReadNodePiece(f.piece)
	f.update, f.err = &u, err
	return f
}

// ledgerAt reads the updates at ascending offsets, whole, in either direction: those that have a
// copy there, the others out of the tables of history.
func (r *Reader) ledgerAt(ctx context.Context, offsets []int64, descending bool) ([]schemas.Update, error) {
	if r.copies == nil || len(offsets) == 0 {
		return r.storedAt(ctx, offsets, descending)
	}
	copied, err := r.copies.At(ctx, offsets)
	if err != nil {
		return nil, err
	}
	var missing []int64
	for _, offset := range offsets {
		if copied[offset] == nil {
			missing = append(missing, offset)
		}
	}
	stored, err := r.storedAt(ctx, missing, false)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		copied[stored[i].Local.Offset] = &stored[i]
	}
	updates := make([]schemas.Update, 0, len(copied))
	for _, offset := range offsets {
		if u := copied[offset]; u != nil {
			updates = append(updates, *u)
		}
	}
	if descending {
		slices.Reverse(updates)
	}
	return updates, nil
}

// Rows says that copies are not counted: those of several streams may stand in the table.
func (c *NodeCopies) Rows(context.Context) (n uint64, ok bool, err error) { return 0, false, nil }

// Compare compares the updates after one position through another with their copies, ascending.
func (c *NodeCopies) Compare(ctx context.Context, after, through schemas.Position, each func(ComparedCopy)) error {
	if through.RecordTime == schemas.MinMicros {
		return nil // contracts that the stream began with have no copies
	}
	return NewReader(c.db, c.stream).EachUpdatePage(ctx, after.Offset, through.Offset, comparedAtOnce, func(updates []schemas.Update) error {
		return c.comparePage(ctx, updates, each)
	})
}

func (c *NodeCopies) comparePage(ctx context.Context, updates []schemas.Update, each func(ComparedCopy)) error {
	offsets := make([]int64, len(updates))
	for i := range updates {
		offsets[i] = updates[i].Local.Offset
	}
	found, err := c.find(ctx, offsets)
	if err != nil {
		return err
	}
	for i := range updates {
		got := ComparedCopy{At: updates[i].Position(), State: CopySame}
		switch f, ok := found[offsets[i]]; {
		case !ok:
			got.State = CopyMissing
		case f.err != nil:
			got.State, got.Err = CopyUnreadable, f.err
		case !bytes.Equal(f.piece, store.AppendNodePiece(nil, &updates[i])):
			got.State = CopyDiffers
		}
		each(got)
	}
	return nil
}
