package devnet

import "time"

var (
	amuletRulesShape    = newShape("dso", "configSchedule", "isDevNet", "contractStateSchemaVersion")
	scheduleShape       = newShape("initialValue", "futureValues")
	amuletConfigShape   = newShape("transferConfig", "issuanceCurve", "decentralizedSynchronizer", "tickDuration", "packageConfig", "transferPreapprovalFee", "featuredAppActivityMarkerAmount")
	synchronizersShape  = newShape("requiredSynchronizers", "activeSynchronizer", "fees")
	setShape            = newShape("map")
	trafficFeesShape    = newShape("baseRateTrafficLimits", "extraTrafficPrice", "readVsWriteScalingFactor", "minTopupAmount")
	trafficLimitsShape  = newShape("burstAmount", "burstWindow")
	packageConfigShape  = newShape("amulet", "amuletNameService", "dsoGovernance", "validatorLifecycle", "wallet", "walletPayments")
	externalRulesShape  = newShape("dso")
	ansRulesShape       = newShape("dso", "config")
	ansConfigShape      = newShape("renewalDuration", "entryLifetime", "entryFee", "descriptionPrefix")
	dsoBootstrapShape   = newShape("dso", "sv1Party", "sv1Name", "initialAmuletPrice", "isDevNet")
	dsoRulesShape       = newShape("dso", "epoch", "svs", "offboardedSvs", "isDevNet")
	svInfoShape         = newShape("name", "joinedAsOfRound", "svRewardWeight", "participantId")
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
}

func (p amuletRules) arguments(a *arena, version uint8) value {
	packages := make([]value, len(packageVersionOf[version]))
	for i, v := range packageVersionOf[version] {
		packages[i] = text(v)
	}
	config := a.record(amuletConfigShape, transferConfig(a, version),
		a.record(scheduleShape, issuanceConfig(a), a.list(
			a.record(tupleShape, relTime(a, (365*24*time.Hour/2).Microseconds()), issuanceConfig(a)))),
		a.record(synchronizersShape,
			a.record(setShape, a.genMap(text(p.synchronizer), unit())), text(p.synchronizer),
			a.record(trafficFeesShape,
				a.record(trafficLimitsShape, int64Value(400000), relTime(a, (20*time.Minute).Microseconds())),
				numeric(trafficPrice), int64Value(4), int64Value(minTopUp))),
		relTime(a, p.tick.Microseconds()), a.record(packageConfigShape, packages...),
		a.some(numeric(preapprovalFeeUSD)), none())
	fields := []value{partyValue(dso), a.record(scheduleShape, config, a.list()), boolean(true)}
	if version > 0 {
		fields = append(fields, a.some(int64Value(1)))
	}
	return a.record(amuletRulesShape, fields...)
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
	return a.record(ansRulesShape, partyValue(dso), a.record(ansConfigShape,
		relTime(a, p.lifetime.Microseconds()/3), relTime(a, p.lifetime.Microseconds()),
		numeric(entryFeeUSD), text("CNS entry: ")))
}

// dsoBootstrap is the contract whose creation founds the network.
type dsoBootstrap struct {
	onlyDSO
	founder party
}

func (p dsoBootstrap) arguments(a *arena, _ uint8) value {
	return a.record(dsoBootstrapShape, partyValue(dso), partyValue(p.founder), text("Super-Validator-1"),
		numeric(firstPrice), boolean(true))
}

type dsoRules struct {
	onlyDSO
	names *names
}

func (p dsoRules) arguments(a *arena, _ uint8) value {
	svs := make([]party, p.names.superValidators.len())
	for i := range svs {
		svs[i] = p.names.superValidators.at(i)
	}
	var entries []value
	for _, sv := range p.names.sortParties(svs) {
		entries = append(entries, partyValue(sv), a.record(svInfoShape,
			text(p.names.parties[sv]), roundValue(a, 0), int64Value(svRewardWeight),
			text("PAR::"+p.names.participants[p.names.participantOf(sv, 0)])))
	}
	return a.record(dsoRulesShape, partyValue(dso), int64Value(1), a.genMap(entries...),
		a.genMap(), boolean(true))
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
}

func (p validatorLicense) arguments(a *arena, version uint8) value {
	var faucet value
	if p.lastRound >= 0 {
		faucet = a.record(faucetStateShape, roundValue(a, p.firstRound), roundValue(a, p.lastRound),
			int64Value(p.missed))
	}
	fields := []value{partyValue(p.validator), partyValue(p.sponsor), partyValue(dso),
		optional(a, p.lastRound >= 0, faucet),
		a.some(a.record(licenseMetaShape, timestamp(p.updatedAt), text(p.software), text(licenseContactPoint)))}
	if version > 0 {
		fields = append(fields, optional(a, p.activeAt != 0, timestamp(p.activeAt)))
	}
	return a.record(licenseShape, fields...)
}

func (p validatorLicense) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.validator)
}
