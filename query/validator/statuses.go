package validator

import (
	"context"
	"errors"
	"fmt"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// readStatus is how a view tells what became of something with a tracking id.
type readStatus func(ctx context.Context, party, trackingID string) (wallethistory.Status, error)

// statusOf reads the status of what the path names.
func statusOf(ctx context.Context, c *caller, what string, read readStatus) (s wallethistory.Status, err error) {
	id, err := c.Path("tracking_id")
	if err != nil {
		return s, err
	}
	s, err = read(ctx, c.party, id)
	if errors.Is(err, schemas.ErrNotFound) {
		return s, query.Errorf(query.NotFound, "There is no %s with this tracking id.", what)
	}
	return s, err
}

// status serves how an offer stands that the caller has made or was made.
func (o *offers) status(ctx context.Context, c *caller) error {
	views, err := o.reader.views(ctx)
	if err != nil {
		return err
	}
	s, err := statusOf(ctx, c, "transfer offer", views.OfferStatus)
	if err != nil {
		return err
	}
	answer := map[string]string{"status": s.Status}
	switch s.Status {
	case wallethistory.TrackedFailed:
		answer["failure_kind"] = s.Failure
		if s.Reason != "" {
			answer["withdrawn_reason"] = s.Reason
		}
	case wallethistory.TrackedCreated, wallethistory.TrackedAccepted, wallethistory.TrackedCompleted:
		answer["transaction_id"], answer["contract_id"] = s.UpdateID, s.ContractID
	default:
		return fmt.Errorf("offer %q of %s has the status %q", s.TrackingID, c.party, s.Status)
	}
	return c.JSON(answer)
}

// status serves how a request for traffic stands that the caller has made.
func (t *traffic) status(ctx context.Context, c *caller) error {
	views, err := t.reader.views(ctx)
	if err != nil {
		return err
	}
	s, err := statusOf(ctx, c, "request for traffic", views.TrafficStatus)
	if err != nil {
		return err
	}
	answer := map[string]string{"status": s.Status}
	switch s.Status {
	case wallethistory.TrackedCreated:
	case wallethistory.TrackedCompleted:
		answer["transaction_id"] = s.UpdateID
	case wallethistory.TrackedFailed:
		answer["failure_reason"] = s.Failure
		if s.Reason != "" {
			answer["rejection_reason"] = s.Reason
		}
	default:
		return fmt.Errorf("request %q of %s has the status %q", s.TrackingID, c.party, s.Status)
	}
	return c.JSON(answer)
}
