package stream

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Sink stores batches. An ingester calls it from one goroutine at a time.
type Sink interface {
	// Resume returns the position of a stream, schemas.Start for one without history, and
	// the batch that was announced but perhaps not written in full.
	Resume(ctx context.Context, stream string) (schemas.Resume, error)
	// Write stores the batch, or finds that it is stored already. The batch follows the
	// one before without a gap. One of a node's stream may have no items, when only the
	// position moves. An error for which schemas.NeedsPerson is true stops the ingester;
	// after any other error the same batch is written again.
	Write(ctx context.Context, b *schemas.Batch) error
}

// CheckAnnounced compares a batch that was fetched again from an upstream with its
// announcement. If they differ the error wraps schemas.ErrDiverged. An announcement
// without a hash matches every batch.
func CheckAnnounced(in *schemas.Intent, b *schemas.Batch, upstream string) error {
	hash := store.HashBatch(b)
	if in.Hash == "" || hash == in.Hash {
		return nil
	}
	return fmt.Errorf("%w: %s returns %d items with hash %s, but %d with hash %s were announced",
		schemas.ErrDiverged, upstream, len(b.Items), hash, in.Items, in.Hash)
}

// HashUpdate is the content hash of one update, without side data.
func HashUpdate(u *schemas.Update) string {
	b := schemas.Batch{Items: []schemas.Item{{Update: u}}}
	return b.Hash()
}
