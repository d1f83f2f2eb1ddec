package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addFeaturedChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_DevNet_FeatureApp", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			right := model.FeaturedAppRight{Provider: arg.Party("provider")}
			if e.Tx.Version() > 0 {
				right.Weight = model.One
			}
			return e.Tx.Arena().Record(sim.FeatureDoneShape, model.ContractID(e.Tx.Create(model.FeaturedAppRightTemplate, right).Number)), nil
		}))
	provider := byPayload(func(p model.FeaturedAppRight) []model.Party { return []model.Party{p.Provider} })
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_Cancel", consuming(provider, toResult("FeaturedAppRight_CancelResult")))
	all.on(model.FeaturedAppRightTemplate, "FeaturedAppRight_CreateActivityMarker",
		nonconsuming(provider, markByCommand).of(model.FeaturedAppRightInterface))
}

func markByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	beneficiaries, err := beneficiariesOf(e, arg.At("beneficiaries"))
	if err != nil {
		return model.Value{}, err
	}
	ids := make([]model.Value, len(beneficiaries))
	for i, b := range beneficiaries {
		b.Provider = c.Payload.(model.FeaturedAppRight).Provider
		ids[i] = model.ContractID(e.Tx.Create(model.ActivityMarkerTemplate, b).Number)
		e.Tx.Provider = b.Provider
	}
	a := e.Tx.Arena()
	return a.Record(sim.MarkDoneShape, a.List(ids...)), nil
}
