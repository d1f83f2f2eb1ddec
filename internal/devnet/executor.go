package devnet

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// executor decides what happens on the ledger and executes it. It is the only
// writer of the ledger's state and runs in one goroutine at a time. Each of its parts
// owns the state of one field and knows the parts that it needs.
type executor struct {
	core
	bank         *bank
	payments     *payments
	users        *users
	rounds       *rounds
	rewards      *trafficRewards
	validators   *validators
	ans          *ansState
	apps         *apps
	harbor       *harborState
	tokens       *tokens
	commands     *commands
	fund         *fund
	preapprovals *preapprovals
	private      *private
	verdicts     *verdicts

	wishes []action // of the simulated users
}

// core is what all parts work with.
type core struct {
	config *Config
	names  *names
	random *random
	rules  *ruleContracts
	tx     *transaction
	clock  *clock
}

// ruleContracts are the contracts on which the network's choices are exercised.
type ruleContracts struct {
	amulet, external, dso, ans *contract
	configStates               []*contract // for external parties: two, older first
	nodeStates, rewardStates   []*contract // by super-validator
}

func newExecutor(c Config, n *names) *executor {
	k := newCore(&c, n)
	x := &executor{core: k, bank: &bank{core: k, wallets: make([]wallet, len(n.parties))}, payments: &payments{core: k},
		users: &users{core: k, acting: noParty}, rounds: &rounds{core: k}, rewards: &trafficRewards{core: k},
		validators: newValidators(k), ans: &ansState{core: k}, apps: newApps(k), harbor: &harborState{core: k}, tokens: &tokens{core: k},
		commands: &commands{core: k}, fund: &fund{core: k}, preapprovals: &preapprovals{core: k}, private: newPrivate(k), verdicts: newVerdicts(k)}
	x.connect()
	x.payments.validatorRights = make([]uint64, len(n.parties))
	for p := range x.payments.validatorRights {
		x.payments.validatorRights[p] = x.tx.newContractNumber()
	}
	x.wishes = x.actions()
	x.clock.tasks = append(x.clock.tasks, x.bootstrap)
	return x
}

func newCore(c *Config, n *names) core {
	start := c.Start.UnixMicro()
	k := core{config: c, names: n, random: &random{mix(c.Seed) ^ golden}, rules: &ruleContracts{}, clock: &clock{recordTime: start,
		effectiveAt: start, gap: max(minGap, c.gap().Microseconds()), tick: c.tick().Microseconds()}}
	k.tx = &transaction{names: n, random: k.random, clock: k.clock, switchAt: max(1, c.Updates*switchPercent/100)}
	return k
}

// connect lets the parts know each other.
func (x *executor) connect() {
	x.bank.users, x.bank.rounds = x.users, x.rounds
	x.payments.bank, x.payments.rounds, x.payments.rewards, x.payments.apps = x.bank, x.rounds, x.rewards, x.apps
	x.users.bank, x.users.payments, x.users.rounds = x.bank, x.payments, x.rounds
	x.rounds.bank, x.rounds.rewards, x.rounds.apps, x.rounds.fund = x.bank, x.rewards, x.apps, x.fund
	x.rewards.payments, x.rewards.users, x.rewards.rounds = x.payments, x.users, x.rounds
	x.validators.bank, x.validators.payments, x.validators.users, x.validators.rounds = x.bank, x.payments, x.users, x.rounds
	x.ans.bank, x.ans.payments, x.ans.users, x.ans.rounds = x.bank, x.payments, x.users, x.rounds
	x.apps.users, x.apps.rounds, x.apps.rewards = x.users, x.rounds, x.rewards
	x.harbor.users = x.users
	x.tokens.bank, x.tokens.payments, x.tokens.users, x.tokens.rounds = x.bank, x.payments, x.users, x.rounds
	x.commands.bank, x.commands.payments, x.commands.users, x.commands.preapprovals = x.bank, x.payments, x.users, x.preapprovals
	x.fund.payments, x.fund.users, x.fund.rounds = x.payments, x.users, x.rounds
	x.preapprovals.bank, x.preapprovals.payments, x.preapprovals.users, x.preapprovals.rounds = x.bank, x.payments, x.users, x.rounds
	x.private.users = x.users
	x.verdicts.rounds, x.verdicts.rewards, x.verdicts.apps = x.rounds, x.rewards, x.apps
}

// minGap leaves room for a verdict-only entry between any two updates.
const minGap = 20

// version is the package version in use.
func (x *transaction) version() uint8 { return uint8(x.migration) }

// fail records the first violation of a ledger rule.
func (x *transaction) fail(err error) {
	if x.err == nil {
		x.err = fmt.Errorf("devnet update %d: %w", x.updates, err)
	}
}

// step executes one update into b, and before it perhaps a transaction of which
// only the verdict is public. final says that no update follows for now: it is
// then a transaction, so that both updates and verdicts reach the end of history.
func (x *executor) step(b *batch, final bool) error {
	x.tx.batch = b
	next := x.clock.recordTime + max(minGap/2, x.clock.gap*int64(x.random.between(20, 180))/100)
	if x.random.below(100) < verdictOnlyPercent && x.tx.updates > 0 {
		x.decidePrivately(next)
	}
	x.tx.begin(next)
	x.rounds.scheduleRounds()
	if !x.harbor.reassign(final) {
		x.act()
		x.tx.current.verdict = x.verdicts.verdictOf(x.tx.current)
		x.tx.current.external = x.names.isExternal(x.tx.current.verdict.submitter)
	}
	b.counted++
	x.tx.updates++
	x.bank.checkSupply()
	return x.tx.err
}

// verdictOnlyPercent is the number of private or rejected transactions per 100 updates.
const verdictOnlyPercent = 25

// begin opens an entry at the given record time.
func (x *transaction) begin(recordTime int64) {
	x.clock.recordTime = recordTime
	x.clock.effectiveAt = max(x.clock.effectiveAt, x.roundedTime(recordTime+skew(recordTime)))
	x.open()
}

// open opens an entry at the times that are set.
func (x *transaction) open() {
	x.current = x.batch.add()
	u := x.current
	u.number, u.migration, u.version = x.entries, x.migration, x.version()
	u.recordTime, u.effectiveAt = x.clock.recordTime, x.clock.effectiveAt
	x.entries++
	x.provider = noParty
}

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

// roundedTime cuts some times to milliseconds or seconds, as clients do.
func (x *transaction) roundedTime(t int64) int64 {
	switch x.random.below(20) {
	case 0:
		return t - t%1e6
	case 1, 2:
		return t - t%1e3
	}
	return t
}

// act executes what is due, or else something that some party wants.
func (x *executor) act() {
	if x.config.HugeUpdateBytes > 0 && x.tx.updates == max(1, x.config.Updates/2) {
		x.harbor.attachHugeNote()
		return
	}
	x.clock.scheduleExpiries()
	if x.clock.alarms != nil {
		x.clock.ring()
	}
	for len(x.clock.tasks) > 0 {
		task := x.clock.tasks[0]
		x.clock.tasks = x.clock.tasks[1:]
		task()
		if len(x.tx.current.nodes) > 0 {
			return
		}
	}
	if !x.chooseAction()() && !x.users.transferCoins() {
		x.users.tapSomeone()
	}
	if len(x.tx.current.nodes) == 0 {
		x.tx.fail(fmt.Errorf("nothing to do"))
	}
}

// action executes one update if it can, else it leaves the ledger untouched and
// returns false.
type action struct {
	weight int
	run    func() bool
}

// actions are what somebody may want to do.
func (x *executor) actions() []action {
	return []action{
		{380, x.users.transferCoins},
		{40, func() bool { x.users.tapSomeone(); return true }},
		{230, x.users.collectRewards},
		{70, x.users.mergeCoins},
		{35, x.users.lockCoins},
		{35, x.users.unlockCoins},
		{50, x.validators.buyTraffic},
		{25, x.validators.recordLiveness},
		{12, x.ans.requestName},
		{24, x.ans.payForName},
		{20, x.ans.collectNamePayment},
		{15, x.preapprovals.createPreapproval},
		{40, x.preapprovals.sendToPreapproval},
		{8, x.preapprovals.renewPreapproval},
		{30, x.tokens.offerTokens},
		{30, x.tokens.answerTokenOffer},
		{15, x.apps.markActivity},
		{3, x.apps.convertMarkers},
		{35, x.harbor.bookShipment},
		{55, x.harbor.advanceShipment},
		{20, x.harbor.inspectShipment},
		{6, x.harbor.openLane},
		{14, x.commands.orderTransfer},
		{26, x.commands.settleCommand},
		{5, x.fund.allocateFund},
		{6, x.fund.settleFundCoupon},
		{4, x.fund.grantRecord},
		{4, x.fund.settleRecord},
	}
}

// chooseAction draws an action by weight.
func (x *executor) chooseAction() func() bool {
	total := 0
	for _, a := range x.wishes {
		total += a.weight
	}
	at := x.random.below(total)
	for _, a := range x.wishes {
		if at -= a.weight; at < 0 {
			return a.run
		}
	}
	return x.users.transferCoins
}

// someUser prefers the users with low numbers, as some people are busier. If it can it
// spares those that act by commands.
func (x *users) someUser() party {
	n := x.names.users.len()
	p := x.names.users.at(min(x.random.below(n), x.random.below(n)))
	for try := 0; x.isManaged(p) && try < n; try++ {
		p = x.names.users.at(x.random.below(n))
	}
	return p
}

// isManaged reports whether p acts by commands, so that nothing may be done in its name.
func (x *users) isManaged(p party) bool { return x.managed != nil && x.managed[p] && p != x.acting }

// switchDue reports whether the next update belongs to migration 1. Contracts in
// flight between synchronizers arrive first.
func (x *executor) switchDue() bool {
	return x.tx.migration == 0 && x.tx.updates >= x.tx.switchAt && len(x.harbor.inFlight) == 0
}

// switchMigration starts migration 1 and returns the import updates that open it:
// every active contract, ordered by contract id.
func (x *executor) switchMigration() []importUpdate {
	x.tx.migration++
	x.clock.recordTime += migrationPause.Microseconds()
	x.clock.effectiveAt = max(x.clock.effectiveAt, x.clock.recordTime)
	x.validators.traffic = make([][]*contract, len(x.names.participants))
	imports := make([]importUpdate, len(x.tx.active))
	for i, c := range x.tx.active {
		imports[i] = importUpdate{c, c.synchronizer, x.clock.effectiveAt}
	}
	sortImports(imports, &x.names.ids)
	x.clock.tasks = append(x.clock.tasks, x.setConfig)
	for i := range x.rules.nodeStates {
		x.clock.tasks = append(x.clock.tasks, func() { x.setNodeConfig(i) })
	}
	return imports
}

// migrationPause is the time between the end of one migration and the next.
const migrationPause = 90 * time.Second

// expiryQueue holds things that end at a time, in buckets of one tick.
type expiryQueue map[int64][]func()

// expireAt has task run soon after the time t (µs).
func (x *clock) expireAt(t int64, task func()) {
	if x.expiry == nil {
		x.expiry = expiryQueue{}
	}
	bucket := t/x.tick + 1
	x.expiry[bucket] = append(x.expiry[bucket], task)
}

// scheduleExpiries turns what has ended into tasks.
func (x *clock) scheduleExpiries() {
	bucket := x.recordTime / x.tick
	if due, ok := x.expiry[bucket]; ok {
		delete(x.expiry, bucket)
		x.tasks = append(x.tasks, due...)
	}
}

// sortImports orders import updates by contract id.
func sortImports(imports []importUpdate, ids *idSpaces) {
	slices.SortFunc(imports, func(a, b importUpdate) int {
		return cmp.Compare(ids.contracts.rank(a.contract.number), ids.contracts.rank(b.contract.number))
	})
}
