package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addOfferChoices(all *choices) {
	all.creations[model.TransferOfferTemplate] = func(e *Execution, a model.Argument) model.Payload {
		return offerOf(e, a.Party("sender"), a)
	}
	sender := byPayload(func(p model.TransferOffer) []model.Party { return []model.Party{p.Sender} })
	receiver := byPayload(func(p model.TransferOffer) []model.Party { return []model.Party{p.Receiver} })
	all.on(model.TransferOfferTemplate, "TransferOffer_Accept", consuming(receiver, acceptOffer))
	all.on(model.TransferOfferTemplate, "TransferOffer_Reject", consuming(receiver, offerTracked))
	all.on(model.TransferOfferTemplate, "TransferOffer_Withdraw", consuming(sender, offerTracked))
	all.on(model.TransferOfferTemplate, "TransferOffer_Expire", consuming(byArgument("actor"), expireOffer))

	all.on(model.AcceptedOfferTemplate, "AcceptedTransferOffer_Complete", consuming(
		func(_ *Execution, c *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{c.Payload.(model.AcceptedOffer).Sender, arg.Party("walletProvider")}
		}, completeOffer))
	all.on(model.AcceptedOfferTemplate, "AcceptedTransferOffer_Abort", consuming(
		byPayload(func(p model.AcceptedOffer) []model.Party { return []model.Party{p.Sender} }), offerTracked))
	all.on(model.AcceptedOfferTemplate, "AcceptedTransferOffer_Withdraw", consuming(
		byPayload(func(p model.AcceptedOffer) []model.Party { return []model.Party{p.Receiver} }), offerTracked))
	all.on(model.AcceptedOfferTemplate, "AcceptedTransferOffer_Expire", consuming(byArgument("actor"), expireOffer))
}

var (
	offerCompletedShape = model.NewShape("transferResult", "trackingInfo", "senderChangeAmulet")
	createOfferShape    = model.NewShape("transferOffer")
)

// offerOf reads an offer that a sender makes. It must not have expired.
func offerOf(e *Execution, sender model.Party, a model.Argument) model.TransferOffer {
	p := model.TransferOffer{Sender: sender, Receiver: a.Party("receiver"), Description: a.Text("description"), ExpiresAt: a.Time("expiresAt"),
		Number: e.Tx.Current.Number, Tracked: a.Text("trackingId")}
	p.Amount, p.InUSD = paymentAmount(a.Record("amount"))
	require(p.Tracked != "", "trackingId is empty")
	require(len(p.Description) <= maxTextLength && len(p.Tracked) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	positive("amount", p.Amount)
	e.later("expiry of the offer at", p.ExpiresAt)
	return p
}

// maxTextLength bounds descriptions and tracking ids.
const maxTextLength = 2048

// TrackedOffer is the offer in an offer or an accepted one.
func TrackedOffer(c *model.Contract) model.TransferOffer {
	if p, ok := c.Payload.(model.AcceptedOffer); ok {
		return p.TransferOffer
	}
	return c.Payload.(model.TransferOffer)
}

// offerTracked is for choices that only end an offer.
func offerTracked(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	a := e.Tx.Arena()
	return a.Record(sim.OfferTrackedShape, TrackedOffer(c).Tracking(a))
}

func acceptOffer(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	p := c.Payload.(model.TransferOffer)
	e.later("expiry of the offer at", p.ExpiresAt)
	return e.addTo(sim.OfferAcceptDoneShape, model.AcceptedOfferTemplate, model.AcceptedOffer{TransferOffer: p})
}

func expireOffer(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := TrackedOffer(c)
	actor := arg.Party("actor")
	require(actor == p.Sender || actor == p.Receiver, "%s is not a party to the offer", e.Names.Name(actor))
	require(p.ExpiresAt <= e.Now(), "the offer does not expire until %s", microsText(p.ExpiresAt))
	return offerTracked(e, c, arg)
}

// completeOffer pays what the receiver has accepted.
func completeOffer(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.AcceptedOffer)
	e.later("expiry of the accepted offer at", p.ExpiresAt)
	ctx := paymentContextOf(e, arg.Record("transferContext"))
	amount := p.Amount
	if p.InUSD {
		amount = amount.Over(ctx.round.Price)
	}
	s, result := transferBy(e, order{sender: p.Sender, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"),
		context: ctx, outputs: []sim.Output{{Receiver: p.Receiver, Amount: amount}}})
	a := e.Tx.Arena()
	return a.Record(offerCompletedShape, result, p.Tracking(a), e.Payments.ChangeID(s))
}

func addRequestChoices(all *choices) {
	user := byPayload(func(p model.TrafficRequest) []model.Party { return []model.Party{p.User} })
	all.creations[model.TrafficRequestTemplate] = func(e *Execution, a model.Argument) model.Payload {
		p := requestOf(e, a.Party("endUserParty"), a)
		e.isDSO(a.Party("dso"))
		return p
	}
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Cancel", consuming(user, requestTracked))
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Expire", consuming(user,
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			expires := c.Payload.(model.TrafficRequest).ExpiresAt
			require(expires <= e.Now(), "the request does not expire until %s", microsText(expires))
			return requestTracked(e, c, arg)
		}))
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Complete", consuming(
		func(_ *Execution, c *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{c.Payload.(model.TrafficRequest).User, arg.Party("walletProvider")}
		}, completeRequest))
	all.creations[model.TopUpStateTemplate] = func(e *Execution, a model.Argument) model.Payload {
		e.isDSO(a.Party("dso"))
		return model.TopUpState{Validator: a.Party("validator"), Member: a.Text("memberId"), Synchronizer: a.Text("synchronizerId"),
			Migration: a.Int64("migrationId"), PurchasedAt: a.Time("lastPurchasedAt")}
	}
}

var (
	requestCompletedShape = model.NewShape("purchasedTraffic", "trackingInfo", "senderChangeAmulet")
	createRequestShape    = model.NewShape("buyTrafficRequest")
)

// requestOf reads a request that a user makes. It must not have expired.
func requestOf(e *Execution, user model.Party, a model.Argument) model.TrafficRequest {
	p := model.TrafficRequest{User: user, Bytes: a.Int64("trafficAmount"), Member: a.Text("memberId"),
		Synchronizer: a.Text("synchronizerId"), Migration: a.Int64("migrationId"), ExpiresAt: a.Time("expiresAt"),
		Number: e.Tx.Current.Number, Tracked: a.Text("trackingId")}
	require(p.Bytes > 0, "trafficAmount must be positive, not %d", p.Bytes)
	require(p.Tracked != "", "trackingId is empty")
	require(len(p.Tracked) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	e.later("expiry of the request at", p.ExpiresAt)
	return p
}

func requestTracked(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	a := e.Tx.Arena()
	return a.Record(sim.OfferTrackedShape, c.Payload.(model.TrafficRequest).Tracking(a))
}

// completeRequest buys what was asked for.
func completeRequest(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.TrafficRequest)
	e.later("expiry of the request at", p.ExpiresAt)
	ctx := paymentContextOf(e, arg.Record("context"))
	got := buyTrafficBy(e, purchase{buyer: p.User, inputs: arg.List("inputs"), context: ctx, MemberTraffic: model.MemberTraffic{
		Member: p.Member, Synchronizer: p.Synchronizer, Migration: p.Migration, Purchased: p.Bytes}})
	a := e.Tx.Arena()
	return a.Record(requestCompletedShape, model.ContractID(got.traffic.Number), p.Tracking(a),
		model.Optional(a, got.change != nil, sim.IdOf(got.change)))
}
