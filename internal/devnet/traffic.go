package devnet

import (
	"slices"
	"strings"
)

var (
	buyTrafficShape       = newShape("inputs", "context", "provider", "memberId", "synchronizerId", "migrationId", "trafficAmount", "expectedDso")
	buyTrafficDoneShape   = newShape("round", "summary", "amuletPaid", "purchasedTraffic", "senderChangeAmulet", "meta")
	mergeTrafficShape     = newShape("trafficCids")
	mergeTrafficDoneShape = newShape("mergedTrafficCid")
)

// buyTraffic has the operator of a validator buy traffic for its node. On a
// development network an operator without coins taps some first.
func (x *validators) buyTraffic() bool {
	operator := x.names.validators.of(x.random)
	if x.users.isManaged(operator) {
		return false
	}
	bytes := int64(x.random.between(minTopUp, 3*minTopUp))
	cost := decimal(bytes * 1e4).times(trafficPrice).over(x.rounds.openRound().price)
	taken, ok := x.bank.gather(operator, cost+2*x.payments.outputFee())
	if !ok {
		x.payments.tap(operator, cost*8)
		return true
	}
	a, node := x.tx.arena(), x.names.participantOf(operator, 0)
	p := payment{sender: operator, coins: taken, provider: noParty, outputs: []output{{receiver: operator, amount: cost}}}
	member := "PAR::" + x.names.participants[node]
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_BuyMemberTraffic", a.record(buyTrafficShape, x.payments.inputsValue(&p),
		x.payments.context(&p), partyValue(operator), text(member), text(x.names.synchronizers[0]),
		int64Value(x.tx.migration), int64Value(bytes), x.tx.expectedDSO()), operator)
	s := x.payments.settle(p)
	x.bank.burn(x.bank.spend(s.created[0]))
	purchase := x.tx.create(memberTrafficTemplate, memberTraffic{
		member: member, synchronizer: x.names.synchronizers[0], migration: x.tx.migration,
		purchased: bytes, purchases: 1, amuletSpent: cost, usdSpent: cost.times(x.rounds.openRound().price),
	})
	x.rewardPurchase(operator, cost)
	fields := []value{x.rounds.roundValue(), x.payments.summary(s), numeric(cost), contractID(purchase.number), x.payments.changeID(s)}
	x.tx.finish(at, a.record(buyTrafficDoneShape, x.tx.withMeta(fields, none())...))
	x.traffic[node] = append(x.traffic[node], purchase)
	if len(x.traffic[node]) == purchasesBeforeMerge {
		x.clock.tasks = append(x.clock.tasks, func() { x.mergeTraffic(node) })
	}
	return true
}

// rewardPurchase gives the buyer a coupon for the coins burned.
func (x *validators) rewardPurchase(buyer party, burned decimal) {
	r := x.rounds.openRound()
	x.rounds.addCoupon(r, validatorRewardTemplate, validatorReward{buyer, burned, r.number})
	r.validatorTotal += burned
}

// mergeTraffic sums the purchases of a node up in one contract.
func (x *validators) mergeTraffic(node int) {
	all := x.traffic[node]
	if len(all) < 2 { // a migration began in between
		return
	}
	a := x.tx.arena()
	ids := make([]value, len(all))
	var sum memberTraffic
	for i, c := range all {
		p := c.payload.(memberTraffic)
		ids[i] = contractID(c.number)
		p.purchased += sum.purchased
		p.purchases += sum.purchases
		p.amuletSpent += sum.amuletSpent
		p.usdSpent += sum.usdSpent
		sum = p
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MergeMemberTrafficContracts",
		a.record(mergeTrafficShape, a.list(ids...)), dso)
	for _, c := range all {
		x.tx.archive(c)
	}
	merged := x.tx.create(memberTrafficTemplate, sum)
	x.tx.finish(at, a.record(mergeTrafficDoneShape, contractID(merged.number)))
	x.traffic[node] = append(x.traffic[node][:0], merged)
}

// participantNamed is the number of the participant with a member id, or -1.
func (x *validators) participantNamed(member string) int {
	uid, ok := strings.CutPrefix(member, "PAR::")
	if !ok {
		return -1
	}
	return slices.Index(x.names.participants, uid)
}

func (x *validators) isMediator(member string) bool {
	for i := range x.names.superValidators.len() {
		if x.names.mediatorOf(x.names.superValidators.at(i)) == member {
			return true
		}
	}
	return false
}
