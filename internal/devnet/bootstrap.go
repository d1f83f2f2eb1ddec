package devnet

import "time"

// bootstrap founds the network: the first update of the history.
func (x *executor) bootstrap() {
	founder := x.names.superValidators.at(0)
	x.current.workflow = "bootstrap"
	coin := amuletRules{synchronizer: x.names.synchronizers[0], tick: x.config.tick(), manager: x.fundManager(), byTraffic: x.config.TrafficRewards}
	ans := ansRules{lifetime: time.Duration(x.entryLifetime()) * time.Microsecond}
	rules := dsoRules{names: x.names}
	found := x.create(dsoBootstrapTemplate, dsoBootstrap{founder: svNodeState{names: x.names, sv: founder}, coin: coin, ans: ans, rules: rules})
	at := x.consume(found, "DsoBootstrap_Bootstrap", x.arena().record(emptyRecordShape), founder)
	x.rules.dso = x.create(dsoRulesTemplate, rules)
	x.rules.amulet = x.create(amuletRulesTemplate, coin)
	x.rules.external = x.create(externalRulesTemplate, externalRules{})
	x.rules.ans = x.create(ansRulesTemplate, ans)
	for i := range int64(3) {
		x.newRound(i, firstPrice, x.effectiveAt+max(0, i-1)*x.tick)
	}
	x.newConfigState(1)
	x.newConfigState(2)
	for i := range x.names.superValidators.len() {
		sv := x.names.superValidators.at(i)
		x.rules.nodeStates = append(x.rules.nodeStates, x.create(svNodeStateTemplate, svNodeState{names: x.names, sv: sv}))
		x.rules.rewardStates = append(x.rules.rewardStates, x.create(rewardStateTemplate, svRewardState{name: x.names.svName(sv)}))
	}
	x.nextTick = x.recordTime + 2*x.tick
	x.finish(at, enum("DsoBootstrap_BootstrapResult"))
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
