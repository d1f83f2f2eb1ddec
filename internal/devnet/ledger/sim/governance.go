package sim

import (
	"time"

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

var setConfigDoneShape = model.NewShape("newAmuletRules")

// setConfig replaces the rules of the coin by those of the package version in use.
func (x *Executor) setConfig() {
	p := x.Rules.Amulet.Payload.(model.AmuletRules)
	x.replaceConfig(model.CoinConfig{New: p, Base: p})
}

// replaceConfig replaces the rules of the coin.
func (x *Core) replaceConfig(c model.CoinConfig) {
	a, old := x.Tx.Arena(), x.Rules.Amulet
	at := x.Tx.Consume(old, "AmuletRules_SetConfig", c.Argument(a, x.Tx.Version(), old.Version), model.Dso)
	x.Rules.Amulet = x.Tx.Create(model.AmuletRulesTemplate, c.New)
	x.Tx.Finish(at, a.Record(setConfigDoneShape, model.ContractID(x.Rules.Amulet.Number)))
}

// bootstrap founds the network: the first update of the history.
func (x *Executor) bootstrap() {
	founder := x.Names.SuperValidators.At(0)
	x.Tx.Current.Workflow = "bootstrap"
	coin := model.AmuletRules{Synchronizer: x.Names.Synchronizers[0], Tick: x.Config.Tick(), Manager: x.Fund.FundManager(), ByTraffic: x.Config.TrafficRewards, Fund: x.Config.Fund}
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
	x.Votes.found()
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
