package devnet

var (
	onboardShape      = newShape("sponsor", "validator", "version", "contactPoint")
	onboardDoneShape  = newShape("validatorLicense")
	livenessArgShape  = newShape("openRoundCid")
	livenessDoneShape = newShape("licenseCid", "couponCid")
)

// validators have licenses and buy traffic.
type validators struct {
	core
	bank     *bank
	payments *payments
	users    *users
	rounds   *rounds

	traffic  [][]*contract // by participant: purchases that wait to be merged
	licenses []*contract   // by validator, nil before onboarding
}

func newValidators(k core) *validators {
	return &validators{core: k, traffic: make([][]*contract, len(k.names.participants)), licenses: make([]*contract, k.names.validators.len())}
}

// onboardValidator gives a validator its license.
func (x *validators) onboardValidator(p party) {
	a := x.tx.arena()
	sponsor := x.names.superValidators.of(x.random)
	software := validatorVersionOf[x.tx.version()]
	at := x.tx.exercise(x.rules.dso, "DsoRules_OnboardValidator", a.record(onboardShape, partyValue(sponsor),
		partyValue(p), a.some(text(software)), a.some(text(licenseContactPoint))), sponsor)
	c := x.tx.create(licenseTemplate, validatorLicense{validator: p, sponsor: sponsor, firstRound: -1, lastRound: -1,
		updatedAt: x.clock.effectiveAt, software: software})
	x.licenses[x.names.validators.index(p)] = c
	x.tx.finish(at, a.record(onboardDoneShape, contractID(c.number)))
}

// recordLiveness has a validator record that it was active in the open round.
func (x *validators) recordLiveness() bool {
	at := x.random.below(len(x.licenses))
	c, r := x.licenses[at], x.rounds.openRound()
	if c == nil || c.payload.(validatorLicense).lastRound >= r.number || x.users.isManaged(c.payload.(validatorLicense).validator) {
		return false
	}
	a, p := x.tx.arena(), c.payload.(validatorLicense)
	node := x.tx.consume(c, "ValidatorLicense_RecordValidatorLivenessActivity",
		a.record(livenessArgShape, contractID(r.contract.number)), p.validator)
	p = p.activeIn(r.number)
	p.activeAt, p.updatedAt, p.software = x.clock.effectiveAt, x.clock.effectiveAt, validatorVersionOf[x.tx.version()]
	x.licenses[at] = x.tx.create(licenseTemplate, p)
	record := x.rounds.addCoupon(r, livenessTemplate, liveness{p.validator, r.number})
	r.livenessTotal++
	x.tx.finish(node, a.record(livenessDoneShape, contractID(x.licenses[at].number), contractID(record.number)))
	return true
}
