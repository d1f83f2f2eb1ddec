package indexer

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// KeepFact stores a fact that differs from the one before, of which previous is the
// digest, "" for none. It can be repeated.
func KeepFact(ctx context.Context, db *store.DB, stream string, f facts.Fact, previous string) error {
	block := store.NewFacts()
	block.Append(stream, &f)
	token := fmt.Sprintf("%s/%s/%d/%s/%s", stream, f.Key, f.ValidFrom, previous, f.SHA256())
	if err := db.Insert(ctx, "network_facts", token, block); err != nil {
		return fmt.Errorf("storing fact %s: %w", f.Key, err)
	}
	return nil
}

// RecordDisagreement keeps the answers that upstreams gave to one range, for people to
// look at: nothing of them is history.
func RecordDisagreement(ctx context.Context, db *store.DB, answers []store.DisagreementRow) error {
	block := store.NewRecords[store.DisagreementRow]()
	for _, a := range answers {
		block.Append(a)
	}
	if err := db.Insert(ctx, "disagreements", "", block); err != nil {
		return fmt.Errorf("recording a disagreement of upstreams: %w", err)
	}
	return nil
}
