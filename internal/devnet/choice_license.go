package devnet

func addLicenseChoices(all *choices) {
	validator := byPayload(func(p validatorLicense) []party { return []party{p.validator} })
	all.on(licenseTemplate, "ValidatorLicense_RecordValidatorLivenessActivity", consuming(validator, recordLivenessByCommand))
	all.on(licenseTemplate, "ValidatorLicense_UpdateMetadata", consuming(validator,
		func(e *execution, c *contract, arg argument) (value, error) {
			p := c.payload.(validatorLicense)
			p.updatedAt, p.software, p.contact = e.now(), arg.text("version"), arg.text("contactPoint")
			if len(p.software) > maxTextLength || len(p.contact) > maxTextLength {
				return value{}, broken("a text is longer than %d bytes", maxTextLength)
			}
			return createLicense(e, p), nil
		}))
	all.on(licenseTemplate, "ValidatorLicense_ReportActive", consuming(validator,
		func(e *execution, c *contract, _ argument) (value, error) {
			p := c.payload.(validatorLicense)
			p.activeAt = e.now()
			return createLicense(e, p), nil
		}))
	all.on(licenseTemplate, "ValidatorLicense_Cancel", consuming(validator, toResult("ValidatorLicense_CancelResult")))
}

var licensedShape = newShape("licenseCid")

// createLicense creates a license in place of the one whose archival is the node in work.
func createLicense(e *execution, p validatorLicense) value {
	return e.tx.arena().record(licensedShape, contractID(e.tx.create(licenseTemplate, p).number))
}

func recordLivenessByCommand(e *execution, c *contract, arg argument) (value, error) {
	r, err := openMiningRound(e, arg.contract("openRoundCid"))
	if err != nil {
		return value{}, err
	}
	p := c.payload.(validatorLicense)
	if p.lastRound >= r.number {
		return value{}, broken("activity in round %d was recorded already", p.lastRound)
	}
	p = p.activeIn(r.number)
	p.activeAt, p.updatedAt = e.now(), e.now()
	next := e.tx.create(licenseTemplate, p)
	record := e.tx.create(livenessTemplate, liveness{p.validator, r.number})
	return e.tx.arena().record(livenessDoneShape, contractID(next.number), contractID(record.number)), nil
}
