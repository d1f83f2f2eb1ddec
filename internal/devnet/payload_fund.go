package devnet

var (
	activityRecordShape = newShape("dso", "beneficiary", "amount", "reason", "expiresAt")
	unclaimedFundShape  = newShape("dso", "amount")
	fundCouponShape     = newShape("dso", "beneficiary", "fundManager", "amount", "expiresAt", "reason")
)

// grant is an amount that a party may collect as an input of a transfer until it
// expires, whatever the round.
type grant struct {
	beneficiary party
	amount      decimal
	expiresAt   int64
	reason      string
}

func (g grant) owner() party         { return g.beneficiary }
func (g grant) worth(*round) decimal { return g.amount }

// activityRecord grants an unclaimed reward to a party.
type activityRecord struct{ grant }

func (p activityRecord) arguments(a *arena, _ uint8) value {
	return a.record(activityRecordShape, partyValue(dso), partyValue(p.beneficiary), numeric(p.amount),
		text(p.reason), timestamp(p.expiresAt))
}

func (p activityRecord) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.beneficiary)
}

func (activityRecord) input() string         { return "InputUnclaimedActivityRecord" }
func (activityRecord) expiry(a *arena) value { return a.record(emptyRecordShape) }

// unallocatedRecord is a grant for which no unclaimed reward was burned yet. It has the
// fields of the record that it becomes.
type unallocatedRecord struct{ activityRecord }

func (unallocatedRecord) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), obs
}

// unclaimedFund is a share of the issuance that the manager of the development fund
// may give away.
type unclaimedFund struct {
	onlyDSO
	amount decimal
}

func (p unclaimedFund) arguments(a *arena, _ uint8) value {
	return a.record(unclaimedFundShape, partyValue(dso), numeric(p.amount))
}

// fundCoupon grants a part of the development fund to a party.
type fundCoupon struct {
	grant
	manager party
}

func (p fundCoupon) arguments(a *arena, _ uint8) value {
	return a.record(fundCouponShape, partyValue(dso), partyValue(p.beneficiary), partyValue(p.manager),
		numeric(p.amount), timestamp(p.expiresAt), text(p.reason))
}

func (p fundCoupon) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.beneficiary, p.manager)
}

func (fundCoupon) input() string         { return "InputDevelopmentFundCoupon" }
func (fundCoupon) expiry(a *arena) value { return a.record(emptyRecordShape) }
