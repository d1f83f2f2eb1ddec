package wallet

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/log.sql
	logQuery string
	//go:embed sql/log_place.sql
	logPlaceQuery string
)

// Entry is an entry of the transaction log of a party; see store.WalletEntry.
type Entry = store.WalletEntry

// PartyAmount is what an entry did to the coins of a party.
type PartyAmount = store.PartyAmount

// Kinds of entries.
const (
	Transfer      = store.WalletTransfer
	BalanceChange = store.WalletBalanceChange
	Notification  = store.WalletNotification
	Unknown       = store.WalletUnknown
)

// Log returns at most limit entries of the transaction log of a party, newest first, from the
// one before the entry with an event id on, or from the newest if that is "". An event id that
// the log does not have is schemas.ErrNotFound.
func (r *Reader) Log(ctx context.Context, party, beforeEventID string, limit int) (entries []Entry, err error) {
	at, err := r.End(ctx)
	if err != nil {
		return nil, err
	}
	offset, entry := at, int32(math.MaxInt32)
	if beforeEventID != "" {
		if offset, entry, err = r.logPlace(ctx, party, beforeEventID, at); err != nil {
			return nil, err
		}
	}
	entries, err = store.SelectAll(ctx, r.db, logQuery, store.Params{
		"stream": store.Text(r.stream), "party": store.Text(party),
		"offset": store.Int(offset), "entry": store.Int(int64(entry)), "limit": store.Int(int64(limit)),
	}, store.NewWalletLog())
	if err != nil {
		return nil, fmt.Errorf("reading the transaction log of %s: %w", party, err)
	}
	return entries, nil
}

// logPlace returns where the entry with an event id stands in the log of a party.
func (r *Reader) logPlace(ctx context.Context, party, eventID string, at int64) (offset int64, entry int32, err error) {
	place, ok, err := store.SelectOne(ctx, r.db, logPlaceQuery, store.Params{
		"stream": store.Text(r.stream), "party": store.Text(party), "event": store.Text(eventID), "at": store.Int(at),
	}, store.NewRecords[store.WalletPlace]())
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("looking for event %.100q in the transaction log of %s: %w", eventID, party, err)
	case !ok:
		return 0, 0, fmt.Errorf("event %.100q in the transaction log of %s: %w", eventID, party, schemas.ErrNotFound)
	}
	return place.Offset, place.Entry, nil
}
