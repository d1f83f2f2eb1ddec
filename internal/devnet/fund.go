package devnet

import "slices"

// fund is what can be collected besides the coupons of rounds. All of it exists from
// package version 1 on.
type fund struct {
	unclaimed []*contract // of the development fund, oldest first
	coupons   []*contract // of the development fund, wait for their beneficiaries
	records   []*contract // unclaimed activity records
}

const (
	// fundShare is the part of what a round issues that goes to the development fund.
	fundShare = one / 20
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
func (x *executor) fundManager() party { return x.names.users.at(0) }

// addToFund creates an unclaimed coupon of the development fund, unless amount is 0.
func (x *executor) addToFund(amount decimal) *contract {
	if amount <= 0 {
		return nil
	}
	c := x.create(unclaimedFundTemplate, unclaimedFund{amount: amount})
	x.fund.unclaimed = append(x.fund.unclaimed, c)
	if len(x.fund.unclaimed) == fundBeforeMerge {
		x.tasks = append(x.tasks, x.mergeFund)
	}
	return c
}

// takeFund archives all unclaimed coupons of the fund and returns their sum.
func (x *executor) takeFund() (sum decimal) {
	for _, c := range x.fund.unclaimed {
		sum += c.payload.(unclaimedFund).amount
		x.archive(c)
	}
	x.fund.unclaimed = x.fund.unclaimed[:0]
	return sum
}

// fundIDs lists the unclaimed coupons of the fund as a choice argument.
func (x *executor) fundIDs() value {
	ids := make([]value, len(x.fund.unclaimed))
	for i, c := range x.fund.unclaimed {
		ids[i] = contractID(c.number)
	}
	return x.arena().list(ids...)
}

// mergeFund turns the unclaimed coupons of the fund into one.
func (x *executor) mergeFund() {
	if len(x.fund.unclaimed) < 2 { // given away in between
		return
	}
	a := x.arena()
	at := x.exercise(x.rules.amulet, "AmuletRules_MergeUnclaimedDevelopmentFundCoupons",
		a.record(mergeFundShape, x.fundIDs()), dso)
	merged := x.addToFund(x.takeFund())
	x.finish(at, a.record(mergeFundDoneShape, contractID(merged.number)))
}

// someGrant is a grant of a part of total to a user.
func (x *executor) someGrant(total decimal) grant {
	return grant{beneficiary: x.someUser(), amount: max(1, total.times(x.random.decimalBetween(one/100, one/10))),
		expiresAt: x.effectiveAt + x.tick*int64(x.random.between(2, 12)),
		reason:    grantReasons[x.random.below(len(grantReasons))]}
}

// allocateFund has the manager give a part of the development fund to a user.
func (x *executor) allocateFund() bool {
	if len(x.fund.unclaimed) == 0 {
		return false
	}
	var total decimal
	for _, c := range x.fund.unclaimed {
		total += c.payload.(unclaimedFund).amount
	}
	a, manager := x.arena(), x.fundManager()
	g := x.someGrant(total)
	at := x.exercise(x.rules.amulet, "AmuletRules_AllocateDevelopmentFundCoupon", a.record(allocateFundShape,
		x.fundIDs(), partyValue(g.beneficiary), numeric(g.amount), timestamp(g.expiresAt), text(g.reason),
		partyValue(manager)), manager)
	rest := x.takeFund() - g.amount
	c := x.create(fundCouponTemplate, fundCoupon{g, manager})
	left := x.addToFund(rest)
	x.finish(at, a.record(allocateFundDoneShape, contractID(c.number), optional(a, left != nil, idOf(left))))
	x.fund.coupons = append(x.fund.coupons, c)
	return true
}

// settleFundCoupon ends a coupon of the fund: mostly its beneficiary collects it, else
// it returns to the fund.
func (x *executor) settleFundCoupon() bool {
	c := takeAny(&x.random, &x.fund.coupons)
	if c == nil {
		return false
	}
	a, p := x.arena(), c.payload.(fundCoupon)
	if x.isManaged(p.beneficiary) {
		return false
	}
	reason := a.record(returnFundShape, text(grantReasons[x.random.below(len(grantReasons))]))
	var at int
	switch {
	case p.expiresAt <= x.effectiveAt:
		at = x.consume(c, "DevelopmentFundCoupon_DsoExpire", a.record(emptyRecordShape), dso)
	case x.random.percent(20):
		at = x.consume(c, "DevelopmentFundCoupon_Withdraw", reason, p.manager)
	case x.random.percent(15):
		at = x.consume(c, "DevelopmentFundCoupon_Reject", reason, p.beneficiary)
	default:
		x.collectGrant(p.beneficiary, c)
		return true
	}
	back := x.addToFund(p.amount)
	x.finish(at, a.record(mergeFundDoneShape, contractID(back.number)))
	return true
}

// collectGrant turns a grant into coins of its beneficiary.
func (x *executor) collectGrant(beneficiary party, c *contract) {
	p := payment{sender: beneficiary, coupons: []*contract{c}, provider: noParty}
	p.coins, _ = x.takeCoins(beneficiary, 2)
	x.current.workflow = "collect-rewards"
	x.transfer(p)
}

// grantRecord has the super-validators grant a part of an unclaimed reward to a user.
// Which one is used up for it is decided in the next transaction.
func (x *executor) grantRecord() bool {
	if x.version() == 0 || len(x.rounds.unclaimed) == 0 {
		return false
	}
	a := x.arena()
	g := x.someGrant(x.rounds.unclaimed[0].payload.(unclaimedReward).amount)
	at := x.exercise(x.rules.dso, "DsoRules_CreateUnallocatedUnclaimedActivityRecord", a.record(createRecordShape,
		partyValue(g.beneficiary), numeric(g.amount), text(g.reason), timestamp(g.expiresAt)), dso)
	c := x.create(unallocatedTemplate, unallocatedRecord{activityRecord{g}})
	x.finish(at, a.record(createRecordDoneShape, contractID(c.number)))
	x.tasks = append(x.tasks, func() { x.allocateRecord(c) })
	return true
}

// allocateRecord burns an unclaimed reward for a record; the record waits for one that
// is large enough.
func (x *executor) allocateRecord(granted *contract) {
	g := granted.payload.(unallocatedRecord).grant
	i := slices.IndexFunc(x.rounds.unclaimed, func(c *contract) bool { return c.payload.(unclaimedReward).amount >= g.amount })
	if i < 0 {
		x.expireAt(x.recordTime+x.tick, func() { x.allocateRecord(granted) })
		return
	}
	source := x.rounds.unclaimed[i]
	x.rounds.unclaimed = slices.Delete(x.rounds.unclaimed, i, i+1)
	total := source.payload.(unclaimedReward).amount
	a, sv := x.arena(), x.names.superValidators.first
	at := x.exercise(x.rules.dso, "DsoRules_AllocateUnallocatedUnclaimedActivityRecord", a.record(allocateRecordShape,
		contractID(granted.number), contractID(x.rules.amulet.number), a.list(contractID(source.number)), partyValue(sv)), sv)
	x.archive(granted)
	x.archive(source)
	c := x.create(activityRecordTemplate, activityRecord{g})
	left := x.addUnclaimed(total - g.amount)
	x.finish(at, a.record(allocateRecordDone, contractID(c.number), optional(a, left != nil, idOf(left))))
	x.fund.records = append(x.fund.records, c)
}

// settleRecord has the beneficiary of an unclaimed activity record collect it, or lets
// it expire.
func (x *executor) settleRecord() bool {
	c := takeAny(&x.random, &x.fund.records)
	if c == nil {
		return false
	}
	p := c.payload.(activityRecord)
	if x.isManaged(p.beneficiary) {
		return false
	}
	if p.expiresAt > x.effectiveAt {
		x.collectGrant(p.beneficiary, c)
		return true
	}
	a := x.arena()
	at := x.consume(c, "UnclaimedActivityRecord_DsoExpire", a.record(emptyRecordShape), dso)
	back := x.addUnclaimed(p.amount)
	x.finish(at, a.record(recordExpiredDoneShape, contractID(back.number)))
	return true
}
