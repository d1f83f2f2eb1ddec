package devnet

var setNodeConfigShape = newShape("sv", "synchronizerId", "newNodeConfig", "nodeStateCid")

var setNodeConfigDoneShape = newShape("svNodeState")

// setNodeConfig has super-validator number i publish the configuration of its nodes.
func (x *executor) setNodeConfig(i int) {
	a, old := x.tx.arena(), x.rules.nodeStates[i]
	p := old.payload.(svNodeState)
	p.configured, p.migration, p.available = true, x.tx.migration, x.clock.effectiveAt
	at := x.tx.exercise(x.rules.dso, "DsoRules_SetSynchronizerNodeConfig", a.record(setNodeConfigShape, partyValue(p.sv),
		text(x.names.synchronizers[0]), p.config(a), contractID(old.number)), p.sv)
	x.tx.archive(old)
	x.rules.nodeStates[i] = x.tx.create(svNodeStateTemplate, p)
	x.tx.finish(at, a.record(setNodeConfigDoneShape, contractID(x.rules.nodeStates[i].number)))
}

var (
	setConfigShape     = newShape("newConfig", "baseConfig")
	setConfigDoneShape = newShape("newAmuletRules")
)

// setConfig replaces the rules of the coin by those of the package version in use.
func (x *executor) setConfig() {
	a, old := x.tx.arena(), x.rules.amulet
	p := old.payload.(amuletRules)
	at := x.tx.consume(old, "AmuletRules_SetConfig",
		a.record(setConfigShape, p.config(a, x.tx.version()), p.config(a, old.version)), dso)
	x.rules.amulet = x.tx.create(amuletRulesTemplate, p)
	x.tx.finish(at, a.record(setConfigDoneShape, contractID(x.rules.amulet.number)))
}
