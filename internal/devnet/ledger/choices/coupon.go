package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// addCouponChoices are what the owners of coupons do with them besides collecting them, and
// the manager of the development fund.
func addCouponChoices(all *choices) {
	all.on(ValidatorRewardTemplate, "ValidatorRewardCoupon_ArchiveAsValidator", consuming(byArgument("validator"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			right, err := e.fetchOf(ValidatorRightTemplate, arg.Contract("rightCid"))
			if err != nil {
				return Value{}, err
			}
			if p := right.Payload.(ValidatorRight); p.Validator != arg.Party("validator") || p.User != c.Payload.(ValidatorReward).User {
				return Value{}, broken("the validator right is not one of %s for the user of the coupon", e.Names.Name(arg.Party("validator")))
			}
			return e.Tx.Arena().Record(EmptyRecordShape), nil
		}))
	all.on(SvRewardTemplate, "SvRewardCoupon_ArchiveAsBeneficiary", consuming(
		byPayload(func(p SvReward) []Party { return []Party{p.Beneficiary} }), toResult("SvRewardCoupon_ArchiveAsBeneficiaryResult")))
	all.on(FundCouponTemplate, "DevelopmentFundCoupon_Reject", consuming(
		byPayload(func(p FundCoupon) []Party { return []Party{p.Beneficiary} }), toFund))
	all.on(FundCouponTemplate, "DevelopmentFundCoupon_Withdraw", consuming(
		byPayload(func(p FundCoupon) []Party { return []Party{p.Manager} }), toFund))
	all.on(AmuletRulesTemplate, "AmuletRules_AllocateDevelopmentFundCoupon", nonconsuming(byArgument("fundManager"), allocateByCommand))
	all.on(AmuletRulesTemplate, "AmuletRules_ComputeFees", nonconsuming(byArgument("sender"),
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return Value{}, err
			}
			defer e.at(ctx.round)()
			a, fees := e.Tx.Arena(), make([]Value, len(arg.List("outputs")))
			for i := range fees {
				fees[i] = Numeric(e.payments.OutputFee())
			}
			return a.Record(feesShape, a.List(fees...)), nil
		}))
}

var feesShape = NewShape("fees")

// toFund returns a coupon to the development fund.
func toFund(e *Execution, c *Contract, _ Argument) (Value, error) {
	back := e.Tx.Create(UnclaimedFundTemplate, UnclaimedFund{Amount: c.Payload.(FundCoupon).Amount})
	return e.Tx.Arena().Record(MergeFundDoneShape, ContractID(back.Number)), nil
}

// allocateByCommand has the manager of the development fund give a part of it away.
func allocateByCommand(e *Execution, _ *Contract, arg Argument) (Value, error) {
	g := Grant{Beneficiary: arg.Party("beneficiary"), Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Reason: arg.Text("reason")}
	manager := arg.Party("fundManager")
	if manager != e.fund.FundManager() {
		return Value{}, broken("%s is not the manager of the development fund", e.Names.Name(manager))
	}
	if err := e.positive("amount", g.Amount); err != nil {
		return Value{}, err
	}
	if err := e.later("expiry of the coupon at", g.ExpiresAt); err != nil {
		return Value{}, err
	}
	var total Decimal
	for _, id := range arg.List("unclaimedDevelopmentFundCouponCids") {
		c, err := e.fetchOf(UnclaimedFundTemplate, uint64(id.Num))
		if err != nil {
			return Value{}, err
		}
		total += c.Payload.(UnclaimedFund).Amount
		e.Tx.Archive(c)
	}
	if total < g.Amount {
		return Value{}, broken("the unclaimed coupons are worth %s, less than %s", total, g.Amount)
	}
	coupon := e.Tx.Create(FundCouponTemplate, FundCoupon{g, manager})
	var left *Contract
	if total > g.Amount {
		left = e.Tx.Create(UnclaimedFundTemplate, UnclaimedFund{Amount: total - g.Amount})
	}
	return e.Tx.Arena().Record(AllocateFundDoneShape, ContractID(coupon.Number), Optional(e.Tx.Arena(), left != nil, IdOf(left))), nil
}
