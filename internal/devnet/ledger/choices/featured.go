package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addFeaturedChoices(all *choices) {
	all.on(AmuletRulesTemplate, "AmuletRules_DevNet_FeatureApp", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			right := FeaturedAppRight{Provider: arg.Party("provider")}
			if e.Tx.Version() > 0 {
				right.Weight = One
			}
			return e.Tx.Arena().Record(FeatureDoneShape, ContractID(e.Tx.Create(FeaturedAppRightTemplate, right).Number)), nil
		}))
	provider := byPayload(func(p FeaturedAppRight) []Party { return []Party{p.Provider} })
	all.on(FeaturedAppRightTemplate, "FeaturedAppRight_Cancel", consuming(provider, toResult("FeaturedAppRight_CancelResult")))
	all.on(FeaturedAppRightTemplate, "FeaturedAppRight_CreateActivityMarker",
		nonconsuming(provider, markByCommand).of(FeaturedAppRightInterface))
}

func markByCommand(e *Execution, c *Contract, arg Argument) (Value, error) {
	beneficiaries, err := beneficiariesOf(e, arg.At("beneficiaries"))
	if err != nil {
		return Value{}, err
	}
	ids := make([]Value, len(beneficiaries))
	for i, b := range beneficiaries {
		b.Provider = c.Payload.(FeaturedAppRight).Provider
		ids[i] = ContractID(e.Tx.Create(ActivityMarkerTemplate, b).Number)
		e.Tx.Provider = b.Provider
	}
	a := e.Tx.Arena()
	return a.Record(MarkDoneShape, a.List(ids...)), nil
}
