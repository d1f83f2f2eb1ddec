package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// repeat fetches the range of an announced batch again and writes it as one batch.
func (ing *Ingester) repeat(ctx context.Context, in *schemas.Intent) error {
	ing.migration = in.Through.MigrationID
	if err := ing.overview(ctx); err != nil {
		return err
	}
	f, err := ing.fetchRange(ctx, in.After, in.Through)
	if err != nil {
		return err
	}
	if hash := f.batch.Hash(); in.Hash != "" && hash != in.Hash {
		return fmt.Errorf("%w: %s gives %d items with hash %s, announced were %d with hash %s",
			schemas.ErrDiverged, ing.client.Upstream(), len(f.batch.Items), hash, in.Items, in.Hash)
	}
	if err := ing.write(ctx, f); err != nil {
		return err
	}
	ing.moveTo(in.Through)
	return nil
}

// fetchRange reads all of (after, through], which must lie within one track but for
// its beginning. It waits while the upstream does not reach that far.
func (ing *Ingester) fetchRange(ctx context.Context, after, through schemas.Position) (filled, error) {
	plain, kind := ing.trackOf(through)
	t := ing.patient(plain, kind)
	f := filled{batch: &schemas.Batch{Stream: ing.cfg.Stream, After: after, Through: through}}
	if after.MigrationID != through.MigrationID {
		after = schemas.Position{MigrationID: through.MigrationID, RecordTime: schemas.MinMicros}
	}
	for tries := 1; ; {
		c, err := t.fetch(ctx, after, through, fetchOptions{size: t.pages.size(), whole: true})
		if err != nil {
			return f, err
		}
		f.batch.Items = append(f.batch.Items, c.items...)
		f.bytes += c.bytes
		after = c.covered
		switch {
		case after == through || c.done && !c.end:
			return f, nil
		case c.end:
			if err := ing.wait(ctx, tries, fmt.Sprintf("the upstream ends at %s, before the unfinished batch does", after)); err != nil {
				return f, err
			}
			tries++
		}
	}
}
