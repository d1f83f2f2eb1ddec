package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

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
