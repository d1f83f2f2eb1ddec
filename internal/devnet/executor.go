package devnet

import (
	"fmt"
	"time"
)

// executor decides what happens on the ledger and executes it. It is the only
// writer of the ledger's state and runs in one goroutine at a time.
type executor struct {
	config Config
	names  *names
	random random

	// Time and numbering.
	migration   int64
	switchAt    int    // number of updates after which migration 1 starts
	updates     int    // executed so far, without verdict-only entries
	entries     uint64 // executed so far, all
	recordTime  int64  // of the last entry, µs
	effectiveAt int64  // of the update in execution, µs
	gap         int64  // mean time between two updates, µs
	tick        int64  // µs
	nextTick    int64

	// The update in execution.
	batch   *batch
	current *update
	// provider is the app on whose behalf the update runs, or noParty.
	provider party
	err      error // first violation of a ledger rule; stops the ledger

	active         []*contract
	contractNumber uint64
	created        uint64

	supply  supply
	tasks   []func()
	expiry  expiryQueue
	rounds  rounds
	rules   ruleContracts
	wallets []wallet // by party
	// validatorRights holds contract numbers by party. These contracts are not
	// public, but the arguments of transfers refer to them.
	validatorRights []uint64
	apps            apps
	locks           []*contract
	instructions    []*contract
	waiting         []*contract // offers of tokens that end when their time is over
	allocations     []*contract
	preapprovals    []*contract
	preapproved     map[party]*contract // the newest preapproval by receiver
	commands        commands
	fund            fund
	rewards         []roundRewards // by round
	consumed        [][]int64      // traffic in bytes, by synchronizer and participant
	ans             ansState
	traffic         [][]*contract // by participant: purchases that wait to be merged
	licenses        []*contract   // by validator, nil before onboarding
	harbor          harborState
	lanes           []*contract
	private         private

	// Of commands: all is nil until there was one.
	command  *execution           // the submission in execution
	byNumber map[uint64]*contract // active contracts, private ones too
	managed  map[party]bool       // parties that act by commands: nobody else acts for them
	acting   party                // a managed party for which a task acts
	priced   *round               // whose price applies in place of the open round's
	reserved map[uint64]bool      // numbers of prepared submissions that were executed
	reader   *arguments
	choices  *choices
	alarms   []alarm // by time
	// lockedCoins holds the locked coin of each open transfer instruction.
	lockedCoins map[*contract]*contract
}

// ruleContracts are the contracts on which the network's choices are exercised.
type ruleContracts struct {
	amulet, external, dso, ans *contract
	configStates               []*contract // for external parties: two, older first
	nodeStates, rewardStates   []*contract // by super-validator
}

// wallet holds the unlocked coins of a party. Coins that were archived otherwise
// than by spending may linger in it.
type wallet struct{ coins []*contract }

func newExecutor(c Config, n *names) *executor {
	start := c.Start.UnixMicro()
	x := &executor{
		config: c, names: n, random: random{mix(c.Seed) ^ golden},
		switchAt:   max(1, c.Updates*switchPercent/100),
		recordTime: start, effectiveAt: start,
		gap: max(minGap, c.gap().Microseconds()), tick: c.tick().Microseconds(),
		acting:          noParty,
		wallets:         make([]wallet, len(n.parties)),
		validatorRights: make([]uint64, len(n.parties)),
		traffic:         make([][]*contract, len(n.participants)),
		licenses:        make([]*contract, n.validators.len()),
		consumed:        make([][]int64, len(n.synchronizers)),
	}
	for i := range x.consumed {
		x.consumed[i] = make([]int64, len(n.participants))
	}
	for p := range x.validatorRights {
		x.validatorRights[p] = x.newContractNumber()
	}
	x.apps = newApps(n)
	x.private = newPrivate(c.Seed)
	x.tasks = append(x.tasks, x.bootstrap)
	return x
}

// minGap leaves room for a verdict-only entry between any two updates.
const minGap = 20

// version is the package version in use.
func (x *executor) version() uint8 { return uint8(x.migration) }

// fail records the first violation of a ledger rule.
func (x *executor) fail(err error) {
	if x.err == nil {
		x.err = fmt.Errorf("devnet update %d: %w", x.updates, err)
	}
}

// step executes one update into b, and before it perhaps a transaction of which
// only the verdict is public. final says that no update follows for now: it is
// then a transaction, so that both updates and verdicts reach the end of history.
func (x *executor) step(b *batch, final bool) error {
	x.batch = b
	next := x.recordTime + max(minGap/2, x.gap*int64(x.random.between(20, 180))/100)
	if x.random.below(100) < verdictOnlyPercent && x.updates > 0 {
		x.decidePrivately(next)
	}
	x.begin(next)
	x.scheduleRounds()
	if !x.reassign(final) {
		x.act()
		x.current.verdict = x.verdictOf(x.current)
		x.current.external = x.names.isExternal(x.current.verdict.submitter)
	}
	b.counted++
	x.updates++
	x.checkSupply()
	return x.err
}

// verdictOnlyPercent is the number of private or rejected transactions per 100 updates.
const verdictOnlyPercent = 25

// begin opens an entry at the given record time.
func (x *executor) begin(recordTime int64) {
	x.recordTime = recordTime
	x.effectiveAt = max(x.effectiveAt, x.roundedTime(recordTime+skew(recordTime)))
	x.open()
}

// open opens an entry at the times that are set.
func (x *executor) open() {
	x.current = x.batch.add()
	u := x.current
	u.number, u.migration, u.version = x.entries, x.migration, x.version()
	u.recordTime, u.effectiveAt = x.recordTime, x.effectiveAt
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
func (x *executor) roundedTime(t int64) int64 {
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
	if x.config.HugeUpdateBytes > 0 && x.updates == max(1, x.config.Updates/2) {
		x.attachHugeNote()
		return
	}
	x.scheduleExpiries()
	if x.alarms != nil {
		x.ring()
	}
	for len(x.tasks) > 0 {
		task := x.tasks[0]
		x.tasks = x.tasks[1:]
		task()
		if len(x.current.nodes) > 0 {
			return
		}
	}
	if !x.chooseAction()(x) && !x.transferCoins() {
		x.tapSomeone()
	}
	if len(x.current.nodes) == 0 {
		x.fail(fmt.Errorf("nothing to do"))
	}
}

// action executes one update if it can, else it leaves the ledger untouched and
// returns false.
type action struct {
	weight int
	run    func(*executor) bool
}

var actions = []action{
	{380, (*executor).transferCoins},
	{40, func(x *executor) bool { x.tapSomeone(); return true }},
	{230, (*executor).collectRewards},
	{70, (*executor).mergeCoins},
	{35, (*executor).lockCoins},
	{35, (*executor).unlockCoins},
	{50, (*executor).buyTraffic},
	{25, (*executor).recordLiveness},
	{12, (*executor).requestName},
	{24, (*executor).payForName},
	{20, (*executor).collectNamePayment},
	{15, (*executor).createPreapproval},
	{40, (*executor).sendToPreapproval},
	{8, (*executor).renewPreapproval},
	{30, (*executor).offerTokens},
	{30, (*executor).answerTokenOffer},
	{15, (*executor).markActivity},
	{3, (*executor).convertMarkers},
	{35, (*executor).bookShipment},
	{55, (*executor).advanceShipment},
	{20, (*executor).inspectShipment},
	{6, (*executor).openLane},
	{14, (*executor).orderTransfer},
	{26, (*executor).settleCommand},
	{5, (*executor).allocateFund},
	{6, (*executor).settleFundCoupon},
	{4, (*executor).grantRecord},
	{4, (*executor).settleRecord},
}

func (x *executor) chooseAction() func(*executor) bool {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	at := x.random.below(total)
	for _, a := range actions {
		if at -= a.weight; at < 0 {
			return a.run
		}
	}
	return (*executor).transferCoins
}

// someUser prefers the users with low numbers, as some people are busier. If it can it
// spares those that act by commands.
func (x *executor) someUser() party {
	n := x.names.users.len()
	p := x.names.users.at(min(x.random.below(n), x.random.below(n)))
	for try := 0; x.isManaged(p) && try < n; try++ {
		p = x.names.users.at(x.random.below(n))
	}
	return p
}

// isManaged reports whether p acts by commands, so that nothing may be done in its name.
func (x *executor) isManaged(p party) bool { return x.managed != nil && x.managed[p] && p != x.acting }

// switchDue reports whether the next update belongs to migration 1. Contracts in
// flight between synchronizers arrive first.
func (x *executor) switchDue() bool {
	return x.migration == 0 && x.updates >= x.switchAt && len(x.harbor.inFlight) == 0
}

// switchMigration starts migration 1 and returns the import updates that open it:
// every active contract, ordered by contract id.
func (x *executor) switchMigration() []importUpdate {
	x.migration++
	x.recordTime += migrationPause.Microseconds()
	x.effectiveAt = max(x.effectiveAt, x.recordTime)
	x.traffic = make([][]*contract, len(x.names.participants))
	imports := make([]importUpdate, len(x.active))
	for i, c := range x.active {
		imports[i] = importUpdate{c, c.synchronizer, x.effectiveAt}
	}
	sortImports(imports, &x.names.ids)
	x.tasks = append(x.tasks, x.setConfig)
	for i := range x.rules.nodeStates {
		x.tasks = append(x.tasks, func() { x.setNodeConfig(i) })
	}
	return imports
}

// migrationPause is the time between the end of one migration and the next.
const migrationPause = 90 * time.Second

// expiryQueue holds things that end at a time, in buckets of one tick.
type expiryQueue map[int64][]func()

// expireAt has task run soon after the time t (µs).
func (x *executor) expireAt(t int64, task func()) {
	if x.expiry == nil {
		x.expiry = expiryQueue{}
	}
	bucket := t/x.tick + 1
	x.expiry[bucket] = append(x.expiry[bucket], task)
}

// scheduleExpiries turns what has ended into tasks.
func (x *executor) scheduleExpiries() {
	bucket := x.recordTime / x.tick
	if due, ok := x.expiry[bucket]; ok {
		delete(x.expiry, bucket)
		x.tasks = append(x.tasks, due...)
	}
}
