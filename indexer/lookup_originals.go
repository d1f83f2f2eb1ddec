package indexer

import (
	"context"
	"log/slog"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// copying is the memory of some copies, which later ones use again.
type copying struct {
	keys   []uint64
	pieces [][]byte
}

// begin makes room for n copies.
func (c *copying) begin(n int) {
	c.keys = c.keys[:0]
	for len(c.pieces) < n {
		c.pieces = append(c.pieces, nil)
	}
}

// add adds the next copy, which write appends to memory.
func (c *copying) add(key uint64, write func(dst []byte) []byte) {
	n := len(c.keys)
	c.keys, c.pieces[n] = append(c.keys, key), write(c.pieces[n][:0])
}

func (c *copying) made() (keys []uint64, pieces [][]byte) { return c.keys, c.pieces[:len(c.keys)] }

// items are the originals of public history.
type items struct {
	copying
	history *history.Reader
	copies  *copies.Items
	catalog *values.Catalog
	log     *slog.Logger
}

func (*items) table() string { return "lookup_rows" }

func (o *items) each(ctx context.Context, after, through schemas.Position, page func([]uint64, [][]byte) error) error {
	for rg := (history.Range{After: after, Through: through, Limit: lookupPage}); ; {
		list, err := o.history.Items(ctx, rg)
		if err != nil {
			return err
		}
		o.begin(len(list))
		for i := range list {
			key := copies.Key(o.history.Stream(), list[i].Position().UpdateID)
			o.add(key, func(dst []byte) []byte { return copies.AppendPiece(dst, &list[i], o.catalog) })
		}
		if err := page(o.made()); err != nil {
			return err
		}
		if len(list) < rg.Limit {
			return nil
		}
		rg.After = list[len(list)-1].Position()
	}
}

// warn says so where copies were made with another catalogue, which readers do not use.
func (o *items) warn(ctx context.Context, through schemas.Position) {
	found, err := o.copies.ByID(ctx, []string{through.UpdateID})
	if copied, ok := found[through.UpdateID]; err == nil && ok {
		if _, ok, err = copied.Piece(ctx, nil); err == nil && !ok {
			o.log.WarnContext(ctx, "lookup copies were made with another template catalogue and are not used: make them again", "through", through)
		}
	}
	if err != nil {
		o.log.WarnContext(ctx, "lookup copies cannot be read", "err", err)
	}
}

// nodeUpdates are the originals of a node's stream.
type nodeUpdates struct {
	copying
	history *nodehistory.Reader
}

func (*nodeUpdates) table() string { return "node_lookup_rows" }

func (o *nodeUpdates) each(ctx context.Context, after, through schemas.Position, page func([]uint64, [][]byte) error) error {
	return o.history.EachUpdatePage(ctx, after.Offset, through.Offset, lookupPage, func(updates []schemas.Update) error {
		o.begin(len(updates))
		for i := range updates {
			key := copies.NodeKey(o.history.Stream(), updates[i].Local.Offset)
			o.add(key, func(dst []byte) []byte { return copies.AppendNodePiece(dst, &updates[i]) })
		}
		return page(o.made())
	})
}

// warn has nothing to say: an update of a node's stream is copied as it is stored.
func (*nodeUpdates) warn(context.Context, schemas.Position) {}
