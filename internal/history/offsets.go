package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// UpdatesByOffset returns at most limit updates of a node's own stream after one offset up
// to and including another, ascending, whole. The contracts that the stream began with
// are not among them: see Imports.
func (r *Reader) UpdatesByOffset(ctx context.Context, after, through int64, limit int) ([]schemas.Update, error) {
	updates, err := r.selectUpdates(ctx, updatesByOffsetQuery, store.Params{
		"stream": store.Text(r.stream), "after": store.Int(after), "through": store.Int(through), "limit": store.Int(int64(limit)),
	})
	if err != nil {
		return nil, fmt.Errorf("reading updates after offset %d: %w", after, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	params := store.Params{
		"stream": store.Text(r.stream), "first": store.Int(updates[0].Local.Offset), "last": store.Int(updates[len(updates)-1].Local.Offset),
	}
	if err := r.hangOn(ctx, updates, eventsByOffsetQuery, params); err != nil {
		return nil, err
	}
	return updates, nil
}
