package devnet

var (
	allocationShape        = newShape("lockedAmulet", "allocation")
	allocationSpecShape    = newShape("settlement", "transferLegId", "transferLeg")
	settlementInfoShape    = newShape("executor", "settlementRef", "requestedAt", "allocateBefore", "settleBefore", "meta")
	settlementRefShape     = newShape("id", "cid")
	transferLegShape       = newShape("sender", "receiver", "amount", "instrumentId", "meta")
	couponV2Shape          = newShape("dso", "provider", "round", "amount", "expiresAt", "providerIsObserver", "beneficiary")
	calculateRewardsShape  = newShape("dso", "round", "roundClosedAt", "rewardCouponTimeToLive", "dryRun")
	processRewardsShape    = newShape("dso", "round", "roundClosedAt", "dryRun", "rewardCouponTimeToLive", "batchHash")
	rewardHashShape        = newShape("value")
	mintingAllowanceShape  = newShape("provider", "amount")
	processBatchShape      = newShape("batch", "providersWithWrongVettingState")
	startProcessingShape   = newShape("calculateRewardsCid", "batchHash")
	claimExpiredV2Shape    = newShape("rewardCouponCids", "expiryObservers")
	assignDoneShape        = newShape("newBeneficiariesCouponCids")
	assignAndMintDoneShape = newShape("assignResult", "transferResult")
)

// leg is one transfer of a settlement, as the token standard describes it.
type leg struct {
	executor                                  party
	reference                                 string
	referenced                                uint64 // contract number of the reference, 0 for none
	requestedAt, allocateBefore, settleBefore int64  // µs
	settlementMeta                            []string
	id                                        string
	sender, receiver                          party
	amount                                    decimal
	meta                                      []string
}

func (l *leg) value(a *arena) value {
	settlement := a.record(settlementInfoShape, partyValue(l.executor),
		a.record(settlementRefShape, text(l.reference), optional(a, l.referenced != 0, contractID(l.referenced))),
		timestamp(l.requestedAt), timestamp(l.allocateBefore), timestamp(l.settleBefore), textMetadata(a, l.settlementMeta))
	return a.record(allocationSpecShape, settlement, text(l.id), a.record(transferLegShape, partyValue(l.sender), partyValue(l.receiver),
		numeric(l.amount), a.record(instrumentIDShape, partyValue(dso), text(instrumentAmuletInPayload)), textMetadata(a, l.meta)))
}

// allocation holds coins of a sender ready for a settlement.
type allocation struct {
	locked uint64 // contract number of the locked coin
	leg    leg
}

func (p allocation) arguments(a *arena, _ uint8) value {
	return a.record(allocationShape, contractID(p.locked), p.leg.value(a))
}

func (p allocation) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso, p.leg.sender), append(obs, p.leg.executor)
}

// couponV2 is a reward by traffic: worth what it says, in coins, whatever the round.
type couponV2 struct {
	provider    party
	round       int64
	amount      decimal
	expiresAt   int64 // µs
	beneficiary party // or noParty
}

func (p couponV2) arguments(a *arena, _ uint8) value {
	return a.record(couponV2Shape, partyValue(dso), partyValue(p.provider), roundValue(a, p.round), numeric(p.amount),
		timestamp(p.expiresAt), boolean(true), optionalParty(a, p.beneficiary))
}

func (p couponV2) stakeholders(sig, obs []party) ([]party, []party) {
	obs = append(obs, p.provider)
	if p.beneficiary != noParty {
		obs = append(obs, p.beneficiary)
	}
	return append(sig, dso), obs
}

func (p couponV2) owner() party {
	if p.beneficiary != noParty {
		return p.beneficiary
	}
	return p.provider
}

func (p couponV2) worth(*round) decimal { return p.amount }
func (couponV2) input() string          { return "InputRewardCouponV2" }
func (couponV2) expiry(*arena) value    { return unit() }

// calculateRewards asks the super-validators to agree on the rewards of a round.
type calculateRewards struct {
	onlyDSO
	round    int64
	closedAt int64 // µs
}

func (p calculateRewards) arguments(a *arena, _ uint8) value {
	return a.record(calculateRewardsShape, partyValue(dso), roundValue(a, p.round), timestamp(p.closedAt),
		relTime(a, rewardCouponMicros), boolean(false))
}

// processRewards is a part of the rewards of a round, by its hash, which coupons are still to
// be issued for.
type processRewards struct {
	calculateRewards
	hash string
}

func (p processRewards) arguments(a *arena, _ uint8) value {
	return a.record(processRewardsShape, partyValue(dso), roundValue(a, p.round), timestamp(p.closedAt), boolean(false),
		relTime(a, rewardCouponMicros), a.record(rewardHashShape, text(p.hash)))
}
