package devnet

import "time"

var (
	bootstrapShape     = newShape("amuletConfig", "ansConfig")
	bootstrapDoneShape = newShape("dsoRulesCid", "amuletRulesCid", "ansRulesCid")
)

// bootstrap founds the network: the first update of the history.
func (x *executor) bootstrap() {
	a, founder := x.arena(), x.names.superValidators.at(0)
	x.current.workflow = "bootstrap"
	found := x.create(dsoBootstrapTemplate, dsoBootstrap{founder: founder})
	at := x.consume(found, "DsoBootstrap_Bootstrap",
		a.record(bootstrapShape, transferConfig(a, x.version()), unit()), founder)
	x.rules.dso = x.create(dsoRulesTemplate, dsoRules{names: x.names})
	x.rules.amulet = x.create(amuletRulesTemplate, amuletRules{
		synchronizer: x.names.synchronizers[0], tick: x.config.tick(), manager: x.fundManager()})
	x.rules.external = x.create(externalRulesTemplate, externalRules{})
	x.rules.ans = x.create(ansRulesTemplate, ansRules{lifetime: time.Duration(x.entryLifetime()) * time.Microsecond})
	for i := range int64(3) {
		x.newRound(i, firstPrice, x.effectiveAt+max(0, i-1)*x.tick)
	}
	x.newConfigState(1)
	x.newConfigState(2)
	for i := range x.names.superValidators.len() {
		sv := x.names.superValidators.at(i)
		x.rules.nodeStates = append(x.rules.nodeStates, x.create(svNodeStateTemplate, svNodeState{names: x.names, sv: sv}))
	}
	x.nextTick = x.recordTime + 2*x.tick
	x.finish(at, a.record(bootstrapDoneShape, contractID(x.rules.dso.number),
		contractID(x.rules.amulet.number), contractID(x.rules.ans.number)))
	x.queueMembers()
}

// queueMembers queues the admission of apps and validators. The last app never
// becomes a featured one.
func (x *executor) queueMembers() {
	for i := range x.rules.nodeStates {
		x.tasks = append(x.tasks, func() { x.setNodeConfig(i) })
	}
	for i := range x.names.providers.len() - 1 {
		x.tasks = append(x.tasks, func() { x.featureApp(x.names.providers.at(i)) })
	}
	for i := range x.names.validators.len() {
		x.tasks = append(x.tasks, func() { x.onboardValidator(x.names.validators.at(i)) })
	}
}
