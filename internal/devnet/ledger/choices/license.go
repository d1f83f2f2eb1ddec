package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addLicenseChoices(all *choices) {
	validator := byPayload(func(p model.ValidatorLicense) []model.Party { return []model.Party{p.Validator} })
	all.on(model.LicenseTemplate, "ValidatorLicense_RecordValidatorLivenessActivity", consuming(validator, recordLivenessByCommand))
	all.on(model.LicenseTemplate, "ValidatorLicense_UpdateMetadata", consuming(validator,
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p := c.Payload.(model.ValidatorLicense)
			p.UpdatedAt, p.Software, p.Contact = e.Now(), arg.Text("version"), arg.Text("contactPoint")
			if len(p.Software) > maxTextLength || len(p.Contact) > maxTextLength {
				return model.Value{}, broken("a text is longer than %d bytes", maxTextLength)
			}
			return createLicense(e, p), nil
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_ReportActive", consuming(validator,
		func(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
			p := c.Payload.(model.ValidatorLicense)
			p.ActiveAt = e.Now()
			return createLicense(e, p), nil
		}))
	all.on(model.LicenseTemplate, "ValidatorLicense_Cancel", consuming(validator, toResult("ValidatorLicense_CancelResult")))
}

var licensedShape = model.NewShape("licenseCid")

// createLicense creates a license in place of the one whose archival is the node in work.
func createLicense(e *Execution, p model.ValidatorLicense) model.Value {
	return e.Tx.Arena().Record(licensedShape, model.ContractID(e.Tx.Create(model.LicenseTemplate, p).Number))
}

func recordLivenessByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	r, err := openMiningRound(e, arg.Contract("openRoundCid"))
	if err != nil {
		return model.Value{}, err
	}
	p := c.Payload.(model.ValidatorLicense)
	if p.LastRound >= r.Number {
		return model.Value{}, broken("activity in round %d was recorded already", p.LastRound)
	}
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt = e.Now(), e.Now()
	next := e.Tx.Create(model.LicenseTemplate, p)
	record := e.Tx.Create(model.LivenessTemplate, model.Liveness{Validator: p.Validator, Round: r.Number})
	return e.Tx.Arena().Record(sim.LivenessDoneShape, model.ContractID(next.Number), model.ContractID(record.Number)), nil
}
