package sim

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var setNodeConfigShape = NewShape("sv", "synchronizerId", "newNodeConfig", "nodeStateCid")

var setNodeConfigDoneShape = NewShape("svNodeState")

// setNodeConfig has super-validator number i publish the configuration of its nodes.
func (x *Executor) setNodeConfig(i int) {
	a, old := x.Tx.Arena(), x.Rules.nodeStates[i]
	p := old.Payload.(SvNodeState)
	p.Configured, p.Migration, p.Available = true, x.Tx.Migration, x.Clock.EffectiveAt
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_SetSynchronizerNodeConfig", a.Record(setNodeConfigShape, PartyValue(p.Sv),
		Text(x.Names.Synchronizers[0]), p.Config(a), ContractID(old.Number)), p.Sv)
	x.Tx.Archive(old)
	x.Rules.nodeStates[i] = x.Tx.Create(SvNodeStateTemplate, p)
	x.Tx.Finish(at, a.Record(setNodeConfigDoneShape, ContractID(x.Rules.nodeStates[i].Number)))
}

var (
	setConfigShape     = NewShape("newConfig", "baseConfig")
	setConfigDoneShape = NewShape("newAmuletRules")
)

// setConfig replaces the rules of the coin by those of the package version in use.
func (x *Executor) setConfig() {
	a, old := x.Tx.Arena(), x.Rules.Amulet
	p := old.Payload.(AmuletRules)
	at := x.Tx.Consume(old, "AmuletRules_SetConfig",
		a.Record(setConfigShape, p.Config(a, x.Tx.Version()), p.Config(a, old.Version)), Dso)
	x.Rules.Amulet = x.Tx.Create(AmuletRulesTemplate, p)
	x.Tx.Finish(at, a.Record(setConfigDoneShape, ContractID(x.Rules.Amulet.Number)))
}
