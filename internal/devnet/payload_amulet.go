package devnet

var (
	amuletShape         = newShape("dso", "owner", "amount")
	expiringAmountShape = newShape("initialAmount", "createdAt", "ratePerRound")
	roundShape          = newShape("number")
	ratePerRoundShape   = newShape("rate")
	lockedAmuletShape   = newShape("amulet", "lock")
	timeLockShape       = newShape("holders", "expiresAt", "optContext")
)

func roundValue(a *arena, number int64) value { return a.record(roundShape, int64Value(number)) }

// optional returns none for absent content.
func optional(a *arena, present bool, content value) value {
	if !present {
		return none()
	}
	return a.some(content)
}

// optionalText returns none for "".
func optionalText(a *arena, s string) value { return optional(a, s != "", text(s)) }

// noParty stands for an absent optional party.
const noParty party = -1

func optionalParty(a *arena, p party) value { return optional(a, p != noParty, partyValue(p)) }

// amulet is a coin.
type amulet struct {
	owner   party
	amount  decimal
	created int64   // round
	rate    decimal // holding fee per round
}

func (p amulet) arguments(a *arena, _ uint8) value {
	return a.record(amuletShape, partyValue(dso), partyValue(p.owner),
		a.record(expiringAmountShape, numeric(p.amount), roundValue(a, p.created),
			a.record(ratePerRoundShape, numeric(p.rate))))
}

func (p amulet) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso, p.owner), obs
}

// expiresIn is the first round in which the holding fees have used the coin up.
func (p amulet) expiresIn() int64 { return p.created + p.amount.ceilOver(p.rate) }

// lockedAmulet is a coin that only its holders together with the owner can unlock.
type lockedAmulet struct {
	amulet
	holder    party
	others    []party // further holders
	expiresAt int64   // µs
	context   string
}

func (p lockedAmulet) arguments(a *arena, version uint8) value {
	return a.record(lockedAmuletShape, p.amulet.arguments(a, version),
		p.lock(a))
}

func (p lockedAmulet) lock(a *arena) value {
	holders := a.list(partyValue(p.holder))
	if len(p.others) > 0 {
		holders.elems = a.alloc(1 + len(p.others))
		for i, h := range append([]party{p.holder}, p.others...) {
			holders.elems[i] = partyValue(h)
		}
	}
	return a.record(timeLockShape, holders, timestamp(p.expiresAt), optionalText(a, p.context))
}

func (p lockedAmulet) stakeholders(sig, obs []party) ([]party, []party) {
	return append(append(sig, dso, p.owner, p.holder), p.others...), obs
}

var (
	featuredAppRightShape = newShape("dso", "provider", "activityWeight")
	activityMarkerShape   = newShape("dso", "provider", "beneficiary", "weight")
	appRewardShape        = newShape("dso", "provider", "featured", "amount", "round", "beneficiary")
	validatorRewardShape  = newShape("dso", "user", "amount", "round")
	svRewardShape         = newShape("dso", "sv", "beneficiary", "round", "weight")
	unclaimedRewardShape  = newShape("dso", "amount")
	livenessShape         = newShape("dso", "validator", "round")
)

type featuredAppRight struct {
	provider party
	weight   decimal // 0: the default
}

func (p featuredAppRight) arguments(a *arena, version uint8) value {
	if version == 0 {
		return a.record(featuredAppRightShape, partyValue(dso), partyValue(p.provider))
	}
	return a.record(featuredAppRightShape, partyValue(dso), partyValue(p.provider),
		optional(a, p.weight != 0, numeric(p.weight)))
}

func (p featuredAppRight) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.provider)
}

type activityMarker struct {
	provider, beneficiary party
	weight                decimal
}

func (p activityMarker) arguments(a *arena, _ uint8) value {
	return a.record(activityMarkerShape, partyValue(dso), partyValue(p.provider),
		partyValue(p.beneficiary), numeric(p.weight))
}

func (p activityMarker) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.provider, p.beneficiary)
}

// coupon is a payload that can be an input of a transfer while its round issues.
type coupon interface {
	payload
	// owner is the party that may collect the coupon.
	owner() party
	// worth is the coupon's value in coins under the rates of its round.
	worth(r *round) decimal
	// input is the constructor of the transfer input.
	input() string
	// expiry is the result of the choice that expires the coupon.
	expiry(a *arena) value
}

var (
	appExpiryShape       = newShape("featured", "amount")
	validatorExpiryShape = newShape("amount")
	svExpiryShape        = newShape("weight")
)

type appReward struct {
	provider    party
	featured    bool
	amount      decimal
	round       int64
	beneficiary party // or noParty
}

func (p appReward) arguments(a *arena, version uint8) value {
	fields := []value{partyValue(dso), partyValue(p.provider), boolean(p.featured),
		numeric(p.amount), roundValue(a, p.round)}
	if version > 0 || p.beneficiary != noParty {
		fields = append(fields, optionalParty(a, p.beneficiary))
	}
	return a.record(appRewardShape, fields...)
}

func (p appReward) stakeholders(sig, obs []party) ([]party, []party) {
	obs = append(obs, p.provider)
	if p.beneficiary != noParty {
		obs = append(obs, p.beneficiary)
	}
	return append(sig, dso), obs
}

func (p appReward) owner() party {
	if p.beneficiary != noParty {
		return p.beneficiary
	}
	return p.provider
}

func (p appReward) worth(r *round) decimal {
	if p.featured {
		return p.amount.times(r.perFeaturedApp)
	}
	return p.amount.times(r.perUnfeaturedApp)
}

func (appReward) input() string { return "InputAppRewardCoupon" }

func (p appReward) expiry(a *arena) value {
	return a.record(appExpiryShape, boolean(p.featured), numeric(p.amount))
}

type validatorReward struct {
	user   party
	amount decimal
	round  int64
}

func (p validatorReward) arguments(a *arena, _ uint8) value {
	return a.record(validatorRewardShape, partyValue(dso), partyValue(p.user), numeric(p.amount),
		roundValue(a, p.round))
}

func (p validatorReward) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.user)
}

func (p validatorReward) owner() party           { return p.user }
func (p validatorReward) worth(r *round) decimal { return p.amount.times(r.perValidator) }
func (validatorReward) input() string            { return "InputValidatorRewardCoupon" }
func (p validatorReward) expiry(a *arena) value {
	return a.record(validatorExpiryShape, numeric(p.amount))
}

type svReward struct {
	sv, beneficiary party
	round           int64
	weight          int64
}

func (p svReward) arguments(a *arena, _ uint8) value {
	return a.record(svRewardShape, partyValue(dso), partyValue(p.sv), partyValue(p.beneficiary),
		roundValue(a, p.round), int64Value(p.weight))
}

func (p svReward) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.beneficiary, p.sv)
}

func (p svReward) owner() party           { return p.beneficiary }
func (p svReward) worth(r *round) decimal { return coins(int(p.weight)).times(r.perSvWeight) }
func (svReward) input() string            { return "InputSvRewardCoupon" }
func (p svReward) expiry(a *arena) value  { return a.record(svExpiryShape, int64Value(p.weight)) }

// liveness is a validator's record of having been active in a round.
type liveness struct {
	validator party
	round     int64
}

func (p liveness) arguments(a *arena, _ uint8) value {
	return a.record(livenessShape, partyValue(dso), partyValue(p.validator), roundValue(a, p.round))
}

func (p liveness) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.validator)
}

func (p liveness) owner() party         { return p.validator }
func (liveness) worth(r *round) decimal { return r.perLiveness }
func (liveness) input() string          { return "InputValidatorLivenessActivityRecord" }
func (liveness) expiry(*arena) value    { return enum("ValidatorLivenessActivityRecord_DsoExpireResult") }

type unclaimedReward struct{ amount decimal }

func (p unclaimedReward) arguments(a *arena, _ uint8) value {
	return a.record(unclaimedRewardShape, partyValue(dso), numeric(p.amount))
}

func (unclaimedReward) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), obs
}
