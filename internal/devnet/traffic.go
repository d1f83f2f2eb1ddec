package devnet

var (
	buyTrafficShape       = newShape("inputs", "context", "provider", "memberId", "synchronizerId", "migrationId", "trafficAmount", "expectedDso")
	buyTrafficDoneShape   = newShape("round", "summary", "amuletPaid", "purchasedTraffic", "senderChangeAmulet", "meta")
	mergeTrafficShape     = newShape("trafficCids")
	mergeTrafficDoneShape = newShape("mergedTrafficCid")
)

// purchasesBeforeMerge is how many purchases of a node pile up.
const purchasesBeforeMerge = 4

// buyTraffic has the operator of a validator buy traffic for its node. On a
// development network an operator without coins taps some first.
func (x *executor) buyTraffic() bool {
	operator := x.names.validators.of(&x.random)
	if x.isManaged(operator) {
		return false
	}
	bytes := int64(x.random.between(minTopUp, 3*minTopUp))
	cost := decimal(bytes * 1e4).times(trafficPrice).over(x.openRound().price)
	taken, ok := x.gather(operator, cost+2*x.outputFee())
	if !ok {
		x.tap(operator, cost*8)
		return true
	}
	a, node := x.arena(), x.names.participantOf(operator, 0)
	p := payment{sender: operator, coins: taken, provider: noParty, outputs: []output{{receiver: operator, amount: cost}}}
	member := "PAR::" + x.names.participants[node]
	at := x.exercise(x.rules.amulet, "AmuletRules_BuyMemberTraffic", a.record(buyTrafficShape, x.inputsValue(&p),
		x.context(&p), partyValue(operator), text(member), text(x.names.synchronizers[0]),
		int64Value(x.migration), int64Value(bytes), x.expectedDSO()), operator)
	s := x.settle(p)
	x.burn(x.spend(s.created[0]))
	purchase := x.create(memberTrafficTemplate, memberTraffic{
		member: member, synchronizer: x.names.synchronizers[0], migration: x.migration,
		purchased: bytes, purchases: 1, amuletSpent: cost, usdSpent: cost.times(x.openRound().price),
	})
	x.rewardPurchase(operator, cost)
	fields := []value{x.roundValue(), x.summary(s), numeric(cost), contractID(purchase.number), x.changeID(s)}
	x.finish(at, a.record(buyTrafficDoneShape, x.withMeta(fields, none())...))
	x.traffic[node] = append(x.traffic[node], purchase)
	if len(x.traffic[node]) == purchasesBeforeMerge {
		x.tasks = append(x.tasks, func() { x.mergeTraffic(node) })
	}
	return true
}

// rewardPurchase gives the buyer a coupon for the coins burned.
func (x *executor) rewardPurchase(buyer party, burned decimal) {
	r := x.openRound()
	x.addCoupon(r, validatorRewardTemplate, validatorReward{buyer, burned, r.number})
	r.validatorTotal += burned
}

// mergeTraffic sums the purchases of a node up in one contract.
func (x *executor) mergeTraffic(node int) {
	all := x.traffic[node]
	if len(all) < 2 { // a migration began in between
		return
	}
	a := x.arena()
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
	at := x.exercise(x.rules.amulet, "AmuletRules_MergeMemberTrafficContracts",
		a.record(mergeTrafficShape, a.list(ids...)), dso)
	for _, c := range all {
		x.archive(c)
	}
	merged := x.create(memberTrafficTemplate, sum)
	x.finish(at, a.record(mergeTrafficDoneShape, contractID(merged.number)))
	x.traffic[node] = append(x.traffic[node][:0], merged)
}
