package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// addRewardChoices are what owners of rewards by traffic do with them besides collecting them.
func addRewardChoices(all *choices) {
	all.on(RewardCouponTemplate, "RewardCoupon_AssignBeneficiaries", consuming(
		byPayload(func(p CouponV2) []Party { return []Party{p.Provider} }), assignRewards).of(RewardCouponInterface))
	all.on(MintingDelegationTemplate, "MintingDelegation_AssignAndMint", nonconsuming(
		byPayload(func(p MintingDelegation) []Party { return []Party{p.Delegate} }), assignAndMint))
}

// assignRewards divides coupons of a provider, none of which has a beneficiary yet, among
// beneficiaries. Nothing is lost by rounding: the last beneficiary gets the rest.
func assignRewards(e *Execution, c *Contract, arg Argument) (Value, error) {
	shares, err := rewardShares(e, arg.List("newBeneficiaries"))
	if err != nil {
		return Value{}, err
	}
	coupons := []CouponV2{c.Payload.(CouponV2)}
	for _, id := range arg.List("additionalCoupons") {
		other, err := e.fetchOf(RewardCouponTemplate, uint64(id.Num))
		if err != nil {
			return Value{}, err
		}
		p := other.Payload.(CouponV2)
		if p.Provider != coupons[0].Provider {
			return Value{}, broken("a coupon belongs to %s, not to %s", e.Names.Name(p.Provider), e.Names.Name(coupons[0].Provider))
		}
		e.Tx.Archive(other)
		coupons = append(coupons, p)
	}
	ids := make([][]Value, len(shares))
	for _, p := range coupons {
		if p.Beneficiary != NoParty {
			return Value{}, broken("a coupon of round %d has a beneficiary already", p.Round)
		}
		if err := e.later("expiry of the coupon at", p.ExpiresAt); err != nil {
			return Value{}, err
		}
		rest := p.Amount
		for i, s := range shares {
			part := p
			part.Beneficiary, part.Amount = s.Beneficiary, p.Amount.Times(s.Weight)
			if i == len(shares)-1 {
				part.Amount = rest
			}
			rest -= part.Amount
			ids[i] = append(ids[i], ContractID(e.Tx.Create(RewardCouponTemplate, part).Number))
		}
	}
	a := e.Tx.Arena()
	assigned := make([]Value, len(shares))
	for i, s := range shares {
		assigned[i] = a.Record(TupleShape, PartyValue(s.Beneficiary), a.List(ids[i]...))
	}
	return a.Record(AssignDoneShape, a.List(assigned...)), nil
}

// rewardShares reads beneficiaries, whose parts must be 1 together.
func rewardShares(e *Execution, list []Value) ([]ActivityMarker, error) {
	if len(list) == 0 || len(list) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(list))
	}
	var sum Decimal
	shares := make([]ActivityMarker, len(list))
	for i := range list {
		b := Argument{&list[i]}
		s := ActivityMarker{Beneficiary: b.Party("beneficiary"), Weight: b.Numeric("percentage")}
		if s.Weight <= 0 || s.Weight > One {
			return nil, broken("part %s of a beneficiary is not above 0 and at most 1", s.Weight)
		}
		sum += s.Weight
		shares[i] = s
	}
	if sum != One {
		return nil, broken("the parts of the beneficiaries add up to %s, not 1", sum)
	}
	return shares, nil
}

// assignAndMint divides coupons of the beneficiary of a delegation as the provider would, and
// collects those that are then the beneficiary's own, together with other inputs.
func assignAndMint(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(MintingDelegation)
	coupon, err := e.fetchOf(RewardCouponTemplate, arg.Contract("couponCid"))
	if err != nil {
		return Value{}, err
	}
	assigned, err := e.perform(coupon, "RewardCoupon_AssignBeneficiaries", *arg.At("assignBeneficiaries"))
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	inputs := append([]Value(nil), arg.List("inputs")...)
	for _, pair := range (Argument{&assigned}).List("newBeneficiariesCouponCids") {
		if Party(pair.Elems[0].Num) != p.Beneficiary {
			continue
		}
		for _, id := range pair.Elems[1].Elems {
			inputs = append(inputs, a.Variant("InputRewardCouponV2", id))
		}
	}
	minted, err := mintFor(e, p, inputs, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	return a.Record(AssignAndMintDoneShape, assigned, minted), nil
}
