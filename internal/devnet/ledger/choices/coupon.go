package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// addCouponChoices are what the owners of coupons do with them besides collecting them, and
// the manager of the development fund.
func addCouponChoices(all *choices) {
	all.on(model.ValidatorRewardTemplate, "ValidatorRewardCoupon_ArchiveAsValidator", consuming(byArgument("validator"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, validator := e.fetchOf(model.ValidatorRightTemplate, arg.Contract("rightCid")).Payload.(model.ValidatorRight), arg.Party("validator")
			require(p.Validator == validator && p.User == c.Payload.(model.ValidatorReward).User,
				"the validator right does not give %s the coupons of this user", e.Names.Name(validator))
			return e.Tx.Arena().Record(model.EmptyRecordShape)
		}))
	all.on(model.SvRewardTemplate, "SvRewardCoupon_ArchiveAsBeneficiary", consuming(
		byPayload(func(p model.SvReward) []model.Party { return []model.Party{p.Beneficiary} }), toResult("SvRewardCoupon_ArchiveAsBeneficiaryResult")))
	all.on(model.FundCouponTemplate, "DevelopmentFundCoupon_Reject", consuming(
		byPayload(func(p model.FundCoupon) []model.Party { return []model.Party{p.Beneficiary} }), toFund))
	all.on(model.FundCouponTemplate, "DevelopmentFundCoupon_Withdraw", consuming(
		byPayload(func(p model.FundCoupon) []model.Party { return []model.Party{p.Manager} }), toFund))
	all.on(model.AmuletRulesTemplate, "AmuletRules_AllocateDevelopmentFundCoupon", nonconsuming(byArgument("fundManager"), allocateByCommand))
	all.on(model.AmuletRulesTemplate, "AmuletRules_ComputeFees", nonconsuming(byArgument("sender"),
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			ctx := transferContextOf(e, arg.Record("context"))
			defer e.at(ctx.round)()
			a, fees := e.Tx.Arena(), make([]model.Value, len(arg.List("outputs")))
			for i := range fees {
				fees[i] = model.Numeric(e.Payments.OutputFee())
			}
			return a.Record(feesShape, a.List(fees...))
		}))
}

var feesShape = model.NewShape("fees")

// toFund returns a coupon to the development fund.
func toFund(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	back := e.Tx.Create(model.UnclaimedFundTemplate, model.UnclaimedFund{Amount: c.Payload.(model.FundCoupon).Amount})
	return e.Tx.Arena().Record(sim.MergeFundDoneShape, model.ContractID(back.Number))
}

// allocateByCommand has the manager of the development fund give a part of it away.
func allocateByCommand(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	g := model.Grant{Beneficiary: arg.Party("beneficiary"), Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Reason: arg.Text("reason")}
	manager := arg.Party("fundManager")
	require(manager == e.Fund.FundManager(), "%s is not the manager of the development fund", e.Names.Name(manager))
	positive("amount", g.Amount)
	e.later("expiry of the coupon at", g.ExpiresAt)
	mintAfter := mintableFrom(e, arg)
	var total model.Decimal
	for _, id := range arg.List("unclaimedDevelopmentFundCouponCids") {
		c := e.fetchOf(model.UnclaimedFundTemplate, uint64(id.Num))
		total += c.Payload.(model.UnclaimedFund).Amount
		e.Tx.Archive(c)
	}
	require(total >= g.Amount, "the unclaimed coupons are worth %s, less than %s", total, g.Amount)
	coupon := e.Tx.Create(model.FundCouponTemplate, model.FundCoupon{Grant: g, Manager: manager, MintAfter: mintAfter})
	var left *model.Contract
	if total > g.Amount {
		left = e.Tx.Create(model.UnclaimedFundTemplate, model.UnclaimedFund{Amount: total - g.Amount})
	}
	return e.Tx.Arena().Record(sim.AllocateFundDoneShape, model.ContractID(coupon.Number), model.Optional(e.Tx.Arena(), left != nil, sim.IdOf(left)))
}

// mintableFrom reads when a coupon of the fund can be minted, 0 for at once, and checks it by the
// rules of the fund.
func mintableFrom(e *Execution, arg model.Argument) (mintAfter int64) {
	rules := fundRules(e)
	if v := arg.Given("mintAfter"); v != nil {
		mintAfter = v.Num
		e.later("mintAfter", mintAfter)
	}
	earliest := e.Now() + rules.MintingDelay.Microseconds()
	require(rules.MintingDelay == 0 || mintAfter >= earliest, "mintAfter must be given and not be before %s", microsText(earliest))
	return mintAfter
}

// fundRules are the rules of the development fund, by which its manager must not be barred.
func fundRules(e *Execution) model.FundRules {
	rules := e.Rules.Amulet.Payload.(model.AmuletRules).Fund
	require(!rules.ManagerBarred, "%s is barred from managing the development fund", e.Names.Name(e.Fund.FundManager()))
	return rules
}

func addFeaturedChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_DevNet_FeatureApp", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			return e.Tx.Arena().Record(sim.FeatureDoneShape, model.ContractID(e.Apps.NewRight(arg.Party("provider")).Number))
		}))
	provider := byPayload(func(p model.FeaturedAppRight) []model.Party { return []model.Party{p.Provider} })
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_Cancel", consuming(provider, toResult("FeaturedAppRight_CancelResult")))
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_CreateActivityMarker",
		nonconsuming(provider, markByCommand).of(model.FeaturedAppRightInterface))
}

func markByCommand(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	beneficiaries := beneficiariesOf(arg.At("beneficiaries"))
	a := e.Tx.Arena()
	return a.Record(sim.MarkDoneShape, model.ListOf(a, beneficiaries, func(b model.ActivityMarker) model.Value {
		b.Provider = c.Payload.(model.FeaturedAppRight).Provider
		e.Tx.Provider = b.Provider
		return model.ContractID(e.Tx.Create(model.ActivityMarkerTemplate, b).Number)
	}))
}

func addLicenseChoices(all *choices) {
	validator := byPayload(func(p model.ValidatorLicense) []model.Party { return []model.Party{p.Validator} })
	all.on(model.LicenseTemplate, "ValidatorLicense_RecordValidatorLivenessActivity", consuming(validator, recordLivenessByCommand))
	all.on(model.LicenseTemplate, "ValidatorLicense_UpdateMetadata", consuming(validator,
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p := c.Payload.(model.ValidatorLicense)
			p.UpdatedAt, p.Software, p.Contact = e.Now(), arg.Text("version"), arg.Text("contactPoint")
			require(len(p.Software) <= maxTextLength && len(p.Contact) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
			return createLicense(e, p)
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_ReportActive", consuming(validator,
		func(e *Execution, c *model.Contract, _ model.Argument) model.Value {
			p := c.Payload.(model.ValidatorLicense)
			p.ActiveAt = e.Now()
			return createLicense(e, p)
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_Cancel", consuming(validator, toResult("ValidatorLicense_CancelResult")))
}

var licensedShape = model.NewShape("licenseCid")

// createLicense creates a license in place of the one whose archival is the node in work.
func createLicense(e *Execution, p model.ValidatorLicense) model.Value {
	return e.Tx.Arena().Record(licensedShape, model.ContractID(e.Tx.Create(model.LicenseTemplate, p).Number))
}

func recordLivenessByCommand(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	r := openMiningRound(e, arg.Contract("openRoundCid"))
	p := c.Payload.(model.ValidatorLicense)
	require(p.LastRound < r.Number, "activity in round %d was recorded already", p.LastRound)
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt = e.Now(), e.Now()
	next := e.Tx.Create(model.LicenseTemplate, p)
	record := e.Tx.Create(model.LivenessTemplate, model.Liveness{Validator: p.Validator, Round: r.Number})
	return e.Tx.Arena().Record(sim.LivenessDoneShape, model.ContractID(next.Number), model.ContractID(record.Number))
}

// addRewardChoices are what owners of rewards by traffic do with them besides collecting them.
func addRewardChoices(all *choices) {
	all.on(model.RewardCouponTemplate, "RewardCoupon_AssignBeneficiaries", consuming(
		byPayload(func(p model.CouponV2) []model.Party { return []model.Party{p.Provider} }), assignRewards).of(model.RewardCouponInterface))
	all.on(model.MintingDelegationTemplate, "MintingDelegation_AssignAndMint", nonconsuming(
		byPayload(func(p model.MintingDelegation) []model.Party { return []model.Party{p.Delegate} }), assignAndMint))
}

// assignRewards divides coupons of a provider, none of which has a beneficiary yet, among
// beneficiaries. Nothing is lost by rounding: the last beneficiary gets the rest.
func assignRewards(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	shares, sum := sharesOf(arg.List("newBeneficiaries"), "percentage", "part")
	require(sum == model.One, "the parts of the beneficiaries add up to %s, not 1", sum)
	coupons := []model.CouponV2{c.Payload.(model.CouponV2)}
	for _, id := range arg.List("additionalCoupons") {
		other := e.fetchOf(model.RewardCouponTemplate, uint64(id.Num))
		p := other.Payload.(model.CouponV2)
		require(p.Provider == coupons[0].Provider, "a coupon belongs to %s, not to %s", e.Names.Name(p.Provider), e.Names.Name(coupons[0].Provider))
		e.Tx.Archive(other)
		coupons = append(coupons, p)
	}
	ids := make([][]model.Value, len(shares))
	for _, p := range coupons {
		require(p.Beneficiary == model.NoParty, "a coupon of round %d has a beneficiary already", p.Round)
		e.later("expiry of the coupon at", p.ExpiresAt)
		rest := p.Amount
		for i, s := range shares {
			part := p
			part.Beneficiary, part.Amount = s.Beneficiary, p.Amount.Times(s.Weight)
			if i == len(shares)-1 {
				part.Amount = rest
			}
			rest -= part.Amount
			ids[i] = append(ids[i], model.ContractID(e.Tx.Create(model.RewardCouponTemplate, part).Number))
		}
	}
	a := e.Tx.Arena()
	assigned := make([]model.Value, len(shares))
	for i, s := range shares {
		assigned[i] = a.Record(model.TupleShape, model.PartyValue(s.Beneficiary), a.List(ids[i]...))
	}
	return a.Record(model.AssignDoneShape, a.List(assigned...))
}

// assignAndMint divides coupons of the beneficiary of a delegation as the provider would, and
// collects those that are then the beneficiary's own, together with other inputs.
func assignAndMint(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.MintingDelegation)
	coupon := e.fetchOf(model.RewardCouponTemplate, arg.Contract("couponCid"))
	assigned := e.perform(coupon, "RewardCoupon_AssignBeneficiaries", *arg.At("assignBeneficiaries"))
	a := e.Tx.Arena()
	inputs := append([]model.Value(nil), arg.List("inputs")...)
	for _, pair := range (model.Argument{V: &assigned}).List("newBeneficiariesCouponCids") {
		if model.Party(pair.Elems[0].Num) != p.Beneficiary {
			continue
		}
		for _, id := range pair.Elems[1].Elems {
			inputs = append(inputs, a.Variant("InputRewardCouponV2", id))
		}
	}
	return a.Record(model.AssignAndMintDoneShape, assigned, mintFor(e, p, inputs, arg.Record("context")))
}
