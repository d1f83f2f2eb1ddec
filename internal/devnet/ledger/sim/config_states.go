package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Two contracts that tell external parties the price and the fees are always active.
// Each lives two days and they take turns, so that what one of them refers to stays
// valid for at least a day.

var (
	updateConfigStateShape     = model.NewShape("externalPartyConfigStateCid0", "externalPartyConfigStateCid1", "openMiningRoundTriple")
	updateConfigStateDoneShape = model.NewShape("newExternalPartyConfigStateCid")
	roundTripleShape           = model.NewShape("round0Cid", "round1Cid", "round2Cid")
)

// newConfigState creates one, to be replaced after the given number of periods.
func (x *Rounds) newConfigState(periods int64) {
	r := x.OpenRound()
	expires := x.Clock.EffectiveAt + periods*model.ConfigStatePeriod
	c := x.Tx.Create(model.ConfigStateTemplate, model.ConfigState{Round: r.Number, Price: r.Price, ArchiveAfter: expires, ByTraffic: x.Config.TrafficRewards})
	x.Rules.ConfigStates = append(x.Rules.ConfigStates, c)
	x.Clock.expireAt(expires, x.updateConfigStates)
}

// updateConfigStates replaces the older one.
func (x *Rounds) updateConfigStates() {
	a, states, rounds := x.Tx.Arena(), x.Rules.ConfigStates, x.open
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_UpdateExternalPartyConfigStates",
		a.Record(updateConfigStateShape, model.ContractID(states[0].Number), model.ContractID(states[1].Number), a.Record(roundTripleShape,
			model.ContractID(rounds[0].Contract.Number), model.ContractID(rounds[1].Contract.Number), model.ContractID(rounds[2].Contract.Number))), model.Dso)
	x.Tx.Archive(states[0])
	x.Rules.ConfigStates = append(states[:0], states[1])
	x.newConfigState(2)
	x.Tx.Finish(at, a.Record(updateConfigStateDoneShape, model.ContractID(x.Rules.ConfigStates[1].Number)))
}
