package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Fund is what can be collected besides the coupons of rounds. All of it exists from
// package version 1 on.
type Fund struct {
	Core
	payments *Payments
	users    *users
	rounds   *Rounds

	unclaimed []*model.Contract // of the development fund, oldest first
	coupons   []*model.Contract // of the development fund, wait for their beneficiaries
	records   []*model.Contract // unclaimed activity records
}

const (
	// fundBeforeMerge is how many unclaimed coupons of the fund pile up.
	fundBeforeMerge = 6
)

var (
	mergeFundShape         = model.NewShape("unclaimedDevelopmentFundCouponCids")
	MergeFundDoneShape     = model.NewShape("unclaimedDevelopmentFundCouponCid")
	allocateFundShape      = model.NewShape("unclaimedDevelopmentFundCouponCids", "beneficiary", "amount", "expiresAt", "reason", "fundManager")
	AllocateFundDoneShape  = model.NewShape("developmentFundCouponCid", "optUnclaimedDevelopmentFundCouponCid")
	returnFundShape        = model.NewShape("reason")
	createRecordShape      = model.NewShape("beneficiary", "amount", "reason", "expiresAt")
	createRecordDoneShape  = model.NewShape("unallocatedUnclaimedActivityRecordCid")
	allocateRecordShape    = model.NewShape("unallocatedUnclaimedActivityRecordCid", "amuletRulesCid", "unclaimedRewardsToBurnCids", "sv")
	allocateRecordDone     = model.NewShape("unclaimedActivityRecordCid", "optUnclaimedRewardCid")
	grantReasons           = []string{"grant 2026/Q3", "audit of \"escrow\"", "Übersetzung", "test network outage"}
	recordExpiredDoneShape = model.NewShape("unclaimedRewardCid")
)

// FundManager gives the development fund away.
func (x *Fund) FundManager() model.Party { return x.Names.Users.At(0) }

// addToFund creates an unclaimed coupon of the development fund, unless amount is 0.
func (x *Fund) addToFund(amount model.Decimal) *model.Contract {
	if amount <= 0 {
		return nil
	}
	c := x.Tx.Create(model.UnclaimedFundTemplate, model.UnclaimedFund{Amount: amount})
	x.unclaimed = append(x.unclaimed, c)
	if len(x.unclaimed) == fundBeforeMerge {
		x.Clock.Tasks = append(x.Clock.Tasks, x.mergeFund)
	}
	return c
}

// takeFund archives all unclaimed coupons of the fund and returns their sum.
func (x *Fund) takeFund() (sum model.Decimal) {
	for _, c := range x.unclaimed {
		sum += c.Payload.(model.UnclaimedFund).Amount
		x.Tx.Archive(c)
	}
	x.unclaimed = x.unclaimed[:0]
	return sum
}

// mergeFund turns the unclaimed coupons of the fund into one.
func (x *Fund) mergeFund() {
	if len(x.unclaimed) < 2 { // given away in between
		return
	}
	a := x.Tx.Arena()
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MergeUnclaimedDevelopmentFundCoupons",
		a.Record(mergeFundShape, x.Tx.IDs(x.unclaimed...)), model.Dso)
	merged := x.addToFund(x.takeFund())
	x.Tx.Finish(at, a.Record(MergeFundDoneShape, model.ContractID(merged.Number)))
}

// someGrant is a grant of a part of total to a user.
func (x *Fund) someGrant(total model.Decimal) model.Grant {
	return model.Grant{Beneficiary: x.users.someUser(), Amount: max(1, total.Times(x.Random.DecimalBetween(model.One/100, model.One/10))),
		ExpiresAt: x.Clock.EffectiveAt + x.Clock.tick*int64(x.Random.Between(2, 12)),
		Reason:    grantReasons[x.Random.Below(len(grantReasons))]}
}

// allocateFund has the manager give a part of the development fund to a user.
func (x *Fund) allocateFund() bool {
	if len(x.unclaimed) == 0 || x.Config.Fund != (model.FundRules{}) {
		return false
	}
	var total model.Decimal
	for _, c := range x.unclaimed {
		total += c.Payload.(model.UnclaimedFund).Amount
	}
	a, manager := x.Tx.Arena(), x.FundManager()
	g := x.someGrant(total)
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_AllocateDevelopmentFundCoupon", a.Record(allocateFundShape,
		x.Tx.IDs(x.unclaimed...), model.PartyValue(g.Beneficiary), model.Numeric(g.Amount), model.Timestamp(g.ExpiresAt), model.Text(g.Reason),
		model.PartyValue(manager)), manager)
	rest := x.takeFund() - g.Amount
	c := x.Tx.Create(model.FundCouponTemplate, model.FundCoupon{Grant: g, Manager: manager})
	left := x.addToFund(rest)
	x.Tx.Finish(at, a.Record(AllocateFundDoneShape, model.ContractID(c.Number), model.Optional(a, left != nil, IdOf(left))))
	x.coupons = append(x.coupons, c)
	return true
}

// settleFundCoupon ends a coupon of the fund: mostly its beneficiary collects it, else
// it returns to the fund.
func (x *Fund) settleFundCoupon() bool {
	c := takeAny(x.Random, &x.coupons)
	if c == nil {
		return false
	}
	a, p := x.Tx.Arena(), c.Payload.(model.FundCoupon)
	if x.users.isManaged(p.Beneficiary) {
		return false
	}
	reason := a.Record(returnFundShape, model.Text(grantReasons[x.Random.Below(len(grantReasons))]))
	var at int
	switch {
	case p.ExpiresAt <= x.Clock.EffectiveAt:
		at = x.Tx.Consume(c, "DevelopmentFundCoupon_DsoExpire", a.Record(model.EmptyRecordShape), model.Dso)
	case x.Random.Percent(20):
		at = x.Tx.Consume(c, "DevelopmentFundCoupon_Withdraw", reason, p.Manager)
	case x.Random.Percent(15):
		at = x.Tx.Consume(c, "DevelopmentFundCoupon_Reject", reason, p.Beneficiary)
	default:
		x.payments.collectGrant(p.Beneficiary, c)
		return true
	}
	back := x.addToFund(p.Amount)
	x.Tx.Finish(at, a.Record(MergeFundDoneShape, model.ContractID(back.Number)))
	return true
}

// grantRecord has the super-validators grant a part of an unclaimed reward to a user.
// Which one is used up for it is decided in the next transaction.
func (x *Fund) grantRecord() bool {
	if x.Tx.Version() == 0 || len(x.rounds.unclaimed) == 0 {
		return false
	}
	a := x.Tx.Arena()
	g := x.someGrant(x.rounds.unclaimed[0].Payload.(model.UnclaimedReward).Amount)
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_CreateUnallocatedUnclaimedActivityRecord", a.Record(createRecordShape,
		model.PartyValue(g.Beneficiary), model.Numeric(g.Amount), model.Text(g.Reason), model.Timestamp(g.ExpiresAt)), model.Dso)
	c := x.Tx.Create(model.UnallocatedTemplate, model.UnallocatedRecord{ActivityRecord: model.ActivityRecord{Grant: g}})
	x.Tx.Finish(at, a.Record(createRecordDoneShape, model.ContractID(c.Number)))
	x.Clock.Tasks = append(x.Clock.Tasks, func() { x.allocateRecord(c) })
	return true
}

// allocateRecord burns an unclaimed reward for a record; the record waits for one that
// is large enough.
func (x *Fund) allocateRecord(granted *model.Contract) {
	g := granted.Payload.(model.UnallocatedRecord).Grant
	i := slices.IndexFunc(x.rounds.unclaimed, func(c *model.Contract) bool { return c.Payload.(model.UnclaimedReward).Amount >= g.Amount })
	if i < 0 {
		x.Clock.expireAt(x.Clock.RecordTime+x.Clock.tick, func() { x.allocateRecord(granted) })
		return
	}
	source := x.rounds.unclaimed[i]
	x.rounds.unclaimed = slices.Delete(x.rounds.unclaimed, i, i+1)
	total := source.Payload.(model.UnclaimedReward).Amount
	a, sv := x.Tx.Arena(), x.Names.SuperValidators.First
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_AllocateUnallocatedUnclaimedActivityRecord", a.Record(allocateRecordShape,
		model.ContractID(granted.Number), model.ContractID(x.Rules.Amulet.Number), a.List(model.ContractID(source.Number)), model.PartyValue(sv)), sv)
	x.Tx.Archive(granted)
	x.Tx.Archive(source)
	c := x.Tx.Create(model.ActivityRecordTemplate, model.ActivityRecord{Grant: g})
	left := x.rounds.addUnclaimed(total - g.Amount)
	x.Tx.Finish(at, a.Record(allocateRecordDone, model.ContractID(c.Number), model.Optional(a, left != nil, IdOf(left))))
	x.records = append(x.records, c)
}

// settleRecord has the beneficiary of an unclaimed activity record collect it, or lets
// it expire.
func (x *Fund) settleRecord() bool {
	c := takeAny(x.Random, &x.records)
	if c == nil {
		return false
	}
	p := c.Payload.(model.ActivityRecord)
	if x.users.isManaged(p.Beneficiary) {
		return false
	}
	if p.ExpiresAt > x.Clock.EffectiveAt {
		x.payments.collectGrant(p.Beneficiary, c)
		return true
	}
	a := x.Tx.Arena()
	at := x.Tx.Consume(c, "UnclaimedActivityRecord_DsoExpire", a.Record(model.EmptyRecordShape), model.Dso)
	back := x.rounds.addUnclaimed(p.Amount)
	x.Tx.Finish(at, a.Record(recordExpiredDoneShape, model.ContractID(back.Number)))
	return true
}
