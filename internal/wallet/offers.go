package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Offers makes, answers and pays the wallet's transfer offers.
type Offers struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
}

// Complete pays an AcceptedTransferOffer of the actor. ErrFunds means that the
// wallet has too little.
func (w *Offers) Complete(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.AcceptedTransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	_, done, err := w.coins.execute(ctx, actor, batch{operation: operation{template.OperationCompleteAcceptedTransfer, contractID}})
	return done, err
}

// Abort ends an AcceptedTransferOffer of the actor, who cannot pay it.
func (w *Offers) Abort(ctx context.Context, actor Actor, contractID, reason string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.AcceptedTransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.AcceptedTransferOffer, contractID, template.AcceptedTransferOfferAbort, reasonArgument{reason})
}

// Expire ends a TransferOffer of the actor that has expired.
func (w *Offers) Expire(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return w.exercise(ctx, actor.Party, template.TransferOffer, contractID, template.TransferOfferExpire, actorArgument{actor.Party})
}

// ExpireAccepted ends an AcceptedTransferOffer of the actor that has expired.
func (w *Offers) ExpireAccepted(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return w.exercise(ctx, actor.Party, template.AcceptedTransferOffer, contractID, template.AcceptedTransferOfferExpire, actorArgument{actor.Party})
}

// Offer is a TransferOffer or an AcceptedTransferOffer.
type Offer struct {
	ID, Sender, Receiver string
	Amount               decimal.Decimal
	// Unit is AmuletUnit or USDUnit.
	Unit       string
	ExpiresAt  time.Time
	TrackingID string
}

// Coins is what the offer is about in coins of a price in dollars.
func (o *Offer) Coins(price decimal.Decimal) decimal.Decimal {
	if o.Unit == "USDUnit" {
		return o.Amount.Over(price)
	}
	return o.Amount
}

// List are those of which one of some parties is sender or receiver, oldest first; accepted
// ones or those that are not.
func (w *Offers) List(ctx context.Context, accepted bool, parties ...string) ([]Offer, error) {
	name := template.TransferOffer
	if accepted {
		name = template.AcceptedTransferOffer
	}
	return listed(ctx, w.reader, ContractQuery{Parties: parties, Templates: []string{name}}, func(c *Contract, p *offerPayload) (Offer, bool) {
		return Offer{ID: c.ID, Sender: p.Sender, Receiver: p.Receiver, Amount: p.Amount.Amount, Unit: p.Amount.Unit, ExpiresAt: p.ExpiresAt, TrackingID: p.TrackingID}, true
	})
}

// OfferRequest is what a transfer is offered with, in both kinds: offers of the wallet's own
// and those of the token standard.
type OfferRequest struct {
	Receiver    string // party
	Amount      decimal.Decimal
	Description string
	ExpiresAt   time.Time
	TrackingID  string
}

// check rejects what cannot be offered at a time.
func (r *OfferRequest) check(at time.Time) error {
	if r.TrackingID == "" {
		return invalid("tracking_id must not be empty")
	}
	if err := checkAmount(r.Amount); err != nil {
		return err
	}
	if !r.ExpiresAt.After(at) {
		return invalid("expires_at must be in the future, not %s", timestamp(r.ExpiresAt))
	}
	return checkParty(r.Receiver)
}

// offerPayload is TransferOffer and AcceptedTransferOffer.
type offerPayload struct {
	Sender   string `json:"sender"`
	Receiver string `json:"receiver"`
	Amount   struct {
		Amount decimal.Decimal `json:"amount"`
		Unit   string          `json:"unit"`
	} `json:"amount"`
	ExpiresAt  time.Time `json:"expiresAt"`
	TrackingID string    `json:"trackingId"`
}

// Create offers coins to the receiver, without locking any. The contract of the
// result is the TransferOffer. A tracking id that the sender has used before is ErrConflict,
// one that is being used ErrInFlight.
func (w *Offers) Create(ctx context.Context, actor Actor, r OfferRequest) (done Done, err error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return done, err
	}
	if err := r.check(at); err != nil {
		return done, err
	}
	const choice = "WalletAppInstall_CreateTransferOffer"
	install, err := w.install(ctx, actor)
	if err != nil {
		return done, err
	}
	argument := map[string]any{
		"receiver": r.Receiver, "amount": map[string]any{"amount": r.Amount, "unit": "AmuletUnit"},
		"description": r.Description, "expiresAt": timestamp(r.ExpiresAt), "trackingId": r.TrackingID,
	}
	known := func(ctx context.Context) (bool, error) {
		return w.reader.OfferTracked(ctx, actor.Party, r.TrackingID)
	}
	err = w.tracking.once(ctx, "transfer-offer", actor.Party, r.TrackingID, known, func(a attempt) error {
		done, err = w.submitFor(ctx, w.onInstall(actor, install, a, choice, argument), choice, "transferOffer")
		return err
	})
	return done, err
}

// Accept accepts an offer to the actor. The contract of the result is the
// AcceptedTransferOffer, which the sender's automation pays.
func (w *Offers) Accept(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.TransferOffer, receiverOf); err != nil {
		return Done{}, err
	}
	const choice = "TransferOffer_Accept"
	return w.submitFor(ctx, exerciseAs(actor.Party, template.TransferOffer, contractID, choice, noArgument), choice, "acceptedTransferOffer")
}

func senderOf(p *offerPayload) string   { return p.Sender }
func receiverOf(p *offerPayload) string { return p.Receiver }

// check returns an error unless the actor has a role in an offer.
func (w *Offers) check(ctx context.Context, actor Actor, contractID, name string, role func(*offerPayload) string) error {
	var offer offerPayload
	if err := w.visible(ctx, actor.Party, contractID, name, &offer); err != nil {
		return err
	}
	if role(&offer) != actor.Party {
		return notFound("No such transfer offer: %.80s", contractID)
	}
	return nil
}

// Reject rejects an offer to the actor.
func (w *Offers) Reject(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.TransferOffer, receiverOf); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.TransferOffer, contractID, template.TransferOfferReject, noArgument)
}

// Withdraw takes back an offer of the actor.
func (w *Offers) Withdraw(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.TransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	argument := reasonArgument{"Withdrawn by sender"}
	return w.exercise(ctx, actor.Party, template.TransferOffer, contractID, template.TransferOfferWithdraw, argument)
}
