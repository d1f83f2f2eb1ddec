package devnet

var (
	onboardShape      = newShape("sponsor", "validator", "version", "contactPoint")
	onboardDoneShape  = newShape("validatorLicense")
	livenessArgShape  = newShape("openRoundCid")
	livenessDoneShape = newShape("licenseCid", "couponCid")
)

// onboardValidator gives a validator its license.
func (x *executor) onboardValidator(p party) {
	a := x.arena()
	sponsor := x.names.superValidators.of(&x.random)
	software := validatorVersionOf[x.version()]
	at := x.exercise(x.rules.dso, "DsoRules_OnboardValidator", a.record(onboardShape, partyValue(sponsor),
		partyValue(p), a.some(text(software)), a.some(text(licenseContactPoint))), sponsor)
	c := x.create(licenseTemplate, validatorLicense{validator: p, sponsor: sponsor, firstRound: -1, lastRound: -1,
		updatedAt: x.effectiveAt, software: software})
	x.licenses[x.names.validators.index(p)] = c
	x.finish(at, a.record(onboardDoneShape, contractID(c.number)))
}

// recordLiveness has a validator record that it was active in the open round.
func (x *executor) recordLiveness() bool {
	at := x.random.below(len(x.licenses))
	c, r := x.licenses[at], x.openRound()
	if c == nil || c.payload.(validatorLicense).lastRound >= r.number || x.isManaged(c.payload.(validatorLicense).validator) {
		return false
	}
	a, p := x.arena(), c.payload.(validatorLicense)
	node := x.consume(c, "ValidatorLicense_RecordValidatorLivenessActivity",
		a.record(livenessArgShape, contractID(r.contract.number)), p.validator)
	p = p.activeIn(r.number)
	p.activeAt, p.updatedAt, p.software = x.effectiveAt, x.effectiveAt, validatorVersionOf[x.version()]
	x.licenses[at] = x.create(licenseTemplate, p)
	record := x.addCoupon(r, livenessTemplate, liveness{p.validator, r.number})
	r.livenessTotal++
	x.finish(node, a.record(livenessDoneShape, contractID(x.licenses[at].number), contractID(record.number)))
	return true
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
