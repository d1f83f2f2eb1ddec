package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var setNodeConfigShape = model.NewShape("sv", "synchronizerId", "newNodeConfig", "nodeStateCid")

var setNodeConfigDoneShape = model.NewShape("svNodeState")

// setNodeConfig has super-validator number i publish the configuration of its nodes.
func (x *Executor) setNodeConfig(i int) {
	a, old := x.Tx.Arena(), x.Rules.nodeStates[i]
	p := old.Payload.(model.SvNodeState)
	p.Configured, p.Migration, p.Available = true, x.Tx.Migration, x.Clock.EffectiveAt
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_SetSynchronizerNodeConfig", a.Record(setNodeConfigShape, model.PartyValue(p.Sv),
		model.Text(x.Names.Synchronizers[0]), p.Config(a), model.ContractID(old.Number)), p.Sv)
	x.Tx.Archive(old)
	x.Rules.nodeStates[i] = x.Tx.Create(model.SvNodeStateTemplate, p)
	x.Tx.Finish(at, a.Record(setNodeConfigDoneShape, model.ContractID(x.Rules.nodeStates[i].Number)))
}

var (
	setConfigShape     = model.NewShape("newConfig", "baseConfig")
	setConfigDoneShape = model.NewShape("newAmuletRules")
)

// setConfig replaces the rules of the coin by those of the package version in use.
func (x *Executor) setConfig() {
	a, old := x.Tx.Arena(), x.Rules.Amulet
	p := old.Payload.(model.AmuletRules)
	at := x.Tx.Consume(old, "AmuletRules_SetConfig",
		a.Record(setConfigShape, p.Config(a, x.Tx.Version()), p.Config(a, old.Version)), model.Dso)
	x.Rules.Amulet = x.Tx.Create(model.AmuletRulesTemplate, p)
	x.Tx.Finish(at, a.Record(setConfigDoneShape, model.ContractID(x.Rules.Amulet.Number)))
}
