package devnet

import "time"

// bootstrap founds the network: the first update of the history.
func (x *executor) bootstrap() {
	founder := x.names.superValidators.at(0)
	x.tx.current.workflow = "bootstrap"
	coin := amuletRules{synchronizer: x.names.synchronizers[0], tick: x.config.tick(), manager: x.fund.fundManager(), byTraffic: x.config.TrafficRewards}
	ans := ansRules{lifetime: time.Duration(x.ans.entryLifetime()) * time.Microsecond}
	rules := dsoRules{names: x.names}
	found := x.tx.create(dsoBootstrapTemplate, dsoBootstrap{founder: svNodeState{names: x.names, sv: founder}, coin: coin, ans: ans, rules: rules})
	at := x.tx.consume(found, "DsoBootstrap_Bootstrap", x.tx.arena().record(emptyRecordShape), founder)
	x.rules.dso = x.tx.create(dsoRulesTemplate, rules)
	x.rules.amulet = x.tx.create(amuletRulesTemplate, coin)
	x.rules.external = x.tx.create(externalRulesTemplate, externalRules{})
	x.rules.ans = x.tx.create(ansRulesTemplate, ans)
	for i := range int64(3) {
		x.rounds.newRound(i, firstPrice, x.clock.effectiveAt+max(0, i-1)*x.clock.tick)
	}
	x.rounds.newConfigState(1)
	x.rounds.newConfigState(2)
	for i := range x.names.superValidators.len() {
		sv := x.names.superValidators.at(i)
		x.rules.nodeStates = append(x.rules.nodeStates, x.tx.create(svNodeStateTemplate, svNodeState{names: x.names, sv: sv}))
		x.rules.rewardStates = append(x.rules.rewardStates, x.tx.create(rewardStateTemplate, svRewardState{name: x.names.svName(sv)}))
	}
	x.clock.nextTick = x.clock.recordTime + 2*x.clock.tick
	x.tx.finish(at, enum("DsoBootstrap_BootstrapResult"))
	x.queueMembers()
}

// queueMembers queues the admission of apps and validators. The last app never
// becomes a featured one.
func (x *executor) queueMembers() {
	for i := range x.rules.nodeStates {
		x.clock.tasks = append(x.clock.tasks, func() { x.setNodeConfig(i) })
	}
	for i := range x.names.providers.len() - 1 {
		x.clock.tasks = append(x.clock.tasks, func() { x.apps.featureApp(x.names.providers.at(i)) })
	}
	for i := range x.names.validators.len() {
		x.clock.tasks = append(x.clock.tasks, func() { x.validators.onboardValidator(x.names.validators.at(i)) })
	}
}
