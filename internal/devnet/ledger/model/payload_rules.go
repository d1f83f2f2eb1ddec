package model

import (
	"cmp"
	"time"
)

var (
	amuletRulesShape    = NewShape("dso", "configSchedule", "isDevNet", "contractStateSchemaVersion")
	scheduleShape       = NewShape("initialValue", "futureValues")
	amuletConfigShape   = NewShape("transferConfig", "issuanceCurve", "decentralizedSynchronizer", "tickDuration", "packageConfig", "transferPreapprovalFee", "featuredAppActivityMarkerAmount", "optDevelopmentFundManager", "externalPartyConfigStateTickDuration", "rewardConfig", "transferPreapprovalBaseDuration", "developmentFundManagerBlacklist", "minDevelopmentFundMintingDelay")
	synchronizersShape  = NewShape("requiredSynchronizers", "activeSynchronizer", "fees")
	SetShape            = NewShape("map")
	trafficFeesShape    = NewShape("baseRateTrafficLimits", "extraTrafficPrice", "readVsWriteScalingFactor", "minTopupAmount")
	trafficLimitsShape  = NewShape("burstAmount", "burstWindow")
	packageConfigShape  = NewShape("amulet", "amuletNameService", "dsoGovernance", "validatorLifecycle", "wallet", "walletPayments")
	externalRulesShape  = NewShape("dso")
	ansRulesShape       = NewShape("dso", "config")
	ansConfigShape      = NewShape("renewalDuration", "entryLifetime", "entryFee", "descriptionPrefix")
	EmptyRecordShape    = NewShape()
	preapprovalShape    = NewShape("dso", "receiver", "provider", "validFrom", "lastRenewedAt", "expiresAt")
	memberTrafficShape  = NewShape("dso", "memberId", "synchronizerId", "migrationId", "totalPurchased", "numPurchases", "amuletSpent", "usdSpent")
	licenseShape        = NewShape("validator", "sponsor", "dso", "faucetState", "metadata", "lastActiveAt")
	faucetStateShape    = NewShape("firstReceivedFor", "lastReceivedFor", "numCouponsMissed")
	licenseMetaShape    = NewShape("lastUpdatedAt", "version", "contactPoint")
	packageVersionOf    = [Versions][6]string{{"0.1.14", "0.1.15", "0.1.20", "0.1.5", "0.1.15", "0.1.14"}, {"0.1.22", "0.1.23", "0.1.30", "0.1.8", "0.1.23", "0.1.22"}}
	ValidatorVersionOf  = [Versions]string{"0.6.6", "0.7.4"}
	LicenseContactPoint = "ops@validator.example"
)

// onlyDSO is the part of a payload whose sole stakeholder is the governance party.
type onlyDSO struct{}

func (onlyDSO) Stakeholders(sig, obs []Party) ([]Party, []Party) { return append(sig, Dso), obs }

// AmuletRules is the contract on which most choices of the coin are exercised.
type AmuletRules struct {
	onlyDSO
	Synchronizer string
	Tick         time.Duration
	Manager      Party // of the development fund
	ByTraffic    bool  // apps are rewarded by traffic
	// MarkerAmount is what an app's marker of activity is worth, in USD; 0 for the default of 1.
	MarkerAmount Decimal
	Fund         FundRules
}

// FundRules are rules of the development fund that the super-validators may set.
type FundRules struct {
	// ManagerBarred keeps the manager from giving coupons, and its coupons from being minted.
	ManagerBarred bool `json:"managerBarred,omitempty"`
	// MintingDelay is how long, at least, coupons cannot be minted at first; 0 for no such rule.
	MintingDelay time.Duration `json:"mintingDelay,omitempty"`
}

func (p AmuletRules) Arguments(a *Arena, version uint8) Value {
	fields := []Value{PartyValue(Dso), a.Record(scheduleShape, p.Config(a, version), a.List()), Boolean(true)}
	if version > 0 {
		fields = append(fields, a.Some(Int64Value(1)))
	}
	return a.Record(amuletRulesShape, fields...)
}

// Config is the configuration of the coin in a package version.
func (p AmuletRules) Config(a *Arena, version uint8) Value {
	packages := make([]Value, len(packageVersionOf[version]))
	for i, v := range packageVersionOf[version] {
		packages[i] = Text(v)
	}
	fields := []Value{transferConfig(a, version),
		a.Record(scheduleShape, issuanceConfig(a, version), a.List(
			a.Record(TupleShape, relTime(a, (365*24*time.Hour/2).Microseconds()), issuanceConfig(a, version)))),
		a.Record(synchronizersShape,
			a.Record(SetShape, a.GenMap(Text(p.Synchronizer), Unit())), Text(p.Synchronizer),
			a.Record(trafficFeesShape,
				a.Record(trafficLimitsShape, Int64Value(400000), relTime(a, (20*time.Minute).Microseconds())),
				Numeric(TrafficPrice), Int64Value(4), Int64Value(MinTopUp))),
		relTime(a, p.Tick.Microseconds()), a.Record(packageConfigShape, packages...),
		a.Some(Numeric(PreapprovalFeeUSD)), Optional(a, p.MarkerAmount > 0, Numeric(p.MarkerAmount))}
	if version > 0 {
		fields = append(fields, a.Some(PartyValue(p.Manager)), a.Some(relTime(a, ConfigStatePeriod)), a.Some(rewardConfig(a, p.Tick.Microseconds(), p.ByTraffic)))
	}
	if version > 0 && p.Fund != (FundRules{}) {
		fields = append(fields, None(), Optional(a, p.Fund.ManagerBarred, a.List(PartyValue(p.Manager))),
			Optional(a, p.Fund.MintingDelay != 0, relTime(a, p.Fund.MintingDelay.Microseconds())))
	}
	return a.Record(amuletConfigShape, fields...)
}

// ExternalRules is the contract on which external parties exercise choices.
type ExternalRules struct{ onlyDSO }

func (ExternalRules) Arguments(a *Arena, _ uint8) Value {
	return a.Record(externalRulesShape, PartyValue(Dso))
}

// AnsRules governs the name service.
type AnsRules struct {
	onlyDSO
	Lifetime time.Duration
}

func (p AnsRules) Arguments(a *Arena, _ uint8) Value {
	return a.Record(ansRulesShape, PartyValue(Dso), p.config(a))
}

func (p AnsRules) config(a *Arena) Value {
	return a.Record(ansConfigShape,
		relTime(a, p.Lifetime.Microseconds()/3), relTime(a, p.Lifetime.Microseconds()),
		Numeric(EntryFeeUSD), Text("CNS entry: "))
}

// Preapproval lets anyone send coins to the receiver in one step.
type Preapproval struct {
	Receiver, Provider                  Party
	ValidFrom, LastRenewedAt, ExpiresAt int64
}

func (p Preapproval) Arguments(a *Arena, _ uint8) Value {
	return a.Record(preapprovalShape, PartyValue(Dso), PartyValue(p.Receiver), PartyValue(p.Provider),
		Timestamp(p.ValidFrom), Timestamp(p.LastRenewedAt), Timestamp(p.ExpiresAt))
}

func (p Preapproval) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Receiver, p.Provider, Dso), obs
}

// MemberTraffic counts what was bought for one node.
type MemberTraffic struct {
	onlyDSO
	Member               string // PAR::...
	Synchronizer         string
	Migration            int64
	Purchased, Purchases int64
	AmuletSpent          Decimal
	UsdSpent             Decimal
}

func (p MemberTraffic) Arguments(a *Arena, _ uint8) Value {
	return a.Record(memberTrafficShape, PartyValue(Dso), Text(p.Member), Text(p.Synchronizer),
		Int64Value(p.Migration), Int64Value(p.Purchased), Int64Value(p.Purchases),
		Numeric(p.AmuletSpent), Numeric(p.UsdSpent))
}

// ValidatorLicense admits a validator; faucet numbers are absent before the first
// liveness record.
type ValidatorLicense struct {
	Validator, Sponsor    Party
	FirstRound, LastRound int64 // -1: none yet
	Missed                int64
	UpdatedAt, ActiveAt   int64
	Software              string
	Contact               string // licenseContactPoint when empty
}

func (p ValidatorLicense) Arguments(a *Arena, version uint8) Value {
	var faucet Value
	if p.LastRound >= 0 {
		faucet = a.Record(faucetStateShape, RoundValue(a, p.FirstRound), RoundValue(a, p.LastRound),
			Int64Value(p.Missed))
	}
	fields := []Value{PartyValue(p.Validator), PartyValue(p.Sponsor), PartyValue(Dso),
		Optional(a, p.LastRound >= 0, faucet),
		a.Some(a.Record(licenseMetaShape, Timestamp(p.UpdatedAt), Text(p.Software), Text(cmp.Or(p.Contact, LicenseContactPoint))))}
	if version > 0 {
		fields = append(fields, Optional(a, p.ActiveAt != 0, Timestamp(p.ActiveAt)))
	}
	return a.Record(licenseShape, fields...)
}

func (p ValidatorLicense) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Validator)
}

// ActiveIn returns the license after a record for the given round.
func (p ValidatorLicense) ActiveIn(round int64) ValidatorLicense {
	if p.LastRound < 0 {
		p.FirstRound = round
	} else {
		p.Missed += round - p.LastRound - 1
	}
	p.LastRound = round
	return p
}
