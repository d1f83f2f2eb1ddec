package devnet

// addCouponChoices are what the owners of coupons do with them besides collecting them, and
// the manager of the development fund.
func addCouponChoices(all *choices) {
	all.on(validatorRewardTemplate, "ValidatorRewardCoupon_ArchiveAsValidator", consuming(byArgument("validator"),
		func(e *execution, c *contract, arg argument) (value, error) {
			right, err := e.fetchOf(validatorRightTemplate, arg.contract("rightCid"))
			if err != nil {
				return value{}, err
			}
			if p := right.payload.(validatorRight); p.validator != arg.party("validator") || p.user != c.payload.(validatorReward).user {
				return value{}, broken("the validator right is not one of %s for the user of the coupon", e.names.name(arg.party("validator")))
			}
			return e.tx.arena().record(emptyRecordShape), nil
		}))
	all.on(svRewardTemplate, "SvRewardCoupon_ArchiveAsBeneficiary", consuming(
		byPayload(func(p svReward) []party { return []party{p.beneficiary} }), toResult("SvRewardCoupon_ArchiveAsBeneficiaryResult")))
	all.on(fundCouponTemplate, "DevelopmentFundCoupon_Reject", consuming(
		byPayload(func(p fundCoupon) []party { return []party{p.beneficiary} }), toFund))
	all.on(fundCouponTemplate, "DevelopmentFundCoupon_Withdraw", consuming(
		byPayload(func(p fundCoupon) []party { return []party{p.manager} }), toFund))
	all.on(amuletRulesTemplate, "AmuletRules_AllocateDevelopmentFundCoupon", nonconsuming(byArgument("fundManager"), allocateByCommand))
	all.on(amuletRulesTemplate, "AmuletRules_ComputeFees", nonconsuming(byArgument("sender"),
		func(e *execution, _ *contract, arg argument) (value, error) {
			ctx, err := transferContextOf(e, arg.record("context"))
			if err != nil {
				return value{}, err
			}
			defer e.at(ctx.round)()
			a, fees := e.tx.arena(), make([]value, len(arg.list("outputs")))
			for i := range fees {
				fees[i] = numeric(e.payments.outputFee())
			}
			return a.record(feesShape, a.list(fees...)), nil
		}))
}

var feesShape = newShape("fees")

// toFund returns a coupon to the development fund.
func toFund(e *execution, c *contract, _ argument) (value, error) {
	back := e.tx.create(unclaimedFundTemplate, unclaimedFund{amount: c.payload.(fundCoupon).amount})
	return e.tx.arena().record(mergeFundDoneShape, contractID(back.number)), nil
}

// allocateByCommand has the manager of the development fund give a part of it away.
func allocateByCommand(e *execution, _ *contract, arg argument) (value, error) {
	g := grant{beneficiary: arg.party("beneficiary"), amount: arg.numeric("amount"), expiresAt: arg.time("expiresAt"), reason: arg.text("reason")}
	manager := arg.party("fundManager")
	if manager != e.fund.fundManager() {
		return value{}, broken("%s is not the manager of the development fund", e.names.name(manager))
	}
	if err := e.positive("amount", g.amount); err != nil {
		return value{}, err
	}
	if err := e.later("expiry of the coupon at", g.expiresAt); err != nil {
		return value{}, err
	}
	var total decimal
	for _, id := range arg.list("unclaimedDevelopmentFundCouponCids") {
		c, err := e.fetchOf(unclaimedFundTemplate, uint64(id.num))
		if err != nil {
			return value{}, err
		}
		total += c.payload.(unclaimedFund).amount
		e.tx.archive(c)
	}
	if total < g.amount {
		return value{}, broken("the unclaimed coupons are worth %s, less than %s", total, g.amount)
	}
	coupon := e.tx.create(fundCouponTemplate, fundCoupon{g, manager})
	var left *contract
	if total > g.amount {
		left = e.tx.create(unclaimedFundTemplate, unclaimedFund{amount: total - g.amount})
	}
	return e.tx.arena().record(allocateFundDoneShape, contractID(coupon.number), optional(e.tx.arena(), left != nil, idOf(left))), nil
}
