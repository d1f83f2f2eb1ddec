package sim

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

var (
	onboardShape      = model.NewShape("sponsor", "validator", "version", "contactPoint")
	onboardDoneShape  = model.NewShape("validatorLicense")
	livenessArgShape  = model.NewShape("openRoundCid")
	LivenessDoneShape = model.NewShape("licenseCid", "couponCid")
)

// Validators have licenses and buy traffic.
type Validators struct {
	Core
	bank     *Bank
	payments *Payments
	users    *users
	rounds   *Rounds

	traffic  [][]*model.Contract // by participant: purchases that wait to be merged
	licenses []*model.Contract   // by validator, nil before onboarding
}

func newValidators(k Core) *Validators {
	return &Validators{Core: k, traffic: make([][]*model.Contract, len(k.Names.Participants)), licenses: make([]*model.Contract, k.Names.Validators.Len())}
}

// onboardValidator gives a validator its license.
func (x *Validators) onboardValidator(p model.Party) {
	a := x.Tx.Arena()
	sponsor := x.Names.SuperValidators.Of(x.Random)
	software := model.ValidatorVersionOf[x.Tx.Version()]
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_OnboardValidator", a.Record(onboardShape, model.PartyValue(sponsor),
		model.PartyValue(p), a.Some(model.Text(software)), a.Some(model.Text(model.LicenseContactPoint))), sponsor)
	c := x.Tx.Create(model.LicenseTemplate, model.ValidatorLicense{Validator: p, Sponsor: sponsor, FirstRound: -1, LastRound: -1,
		UpdatedAt: x.Clock.EffectiveAt, Software: software})
	x.licenses[x.Names.Validators.Index(p)] = c
	x.Tx.Finish(at, a.Record(onboardDoneShape, model.ContractID(c.Number)))
}

// recordLiveness has a validator record that it was active in the open round.
func (x *Validators) recordLiveness() bool {
	at := x.Random.Below(len(x.licenses))
	c, r := x.licenses[at], x.rounds.OpenRound()
	if c == nil || c.Payload.(model.ValidatorLicense).LastRound >= r.Number || x.users.isManaged(c.Payload.(model.ValidatorLicense).Validator) {
		return false
	}
	a, p := x.Tx.Arena(), c.Payload.(model.ValidatorLicense)
	node := x.Tx.Consume(c, "ValidatorLicense_RecordValidatorLivenessActivity",
		a.Record(livenessArgShape, model.ContractID(r.Contract.Number)), p.Validator)
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt, p.Software = x.Clock.EffectiveAt, x.Clock.EffectiveAt, model.ValidatorVersionOf[x.Tx.Version()]
	x.licenses[at] = x.Tx.Create(model.LicenseTemplate, p)
	record := x.rounds.addCoupon(r, model.LivenessTemplate, model.Liveness{Validator: p.Validator, Round: r.Number})
	x.Tx.Finish(node, a.Record(LivenessDoneShape, model.ContractID(x.licenses[at].Number), model.ContractID(record.Number)))
	return true
}
