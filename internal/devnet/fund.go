package devnet

import "slices"

// fund is what can be collected besides the coupons of rounds. All of it exists from
// package version 1 on.
type fund struct {
	core
	payments *payments
	users    *users
	rounds   *rounds

	unclaimed []*contract // of the development fund, oldest first
	coupons   []*contract // of the development fund, wait for their beneficiaries
	records   []*contract // unclaimed activity records
}

const (
	// fundBeforeMerge is how many unclaimed coupons of the fund pile up.
	fundBeforeMerge = 6
)

var (
	mergeFundShape         = newShape("unclaimedDevelopmentFundCouponCids")
	mergeFundDoneShape     = newShape("unclaimedDevelopmentFundCouponCid")
	allocateFundShape      = newShape("unclaimedDevelopmentFundCouponCids", "beneficiary", "amount", "expiresAt", "reason", "fundManager")
	allocateFundDoneShape  = newShape("developmentFundCouponCid", "optUnclaimedDevelopmentFundCouponCid")
	returnFundShape        = newShape("reason")
	createRecordShape      = newShape("beneficiary", "amount", "reason", "expiresAt")
	createRecordDoneShape  = newShape("unallocatedUnclaimedActivityRecordCid")
	allocateRecordShape    = newShape("unallocatedUnclaimedActivityRecordCid", "amuletRulesCid", "unclaimedRewardsToBurnCids", "sv")
	allocateRecordDone     = newShape("unclaimedActivityRecordCid", "optUnclaimedRewardCid")
	grantReasons           = []string{"grant 2026/Q3", "audit of \"escrow\"", "Übersetzung", "test network outage"}
	recordExpiredDoneShape = newShape("unclaimedRewardCid")
)

// fundManager gives the development fund away.
func (x *fund) fundManager() party { return x.names.users.at(0) }

// addToFund creates an unclaimed coupon of the development fund, unless amount is 0.
func (x *fund) addToFund(amount decimal) *contract {
	if amount <= 0 {
		return nil
	}
	c := x.tx.create(unclaimedFundTemplate, unclaimedFund{amount: amount})
	x.unclaimed = append(x.unclaimed, c)
	if len(x.unclaimed) == fundBeforeMerge {
		x.clock.tasks = append(x.clock.tasks, x.mergeFund)
	}
	return c
}

// takeFund archives all unclaimed coupons of the fund and returns their sum.
func (x *fund) takeFund() (sum decimal) {
	for _, c := range x.unclaimed {
		sum += c.payload.(unclaimedFund).amount
		x.tx.archive(c)
	}
	x.unclaimed = x.unclaimed[:0]
	return sum
}

// fundIDs lists the unclaimed coupons of the fund as a choice argument.
func (x *fund) fundIDs() value {
	ids := make([]value, len(x.unclaimed))
	for i, c := range x.unclaimed {
		ids[i] = contractID(c.number)
	}
	return x.tx.arena().list(ids...)
}

// mergeFund turns the unclaimed coupons of the fund into one.
func (x *fund) mergeFund() {
	if len(x.unclaimed) < 2 { // given away in between
		return
	}
	a := x.tx.arena()
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MergeUnclaimedDevelopmentFundCoupons",
		a.record(mergeFundShape, x.fundIDs()), dso)
	merged := x.addToFund(x.takeFund())
	x.tx.finish(at, a.record(mergeFundDoneShape, contractID(merged.number)))
}

// someGrant is a grant of a part of total to a user.
func (x *fund) someGrant(total decimal) grant {
	return grant{beneficiary: x.users.someUser(), amount: max(1, total.times(x.random.decimalBetween(one/100, one/10))),
		expiresAt: x.clock.effectiveAt + x.clock.tick*int64(x.random.between(2, 12)),
		reason:    grantReasons[x.random.below(len(grantReasons))]}
}

// allocateFund has the manager give a part of the development fund to a user.
func (x *fund) allocateFund() bool {
	if len(x.unclaimed) == 0 {
		return false
	}
	var total decimal
	for _, c := range x.unclaimed {
		total += c.payload.(unclaimedFund).amount
	}
	a, manager := x.tx.arena(), x.fundManager()
	g := x.someGrant(total)
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_AllocateDevelopmentFundCoupon", a.record(allocateFundShape,
		x.fundIDs(), partyValue(g.beneficiary), numeric(g.amount), timestamp(g.expiresAt), text(g.reason),
		partyValue(manager)), manager)
	rest := x.takeFund() - g.amount
	c := x.tx.create(fundCouponTemplate, fundCoupon{g, manager})
	left := x.addToFund(rest)
	x.tx.finish(at, a.record(allocateFundDoneShape, contractID(c.number), optional(a, left != nil, idOf(left))))
	x.coupons = append(x.coupons, c)
	return true
}

// settleFundCoupon ends a coupon of the fund: mostly its beneficiary collects it, else
// it returns to the fund.
func (x *fund) settleFundCoupon() bool {
	c := takeAny(x.random, &x.coupons)
	if c == nil {
		return false
	}
	a, p := x.tx.arena(), c.payload.(fundCoupon)
	if x.users.isManaged(p.beneficiary) {
		return false
	}
	reason := a.record(returnFundShape, text(grantReasons[x.random.below(len(grantReasons))]))
	var at int
	switch {
	case p.expiresAt <= x.clock.effectiveAt:
		at = x.tx.consume(c, "DevelopmentFundCoupon_DsoExpire", a.record(emptyRecordShape), dso)
	case x.random.percent(20):
		at = x.tx.consume(c, "DevelopmentFundCoupon_Withdraw", reason, p.manager)
	case x.random.percent(15):
		at = x.tx.consume(c, "DevelopmentFundCoupon_Reject", reason, p.beneficiary)
	default:
		x.payments.collectGrant(p.beneficiary, c)
		return true
	}
	back := x.addToFund(p.amount)
	x.tx.finish(at, a.record(mergeFundDoneShape, contractID(back.number)))
	return true
}

// collectGrant turns a grant into coins of its beneficiary.
func (x *payments) collectGrant(beneficiary party, c *contract) {
	p := payment{sender: beneficiary, coupons: []*contract{c}, provider: noParty}
	p.coins, _ = x.bank.takeCoins(beneficiary, 2)
	x.tx.current.workflow = "collect-rewards"
	x.transfer(p)
}

// grantRecord has the super-validators grant a part of an unclaimed reward to a user.
// Which one is used up for it is decided in the next transaction.
func (x *fund) grantRecord() bool {
	if x.tx.version() == 0 || len(x.rounds.unclaimed) == 0 {
		return false
	}
	a := x.tx.arena()
	g := x.someGrant(x.rounds.unclaimed[0].payload.(unclaimedReward).amount)
	at := x.tx.exercise(x.rules.dso, "DsoRules_CreateUnallocatedUnclaimedActivityRecord", a.record(createRecordShape,
		partyValue(g.beneficiary), numeric(g.amount), text(g.reason), timestamp(g.expiresAt)), dso)
	c := x.tx.create(unallocatedTemplate, unallocatedRecord{activityRecord{g}})
	x.tx.finish(at, a.record(createRecordDoneShape, contractID(c.number)))
	x.clock.tasks = append(x.clock.tasks, func() { x.allocateRecord(c) })
	return true
}

// allocateRecord burns an unclaimed reward for a record; the record waits for one that
// is large enough.
func (x *fund) allocateRecord(granted *contract) {
	g := granted.payload.(unallocatedRecord).grant
	i := slices.IndexFunc(x.rounds.unclaimed, func(c *contract) bool { return c.payload.(unclaimedReward).amount >= g.amount })
	if i < 0 {
		x.clock.expireAt(x.clock.recordTime+x.clock.tick, func() { x.allocateRecord(granted) })
		return
	}
	source := x.rounds.unclaimed[i]
	x.rounds.unclaimed = slices.Delete(x.rounds.unclaimed, i, i+1)
	total := source.payload.(unclaimedReward).amount
	a, sv := x.tx.arena(), x.names.superValidators.first
	at := x.tx.exercise(x.rules.dso, "DsoRules_AllocateUnallocatedUnclaimedActivityRecord", a.record(allocateRecordShape,
		contractID(granted.number), contractID(x.rules.amulet.number), a.list(contractID(source.number)), partyValue(sv)), sv)
	x.tx.archive(granted)
	x.tx.archive(source)
	c := x.tx.create(activityRecordTemplate, activityRecord{g})
	left := x.rounds.addUnclaimed(total - g.amount)
	x.tx.finish(at, a.record(allocateRecordDone, contractID(c.number), optional(a, left != nil, idOf(left))))
	x.records = append(x.records, c)
}

// settleRecord has the beneficiary of an unclaimed activity record collect it, or lets
// it expire.
func (x *fund) settleRecord() bool {
	c := takeAny(x.random, &x.records)
	if c == nil {
		return false
	}
	p := c.payload.(activityRecord)
	if x.users.isManaged(p.beneficiary) {
		return false
	}
	if p.expiresAt > x.clock.effectiveAt {
		x.payments.collectGrant(p.beneficiary, c)
		return true
	}
	a := x.tx.arena()
	at := x.tx.consume(c, "UnclaimedActivityRecord_DsoExpire", a.record(emptyRecordShape), dso)
	back := x.rounds.addUnclaimed(p.amount)
	x.tx.finish(at, a.record(recordExpiredDoneShape, contractID(back.number)))
	return true
}
