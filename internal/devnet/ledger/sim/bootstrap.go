package sim

import (
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// bootstrap founds the network: the first update of the history.
func (x *Executor) bootstrap() {
	founder := x.Names.SuperValidators.At(0)
	x.Tx.Current.Workflow = "bootstrap"
	coin := model.AmuletRules{Synchronizer: x.Names.Synchronizers[0], Tick: x.Config.Tick(), Manager: x.Fund.FundManager(), ByTraffic: x.Config.TrafficRewards}
	ans := model.AnsRules{Lifetime: time.Duration(x.Ans.EntryLifetime()) * time.Microsecond}
	rules := model.DsoRules{Names: x.Names}
	found := x.Tx.Create(model.DsoBootstrapTemplate, model.DsoBootstrap{Founder: model.SvNodeState{Names: x.Names, Sv: founder}, Coin: coin, Ans: ans, Rules: rules})
	at := x.Tx.Consume(found, "DsoBootstrap_Bootstrap", x.Tx.Arena().Record(model.EmptyRecordShape), founder)
	x.Rules.dso = x.Tx.Create(model.DsoRulesTemplate, rules)
	x.Rules.Amulet = x.Tx.Create(model.AmuletRulesTemplate, coin)
	x.Rules.external = x.Tx.Create(model.ExternalRulesTemplate, model.ExternalRules{})
	x.Rules.ans = x.Tx.Create(model.AnsRulesTemplate, ans)
	for i := range int64(3) {
		x.Rounds.newRound(i, model.FirstPrice, x.Clock.EffectiveAt+max(0, i-1)*x.Clock.tick)
	}
	x.Rounds.newConfigState(1)
	x.Rounds.newConfigState(2)
	for i := range x.Names.SuperValidators.Len() {
		sv := x.Names.SuperValidators.At(i)
		x.Rules.nodeStates = append(x.Rules.nodeStates, x.Tx.Create(model.SvNodeStateTemplate, model.SvNodeState{Names: x.Names, Sv: sv}))
		x.Rules.rewardStates = append(x.Rules.rewardStates, x.Tx.Create(model.RewardStateTemplate, model.SvRewardState{Name: x.Names.SvName(sv)}))
	}
	x.Clock.NextTick = x.Clock.RecordTime + 2*x.Clock.tick
	x.Tx.Finish(at, model.Enum("DsoBootstrap_BootstrapResult"))
	x.queueMembers()
}

// queueMembers queues the admission of apps and validators. The last app never
// becomes a featured one.
func (x *Executor) queueMembers() {
	for i := range x.Rules.nodeStates {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.setNodeConfig(i) })
	}
	for i := range x.Names.Providers.Len() - 1 {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.Apps.featureApp(x.Names.Providers.At(i)) })
	}
	for i := range x.Names.Validators.Len() {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.Validators.onboardValidator(x.Names.Validators.At(i)) })
	}
}
