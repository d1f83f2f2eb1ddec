package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Streams tells how all streams of a store stand, those derived from others included, by
// name.
func Streams(ctx context.Context, db *store.DB) ([]store.StreamRow, error) {
	var rows []store.StreamRow
	block := store.NewStreams()
	err := db.Select(ctx, streamsQuery, nil, block, func() error {
		rows = block.AppendTo(rows)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading how the streams stand: %w", err)
	}
	return rows, nil
}
