package sim

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	buyTrafficShape       = model.NewShape("inputs", "context", "provider", "memberId", "synchronizerId", "migrationId", "trafficAmount", "expectedDso")
	buyTrafficDoneShape   = model.NewShape("round", "summary", "amuletPaid", "purchasedTraffic", "senderChangeAmulet", "meta")
	mergeTrafficShape     = model.NewShape("trafficCids")
	mergeTrafficDoneShape = model.NewShape("mergedTrafficCid")
)

// buyTraffic has the operator of a validator buy traffic for its node. On a
// development network an operator without coins taps some first.
func (x *Validators) buyTraffic() bool {
	operator := x.Names.Validators.Of(x.Random)
	if x.users.isManaged(operator) {
		return false
	}
	bytes := int64(x.Random.Between(model.MinTopUp, 3*model.MinTopUp))
	cost := x.TrafficCost(bytes)
	taken, ok := x.bank.gather(operator, cost+2*x.payments.OutputFee())
	if !ok {
		x.payments.Tap(operator, cost*8)
		return true
	}
	node := x.Names.ParticipantOf(operator, 0)
	p := Payment{Sender: operator, Coins: taken, Provider: model.NoParty, Outputs: []Output{{Receiver: operator, Amount: cost}}}
	ordered := model.MemberTraffic{Member: "PAR::" + x.Names.Participants[node], Synchronizer: x.Names.Synchronizers[0],
		Migration: x.Tx.Migration, Purchased: bytes}
	at := x.BeginPurchase(operator, x.payments.inputsValue(&p), x.payments.context(&p), ordered)
	purchase, result := x.CompletePurchase(x.payments.settle(p), ordered)
	x.Tx.Finish(at, result)
	x.keepPurchase(node, purchase)
	return true
}

// TrafficCost is the price of traffic in coins of the open round.
func (x *Validators) TrafficCost(bytes int64) model.Decimal {
	return model.Decimal(bytes * 1e4).Times(model.TrafficPrice).Over(x.rounds.OpenRound().Price)
}

// BeginPurchase opens a node of AmuletRules_BuyMemberTraffic.
func (x *Validators) BeginPurchase(buyer model.Party, inputs, context model.Value, p model.MemberTraffic) int {
	return x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_BuyMemberTraffic", x.Tx.Arena().Record(buyTrafficShape, inputs, context,
		model.PartyValue(buyer), model.Text(p.Member), model.Text(p.Synchronizer), model.Int64Value(p.Migration),
		model.Int64Value(p.Purchased), x.Tx.ExpectedDSO()), buyer)
}

// CompletePurchase burns the one output of a payment, notes what was bought for it, and gives
// the buyer a coupon for the coins burned. It returns the contract and the result of
// AmuletRules_BuyMemberTraffic.
func (x *Validators) CompletePurchase(s *Settlement, p model.MemberTraffic) (*model.Contract, model.Value) {
	x.bank.Burn(x.bank.Spend(s.Created[0]))
	r, cost := x.rounds.OpenRound(), s.Outputs[0].Amount
	p.Purchases, p.AmuletSpent, p.UsdSpent = 1, cost, cost.Times(r.Price)
	c := x.Tx.Create(model.MemberTrafficTemplate, p)
	x.rounds.addCoupon(r, model.ValidatorRewardTemplate, model.ValidatorReward{User: s.Sender, Amount: cost, Round: r.Number})
	fields := []model.Value{x.rounds.RoundValue(), x.payments.Summary(s), model.Numeric(cost), model.ContractID(c.Number), x.payments.ChangeID(s)}
	return c, x.Tx.Arena().Record(buyTrafficDoneShape, x.Tx.WithMeta(fields, model.None())...)
}

// keepPurchase has a purchase for a node merged with others.
func (x *Validators) keepPurchase(node int, c *model.Contract) {
	x.traffic[node] = append(x.traffic[node], c)
	if len(x.traffic[node]) == model.PurchasesBeforeMerge {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.mergeTraffic(node) })
	}
}

// mergeTraffic sums the purchases of a node up in one contract.
func (x *Validators) mergeTraffic(node int) {
	all := x.traffic[node]
	if len(all) < 2 { // a migration began in between
		return
	}
	a := x.Tx.Arena()
	var sum model.MemberTraffic
	for _, c := range all {
		p := c.Payload.(model.MemberTraffic)
		p.Purchased += sum.Purchased
		p.Purchases += sum.Purchases
		p.AmuletSpent += sum.AmuletSpent
		p.UsdSpent += sum.UsdSpent
		sum = p
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MergeMemberTrafficContracts",
		a.Record(mergeTrafficShape, x.Tx.IDs(all...)), model.Dso)
	for _, c := range all {
		x.Tx.Archive(c)
	}
	merged := x.Tx.Create(model.MemberTrafficTemplate, sum)
	x.Tx.Finish(at, a.Record(mergeTrafficDoneShape, model.ContractID(merged.Number)))
	x.traffic[node] = append(x.traffic[node][:0], merged)
}

// ParticipantNamed is the number of the participant with a member id, or -1.
func (x *Validators) ParticipantNamed(member string) int {
	uid, ok := strings.CutPrefix(member, "PAR::")
	if !ok {
		return -1
	}
	return slices.Index(x.Names.Participants, uid)
}

// IsMediator reports whether a member is a mediator of the network.
func (x *Validators) IsMediator(member string) bool {
	for i := range x.Names.SuperValidators.Len() {
		if x.Names.MediatorOf(x.Names.SuperValidators.At(i)) == member {
			return true
		}
	}
	return false
}
