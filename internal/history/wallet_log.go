package history

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/wallet_log.sql
	walletLogQuery string
	//go:embed sql/wallet_log_place.sql
	walletLogPlaceQuery string
)

// WalletEntry is an entry of the transaction log of a party; see store.WalletEntry.
type WalletEntry = store.WalletEntry

// PartyAmount is what an entry did to the coins of a party.
type PartyAmount = store.PartyAmount

// Kinds of entries.
const (
	WalletTransfer      = store.WalletTransfer
	WalletBalanceChange = store.WalletBalanceChange
	WalletNotification  = store.WalletNotification
	WalletUnknown       = store.WalletUnknown
)

// Log returns at most limit entries of the transaction log of a party, newest first, from the
// one before the entry with an event id on, or from the newest if that is "". An event id that
// the log does not have is schemas.ErrNotFound.
func (w *Wallet) Log(ctx context.Context, party, beforeEventID string, limit int) (entries []WalletEntry, err error) {
	at, err := w.End(ctx)
	if err != nil {
		return nil, err
	}
	offset, entry := at, int32(math.MaxInt32)
	if beforeEventID != "" {
		if offset, entry, err = w.logPlace(ctx, party, beforeEventID, at); err != nil {
			return nil, err
		}
	}
	block := store.NewWalletLog()
	err = w.db.Select(ctx, walletLogQuery, store.Params{
		"stream": store.Text(w.stream), "party": store.Text(party),
		"offset": store.Int(offset), "entry": store.Int(int64(entry)), "limit": store.Int(int64(limit)),
	}, block, func() error {
		entries = block.AppendTo(entries)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the transaction log of %s: %w", party, err)
	}
	return entries, nil
}

// logPlace returns where the entry with an event id stands in the log of a party.
func (w *Wallet) logPlace(ctx context.Context, party, eventID string, at int64) (offset int64, entry int32, err error) {
	found := false
	block := store.NewWalletPlaces()
	err = w.db.Select(ctx, walletLogPlaceQuery, store.Params{
		"stream": store.Text(w.stream), "party": store.Text(party), "event": store.Text(eventID), "at": store.Int(at),
	}, block, func() error {
		offset, entry = block.First()
		found = true
		return nil
	})
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("looking for event %.100q in the transaction log of %s: %w", eventID, party, err)
	case !found:
		return 0, 0, fmt.Errorf("event %.100q in the transaction log of %s: %w", eventID, party, schemas.ErrNotFound)
	}
	return offset, entry, nil
}
