package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

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
	switch {
	case r.TrackingID == "":
		return invalid("tracking_id must not be empty")
	case r.Amount.Sign() <= 0:
		return invalid("amount must be positive, it is %s", r.Amount)
	case !r.Amount.Storable():
		return invalid("amount must have at most 28 digits before the point")
	case !r.ExpiresAt.After(at):
		return invalid("expires_at must lie in the future, it is %s", timestamp(r.ExpiresAt))
	}
	return checkParty(r.Receiver)
}

func checkParty(party string) error {
	if !validParty(party) {
		return invalid("%.80q is not a party", party)
	}
	return nil
}

// timestamp is an instant in compact JSON.
func timestamp(at time.Time) string {
	return at.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
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

// CreateTransferOffer offers coins to the receiver, without locking any. The contract of the
// result is the TransferOffer. A tracking id that the sender has used before is ErrConflict,
// one that is being used ErrInFlight.
func (w *Wallet) CreateTransferOffer(ctx context.Context, actor Actor, r OfferRequest) (done Done, err error) {
	at, err := w.cfg.Public.Now(ctx)
	if err != nil {
		return done, err
	}
	if err := r.check(at); err != nil {
		return done, err
	}
	install, err := w.install(ctx, actor)
	if err != nil {
		return done, err
	}
	argument := map[string]any{
		"receiver": r.Receiver, "amount": map[string]any{"amount": r.Amount, "unit": "AmuletUnit"},
		"description": r.Description, "expiresAt": timestamp(r.ExpiresAt), "trackingId": r.TrackingID,
	}
	known := func(ctx context.Context) (bool, error) {
		return w.cfg.Reader.OfferTracked(ctx, actor.Party, r.TrackingID)
	}
	err = w.once(ctx, "transfer-offer", actor.Party, r.TrackingID, known, func(a attempt) error {
		tx, d, err := w.submit(ctx, w.onInstall(actor, install, a, "WalletAppInstall_CreateTransferOffer", argument))
		if err != nil {
			return err
		}
		var result struct {
			Offer string `json:"transferOffer"`
		}
		err = tx.Result("WalletAppInstall_CreateTransferOffer", &result)
		done, done.ContractID = d, result.Offer
		return err
	})
	return done, err
}

// onInstall is the submission of a choice of a user's WalletAppInstall.
func (w *Wallet) onInstall(actor Actor, install string, a attempt, choice string, argument any) node.Submission {
	return node.Submission{
		CommandID: a.commandID, DeduplicateAfter: a.after, ActAs: w.asBoth(actor.Party),
		Commands: []node.Command{node.Exercise(command(template.WalletAppInstall), install, choice, argument)},
	}
}

// AcceptTransferOffer accepts an offer to the actor. The contract of the result is the
// AcceptedTransferOffer, which the sender's automation pays.
func (w *Wallet) AcceptTransferOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.offerOf(ctx, actor, contractID, template.TransferOffer, receiverOf); err != nil {
		return Done{}, err
	}
	tx, done, err := w.submit(ctx, exerciseAs(actor.Party, template.TransferOffer, contractID, "TransferOffer_Accept", noArgument))
	if err != nil {
		return Done{}, err
	}
	var result struct {
		Accepted string `json:"acceptedTransferOffer"`
	}
	err = tx.Result("TransferOffer_Accept", &result)
	done.ContractID = result.Accepted
	return done, err
}

// noArgument is the argument of choices without fields.
var noArgument = struct{}{}

// reasonArgument is the argument of choices that end something for a reason.
type reasonArgument struct {
	Reason string `json:"reason"`
}

// exerciseAs is the submission of one choice by one party.
func exerciseAs(party, name, contractID, choice string, argument any) node.Submission {
	return node.Submission{ActAs: []string{party}, Commands: []node.Command{node.Exercise(command(name), contractID, choice, argument)}}
}

func senderOf(p *offerPayload) string   { return p.Sender }
func receiverOf(p *offerPayload) string { return p.Receiver }

// offerOf checks that the actor has a role in an offer.
func (w *Wallet) offerOf(ctx context.Context, actor Actor, contractID, name string, role func(*offerPayload) string) error {
	var offer offerPayload
	if err := w.visible(ctx, actor.Party, contractID, name, &offer); err != nil {
		return err
	}
	if role(&offer) != actor.Party {
		return notFound("No such transfer offer: %.80s", contractID)
	}
	return nil
}

// RejectTransferOffer rejects an offer to the actor.
func (w *Wallet) RejectTransferOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.offerOf(ctx, actor, contractID, template.TransferOffer, receiverOf); err != nil {
		return Done{}, err
	}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.TransferOffer, contractID, template.TransferOfferReject, noArgument))
	return done, err
}

// WithdrawTransferOffer takes back an offer of the actor.
func (w *Wallet) WithdrawTransferOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.offerOf(ctx, actor, contractID, template.TransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	argument := reasonArgument{"Withdrawn by sender"}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.TransferOffer, contractID, template.TransferOfferWithdraw, argument))
	return done, err
}
