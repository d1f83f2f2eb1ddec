package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addLicenseChoices(all *choices) {
	validator := byPayload(func(p ValidatorLicense) []Party { return []Party{p.Validator} })
	all.on(LicenseTemplate, "ValidatorLicense_RecordValidatorLivenessActivity", consuming(validator, recordLivenessByCommand))
	all.on(LicenseTemplate, "ValidatorLicense_UpdateMetadata", consuming(validator,
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			p := c.Payload.(ValidatorLicense)
			p.UpdatedAt, p.Software, p.Contact = e.Now(), arg.Text("version"), arg.Text("contactPoint")
			if len(p.Software) > maxTextLength || len(p.Contact) > maxTextLength {
				return Value{}, broken("a text is longer than %d bytes", maxTextLength)
			}
			return createLicense(e, p), nil
		}))
	all.on(LicenseTemplate, "ValidatorLicense_ReportActive", consuming(validator,
		func(e *Execution, c *Contract, _ Argument) (Value, error) {
			p := c.Payload.(ValidatorLicense)
			p.ActiveAt = e.Now()
			return createLicense(e, p), nil
		}))
	all.on(LicenseTemplate, "ValidatorLicense_Cancel", consuming(validator, toResult("ValidatorLicense_CancelResult")))
}

var licensedShape = NewShape("licenseCid")

// createLicense creates a license in place of the one whose archival is the node in work.
func createLicense(e *Execution, p ValidatorLicense) Value {
	return e.Tx.Arena().Record(licensedShape, ContractID(e.Tx.Create(LicenseTemplate, p).Number))
}

func recordLivenessByCommand(e *Execution, c *Contract, arg Argument) (Value, error) {
	r, err := openMiningRound(e, arg.Contract("openRoundCid"))
	if err != nil {
		return Value{}, err
	}
	p := c.Payload.(ValidatorLicense)
	if p.LastRound >= r.Number {
		return Value{}, broken("activity in round %d was recorded already", p.LastRound)
	}
	p = p.ActiveIn(r.Number)
	p.ActiveAt, p.UpdatedAt = e.Now(), e.Now()
	next := e.Tx.Create(LicenseTemplate, p)
	record := e.Tx.Create(LivenessTemplate, Liveness{p.Validator, r.Number})
	return e.Tx.Arena().Record(LivenessDoneShape, ContractID(next.Number), ContractID(record.Number)), nil
}
