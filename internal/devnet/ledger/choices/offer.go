package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addOfferChoices(all *choices) {
	all.creations[TransferOfferTemplate] = func(e *Execution, a Argument) (Payload, error) {
		return offerOf(e, a.Party("sender"), a)
	}
	sender := byPayload(func(p TransferOffer) []Party { return []Party{p.Sender} })
	receiver := byPayload(func(p TransferOffer) []Party { return []Party{p.Receiver} })
	all.on(TransferOfferTemplate, "TransferOffer_Accept", consuming(receiver, acceptOffer))
	all.on(TransferOfferTemplate, "TransferOffer_Reject", consuming(receiver, offerTracked))
	all.on(TransferOfferTemplate, "TransferOffer_Withdraw", consuming(sender, offerTracked))
	all.on(TransferOfferTemplate, "TransferOffer_Expire", consuming(byArgument("actor"), expireOffer))

	all.on(AcceptedOfferTemplate, "AcceptedTransferOffer_Complete", consuming(
		func(_ *Execution, c *Contract, arg Argument) []Party {
			return []Party{c.Payload.(AcceptedOffer).Sender, arg.Party("walletProvider")}
		}, completeOffer))
	all.on(AcceptedOfferTemplate, "AcceptedTransferOffer_Abort", consuming(
		byPayload(func(p AcceptedOffer) []Party { return []Party{p.Sender} }), offerTracked))
	all.on(AcceptedOfferTemplate, "AcceptedTransferOffer_Withdraw", consuming(
		byPayload(func(p AcceptedOffer) []Party { return []Party{p.Receiver} }), offerTracked))
	all.on(AcceptedOfferTemplate, "AcceptedTransferOffer_Expire", consuming(byArgument("actor"), expireOffer))
}

var (
	offerCompletedShape = NewShape("transferResult", "trackingInfo", "senderChangeAmulet")
	createOfferShape    = NewShape("transferOffer")
)

// offerOf reads an offer that a sender makes. It must not have expired.
func offerOf(e *Execution, sender Party, a Argument) (TransferOffer, error) {
	amount := a.Record("amount")
	p := TransferOffer{Sender: sender, Receiver: a.Party("receiver"), Amount: amount.Numeric("amount"),
		InUSD: amount.Text("unit") == "USDUnit", Description: a.Text("description"), ExpiresAt: a.Time("expiresAt"),
		Number: e.Tx.Current.Number, Tracked: a.Text("trackingId")}
	switch {
	case amount.Text("unit") == "ExtUnit":
		return p, broken("amounts are in coins or in USD")
	case p.Tracked == "":
		return p, broken("trackingId is empty")
	case len(p.Description) > maxTextLength || len(p.Tracked) > maxTextLength:
		return p, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.positive("amount", p.Amount); err != nil {
		return p, err
	}
	return p, e.later("expiry of the offer at", p.ExpiresAt)
}

// maxTextLength bounds descriptions and tracking ids.
const maxTextLength = 2048

// TrackedOffer is the offer in an offer or an accepted one.
func TrackedOffer(c *Contract) TransferOffer {
	if p, ok := c.Payload.(AcceptedOffer); ok {
		return p.TransferOffer
	}
	return c.Payload.(TransferOffer)
}

// offerTracked is for choices that only end an offer.
func offerTracked(e *Execution, c *Contract, _ Argument) (Value, error) {
	a := e.Tx.Arena()
	return a.Record(OfferTrackedShape, TrackedOffer(c).Tracking(a)), nil
}

func acceptOffer(e *Execution, c *Contract, _ Argument) (Value, error) {
	p := c.Payload.(TransferOffer)
	if err := e.later("expiry of the offer at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	next, err := e.add(AcceptedOfferTemplate, AcceptedOffer{p})
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(OfferAcceptDoneShape, ContractID(next.Number)), nil
}

func expireOffer(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := TrackedOffer(c)
	if actor := arg.Party("actor"); actor != p.Sender && actor != p.Receiver {
		return Value{}, broken("%s is no party to the offer", e.Names.Name(actor))
	}
	if p.ExpiresAt > e.Now() {
		return Value{}, broken("the offer expires at %s only", microsText(p.ExpiresAt))
	}
	return offerTracked(e, c, arg)
}

// completeOffer pays what the receiver has accepted.
func completeOffer(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(AcceptedOffer)
	if err := e.later("expiry of the accepted offer at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("transferContext"))
	if err != nil {
		return Value{}, err
	}
	amount := p.Amount
	if p.InUSD {
		amount = amount.Over(ctx.round.Price)
	}
	s, result, err := transferBy(e, order{sender: p.Sender, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"),
		context: ctx, outputs: []Output{{Receiver: p.Receiver, Amount: amount}}})
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	return a.Record(offerCompletedShape, result, p.Tracking(a), e.payments.ChangeID(s)), nil
}
