package model

var (
	amuletShape         = NewShape("dso", "owner", "amount")
	expiringAmountShape = NewShape("initialAmount", "createdAt", "ratePerRound")
	roundShape          = NewShape("number")
	ratePerRoundShape   = NewShape("rate")
	lockedAmuletShape   = NewShape("amulet", "lock")
	timeLockShape       = NewShape("holders", "expiresAt", "optContext")
)

// RoundValue is the number of a round as contracts have it.
func RoundValue(a *Arena, number int64) Value { return a.Record(roundShape, Int64Value(number)) }

// Optional returns none for absent content.
func Optional(a *Arena, present bool, content Value) Value {
	if !present {
		return None()
	}
	return a.Some(content)
}

// OptionalText returns none for "".
func OptionalText(a *Arena, s string) Value { return Optional(a, s != "", Text(s)) }

// NoParty stands for an absent optional party.
const NoParty Party = -1

func optionalParty(a *Arena, p Party) Value { return Optional(a, p != NoParty, PartyValue(p)) }

// Amulet is a coin.
type Amulet struct {
	Owner   Party
	Amount  Decimal
	Created int64   // round
	Rate    Decimal // holding fee per round
}

func (p Amulet) Arguments(a *Arena, _ uint8) Value {
	return a.Record(amuletShape, PartyValue(Dso), PartyValue(p.Owner),
		a.Record(expiringAmountShape, Numeric(p.Amount), RoundValue(a, p.Created),
			a.Record(ratePerRoundShape, Numeric(p.Rate))))
}

func (p Amulet) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.Owner), obs
}

// ExpiresIn is the first round in which the holding fees have used the coin up.
func (p Amulet) ExpiresIn() int64 { return p.Created + p.Amount.ceilOver(p.Rate) }

// LockedAmulet is a coin that only its holders together with the owner can unlock.
type LockedAmulet struct {
	Amulet
	Holder    Party
	Others    []Party // further holders
	ExpiresAt int64   // µs
	Context   string
}

func (p LockedAmulet) Arguments(a *Arena, version uint8) Value {
	return a.Record(lockedAmuletShape, p.Amulet.Arguments(a, version),
		p.Lock(a))
}

// Lock is the lock as contracts have it.
func (p LockedAmulet) Lock(a *Arena) Value {
	holders := append([]Party{p.Holder}, p.Others...)
	return a.Record(timeLockShape, ListOf(a, holders, PartyValue), Timestamp(p.ExpiresAt), OptionalText(a, p.Context))
}

func (p LockedAmulet) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(append(sig, Dso, p.Owner, p.Holder), p.Others...), obs
}

var (
	featuredAppRightShape = NewShape("dso", "provider", "activityWeight")
	activityMarkerShape   = NewShape("dso", "provider", "beneficiary", "weight")
	appRewardShape        = NewShape("dso", "provider", "featured", "amount", "round", "beneficiary")
	validatorRewardShape  = NewShape("dso", "user", "amount", "round")
	svRewardShape         = NewShape("dso", "sv", "beneficiary", "round", "weight")
	unclaimedRewardShape  = NewShape("dso", "amount")
	livenessShape         = NewShape("dso", "validator", "round")
)

// FeaturedAppRight makes a provider a featured app.
type FeaturedAppRight struct {
	Provider Party
	Weight   Decimal // 0: the default
}

func (p FeaturedAppRight) Arguments(a *Arena, version uint8) Value {
	if version == 0 {
		return a.Record(featuredAppRightShape, PartyValue(Dso), PartyValue(p.Provider))
	}
	return a.Record(featuredAppRightShape, PartyValue(Dso), PartyValue(p.Provider),
		Optional(a, p.Weight != 0, Numeric(p.Weight)))
}

func (p FeaturedAppRight) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Provider)
}

// ActivityMarker records a featured app's activity; Weight is the beneficiary's share.
type ActivityMarker struct {
	Provider, Beneficiary Party
	Weight                Decimal
}

func (p ActivityMarker) Arguments(a *Arena, _ uint8) Value {
	return a.Record(activityMarkerShape, PartyValue(Dso), PartyValue(p.Provider),
		PartyValue(p.Beneficiary), Numeric(p.Weight))
}

func (p ActivityMarker) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Provider, p.Beneficiary)
}

// Coupon is a payload that can be an input of a transfer while its round issues.
type Coupon interface {
	Payload
	// owner is the party that may collect the coupon.
	Owner() Party
	// worth is the coupon's value in coins under the rates of its round.
	Worth(r *Round) Decimal
	// input is the constructor of the transfer input.
	Input() string
	// expiry is the result of the choice that expires the coupon.
	Expiry(a *Arena) Value
}

var (
	appExpiryShape       = NewShape("featured", "amount")
	validatorExpiryShape = NewShape("amount")
	svExpiryShape        = NewShape("weight")
)

// AppReward is the coupon of an app for a transfer.
type AppReward struct {
	Provider    Party
	Featured    bool
	Amount      Decimal
	Round       int64
	Beneficiary Party // or noParty
}

func (p AppReward) Arguments(a *Arena, version uint8) Value {
	fields := []Value{PartyValue(Dso), PartyValue(p.Provider), Boolean(p.Featured),
		Numeric(p.Amount), RoundValue(a, p.Round)}
	if version > 0 || p.Beneficiary != NoParty {
		fields = append(fields, optionalParty(a, p.Beneficiary))
	}
	return a.Record(appRewardShape, fields...)
}

func (p AppReward) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	obs = append(obs, p.Provider)
	if p.Beneficiary != NoParty {
		obs = append(obs, p.Beneficiary)
	}
	return append(sig, Dso), obs
}

func (p AppReward) Owner() Party {
	if p.Beneficiary != NoParty {
		return p.Beneficiary
	}
	return p.Provider
}

func (p AppReward) Worth(r *Round) Decimal {
	if p.Featured {
		return p.Amount.Times(r.PerFeaturedApp)
	}
	return p.Amount.Times(r.PerUnfeaturedApp)
}

func (AppReward) Input() string { return "InputAppRewardCoupon" }

func (p AppReward) Expiry(a *Arena) Value {
	return a.Record(appExpiryShape, Boolean(p.Featured), Numeric(p.Amount))
}

// ValidatorReward is the coupon for coins that a user burned.
type ValidatorReward struct {
	User   Party
	Amount Decimal
	Round  int64
}

func (p ValidatorReward) Arguments(a *Arena, _ uint8) Value {
	return a.Record(validatorRewardShape, PartyValue(Dso), PartyValue(p.User), Numeric(p.Amount),
		RoundValue(a, p.Round))
}

func (p ValidatorReward) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.User)
}

func (p ValidatorReward) Owner() Party           { return p.User }
func (p ValidatorReward) Worth(r *Round) Decimal { return p.Amount.Times(r.PerValidator) }
func (ValidatorReward) Input() string            { return "InputValidatorRewardCoupon" }
func (p ValidatorReward) Expiry(a *Arena) Value {
	return a.Record(validatorExpiryShape, Numeric(p.Amount))
}

// SvReward is the coupon of a super-validator for a round.
type SvReward struct {
	Sv, Beneficiary Party
	Round           int64
	Weight          int64
}

func (p SvReward) Arguments(a *Arena, _ uint8) Value {
	return a.Record(svRewardShape, PartyValue(Dso), PartyValue(p.Sv), PartyValue(p.Beneficiary),
		RoundValue(a, p.Round), Int64Value(p.Weight))
}

func (p SvReward) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Beneficiary, p.Sv)
}

func (p SvReward) Owner() Party           { return p.Beneficiary }
func (p SvReward) Worth(r *Round) Decimal { return Coins(int(p.Weight)).Times(r.PerSvWeight) }
func (SvReward) Input() string            { return "InputSvRewardCoupon" }
func (p SvReward) Expiry(a *Arena) Value  { return a.Record(svExpiryShape, Int64Value(p.Weight)) }

// Liveness is a validator's record of having been active in a round.
type Liveness struct {
	Validator Party
	Round     int64
}

func (p Liveness) Arguments(a *Arena, _ uint8) Value {
	return a.Record(livenessShape, PartyValue(Dso), PartyValue(p.Validator), RoundValue(a, p.Round))
}

func (p Liveness) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Validator)
}

func (p Liveness) Owner() Party         { return p.Validator }
func (Liveness) Worth(r *Round) Decimal { return r.PerLiveness }
func (Liveness) Input() string          { return "InputValidatorLivenessActivityRecord" }
func (Liveness) Expiry(*Arena) Value    { return Enum("ValidatorLivenessActivityRecord_DsoExpireResult") }

// UnclaimedReward is what nobody collected in time.
type UnclaimedReward struct{ Amount Decimal }

func (p UnclaimedReward) Arguments(a *Arena, _ uint8) Value {
	return a.Record(unclaimedRewardShape, PartyValue(Dso), Numeric(p.Amount))
}

func (UnclaimedReward) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), obs
}
