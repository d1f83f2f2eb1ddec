package devnet

import "strconv"

var (
	tapShape          = newShape("receiver", "amount", "openRound")
	mintShape         = newShape("receiver", "amount", "openRound", "reason")
	tapDoneShape      = newShape("amuletSum", "meta")
	mintDoneShape     = newShape("amuletSum")
	amuletSumShape    = newShape("amulet", "amuletPrice", "round")
	unlockShape       = newShape("openRoundCid")
	expireAmuletShape = newShape("roundCid")
	expireDoneShape   = newShape("expireSum", "meta")
	expireSumShape    = newShape("owner", "round", "changeToInitialAmountAsOfRoundZero", "changeToHoldingFeesRate")

	transferReasons = []string{"", "", "rent", "Kaffee & Kuchen", "invoice \"7-B\"", "お土産", "split of dinner\n2 persons"}
)

// users decides what simulated users do with their coins.
type users struct {
	core
	bank     *bank
	payments *payments
	rounds   *rounds

	managed map[party]bool // parties that act by commands: nobody else acts for them
	acting  party          // a managed party for which a task acts
	locks   []*contract
}

// dustRounds is how soon a coin must expire to be dust that is watched.
const dustRounds = 400

// tapSomeone gives a user new coins, as only a development network does.
func (x *users) tapSomeone() {
	x.payments.tap(x.someUser(), x.random.decimalBetween(coins(10), coins(400)))
}

// tap mints coins for p, in a node of its own.
func (x *payments) tap(p party, amount decimal) *contract {
	a := x.tx.arena()
	open := contractID(x.rounds.openRound().contract.number)
	tap := x.tx.exercise(x.rules.amulet, "AmuletRules_DevNet_Tap",
		a.record(tapShape, partyValue(p), numeric(amount), open), p)
	fields := []value{partyValue(p), numeric(amount), open}
	if x.tx.version() > 0 {
		fields = append(fields, a.some(text("tap")))
	}
	mint := x.tx.exercise(x.rules.amulet, "AmuletRules_Mint", a.record(mintShape, fields...), dso, p)
	x.bank.mint(amount)
	c := x.bank.newCoin(p, amount)
	x.tx.finish(mint, a.record(mintDoneShape, x.amuletSum(c)))
	x.tx.finish(tap, a.record(tapDoneShape, x.tx.withMeta([]value{x.amuletSum(c)}, none())...))
	return c
}

// amuletSum is how results describe a coin that was created.
func (x *payments) amuletSum(c *contract) value {
	return x.tx.arena().record(amuletSumShape, contractID(c.number), numeric(x.rounds.openRound().price), x.rounds.roundValue())
}

// transferCoins moves coins from one user to one to three others, often through an app.
func (x *users) transferCoins() bool {
	sender := x.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 3+x.random.below(6), 8)
	if !ok {
		return false
	}
	p.provider = x.someProvider(sender)
	for range 2 + x.random.below(7) {
		amount := max(1, spendable.times(x.random.decimalBetween(one/100, one/9)))
		if x.random.percent(4) {
			amount = min(amount, x.random.decimalBetween(1000, one/200)) // dust
		}
		p.outputs = append(p.outputs, output{receiver: x.names.users.of(x.random), amount: amount, reason: x.reason()})
	}
	x.payments.transfer(p)
	return true
}

// takeFunds takes up to limit coins of sender for a payment of so many outputs. Without
// anything left to spend after fees it takes none.
func (x *payments) takeFunds(sender party, limit, outputs int) (p payment, spendable decimal, ok bool) {
	taken, sum := x.bank.takeCoins(sender, limit)
	spendable = sum - decimal(outputs+1)*x.outputFee()
	if spendable < one/1000 {
		x.bank.returnCoins(sender, taken)
		return payment{}, 0, false
	}
	return payment{sender: sender, coins: taken, provider: noParty}, spendable, true
}

func (x *users) reason() string { return transferReasons[x.random.below(len(transferReasons))] }

// someProvider is the app through which a user transfers: mostly one of the
// providers, else the user's own validator.
func (x *users) someProvider(user party) party {
	if x.random.percent(70) {
		return x.names.providers.of(x.random)
	}
	return x.names.validatorOf(user)
}

// collectRewards turns coupons of an issuing round into coins of their owner.
func (x *users) collectRewards() bool {
	all := x.rounds.collections
	if len(all) == 0 {
		return false
	}
	at := x.random.below(len(all))
	c := &all[at]
	if c.round.issuesAt > x.clock.recordTime || x.isManaged(c.owner) {
		return false
	}
	n := min(couponsPerTransfer, len(c.coupons))
	p := payment{sender: c.owner, coupons: c.coupons[:n:n], round: c.round, provider: noParty}
	c.coupons = c.coupons[n:]
	if len(c.coupons) == 0 {
		all[at] = all[len(all)-1]
		all[len(all)-1] = collection{}
		x.rounds.collections = all[:len(all)-1]
	}
	p.coins, _ = x.bank.takeCoins(p.sender, 3)
	x.tx.current.workflow = "collect-rewards"
	x.payments.transfer(p)
	return true
}

const couponsPerTransfer = 16

// mergeCoins turns the coins of a party that has many into one.
func (x *users) mergeCoins() bool {
	for range 8 {
		p := party(x.random.below(len(x.names.parties)))
		if len(x.bank.wallets[p].coins) < coinsBeforeMerge {
			continue
		}
		taken, sum := x.bank.takeCoins(p, coinsPerMerge)
		if sum <= x.payments.outputFee() {
			x.bank.returnCoins(p, taken)
			continue
		}
		x.payments.transfer(payment{sender: p, coins: taken, provider: noParty})
		return true
	}
	return false
}

const (
	coinsBeforeMerge = 8
	coinsPerMerge    = 12
)

// lockCoins locks coins of a user with another user as holder.
func (x *users) lockCoins() bool {
	sender := x.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 2, 1)
	if !ok {
		return false
	}
	expires := x.clock.effectiveAt + x.clock.tick*int64(x.random.between(1, 12))
	lock := lockedAmulet{holder: x.names.users.of(x.random), expiresAt: expires}
	if x.tx.version() > 0 {
		lock.context = "escrow № " + strconv.Itoa(x.tx.updates)
	}
	p.outputs = []output{{receiver: sender, amount: max(1, spendable.times(one/3)), lock: &lock}}
	s, _ := x.payments.transfer(p)
	x.locks = append(x.locks, s.created[0])
	return true
}

// unlockCoins ends a lock, by its holder or, when it has expired, by the owner.
func (x *users) unlockCoins() bool {
	c := takeAny(x.random, &x.locks)
	if c == nil {
		return false
	}
	lock := c.payload.(lockedAmulet)
	if x.isManaged(lock.owner) || x.isManaged(lock.holder) {
		return false
	}
	if lock.expiresAt < x.clock.effectiveAt {
		x.payments.unlockBy(c, "LockedAmulet_OwnerExpireLock", lock.owner)
	} else {
		x.payments.unlockBy(c, "LockedAmulet_Unlock", lock.owner, lock.holder)
	}
	return true
}

// unlockBy turns a locked coin into one of its owner by a choice, and returns that.
func (x *payments) unlockBy(c *contract, choice string, actors ...party) *contract {
	a, lock := x.tx.arena(), c.payload.(lockedAmulet)
	at := x.tx.consume(c, choice, a.record(unlockShape, contractID(x.rounds.openRound().contract.number)), actors...)
	x.bank.supply.circulating -= lock.amount
	coin := x.bank.newCoin(lock.owner, lock.amount)
	x.tx.finish(at, a.record(tapDoneShape, x.tx.withMeta([]value{x.amuletSum(coin)}, none())...))
	return coin
}

// takeAny removes a random contract from a list, or returns nil.
func takeAny(r *random, list *[]*contract) *contract {
	n := len(*list)
	if n == 0 {
		return nil
	}
	at := r.below(n)
	c := (*list)[at]
	(*list)[at] = (*list)[n-1]
	(*list)[n-1] = nil
	*list = (*list)[:n-1]
	return c
}

// noteDust remembers a coin that holding fees use up by the given round.
func (x *rounds) noteDust(round int64, c *contract) {
	if x.dust == nil {
		x.dust = map[int64][]*contract{}
	}
	x.dust[round] = append(x.dust[round], c)
}

// expireDust queues the expiry of the coins that are used up by a round.
func (x *bank) expireDust(round int64) {
	for _, c := range x.rounds.dust[round] {
		x.clock.tasks = append(x.clock.tasks, func() { x.expireCoin(c) })
	}
	delete(x.rounds.dust, round)
}
