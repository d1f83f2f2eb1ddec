package journal

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Streams returns the state of all streams of a store, those derived from others included, by
// name.
func Streams(ctx context.Context, db *store.DB) ([]store.StreamRow, error) {
	rows, err := store.SelectAll(ctx, db, streamsQuery, nil, store.NewRecords[store.StreamRow]())
	if err != nil {
		return nil, fmt.Errorf("reading the state of the streams: %w", err)
	}
	return rows, nil
}

// ContractsStream names the journal of the contract lifetimes that are derived from a stream.
func ContractsStream(stream string) string { return stream + "/contracts" }

// SideStream names the stream of verdicts and their side data that became known after the
// items of a stream were stored.
func SideStream(stream string) string { return stream + "/side" }

// LookupsStream names the journal of the copies for lookups of a stream.
func LookupsStream(stream string) string { return stream + "/lookups" }

// WalletStream names the journal of what is derived from a node's stream for wallets.
func WalletStream(stream string) string { return stream + "/wallet" }
