package journal

import (
	"context"
	"fmt"
	"strings"

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

// RollupsStream names the journal of what sums a stream up by hours.
func RollupsStream(stream string) string { return stream + "/rollups" }

// LookupsStream names the journal of the copies for lookups of a stream.
func LookupsStream(stream string) string { return stream + "/lookups" }

// WalletStream names the journal of what is derived from a node's stream for wallets.
func WalletStream(stream string) string { return stream + "/wallet" }

// MovementsStream names the journal of the movements of holdings that are derived from a stream.
func MovementsStream(stream string) string { return stream + "/movements" }

// TypedStream names the journal of the typed tables that are derived from a stream. Those that are being
// filled have journals of their own, whose names begin with it.
func TypedStream(stream string) string { return stream + "/typed" }

// TypedFill names the journal of typed tables that are being filled together.
func TypedFill(stream string, fill int64) string {
	return fmt.Sprintf("%s/%d", TypedStream(stream), fill)
}

// TypedJoined begins the names of milestones of fills that have joined what is derived live; the number of the fill
// follows.
const TypedJoined = "typed tables of "

// PlacesStream names the journal by which places are filled of a stream that an earlier version wrote.
func PlacesStream(stream string) string { return stream + "/places" }

// IsDerived reports whether a journal is of something that is derived from a stream in the store. Late
// verdicts, of SideStream, come from upstream.
func IsDerived(stream string) bool {
	if strings.Contains(stream, TypedStream("")) {
		return true
	}
	for _, derived := range []func(string) string{ContractsStream, LookupsStream, WalletStream, MovementsStream, RollupsStream, PlacesStream} {
		if strings.HasSuffix(stream, derived("")) {
			return true
		}
	}
	return false
}
