package model

import "time"

var (
	relTimeShape          = NewShape("microseconds")
	openRoundShape        = NewShape("dso", "round", "amuletPrice", "opensAt", "targetClosesAt", "issuingFor", "transferConfigUsd", "issuanceConfig", "tickDuration", "trafficPrice", "rewardConfig")
	summarizingRoundShape = NewShape("dso", "round", "amuletPrice", "issuanceConfig", "tickDuration", "trafficPrice", "rewardConfig")
	issuingRoundShape     = NewShape("dso", "round", "issuancePerValidatorRewardCoupon", "issuancePerFeaturedAppRewardCoupon", "issuancePerUnfeaturedAppRewardCoupon", "issuancePerSvRewardCoupon", "opensAt", "targetClosesAt", "optIssuancePerValidatorFaucetCoupon")
	closedRoundShape      = NewShape("dso", "round", "issuancePerValidatorRewardCoupon", "issuancePerFeaturedAppRewardCoupon", "issuancePerUnfeaturedAppRewardCoupon", "issuancePerSvRewardCoupon", "optIssuancePerValidatorFaucetCoupon")

	transferConfigShape = NewShape("createFee", "holdingFee", "transferFee", "lockHolderFee", "extraFeaturedAppRewardAmount", "maxNumInputs", "maxNumOutputs", "maxNumLockHolders")
	fixedFeeShape       = NewShape("fee")
	steppedRateShape    = NewShape("initialRate", "steps")
	TupleShape          = NewShape("_1", "_2")
	issuanceConfigShape = NewShape("amuletToIssuePerYear", "validatorRewardPercentage", "appRewardPercentage", "validatorRewardCap", "featuredAppRewardCap", "unfeaturedAppRewardCap", "optValidatorFaucetCap", "optDevelopmentFundPercentage")
)

// relTime is a length of time; micros is in µs.
func relTime(a *Arena, micros int64) Value { return a.Record(relTimeShape, Int64Value(micros)) }

// RoundPayload is what the contracts of one mining round have in common.
type RoundPayload struct {
	*Round
	Tick      time.Duration
	ByTraffic bool // apps are rewarded by traffic
}

func (p RoundPayload) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), obs
}

// OpenRound is the contract of a round that sets prices.
type OpenRound struct{ RoundPayload }

func (p OpenRound) Arguments(a *Arena, version uint8) Value {
	fields := []Value{PartyValue(Dso), RoundValue(a, p.Number), Numeric(p.Price),
		Timestamp(p.OpensAt), Timestamp(p.ClosesAt),
		relTime(a, p.Number*p.Tick.Microseconds()),
		transferConfig(a, version), issuanceConfig(a, version), relTime(a, p.Tick.Microseconds())}
	return a.Record(openRoundShape, p.withTrafficPrice(a, fields, version)...)
}

// withTrafficPrice adds the two trailing optional fields of the newer version.
func (p RoundPayload) withTrafficPrice(a *Arena, fields []Value, version uint8) []Value {
	if version == 0 {
		return fields
	}
	return append(fields, a.Some(Numeric(TrafficPrice)), a.Some(rewardConfig(a, p.Tick.Microseconds(), p.ByTraffic)))
}

// SummarizingRound is that of a round whose coupons are counted.
type SummarizingRound struct{ RoundPayload }

func (p SummarizingRound) Arguments(a *Arena, version uint8) Value {
	fields := []Value{PartyValue(Dso), RoundValue(a, p.Number), Numeric(p.Price), issuanceConfig(a, version),
		relTime(a, p.Tick.Microseconds())}
	return a.Record(summarizingRoundShape, p.withTrafficPrice(a, fields, version)...)
}

// IssuingRound is that of a round whose coupons can be collected.
type IssuingRound struct{ RoundPayload }

func (p IssuingRound) Arguments(a *Arena, _ uint8) Value {
	return a.Record(issuingRoundShape, PartyValue(Dso), RoundValue(a, p.Number),
		Numeric(p.PerValidator), Numeric(p.PerFeaturedApp), Numeric(p.PerUnfeaturedApp),
		Numeric(p.PerSvWeight), Timestamp(p.IssuesAt), Timestamp(p.IssuingClosesAt),
		a.Some(Numeric(p.PerLiveness)))
}

// ClosedRound is that of a round whose coupons have expired.
type ClosedRound struct{ RoundPayload }

func (p ClosedRound) Arguments(a *Arena, _ uint8) Value {
	return a.Record(closedRoundShape, PartyValue(Dso), RoundValue(a, p.Number),
		Numeric(p.PerValidator), Numeric(p.PerFeaturedApp), Numeric(p.PerUnfeaturedApp),
		Numeric(p.PerSvWeight), a.Some(Numeric(p.PerLiveness)))
}

// TransferFees are the fees of transfers in a package version: that of a new coin in USD, and the share
// of the amount, at first and above each step, an amount in USD. Version 1 has none.
func TransferFees(version uint8) (create, initial Decimal, steps [][2]Decimal) {
	if version > 0 {
		return 0, 0, nil
	}
	return CreateFeeUSD, One / 100, [][2]Decimal{{Coins(100), One / 1000}, {Coins(1000), One / 10000}, {Coins(1000000), One / 100000}}
}

// transferConfig is the fee schedule in USD.
func transferConfig(a *Arena, version uint8) Value {
	fee, rate, steps := TransferFees(version)
	stepped := ListOf(a, steps, func(s [2]Decimal) Value { return a.Record(TupleShape, Numeric(s[0]), Numeric(s[1])) })
	return a.Record(transferConfigShape,
		a.Record(fixedFeeShape, Numeric(fee)),
		a.Record(ratePerRoundShape, Numeric(HoldingFeeUSD)),
		a.Record(steppedRateShape, Numeric(rate), stepped),
		a.Record(fixedFeeShape, Numeric(0)),
		Numeric(One), Int64Value(MaxInputs), Int64Value(100), Int64Value(50))
}

func issuanceConfig(a *Arena, version uint8) Value {
	fields := []Value{Numeric(IssuancePerYear),
		Numeric(ValidatorShare), Numeric(AppShare), Numeric(One / 5), Numeric(FeaturedAppCap),
		Numeric(UnfeaturedAppCap), a.Some(Numeric(LivenessCapUSD))}
	if version > 0 {
		fields = append(fields, a.Some(Numeric(FundShare)))
	}
	return a.Record(issuanceConfigShape, fields...)
}
