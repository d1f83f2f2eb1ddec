package devnet

import "time"

var (
	relTimeShape          = newShape("microseconds")
	openRoundShape        = newShape("dso", "round", "amuletPrice", "opensAt", "targetClosesAt", "issuingFor", "transferConfigUsd", "issuanceConfig", "tickDuration", "trafficPrice", "rewardConfig")
	summarizingRoundShape = newShape("dso", "round", "amuletPrice", "issuanceConfig", "tickDuration", "trafficPrice", "rewardConfig")
	issuingRoundShape     = newShape("dso", "round", "issuancePerValidatorRewardCoupon", "issuancePerFeaturedAppRewardCoupon", "issuancePerUnfeaturedAppRewardCoupon", "issuancePerSvRewardCoupon", "opensAt", "targetClosesAt", "optIssuancePerValidatorFaucetCoupon")
	closedRoundShape      = newShape("dso", "round", "issuancePerValidatorRewardCoupon", "issuancePerFeaturedAppRewardCoupon", "issuancePerUnfeaturedAppRewardCoupon", "issuancePerSvRewardCoupon", "optIssuancePerValidatorFaucetCoupon")

	transferConfigShape = newShape("createFee", "holdingFee", "transferFee", "lockHolderFee", "extraFeaturedAppRewardAmount", "maxNumInputs", "maxNumOutputs", "maxNumLockHolders")
	fixedFeeShape       = newShape("fee")
	steppedRateShape    = newShape("initialRate", "steps")
	tupleShape          = newShape("_1", "_2")
	issuanceConfigShape = newShape("amuletToIssuePerYear", "validatorRewardPercentage", "appRewardPercentage", "validatorRewardCap", "featuredAppRewardCap", "unfeaturedAppRewardCap", "optValidatorFaucetCap", "optDevelopmentFundPercentage")
)

// relTime is a length of time; micros is in µs.
func relTime(a *arena, micros int64) value { return a.record(relTimeShape, int64Value(micros)) }

// roundPayload is what the contracts of one mining round have in common.
type roundPayload struct {
	*round
	tick      time.Duration
	byTraffic bool // apps are rewarded by traffic
}

func (p roundPayload) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), obs
}

type openRound struct{ roundPayload }

func (p openRound) arguments(a *arena, version uint8) value {
	fields := []value{partyValue(dso), roundValue(a, p.number), numeric(p.price),
		timestamp(p.opensAt), timestamp(p.closesAt),
		relTime(a, p.number*p.tick.Microseconds()),
		transferConfig(a, version), issuanceConfig(a, version), relTime(a, p.tick.Microseconds())}
	return a.record(openRoundShape, p.withTrafficPrice(a, fields, version)...)
}

// withTrafficPrice adds the two trailing optional fields of the newer version.
func (p roundPayload) withTrafficPrice(a *arena, fields []value, version uint8) []value {
	if version == 0 {
		return fields
	}
	return append(fields, a.some(numeric(trafficPrice)), a.some(rewardConfig(a, p.tick.Microseconds(), p.byTraffic)))
}

type summarizingRound struct{ roundPayload }

func (p summarizingRound) arguments(a *arena, version uint8) value {
	fields := []value{partyValue(dso), roundValue(a, p.number), numeric(p.price), issuanceConfig(a, version),
		relTime(a, p.tick.Microseconds())}
	return a.record(summarizingRoundShape, p.withTrafficPrice(a, fields, version)...)
}

type issuingRound struct{ roundPayload }

func (p issuingRound) arguments(a *arena, _ uint8) value {
	return a.record(issuingRoundShape, partyValue(dso), roundValue(a, p.number),
		numeric(p.perValidator), numeric(p.perFeaturedApp), numeric(p.perUnfeaturedApp),
		numeric(p.perSvWeight), timestamp(p.issuesAt), timestamp(p.issuingClosesAt),
		a.some(numeric(p.perLiveness)))
}

type closedRound struct{ roundPayload }

func (p closedRound) arguments(a *arena, _ uint8) value {
	return a.record(closedRoundShape, partyValue(dso), roundValue(a, p.number),
		numeric(p.perValidator), numeric(p.perFeaturedApp), numeric(p.perUnfeaturedApp),
		numeric(p.perSvWeight), a.some(numeric(p.perLiveness)))
}

// transferConfig is the fee schedule in USD. Version 1 has no fees except the
// holding fee.
func transferConfig(a *arena, version uint8) value {
	fee := createFeeUSD
	steps := [][2]decimal{{coins(100), one / 1000}, {coins(1000), one / 10000}, {coins(1000000), one / 100000}}
	rate := one / 100
	if version > 0 {
		fee, rate, steps = 0, 0, nil
	}
	stepped := make([]value, len(steps))
	for i, s := range steps {
		stepped[i] = a.record(tupleShape, numeric(s[0]), numeric(s[1]))
	}
	return a.record(transferConfigShape,
		a.record(fixedFeeShape, numeric(fee)),
		a.record(ratePerRoundShape, numeric(holdingFeeUSD)),
		a.record(steppedRateShape, numeric(rate), a.list(stepped...)),
		a.record(fixedFeeShape, numeric(0)),
		numeric(one), int64Value(maxInputs), int64Value(100), int64Value(50))
}

func issuanceConfig(a *arena, version uint8) value {
	fields := []value{numeric(issuancePerYear),
		numeric(validatorShare), numeric(appShare), numeric(one / 5), numeric(featuredAppCap),
		numeric(unfeaturedAppCap), a.some(numeric(livenessCapUSD))}
	if version > 0 {
		fields = append(fields, a.some(numeric(fundShare)))
	}
	return a.record(issuanceConfigShape, fields...)
}
