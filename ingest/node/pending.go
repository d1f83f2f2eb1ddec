package node

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// repeat fetches the range of an announced batch again and writes it as one batch.
func (ing *Ingester) repeat(ctx context.Context, in *schemas.Intent) error {
	f := filled{batch: &schemas.Batch{Stream: ing.stream, After: in.After, Through: in.Through}}
	collect := func(_ context.Context, part filled) error {
		f.batch.Items = append(f.batch.Items, part.batch.Items...)
		f.bytes += part.bytes
		return nil
	}
	if err := ing.fetchRange(ctx, in, collect); err != nil {
		return err
	}
	if hash := store.HashBatch(f.batch); in.Hash != "" && hash != in.Hash {
		if in.After == schemas.Start && !isImport(in.Through) && ing.pruned > 0 {
			// The batch may have been history, which is gone by now.
			return fmt.Errorf("%w; its %d items with hash %s were not contracts active at its end", ing.prunedError(in.After), in.Items, in.Hash)
		}
		return fmt.Errorf("%w: %s gives %d items with hash %s, announced were %d with hash %s",
			schemas.ErrDiverged, ing.client.name, len(f.batch.Items), hash, in.Items, in.Hash)
	}
	if err := ing.write(ctx, f); err != nil {
		return err
	}
	ing.moveTo(in.Through)
	return nil
}

// fetchRange reads all of (in.After, in.Through] in any number of parts.
func (ing *Ingester) fetchRange(ctx context.Context, in *schemas.Intent, collect func(context.Context, filled) error) error {
	ing.moveTo(in.After)
	if isImport(in.Through) || isImport(in.After) || in.After == schemas.Start && ing.pruned > 0 {
		return ing.fetchActive(ctx, in.After, in.Through, collect)
	}
	return ing.pull(ctx, in.Through.Offset, collect)
}
