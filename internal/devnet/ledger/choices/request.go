package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addRequestChoices(all *choices) {
	user := byPayload(func(p model.TrafficRequest) []model.Party { return []model.Party{p.User} })
	all.creations[model.TrafficRequestTemplate] = func(e *Execution, a model.Argument) (model.Payload, error) {
		p, err := requestOf(e, a.Party("endUserParty"), a)
		if err != nil {
			return nil, err
		}
		return p, e.isDSO(a.Party("dso"))
	}
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Cancel", consuming(user, requestTracked))
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Expire", consuming(user,
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			if p := c.Payload.(model.TrafficRequest); p.ExpiresAt > e.Now() {
				return model.Value{}, broken("the request expires at %s only", microsText(p.ExpiresAt))
			}
			return requestTracked(e, c, arg)
		}))
	all.on(model.TrafficRequestTemplate, "BuyTrafficRequest_Complete", consuming(
		func(_ *Execution, c *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{c.Payload.(model.TrafficRequest).User, arg.Party("walletProvider")}
		}, completeRequest))
	all.creations[model.TopUpStateTemplate] = func(e *Execution, a model.Argument) (model.Payload, error) {
		return model.TopUpState{Validator: a.Party("validator"), Member: a.Text("memberId"), Synchronizer: a.Text("synchronizerId"),
			Migration: a.Int64("migrationId"), PurchasedAt: a.Time("lastPurchasedAt")}, e.isDSO(a.Party("dso"))
	}
}

var (
	requestCompletedShape = model.NewShape("purchasedTraffic", "trackingInfo", "senderChangeAmulet")
	createRequestShape    = model.NewShape("buyTrafficRequest")
)

// requestOf reads a request that a user makes. It must not have expired.
func requestOf(e *Execution, user model.Party, a model.Argument) (model.TrafficRequest, error) {
	p := model.TrafficRequest{User: user, Bytes: a.Int64("trafficAmount"), Member: a.Text("memberId"),
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

func requestTracked(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	a := e.Tx.Arena()
	return a.Record(sim.OfferTrackedShape, c.Payload.(model.TrafficRequest).Tracking(a)), nil
}

// completeRequest buys what was asked for.
func completeRequest(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.TrafficRequest)
	if err := e.later("expiry of the request at", p.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	got, err := buyTrafficBy(e, purchase{buyer: p.User, inputs: arg.List("inputs"), context: ctx, member: p.Member,
		synchronizer: p.Synchronizer, migration: p.Migration, bytes: p.Bytes})
	if err != nil {
		return model.Value{}, err
	}
	a := e.Tx.Arena()
	return a.Record(requestCompletedShape, model.ContractID(got.traffic.Number), p.Tracking(a),
		model.Optional(a, got.change != nil, sim.IdOf(got.change))), nil
}
