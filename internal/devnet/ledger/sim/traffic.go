package sim

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	BuyTrafficShape       = model.NewShape("inputs", "context", "provider", "memberId", "synchronizerId", "migrationId", "trafficAmount", "expectedDso")
	BuyTrafficDoneShape   = model.NewShape("round", "summary", "amuletPaid", "purchasedTraffic", "senderChangeAmulet", "meta")
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
	cost := model.Decimal(bytes * 1e4).Times(model.TrafficPrice).Over(x.rounds.OpenRound().Price)
	taken, ok := x.bank.gather(operator, cost+2*x.payments.OutputFee())
	if !ok {
		x.payments.tap(operator, cost*8)
		return true
	}
	a, node := x.Tx.Arena(), x.Names.ParticipantOf(operator, 0)
	p := Payment{Sender: operator, Coins: taken, Provider: model.NoParty, Outputs: []Output{{Receiver: operator, Amount: cost}}}
	member := "PAR::" + x.Names.Participants[node]
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_BuyMemberTraffic", a.Record(BuyTrafficShape, x.payments.inputsValue(&p),
		x.payments.context(&p), model.PartyValue(operator), model.Text(member), model.Text(x.Names.Synchronizers[0]),
		model.Int64Value(x.Tx.Migration), model.Int64Value(bytes), x.Tx.ExpectedDSO()), operator)
	s := x.payments.settle(p)
	x.bank.Burn(x.bank.Spend(s.Created[0]))
	purchase := x.Tx.Create(model.MemberTrafficTemplate, model.MemberTraffic{
		Member: member, Synchronizer: x.Names.Synchronizers[0], Migration: x.Tx.Migration,
		Purchased: bytes, Purchases: 1, AmuletSpent: cost, UsdSpent: cost.Times(x.rounds.OpenRound().Price),
	})
	x.rewardPurchase(operator, cost)
	fields := []model.Value{x.rounds.RoundValue(), x.payments.Summary(s), model.Numeric(cost), model.ContractID(purchase.Number), x.payments.ChangeID(s)}
	x.Tx.Finish(at, a.Record(BuyTrafficDoneShape, x.Tx.WithMeta(fields, model.None())...))
	x.traffic[node] = append(x.traffic[node], purchase)
	if len(x.traffic[node]) == model.PurchasesBeforeMerge {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.mergeTraffic(node) })
	}
	return true
}

// rewardPurchase gives the buyer a coupon for the coins burned.
func (x *Validators) rewardPurchase(buyer model.Party, burned model.Decimal) {
	r := x.rounds.OpenRound()
	x.rounds.addCoupon(r, model.ValidatorRewardTemplate, model.ValidatorReward{User: buyer, Amount: burned, Round: r.Number})
	r.ValidatorTotal += burned
}

// mergeTraffic sums the purchases of a node up in one contract.
func (x *Validators) mergeTraffic(node int) {
	all := x.traffic[node]
	if len(all) < 2 { // a migration began in between
		return
	}
	a := x.Tx.Arena()
	ids := make([]model.Value, len(all))
	var sum model.MemberTraffic
	for i, c := range all {
		p := c.Payload.(model.MemberTraffic)
		ids[i] = model.ContractID(c.Number)
		p.Purchased += sum.Purchased
		p.Purchases += sum.Purchases
		p.AmuletSpent += sum.AmuletSpent
		p.UsdSpent += sum.UsdSpent
		sum = p
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MergeMemberTrafficContracts",
		a.Record(mergeTrafficShape, a.List(ids...)), model.Dso)
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
