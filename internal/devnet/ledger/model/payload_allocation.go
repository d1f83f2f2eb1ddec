package model

var (
	allocationShape        = NewShape("lockedAmulet", "allocation")
	allocationSpecShape    = NewShape("settlement", "transferLegId", "transferLeg")
	settlementInfoShape    = NewShape("executor", "settlementRef", "requestedAt", "allocateBefore", "settleBefore", "meta")
	settlementRefShape     = NewShape("id", "cid")
	transferLegShape       = NewShape("sender", "receiver", "amount", "instrumentId", "meta")
	couponV2Shape          = NewShape("dso", "provider", "round", "amount", "expiresAt", "providerIsObserver", "beneficiary")
	calculateRewardsShape  = NewShape("dso", "round", "roundClosedAt", "rewardCouponTimeToLive", "dryRun")
	processRewardsShape    = NewShape("dso", "round", "roundClosedAt", "dryRun", "rewardCouponTimeToLive", "batchHash")
	RewardHashShape        = NewShape("value")
	MintingAllowanceShape  = NewShape("provider", "amount")
	ProcessBatchShape      = NewShape("batch", "providersWithWrongVettingState")
	StartProcessingShape   = NewShape("calculateRewardsCid", "batchHash")
	ClaimExpiredV2Shape    = NewShape("rewardCouponCids", "expiryObservers")
	AssignDoneShape        = NewShape("newBeneficiariesCouponCids")
	AssignAndMintDoneShape = NewShape("assignResult", "transferResult")
)

// Leg is one transfer of a settlement, as the token standard describes it.
type Leg struct {
	Executor                                  Party
	Reference                                 string
	Referenced                                uint64 // contract number of the reference, 0 for none
	RequestedAt, AllocateBefore, SettleBefore int64  // µs
	SettlementMeta                            []string
	Id                                        string
	Sender, Receiver                          Party
	Amount                                    Decimal
	Meta                                      []string
}

func (l *Leg) value(a *Arena) Value {
	settlement := a.Record(settlementInfoShape, PartyValue(l.Executor),
		a.Record(settlementRefShape, Text(l.Reference), Optional(a, l.Referenced != 0, ContractID(l.Referenced))),
		Timestamp(l.RequestedAt), Timestamp(l.AllocateBefore), Timestamp(l.SettleBefore), textMetadata(a, l.SettlementMeta))
	return a.Record(allocationSpecShape, settlement, Text(l.Id), l.transfer(a))
}

// transfer is what the leg moves.
func (l *Leg) transfer(a *Arena) Value {
	return a.Record(transferLegShape, PartyValue(l.Sender), PartyValue(l.Receiver),
		Numeric(l.Amount), a.Record(InstrumentIDShape, PartyValue(Dso), Text(InstrumentAmuletInPayload)), textMetadata(a, l.Meta))
}

// AmuletAllocation holds coins of a sender ready for a settlement.
type AmuletAllocation struct {
	Locked uint64 // contract number of the locked coin
	Leg    Leg
}

func (p AmuletAllocation) Arguments(a *Arena, _ uint8) Value {
	return a.Record(allocationShape, ContractID(p.Locked), p.Leg.value(a))
}

func (p AmuletAllocation) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.Leg.Sender), append(obs, p.Leg.Executor)
}

// CouponV2 is a reward by traffic: worth what it says, in coins, whatever the round.
type CouponV2 struct {
	Provider    Party
	Round       int64
	Amount      Decimal
	ExpiresAt   int64 // µs
	Beneficiary Party // or noParty
}

func (p CouponV2) Arguments(a *Arena, _ uint8) Value {
	return a.Record(couponV2Shape, PartyValue(Dso), PartyValue(p.Provider), RoundValue(a, p.Round), Numeric(p.Amount),
		Timestamp(p.ExpiresAt), Boolean(true), optionalParty(a, p.Beneficiary))
}

func (p CouponV2) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	obs = append(obs, p.Provider)
	if p.Beneficiary != NoParty {
		obs = append(obs, p.Beneficiary)
	}
	return append(sig, Dso), obs
}

func (p CouponV2) Owner() Party {
	if p.Beneficiary != NoParty {
		return p.Beneficiary
	}
	return p.Provider
}

func (p CouponV2) Worth(*Round) Decimal { return p.Amount }
func (CouponV2) Input() string          { return "InputRewardCouponV2" }
func (CouponV2) Expiry(*Arena) Value    { return Unit() }

// CalculateRewards asks the super-validators to agree on the rewards of a round.
type CalculateRewards struct {
	onlyDSO
	Round    int64
	ClosedAt int64 // µs
}

func (p CalculateRewards) Arguments(a *Arena, _ uint8) Value {
	return a.Record(calculateRewardsShape, PartyValue(Dso), RoundValue(a, p.Round), Timestamp(p.ClosedAt),
		relTime(a, RewardCouponMicros), Boolean(false))
}

// ProcessRewards is a part of the rewards of a round, by its hash, which coupons are still to
// be issued for.
type ProcessRewards struct {
	CalculateRewards
	Hash string
}

func (p ProcessRewards) Arguments(a *Arena, _ uint8) Value {
	return a.Record(processRewardsShape, PartyValue(Dso), RoundValue(a, p.Round), Timestamp(p.ClosedAt), Boolean(false),
		relTime(a, RewardCouponMicros), a.Record(RewardHashShape, Text(p.Hash)))
}
