package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// AppPayments answers payments that apps ask for.
type AppPayments struct {
	*submitter
	coins *Coins
}

// check checks that a payment is asked of the actor.
func (w *AppPayments) check(ctx context.Context, actor Actor, contractID string) error {
	var p struct {
		Sender string `json:"sender"`
	}
	if err := w.visible(ctx, actor.Party, contractID, template.AppPaymentRequest, &p); err != nil {
		return err
	}
	if p.Sender != actor.Party {
		return notFound("No such app payment request: %.80s", contractID)
	}
	return nil
}

// Accept pays an AppPaymentRequest of the actor. The contract of the result is the
// AcceptedAppPayment, whose coins are locked until the app collects them. ErrFunds means that the
// wallet has too little. A repetition within 24 hours has the result of the first.
func (w *AppPayments) Accept(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return repeatable(ctx, w.coins.tracking, "app-payment", actor.Party, contractID, func(attempt) (Done, error) {
		if err := w.check(ctx, actor, contractID); err != nil {
			return Done{}, err
		}
		return w.coins.executeFor(ctx, actor, batch{operation: operation{"CO_AppPayment", contractID}})
	})
}

// Reject rejects an AppPaymentRequest of the actor.
func (w *AppPayments) Reject(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.AppPaymentRequest, contractID, "AppPaymentRequest_Reject", noArgument)
}
