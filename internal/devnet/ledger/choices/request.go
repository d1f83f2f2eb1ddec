package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addRequestChoices(all *choices) {
	user := byPayload(func(p TrafficRequest) []Party { return []Party{p.User} })
	all.creations[TrafficRequestTemplate] = func(e *Execution, a Argument) (Payload, error) {
		p, err := requestOf(e, a.Party("endUserParty"), a)
		if err != nil {
			return nil, err
		}
		return p, e.isDSO(a.Party("dso"))
	}
	all.on(TrafficRequestTemplate, "BuyTrafficRequest_Cancel", consuming(user, requestTracked))
	all.on(TrafficRequestTemplate, "BuyTrafficRequest_Expire", consuming(user,
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			if p := c.Payload.(TrafficRequest); p.ExpiresAt > e.Now() {
				return Value{}, broken("the request expires at %s only", microsText(p.ExpiresAt))
			}
			return requestTracked(e, c, arg)
		}))
	all.on(TrafficRequestTemplate, "BuyTrafficRequest_Complete", consuming(
		func(_ *Execution, c *Contract, arg Argument) []Party {
			return []Party{c.Payload.(TrafficRequest).User, arg.Party("walletProvider")}
		}, completeRequest))
	all.creations[TopUpStateTemplate] = func(e *Execution, a Argument) (Payload, error) {
		return TopUpState{Validator: a.Party("validator"), Member: a.Text("memberId"), Synchronizer: a.Text("synchronizerId"),
			Migration: a.Int64("migrationId"), PurchasedAt: a.Time("lastPurchasedAt")}, e.isDSO(a.Party("dso"))
	}
}

var (
	requestCompletedShape = NewShape("purchasedTraffic", "trackingInfo", "senderChangeAmulet")
	createRequestShape    = NewShape("buyTrafficRequest")
)

// requestOf reads a request that a user makes. It must not have expired.
func requestOf(e *Execution, user Party, a Argument) (TrafficRequest, error) {
	p := TrafficRequest{User: user, Bytes: a.Int64("trafficAmount"), Member: a.Text("memberId"),
		Synchronizer: a.Text("synchronizerId"), Migration: a.Int64("migrationId"), ExpiresAt: a.Time("expiresAt"),
		Number: e.Tx.Current.Number, Tracked: a.Text("trackingId")}
	switch {
	case p.Bytes <= 0:
		return p, broken("trafficAmount must be positive, not %d", p.Bytes)
	case p.Tracked == "":
		return p, broken("trackingId is empty")
	case len(p.Tracked) > maxTextLength:
		return p, broken("a text is longer than %d bytes", maxTextLength)
	}
	return p, e.later("expiry of the request at", p.ExpiresAt)
}

func requestTracked(e *Execution, c *Contract, _ Argument) (Value, error) {
	a := e.Tx.Arena()
	return a.Record(OfferTrackedShape, c.Payload.(TrafficRequest).Tracking(a)), nil
}

// completeRequest buys what was asked for.
func completeRequest(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(TrafficRequest)
	if err := e.later("expiry of the request at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	got, err := buyTrafficBy(e, purchase{buyer: p.User, inputs: arg.List("inputs"), context: ctx, member: p.Member,
		synchronizer: p.Synchronizer, migration: p.Migration, bytes: p.Bytes})
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	return a.Record(requestCompletedShape, ContractID(got.traffic.Number), p.Tracking(a),
		Optional(a, got.change != nil, IdOf(got.change))), nil
}
