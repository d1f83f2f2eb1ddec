package sim

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	onboardShape      = NewShape("sponsor", "validator", "version", "contactPoint")
	onboardDoneShape  = NewShape("validatorLicense")
	livenessArgShape  = NewShape("openRoundCid")
	LivenessDoneShape = NewShape("licenseCid", "couponCid")
)

// Validators have licenses and buy traffic.
type Validators struct {
	Core
	bank     *Bank
	payments *Payments
	users    *users
	rounds   *Rounds

	traffic  [][]*Contract // by participant: purchases that wait to be merged
	licenses []*Contract   // by validator, nil before onboarding
}

func newValidators(k Core) *Validators {
	return &Validators{Core: k, traffic: make([][]*Contract, len(k.Names.Participants)), licenses: make([]*Contract, k.Names.Validators.Len())}
}

// onboardValidator gives a validator its license.
func (x *Validators) onboardValidator(p Party) {
	a := x.Tx.Arena()
	sponsor := x.Names.SuperValidators.Of(x.Random)
	software := ValidatorVersionOf[x.Tx.Version()]
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_OnboardValidator", a.Record(onboardShape, PartyValue(sponsor),
		PartyValue(p), a.Some(Text(software)), a.Some(Text(LicenseContactPoint))), sponsor)
	c := x.Tx.Create(LicenseTemplate, ValidatorLicense{Validator: p, Sponsor: sponsor, FirstRound: -1, LastRound: -1,
		UpdatedAt: x.Clock.EffectiveAt, Software: software})
	x.licenses[x.Names.Validators.Index(p)] = c
	x.Tx.Finish(at, a.Record(onboardDoneShape, ContractID(c.Number)))
}

// recordLiveness has a validator record that it was active in the open round.
func (x *Validators) recordLiveness() bool {
	at := x.Random.Below(len(x.licenses))
	c, r := x.licenses[at], x.rounds.OpenRound()
	if c == nil || c.Payload.(ValidatorLicense).LastRound >= r.Number || x.users.isManaged(c.Payload.(ValidatorLicense).Validator) {
		return false
	}
	a, p := x.Tx.Arena(), c.Payload.(ValidatorLicense)
	node := x.Tx.Consume(c, "ValidatorLicense_RecordValidatorLivenessActivity",
		a.Record(livenessArgShape, ContractID(r.Contract.Number)), p.Validator)
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt, p.Software = x.Clock.EffectiveAt, x.Clock.EffectiveAt, ValidatorVersionOf[x.Tx.Version()]
	x.licenses[at] = x.Tx.Create(LicenseTemplate, p)
	record := x.rounds.addCoupon(r, LivenessTemplate, Liveness{p.Validator, r.Number})
	r.LivenessTotal++
	x.Tx.Finish(node, a.Record(LivenessDoneShape, ContractID(x.licenses[at].Number), ContractID(record.Number)))
	return true
}
