package devnet

// addRewardChoices are what owners of rewards by traffic do with them besides collecting them.
func addRewardChoices(all *choices) {
	all.on(rewardCouponTemplate, "RewardCoupon_AssignBeneficiaries", consuming(
		byPayload(func(p couponV2) []party { return []party{p.provider} }), assignRewards).of(rewardCouponInterface))
	all.on(mintingDelegationTemplate, "MintingDelegation_AssignAndMint", nonconsuming(
		byPayload(func(p mintingDelegation) []party { return []party{p.delegate} }), assignAndMint))
}

// assignRewards divides coupons of a provider, none of which has a beneficiary yet, among
// beneficiaries. Nothing is lost by rounding: the last beneficiary gets the rest.
func assignRewards(e *execution, c *contract, arg argument) (value, error) {
	shares, err := rewardShares(e, arg.list("newBeneficiaries"))
	if err != nil {
		return value{}, err
	}
	coupons := []couponV2{c.payload.(couponV2)}
	for _, id := range arg.list("additionalCoupons") {
		other, err := e.fetchOf(rewardCouponTemplate, uint64(id.num))
		if err != nil {
			return value{}, err
		}
		p := other.payload.(couponV2)
		if p.provider != coupons[0].provider {
			return value{}, broken("a coupon belongs to %s, not to %s", e.names.name(p.provider), e.names.name(coupons[0].provider))
		}
		e.tx.archive(other)
		coupons = append(coupons, p)
	}
	ids := make([][]value, len(shares))
	for _, p := range coupons {
		if p.beneficiary != noParty {
			return value{}, broken("a coupon of round %d has a beneficiary already", p.round)
		}
		if err := e.later("expiry of the coupon at", p.expiresAt); err != nil {
			return value{}, err
		}
		rest := p.amount
		for i, s := range shares {
			part := p
			part.beneficiary, part.amount = s.beneficiary, p.amount.times(s.weight)
			if i == len(shares)-1 {
				part.amount = rest
			}
			rest -= part.amount
			ids[i] = append(ids[i], contractID(e.tx.create(rewardCouponTemplate, part).number))
		}
	}
	a := e.tx.arena()
	assigned := make([]value, len(shares))
	for i, s := range shares {
		assigned[i] = a.record(tupleShape, partyValue(s.beneficiary), a.list(ids[i]...))
	}
	return a.record(assignDoneShape, a.list(assigned...)), nil
}

// rewardShares reads beneficiaries, whose parts must be 1 together.
func rewardShares(e *execution, list []value) ([]activityMarker, error) {
	if len(list) == 0 || len(list) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(list))
	}
	var sum decimal
	shares := make([]activityMarker, len(list))
	for i := range list {
		b := argument{&list[i]}
		s := activityMarker{beneficiary: b.party("beneficiary"), weight: b.numeric("percentage")}
		if s.weight <= 0 || s.weight > one {
			return nil, broken("part %s of a beneficiary is not above 0 and at most 1", s.weight)
		}
		sum += s.weight
		shares[i] = s
	}
	if sum != one {
		return nil, broken("the parts of the beneficiaries add up to %s, not 1", sum)
	}
	return shares, nil
}

// assignAndMint divides coupons of the beneficiary of a delegation as the provider would, and
// collects those that are then the beneficiary's own, together with other inputs.
func assignAndMint(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(mintingDelegation)
	coupon, err := e.fetchOf(rewardCouponTemplate, arg.contract("couponCid"))
	if err != nil {
		return value{}, err
	}
	assigned, err := e.perform(coupon, "RewardCoupon_AssignBeneficiaries", *arg.at("assignBeneficiaries"))
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	inputs := append([]value(nil), arg.list("inputs")...)
	for _, pair := range (argument{&assigned}).list("newBeneficiariesCouponCids") {
		if party(pair.elems[0].num) != p.beneficiary {
			continue
		}
		for _, id := range pair.elems[1].elems {
			inputs = append(inputs, a.variant("InputRewardCouponV2", id))
		}
	}
	minted, err := mintFor(e, p, inputs, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	return a.record(assignAndMintDoneShape, assigned, minted), nil
}
