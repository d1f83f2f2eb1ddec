package indexer

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/set_milestone.sql
var setMilestone string

// SetBackfilled records that a stream has reached its upstream's end once. Readers
// answer pages of history from then on.
func SetBackfilled(ctx context.Context, db *store.DB, stream string) error {
	params := store.Params{"stream": store.Text(stream), "name": store.Text(store.Backfilled)}
	if err := db.Exec(ctx, setMilestone, stream+"/"+store.Backfilled, params); err != nil {
		return fmt.Errorf("recording that %s is backfilled: %w", stream, err)
	}
	return nil
}
