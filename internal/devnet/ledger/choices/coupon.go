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

func addFeaturedChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_DevNet_FeatureApp", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			right := model.FeaturedAppRight{Provider: arg.Party("provider")}
			if e.Tx.Version() > 0 {
				right.Weight = model.One
			}
			return e.Tx.Arena().Record(sim.FeatureDoneShape, model.ContractID(e.Tx.Create(model.FeaturedAppRightTemplate, right).Number)), nil
		}))
	provider := byPayload(func(p model.FeaturedAppRight) []model.Party { return []model.Party{p.Provider} })
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_Cancel", consuming(provider, toResult("FeaturedAppRight_CancelResult")))
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_CreateActivityMarker",
		nonconsuming(provider, markByCommand).of(model.FeaturedAppRightInterface))
}

func markByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	beneficiaries, err := beneficiariesOf(e, arg.At("beneficiaries"))
	if err != nil {
		return model.Value{}, err
	}
	ids := make([]model.Value, len(beneficiaries))
	for i, b := range beneficiaries {
		b.Provider = c.Payload.(model.FeaturedAppRight).Provider
		ids[i] = model.ContractID(e.Tx.Create(model.ActivityMarkerTemplate, b).Number)
		e.Tx.Provider = b.Provider
	}
	a := e.Tx.Arena()
	return a.Record(sim.MarkDoneShape, a.List(ids...)), nil
}

func addLicenseChoices(all *choices) {
	validator := byPayload(func(p model.ValidatorLicense) []model.Party { return []model.Party{p.Validator} })
	all.on(model.LicenseTemplate, "ValidatorLicense_RecordValidatorLivenessActivity", consuming(validator, recordLivenessByCommand))
	all.on(model.LicenseTemplate, "ValidatorLicense_UpdateMetadata", consuming(validator,
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p := c.Payload.(model.ValidatorLicense)
			p.UpdatedAt, p.Software, p.Contact = e.Now(), arg.Text("version"), arg.Text("contactPoint")
			if len(p.Software) > maxTextLength || len(p.Contact) > maxTextLength {
				return model.Value{}, broken("a text is longer than %d bytes", maxTextLength)
			}
			return createLicense(e, p), nil
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_ReportActive", consuming(validator,
		func(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
			p := c.Payload.(model.ValidatorLicense)
			p.ActiveAt = e.Now()
			return createLicense(e, p), nil
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_Cancel", consuming(validator, toResult("ValidatorLicense_CancelResult")))
}

var licensedShape = model.NewShape("licenseCid")

// createLicense creates a license in place of the one whose archival is the node in work.
func createLicense(e *Execution, p model.ValidatorLicense) model.Value {
	return e.Tx.Arena().Record(licensedShape, model.ContractID(e.Tx.Create(model.LicenseTemplate, p).Number))
}

func recordLivenessByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	r, err := openMiningRound(e, arg.Contract("openRoundCid"))
	if err != nil {
		return model.Value{}, err
	}
	p := c.Payload.(model.ValidatorLicense)
	if p.LastRound >= r.Number {
		return model.Value{}, broken("activity in round %d was recorded already", p.LastRound)
	}
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt = e.Now(), e.Now()
	next := e.Tx.Create(model.LicenseTemplate, p)
	record := e.Tx.Create(model.LivenessTemplate, model.Liveness{Validator: p.Validator, Round: r.Number})
	return e.Tx.Arena().Record(sim.LivenessDoneShape, model.ContractID(next.Number), model.ContractID(record.Number)), nil
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
func assignRewards(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	shares, err := rewardShares(e, arg.List("newBeneficiaries"))
	if err != nil {
		return model.Value{}, err
	}
	coupons := []model.CouponV2{c.Payload.(model.CouponV2)}
	for _, id := range arg.List("additionalCoupons") {
		other, err := e.fetchOf(model.RewardCouponTemplate, uint64(id.Num))
		if err != nil {
			return model.Value{}, err
		}
		p := other.Payload.(model.CouponV2)
		if p.Provider != coupons[0].Provider {
			return model.Value{}, broken("a coupon belongs to %s, not to %s", e.Names.Name(p.Provider), e.Names.Name(coupons[0].Provider))
		}
		e.Tx.Archive(other)
		coupons = append(coupons, p)
	}
	ids := make([][]model.Value, len(shares))
	for _, p := range coupons {
		if p.Beneficiary != model.NoParty {
			return model.Value{}, broken("a coupon of round %d has a beneficiary already", p.Round)
		}
		if err := e.later("expiry of the coupon at", p.ExpiresAt); err != nil {
			return model.Value{}, err
		}
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
	return a.Record(model.AssignDoneShape, a.List(assigned...)), nil
}

// rewardShares reads beneficiaries, whose parts must be 1 together.
func rewardShares(e *Execution, list []model.Value) ([]model.ActivityMarker, error) {
	if len(list) == 0 || len(list) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(list))
	}
	var sum model.Decimal
	shares := make([]model.ActivityMarker, len(list))
	for i := range list {
		b := model.Argument{V: &list[i]}
		s := model.ActivityMarker{Beneficiary: b.Party("beneficiary"), Weight: b.Numeric("percentage")}
		if s.Weight <= 0 || s.Weight > model.One {
			return nil, broken("part %s of a beneficiary is not above 0 and at most 1", s.Weight)
		}
		sum += s.Weight
		shares[i] = s
	}
	if sum != model.One {
		return nil, broken("the parts of the beneficiaries add up to %s, not 1", sum)
	}
	return shares, nil
}

// assignAndMint divides coupons of the beneficiary of a delegation as the provider would, and
// collects those that are then the beneficiary's own, together with other inputs.
func assignAndMint(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.MintingDelegation)
	coupon, err := e.fetchOf(model.RewardCouponTemplate, arg.Contract("couponCid"))
	if err != nil {
		return model.Value{}, err
	}
	assigned, err := e.perform(coupon, "RewardCoupon_AssignBeneficiaries", *arg.At("assignBeneficiaries"))
	if err != nil {
		return model.Value{}, err
	}
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
	minted, err := mintFor(e, p, inputs, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	return a.Record(model.AssignAndMintDoneShape, assigned, minted), nil
}
