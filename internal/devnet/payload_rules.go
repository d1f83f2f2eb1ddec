package devnet

import (
	"cmp"
	"time"
)

var (
	amuletRulesShape    = newShape("dso", "configSchedule", "isDevNet", "contractStateSchemaVersion")
	scheduleShape       = newShape("initialValue", "futureValues")
	amuletConfigShape   = newShape("transferConfig", "issuanceCurve", "decentralizedSynchronizer", "tickDuration", "packageConfig", "transferPreapprovalFee", "featuredAppActivityMarkerAmount", "optDevelopmentFundManager", "externalPartyConfigStateTickDuration", "rewardConfig")
	synchronizersShape  = newShape("requiredSynchronizers", "activeSynchronizer", "fees")
	setShape            = newShape("map")
	trafficFeesShape    = newShape("baseRateTrafficLimits", "extraTrafficPrice", "readVsWriteScalingFactor", "minTopupAmount")
	trafficLimitsShape  = newShape("burstAmount", "burstWindow")
	packageConfigShape  = newShape("amulet", "amuletNameService", "dsoGovernance", "validatorLifecycle", "wallet", "walletPayments")
	externalRulesShape  = newShape("dso")
	ansRulesShape       = newShape("dso", "config")
	ansConfigShape      = newShape("renewalDuration", "entryLifetime", "entryFee", "descriptionPrefix")
	emptyRecordShape    = newShape()
	preapprovalShape    = newShape("dso", "receiver", "provider", "validFrom", "lastRenewedAt", "expiresAt")
	memberTrafficShape  = newShape("dso", "memberId", "synchronizerId", "migrationId", "totalPurchased", "numPurchases", "amuletSpent", "usdSpent")
	licenseShape        = newShape("validator", "sponsor", "dso", "faucetState", "metadata", "lastActiveAt")
	faucetStateShape    = newShape("firstReceivedFor", "lastReceivedFor", "numCouponsMissed")
	licenseMetaShape    = newShape("lastUpdatedAt", "version", "contactPoint")
	packageVersionOf    = [versions][6]string{{"0.1.14", "0.1.15", "0.1.20", "0.1.5", "0.1.15", "0.1.14"}, {"0.1.22", "0.1.23", "0.1.30", "0.1.8", "0.1.23", "0.1.22"}}
	validatorVersionOf  = [versions]string{"0.6.6", "0.7.4"}
	licenseContactPoint = "ops@validator.example"
)

// onlyDSO is the part of a payload whose sole stakeholder is the governance party.
type onlyDSO struct{}

func (onlyDSO) stakeholders(sig, obs []party) ([]party, []party) { return append(sig, dso), obs }

// amuletRules is the contract on which most choices of the coin are exercised.
type amuletRules struct {
	onlyDSO
	synchronizer string
	tick         time.Duration
	manager      party // of the development fund
	byTraffic    bool  // apps are rewarded by traffic
}

func (p amuletRules) arguments(a *arena, version uint8) value {
	fields := []value{partyValue(dso), a.record(scheduleShape, p.config(a, version), a.list()), boolean(true)}
	if version > 0 {
		fields = append(fields, a.some(int64Value(1)))
	}
	return a.record(amuletRulesShape, fields...)
}

func (p amuletRules) config(a *arena, version uint8) value {
	packages := make([]value, len(packageVersionOf[version]))
	for i, v := range packageVersionOf[version] {
		packages[i] = text(v)
	}
	fields := []value{transferConfig(a, version),
		a.record(scheduleShape, issuanceConfig(a, version), a.list(
			a.record(tupleShape, relTime(a, (365*24*time.Hour/2).Microseconds()), issuanceConfig(a, version)))),
		a.record(synchronizersShape,
			a.record(setShape, a.genMap(text(p.synchronizer), unit())), text(p.synchronizer),
			a.record(trafficFeesShape,
				a.record(trafficLimitsShape, int64Value(400000), relTime(a, (20*time.Minute).Microseconds())),
				numeric(trafficPrice), int64Value(4), int64Value(minTopUp))),
		relTime(a, p.tick.Microseconds()), a.record(packageConfigShape, packages...),
		a.some(numeric(preapprovalFeeUSD)), none()}
	if version > 0 {
		fields = append(fields, a.some(partyValue(p.manager)), a.some(relTime(a, configStatePeriod)), a.some(rewardConfig(a, p.tick.Microseconds(), p.byTraffic)))
	}
	return a.record(amuletConfigShape, fields...)
}

type externalRules struct{ onlyDSO }

func (externalRules) arguments(a *arena, _ uint8) value {
	return a.record(externalRulesShape, partyValue(dso))
}

type ansRules struct {
	onlyDSO
	lifetime time.Duration
}

func (p ansRules) arguments(a *arena, _ uint8) value {
	return a.record(ansRulesShape, partyValue(dso), p.config(a))
}

func (p ansRules) config(a *arena) value {
	return a.record(ansConfigShape,
		relTime(a, p.lifetime.Microseconds()/3), relTime(a, p.lifetime.Microseconds()),
		numeric(entryFeeUSD), text("CNS entry: "))
}

// preapproval lets anyone send coins to the receiver in one step.
type preapproval struct {
	receiver, provider                  party
	validFrom, lastRenewedAt, expiresAt int64
}

func (p preapproval) arguments(a *arena, _ uint8) value {
	return a.record(preapprovalShape, partyValue(dso), partyValue(p.receiver), partyValue(p.provider),
		timestamp(p.validFrom), timestamp(p.lastRenewedAt), timestamp(p.expiresAt))
}

func (p preapproval) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.receiver, p.provider, dso), obs
}

// memberTraffic counts what was bought for one node.
type memberTraffic struct {
	onlyDSO
	member               string // PAR::...
	synchronizer         string
	migration            int64
	purchased, purchases int64
	amuletSpent          decimal
	usdSpent             decimal
}

func (p memberTraffic) arguments(a *arena, _ uint8) value {
	return a.record(memberTrafficShape, partyValue(dso), text(p.member), text(p.synchronizer),
		int64Value(p.migration), int64Value(p.purchased), int64Value(p.purchases),
		numeric(p.amuletSpent), numeric(p.usdSpent))
}

// validatorLicense admits a validator; faucet numbers are absent before the first
// liveness record.
type validatorLicense struct {
	validator, sponsor    party
	firstRound, lastRound int64 // -1: none yet
	missed                int64
	updatedAt, activeAt   int64
	software              string
	contact               string // licenseContactPoint when empty
}

func (p validatorLicense) arguments(a *arena, version uint8) value {
	var faucet value
	if p.lastRound >= 0 {
		faucet = a.record(faucetStateShape, roundValue(a, p.firstRound), roundValue(a, p.lastRound),
			int64Value(p.missed))
	}
	fields := []value{partyValue(p.validator), partyValue(p.sponsor), partyValue(dso),
		optional(a, p.lastRound >= 0, faucet),
		a.some(a.record(licenseMetaShape, timestamp(p.updatedAt), text(p.software), text(cmp.Or(p.contact, licenseContactPoint))))}
	if version > 0 {
		fields = append(fields, optional(a, p.activeAt != 0, timestamp(p.activeAt)))
	}
	return a.record(licenseShape, fields...)
}

func (p validatorLicense) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.validator)
}

// activeIn returns the license after a record for the given round.
func (p validatorLicense) activeIn(round int64) validatorLicense {
	if p.lastRound < 0 {
		p.firstRound = round
	} else {
		p.missed += round - p.lastRound - 1
	}
	p.lastRound = round
	return p
}
