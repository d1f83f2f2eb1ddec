package wallet

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/status.sql
var statusQuery string

// Status is the latest step of an offer or a traffic request; see store.WalletStatus.
type Status = store.WalletStatus

// States of an offer or a traffic request.
const (
	TrackedCreated   = store.TrackedCreated
	TrackedAccepted  = store.TrackedAccepted
	TrackedCompleted = store.TrackedCompleted
	TrackedFailed    = store.TrackedFailed
)

// OfferStatus returns what became of the transfer offer with a tracking id. Of several offers
// with it the one that the party made counts, then the newest that it was made.
// schemas.ErrNotFound means that there is none.
func (r *Reader) OfferStatus(ctx context.Context, party, trackingID string) (Status, error) {
	return r.status(ctx, store.TrackedOffer, party, trackingID)
}

// TrafficStatus returns the same of the traffic request of a party with a tracking id.
func (r *Reader) TrafficStatus(ctx context.Context, party, trackingID string) (Status, error) {
	return r.status(ctx, store.TrackedTraffic, party, trackingID)
}

func (r *Reader) status(ctx context.Context, kind, party, trackingID string) (status Status, err error) {
	at, err := r.End(ctx)
	if err != nil {
		return status, err
	}
	status, found, err := store.SelectOne(ctx, r.db, statusQuery, store.Params{
		"stream": store.Text(r.stream), "party": store.Text(party), "kind": store.Text(kind), "tracking": store.Text(trackingID),
		"at": store.Int(at),
	}, store.NewStreamRecords[store.WalletStatus]())
	switch {
	case err != nil:
		return status, fmt.Errorf("reading the outcome of %s %.100q of %s: %w", kind, trackingID, party, err)
	case !found:
		return status, fmt.Errorf("%s %.100q of %s: %w", kind, trackingID, party, schemas.ErrNotFound)
	}
	return status, nil
}
