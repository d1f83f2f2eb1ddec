package devnet

func addOfferChoices(all *choices) {
	all.creations[transferOfferTemplate] = func(e *execution, a argument) (payload, error) {
		return offerOf(e, a.party("sender"), a)
	}
	sender := byPayload(func(p transferOffer) []party { return []party{p.sender} })
	receiver := byPayload(func(p transferOffer) []party { return []party{p.receiver} })
	all.on(transferOfferTemplate, "TransferOffer_Accept", consuming(receiver, acceptOffer))
	all.on(transferOfferTemplate, "TransferOffer_Reject", consuming(receiver, offerTracked))
	all.on(transferOfferTemplate, "TransferOffer_Withdraw", consuming(sender, offerTracked))
	all.on(transferOfferTemplate, "TransferOffer_Expire", consuming(byArgument("actor"), expireOffer))

	all.on(acceptedOfferTemplate, "AcceptedTransferOffer_Complete", consuming(
		func(_ *execution, c *contract, arg argument) []party {
			return []party{c.payload.(acceptedOffer).sender, arg.party("walletProvider")}
		}, completeOffer))
	all.on(acceptedOfferTemplate, "AcceptedTransferOffer_Abort", consuming(
		byPayload(func(p acceptedOffer) []party { return []party{p.sender} }), offerTracked))
	all.on(acceptedOfferTemplate, "AcceptedTransferOffer_Withdraw", consuming(
		byPayload(func(p acceptedOffer) []party { return []party{p.receiver} }), offerTracked))
	all.on(acceptedOfferTemplate, "AcceptedTransferOffer_Expire", consuming(byArgument("actor"), expireOffer))
}

var (
	offerCompletedShape = newShape("transferResult", "trackingInfo", "senderChangeAmulet")
	createOfferShape    = newShape("transferOffer")
)

// offerOf reads an offer that a sender makes. It must not have expired.
func offerOf(e *execution, sender party, a argument) (transferOffer, error) {
	amount := a.record("amount")
	p := transferOffer{sender: sender, receiver: a.party("receiver"), amount: amount.numeric("amount"),
		inUSD: amount.text("unit") == "USDUnit", description: a.text("description"), expiresAt: a.time("expiresAt"),
		number: e.tx.current.number, tracked: a.text("trackingId")}
	switch {
	case amount.text("unit") == "ExtUnit":
		return p, broken("amounts are in coins or in USD")
	case p.tracked == "":
		return p, broken("trackingId is empty")
	case len(p.description) > maxTextLength || len(p.tracked) > maxTextLength:
		return p, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.positive("amount", p.amount); err != nil {
		return p, err
	}
	return p, e.later("expiry of the offer at", p.expiresAt)
}

// maxTextLength bounds descriptions and tracking ids.
const maxTextLength = 2048

// trackedOffer is the offer in an offer or an accepted one.
func trackedOffer(c *contract) transferOffer {
	if p, ok := c.payload.(acceptedOffer); ok {
		return p.transferOffer
	}
	return c.payload.(transferOffer)
}

// offerTracked is for choices that only end an offer.
func offerTracked(e *execution, c *contract, _ argument) (value, error) {
	a := e.tx.arena()
	return a.record(offerTrackedShape, trackedOffer(c).tracking(a)), nil
}

func acceptOffer(e *execution, c *contract, _ argument) (value, error) {
	p := c.payload.(transferOffer)
	if err := e.later("expiry of the offer at", p.expiresAt); err != nil {
		return value{}, err
	}
	next, err := e.add(acceptedOfferTemplate, acceptedOffer{p})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(offerAcceptDoneShape, contractID(next.number)), nil
}

func expireOffer(e *execution, c *contract, arg argument) (value, error) {
	p := trackedOffer(c)
	if actor := arg.party("actor"); actor != p.sender && actor != p.receiver {
		return value{}, broken("%s is no party to the offer", e.names.name(actor))
	}
	if p.expiresAt > e.now() {
		return value{}, broken("the offer expires at %s only", microsText(p.expiresAt))
	}
	return offerTracked(e, c, arg)
}

// completeOffer pays what the receiver has accepted.
func completeOffer(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(acceptedOffer)
	if err := e.later("expiry of the accepted offer at", p.expiresAt); err != nil {
		return value{}, err
	}
	ctx, err := paymentContextOf(e, arg.record("transferContext"))
	if err != nil {
		return value{}, err
	}
	amount := p.amount
	if p.inUSD {
		amount = amount.over(ctx.round.price)
	}
	s, result, err := transferBy(e, order{sender: p.sender, provider: arg.party("walletProvider"), inputs: arg.list("inputs"),
		context: ctx, outputs: []output{{receiver: p.receiver, amount: amount}}})
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	return a.record(offerCompletedShape, result, p.tracking(a), e.payments.changeID(s)), nil
}
