package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// addCouponChoices are what the owners of coupons do with them besides collecting them, and
// the manager of the development fund.
func addCouponChoices(all *choices) {
	all.on(model.ValidatorRewardTemplate, "ValidatorRewardCoupon_ArchiveAsValidator", consuming(byArgument("validator"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			right, err := e.fetchOf(model.ValidatorRightTemplate, arg.Contract("rightCid"))
			if err != nil {
				return model.Value{}, err
			}
			if p := right.Payload.(model.ValidatorRight); p.Validator != arg.Party("validator") || p.User != c.Payload.(model.ValidatorReward).User {
				return model.Value{}, broken("the validator right is not one of %s for the user of the coupon", e.Names.Name(arg.Party("validator")))
			}
			return e.Tx.Arena().Record(model.EmptyRecordShape), nil
		}))
	all.on(model.SvRewardTemplate, "SvRewardCoupon_ArchiveAsBeneficiary", consuming(
		byPayload(func(p model.SvReward) []model.Party { return []model.Party{p.Beneficiary} }), toResult("SvRewardCoupon_ArchiveAsBeneficiaryResult")))
	all.on(model.FundCouponTemplate, "DevelopmentFundCoupon_Reject", consuming(
		byPayload(func(p model.FundCoupon) []model.Party { return []model.Party{p.Beneficiary} }), toFund))
	all.on(model.FundCouponTemplate, "DevelopmentFundCoupon_Withdraw", consuming(
		byPayload(func(p model.FundCoupon) []model.Party { return []model.Party{p.Manager} }), toFund))
	all.on(model.AmuletRulesTemplate, "AmuletRules_AllocateDevelopmentFundCoupon", nonconsuming(byArgument("fundManager"), allocateByCommand))
	all.on(model.AmuletRulesTemplate, "AmuletRules_ComputeFees", nonconsuming(byArgument("sender"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return model.Value{}, err
			}
			defer e.at(ctx.round)()
			a, fees := e.Tx.Arena(), make([]model.Value, len(arg.List("outputs")))
			for i := range fees {
				fees[i] = model.Numeric(e.payments.OutputFee())
			}
			return a.Record(feesShape, a.List(fees...)), nil
		}))
}

var feesShape = model.NewShape("fees")

// toFund returns a coupon to the development fund.
func toFund(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	back := e.Tx.Create(model.UnclaimedFundTemplate, model.UnclaimedFund{Amount: c.Payload.(model.FundCoupon).Amount})
	return e.Tx.Arena().Record(sim.MergeFundDoneShape, model.ContractID(back.Number)), nil
}

// allocateByCommand has the manager of the development fund give a part of it away.
func allocateByCommand(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
	g := model.Grant{Beneficiary: arg.Party("beneficiary"), Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Reason: arg.Text("reason")}
	manager := arg.Party("fundManager")
	if manager != e.fund.FundManager() {
		return model.Value{}, broken("%s is not the manager of the development fund", e.Names.Name(manager))
	}
	if err := e.positive("amount", g.Amount); err != nil {
		return model.Value{}, err
	}
	if err := e.later("expiry of the coupon at", g.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	var total model.Decimal
	for _, id := range arg.List("unclaimedDevelopmentFundCouponCids") {
		c, err := e.fetchOf(model.UnclaimedFundTemplate, uint64(id.Num))
		if err != nil {
			return model.Value{}, err
		}
		total += c.Payload.(model.UnclaimedFund).Amount
		e.Tx.Archive(c)
	}
	if total < g.Amount {
		return model.Value{}, broken("the unclaimed coupons are worth %s, less than %s", total, g.Amount)
	}
	coupon := e.Tx.Create(model.FundCouponTemplate, model.FundCoupon{Grant: g, Manager: manager})
	var left *model.Contract
	if total > g.Amount {
		left = e.Tx.Create(model.UnclaimedFundTemplate, model.UnclaimedFund{Amount: total - g.Amount})
	}
	return e.Tx.Arena().Record(sim.AllocateFundDoneShape, model.ContractID(coupon.Number), model.Optional(e.Tx.Arena(), left != nil, sim.IdOf(left))), nil
}
