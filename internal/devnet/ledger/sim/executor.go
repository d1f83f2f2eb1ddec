package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Executor decides what happens on the ledger and executes it. It is the only
// writer of the ledger's state and runs in one goroutine at a time. Each of its parts
// owns the state of one field and knows the parts that it needs.
type Executor struct {
	Core
	Bank         *Bank
	Payments     *Payments
	users        *users
	Rounds       *Rounds
	Rewards      *TrafficRewards
	Validators   *Validators
	Ans          *NameService
	Apps         *Apps
	Harbor       *harborState
	Tokens       *Tokens
	Commands     *commands
	Fund         *Fund
	Votes        *Votes
	Preapprovals *Preapprovals
	Private      *private
	Verdicts     *verdicts

	wishes []action // of the simulated users
}

// Core is what all parts work with.
type Core struct {
	Config *Config
	Names  *model.Names
	Random *model.Random
	Rules  *ruleContracts
	Tx     *transaction
	Clock  *clock
}

// ruleContracts are the contracts on which the network's choices are exercised.
type ruleContracts struct {
	Amulet, external, dso, ans *model.Contract
	ConfigStates               []*model.Contract // for external parties: two, older first
	nodeStates, rewardStates   []*model.Contract // by super-validator
}

// NewExecutor returns an executor before the first update.
func NewExecutor(c Config, n *model.Names) *Executor {
	k := newCore(&c, n)
	x := &Executor{Core: k, Bank: &Bank{Core: k, Wallets: make([]wallet, len(n.Parties))}, Payments: &Payments{Core: k},
		users: &users{Core: k, acting: model.NoParty}, Rounds: &Rounds{Core: k}, Rewards: &TrafficRewards{Core: k},
		Validators: newValidators(k), Ans: &NameService{Core: k}, Apps: newApps(k), Harbor: &harborState{Core: k}, Tokens: &Tokens{Core: k},
		Commands: &commands{Core: k}, Fund: &Fund{Core: k}, Votes: &Votes{Core: k}, Preapprovals: &Preapprovals{Core: k}, Private: newPrivate(k), Verdicts: newVerdicts(k)}
	x.connect()
	x.Payments.validatorRights = make([]uint64, len(n.Parties))
	for p := range x.Payments.validatorRights {
		x.Payments.validatorRights[p] = x.Tx.newContractNumber()
	}
	x.wishes = x.actions()
	x.Clock.Tasks = append(x.Clock.Tasks, x.bootstrap)
	return x
}

func newCore(c *Config, n *model.Names) Core {
	start := c.Start.UnixMicro()
	k := Core{Config: c, Names: n, Random: &model.Random{State: model.Mix(c.Seed) ^ model.Golden}, Rules: &ruleContracts{}, Clock: &clock{RecordTime: start,
		EffectiveAt: start, Gap: max(MinGap, c.gap().Microseconds()), tick: c.Tick().Microseconds()}}
	k.Tx = &transaction{names: n, random: k.Random, clock: k.Clock, switchAt: max(1, c.Updates*SwitchPercent/100)}
	return k
}

// connect lets the parts know each other.
func (x *Executor) connect() {
	x.Bank.users, x.Bank.rounds = x.users, x.Rounds
	x.Payments.bank, x.Payments.rounds, x.Payments.rewards, x.Payments.apps = x.Bank, x.Rounds, x.Rewards, x.Apps
	x.users.bank, x.users.payments, x.users.rounds = x.Bank, x.Payments, x.Rounds
	x.Rounds.bank, x.Rounds.rewards, x.Rounds.apps, x.Rounds.fund, x.Rounds.votes = x.Bank, x.Rewards, x.Apps, x.Fund, x.Votes
	x.Votes.rounds = x.Rounds
	x.Rewards.payments, x.Rewards.users, x.Rewards.rounds = x.Payments, x.users, x.Rounds
	x.Validators.bank, x.Validators.payments, x.Validators.users, x.Validators.rounds = x.Bank, x.Payments, x.users, x.Rounds
	x.Ans.bank, x.Ans.payments, x.Ans.users, x.Ans.rounds = x.Bank, x.Payments, x.users, x.Rounds
	x.Apps.users, x.Apps.rounds, x.Apps.rewards = x.users, x.Rounds, x.Rewards
	x.Harbor.users = x.users
	x.Tokens.bank, x.Tokens.payments, x.Tokens.users, x.Tokens.rounds = x.Bank, x.Payments, x.users, x.Rounds
	x.Commands.bank, x.Commands.payments, x.Commands.users, x.Commands.preapprovals = x.Bank, x.Payments, x.users, x.Preapprovals
	x.Fund.payments, x.Fund.users, x.Fund.rounds = x.Payments, x.users, x.Rounds
	x.Preapprovals.bank, x.Preapprovals.payments, x.Preapprovals.users, x.Preapprovals.rounds = x.Bank, x.Payments, x.users, x.Rounds
	x.Private.users = x.users
	x.Verdicts.rounds, x.Verdicts.rewards, x.Verdicts.apps = x.Rounds, x.Rewards, x.Apps
}

// MinGap leaves room for a verdict-only entry between any two updates.
const MinGap = 20

// Step executes one update into b, and before it perhaps a transaction of which
// only the verdict is public. final says that no update follows for now: it is
// then a transaction, so that both updates and verdicts reach the end of history.
func (x *Executor) Step(b *Batch, final bool) error {
	x.Tx.Batch = b
	next := x.Clock.RecordTime + max(MinGap/2, x.Clock.Gap*int64(x.Random.Between(20, 180))/100)
	if x.Random.Below(100) < verdictOnlyPercent && x.Tx.Updates > 0 {
		x.decidePrivately(next)
	}
	x.Tx.begin(next)
	x.Rounds.scheduleRounds()
	if !x.Harbor.reassign(final) {
		x.act()
		x.Tx.Current.Verdict = x.Verdicts.verdictOf(x.Tx.Current)
		x.Tx.Current.External = x.Names.IsExternal(x.Tx.Current.Verdict.Submitter)
	}
	b.Counted++
	x.Tx.Updates++
	x.Bank.checkSupply()
	return x.Tx.Err
}

// verdictOnlyPercent is the number of private or rejected transactions per 100 updates.
const verdictOnlyPercent = 25

// skew is how far the effective time lies after the record time: a triangle wave
// between -0.9 s and 1.1 s. It falls slower than time passes, so effective times
// never go back.
func skew(t int64) int64 {
	const low, high, slope = -900_000, 1_100_000, 4
	phase := t / slope % (2 * (high - low))
	if phase > high-low {
		phase = 2*(high-low) - phase
	}
	return low + phase
}

// act executes what is due, or else something that some party wants.
func (x *Executor) act() {
	if x.Config.HugeUpdateBytes > 0 && x.Tx.Updates == max(1, x.Config.Updates/2) {
		x.Harbor.attachHugeNote()
		return
	}
	x.Clock.scheduleExpiries()
	if x.Clock.Alarms != nil {
		x.Clock.ring()
	}
	for len(x.Clock.Tasks) > 0 {
		task := x.Clock.Tasks[0]
		x.Clock.Tasks = x.Clock.Tasks[1:]
		task()
		if len(x.Tx.Current.Nodes) > 0 {
			return
		}
	}
	if !x.chooseAction()() && !x.users.transferCoins() {
		x.users.tapSomeone()
	}
	if len(x.Tx.Current.Nodes) == 0 {
		x.Tx.fail(fmt.Errorf("nothing to do"))
	}
}

// action executes one update if it can, else it leaves the ledger untouched and
// returns false.
type action struct {
	weight int
	run    func() bool
}

// actions are what somebody may want to do.
func (x *Executor) actions() []action {
	return []action{
		{380, x.users.transferCoins},
		{40, func() bool { x.users.tapSomeone(); return true }},
		{230, x.users.collectRewards},
		{70, x.users.mergeCoins},
		{35, x.users.lockCoins},
		{35, x.users.unlockCoins},
		{50, x.Validators.buyTraffic},
		{25, x.Validators.recordLiveness},
		{12, x.Ans.requestName},
		{24, x.Ans.payForName},
		{20, x.Ans.collectNamePayment},
		{15, x.Preapprovals.createPreapproval},
		{40, x.Preapprovals.sendToPreapproval},
		{8, x.Preapprovals.renewPreapproval},
		{30, x.Tokens.offerTokens},
		{30, x.Tokens.answerTokenOffer},
		{15, x.Apps.markActivity},
		{3, x.Apps.convertMarkers},
		{35, x.Harbor.bookShipment},
		{55, x.Harbor.advanceShipment},
		{20, x.Harbor.inspectShipment},
		{6, x.Harbor.openLane},
		{14, x.Commands.orderTransfer},
		{26, x.Commands.settleCommand},
		{5, x.Fund.allocateFund},
		{6, x.Fund.settleFundCoupon},
		{4, x.Fund.grantRecord},
		{4, x.Fund.settleRecord},
	}
}

// chooseAction draws an action by weight.
func (x *Executor) chooseAction() func() bool {
	total := 0
	for _, a := range x.wishes {
		total += a.weight
	}
	at := x.Random.Below(total)
	for _, a := range x.wishes {
		if at -= a.weight; at < 0 {
			return a.run
		}
	}
	return x.users.transferCoins
}

// SwitchDue reports whether the next update belongs to migration 1. Contracts in
// flight between synchronizers arrive first.
func (x *Executor) SwitchDue() bool {
	return x.Tx.Migration == 0 && x.Tx.Updates >= x.Tx.switchAt && len(x.Harbor.InFlight) == 0
}

// SwitchMigration starts migration 1 and returns the import updates that open it:
// every active contract, ordered by contract id.
func (x *Executor) SwitchMigration() []ImportUpdate {
	x.Tx.Migration++
	x.Clock.RecordTime += migrationPause.Microseconds()
	x.Clock.EffectiveAt = max(x.Clock.EffectiveAt, x.Clock.RecordTime)
	x.Validators.traffic = make([][]*model.Contract, len(x.Names.Participants))
	imports := make([]ImportUpdate, len(x.Tx.Active))
	for i, c := range x.Tx.Active {
		imports[i] = ImportUpdate{c, c.Synchronizer, x.Clock.EffectiveAt}
	}
	sortImports(imports, &x.Names.IDs)
	x.Clock.Tasks = append(x.Clock.Tasks, x.setConfig)
	for i := range x.Rules.nodeStates {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.setNodeConfig(i) })
	}
	return imports
}

// migrationPause is the time between the end of one migration and the next.
const migrationPause = 90 * time.Second

// expiryQueue holds things that end at a time, in buckets of one tick.
type expiryQueue map[int64][]func()

// sortImports orders import updates by contract id.
func sortImports(imports []ImportUpdate, ids *model.IDSpaces) {
	slices.SortFunc(imports, func(a, b ImportUpdate) int {
		return cmp.Compare(ids.Contracts.Rank(a.Contract.Number), ids.Contracts.Rank(b.Contract.Number))
	})
}
