package node

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// repeat fetches the range of an announced batch again and writes it as one batch.
func (ing *Ingester) repeat(ctx context.Context, in *schemas.Intent) error {
	b := stream.Batch{Batch: &schemas.Batch{Stream: ing.stream, After: in.After, Through: in.Through}}
	collect := func(_ context.Context, part stream.Batch) error {
		b.Items = append(b.Items, part.Items...)
		b.Bytes += part.Bytes
		return nil
	}
	if err := ing.fetchRange(ctx, in, collect); err != nil {
		return err
	}
	asAnnounced(in.Hash, b.Batch)
	if err := stream.CheckAnnounced(in, b.Batch, ing.client.name); err != nil {
		if in.After == schemas.Start && !isImport(in.Through) && ing.pruned > 0 {
			// The batch may have been history, which is gone by now.
			return fmt.Errorf("%w; the unfinished batch of %d items with hash %s is not the contracts active at its end", ing.prunedError(in.After), in.Items, in.Hash)
		}
		return err
	}
	if err := ing.writer.Write(ctx, b); err != nil {
		return err
	}
	ing.moveTo(in.Through)
	return nil
}

// fetchRange reads all of (in.After, in.Through] in any number of parts.
func (ing *Ingester) fetchRange(ctx context.Context, in *schemas.Intent, collect func(context.Context, stream.Batch) error) error {
	ing.moveTo(in.After)
	if isImport(in.Through) || isImport(in.After) || in.After == schemas.Start && ing.pruned > 0 {
		return ing.fetchActive(ctx, in.After, in.Through, collect)
	}
	return ing.pull(ctx, in.Through.Offset, collect)
}
