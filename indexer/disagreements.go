package indexer

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// RecordDisagreement keeps the answers that upstreams gave to one range, for people to
// look at: nothing of them is history.
func RecordDisagreement(ctx context.Context, db *store.DB, answers []store.DisagreementRow) error {
	block := store.NewDisagreements()
	for _, a := range answers {
		block.Append(a)
	}
	if err := db.Insert(ctx, "disagreements", "", block); err != nil {
		return fmt.Errorf("recording a disagreement of upstreams: %w", err)
	}
	return nil
}
