package history

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/wallet_status.sql
var walletStatusQuery string

// WalletStatus is the latest step of an offer or a traffic request; see store.WalletStatus.
type WalletStatus = store.WalletStatus

// States of an offer or a traffic request, and why one has failed.
const (
	TrackedCreated   = store.TrackedCreated
	TrackedAccepted  = store.TrackedAccepted
	TrackedCompleted = store.TrackedCompleted
	TrackedFailed    = store.TrackedFailed

	FailedExpired   = store.FailedExpired
	FailedRejected  = store.FailedRejected
	FailedWithdrawn = store.FailedWithdrawn
)

// OfferStatus returns what became of the transfer offer with a tracking id. Of several offers
// with it the one that the party made counts, then the newest that it was made.
// schemas.ErrNotFound means that there is none.
func (w *Wallet) OfferStatus(ctx context.Context, party, trackingID string) (WalletStatus, error) {
	return w.status(ctx, store.TrackedOffer, party, trackingID)
}

// TrafficStatus returns the same of the traffic request of a party with a tracking id.
func (w *Wallet) TrafficStatus(ctx context.Context, party, trackingID string) (WalletStatus, error) {
	return w.status(ctx, store.TrackedTraffic, party, trackingID)
}

func (w *Wallet) status(ctx context.Context, kind, party, trackingID string) (status WalletStatus, err error) {
	at, err := w.End(ctx)
	if err != nil {
		return status, err
	}
	found := false
	block := store.NewWalletStatuses()
	err = w.db.Select(ctx, walletStatusQuery, store.Params{
		"stream": store.Text(w.stream), "party": store.Text(party), "kind": store.Text(kind), "tracking": store.Text(trackingID),
		"at": store.Int(at),
	}, block, func() error {
		status, found = block.AppendTo(nil)[0], true
		return nil
	})
	switch {
	case err != nil:
		return status, fmt.Errorf("reading what became of %s %.100q of %s: %w", kind, trackingID, party, err)
	case !found:
		return status, fmt.Errorf("%s %.100q of %s: %w", kind, trackingID, party, schemas.ErrNotFound)
	}
	return status, nil
}
