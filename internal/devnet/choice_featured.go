package devnet

func addFeaturedChoices(all *choices) {
	all.on(amuletRulesTemplate, "AmuletRules_DevNet_FeatureApp", nonconsuming(byArgument("provider"),
		func(e *execution, _ *contract, arg argument) (value, error) {
			right := featuredAppRight{provider: arg.party("provider")}
			if e.tx.version() > 0 {
				right.weight = one
			}
			return e.tx.arena().record(featureDoneShape, contractID(e.tx.create(featuredAppRightTemplate, right).number)), nil
		}))
	provider := byPayload(func(p featuredAppRight) []party { return []party{p.provider} })
	all.on(featuredAppRightTemplate, "FeaturedAppRight_Cancel", consuming(provider, toResult("FeaturedAppRight_CancelResult")))
	all.on(featuredAppRightTemplate, "FeaturedAppRight_CreateActivityMarker",
		nonconsuming(provider, markByCommand).of(featuredAppRightInterface))
}

func markByCommand(e *execution, c *contract, arg argument) (value, error) {
	beneficiaries, err := beneficiariesOf(e, arg.at("beneficiaries"))
	if err != nil {
		return value{}, err
	}
	ids := make([]value, len(beneficiaries))
	for i, b := range beneficiaries {
		b.provider = c.payload.(featuredAppRight).provider
		ids[i] = contractID(e.tx.create(activityMarkerTemplate, b).number)
		e.tx.provider = b.provider
	}
	a := e.tx.arena()
	return a.record(markDoneShape, a.list(ids...)), nil
}
