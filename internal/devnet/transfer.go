package devnet

import (
	"fmt"
	"slices"
)

var (
	transferArgShape     = newShape("transfer", "context", "expectedDso")
	transferShape        = newShape("sender", "provider", "inputs", "outputs", "beneficiaries")
	outputShape          = newShape("receiver", "receiverFeeRatio", "amount", "lock", "meta")
	transferContextShape = newShape("openMiningRound", "issuingMiningRounds", "validatorRights", "featuredAppRight")
	paymentContextShape  = newShape("amuletRules", "context")
	transferResultShape  = newShape("round", "summary", "createdAmulets", "senderChangeAmulet", "meta")
	transferSummaryShape = newShape("inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount", "inputAmuletAmount", "balanceChanges", "holdingFees", "outputFees", "senderChangeFee", "senderChangeAmount", "amuletPrice", "inputValidatorFaucetAmount", "inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount")
	balanceChangeShape   = newShape("changeToInitialAmountAsOfRoundZero", "changeToHoldingFeesRate")
	appBeneficiaryShape  = newShape("beneficiary", "weight")
)

// payments executes payments.
type payments struct {
	core
	bank    *bank
	rounds  *rounds
	rewards *trafficRewards
	apps    *apps

	// validatorRights holds contract numbers by party. These contracts are not
	// public, but the arguments of transfers refer to them.
	validatorRights []uint64
}

// payment is a movement of coins: inputs of one sender to outputs and change.
type payment struct {
	sender  party
	coins   []*contract
	coupons []*contract // of round
	round   *round      // the issuing round of coupons, or nil
	outputs []output
	// provider is the app on whose behalf the sender acts; it earns the reward.
	provider party
}

// output is one output of a payment; a lock makes it a locked coin.
type output struct {
	receiver party
	amount   decimal
	lock     *lockedAmulet // only the lock part is read
	reason   string
}

// controllers are the parties that must agree to a payment: nobody is given a coin, or made the
// holder of a lock, without. The governance party agrees to all that its rules allow.
func (p *payment) controllers() []party {
	ps := []party{p.sender}
	if p.provider != noParty {
		ps = append(ps, p.provider)
	}
	for _, out := range p.outputs {
		ps = append(ps, out.receiver)
		if out.lock != nil {
			ps = append(append(ps, out.lock.holder), out.lock.others...)
		}
	}
	return withoutDSO(ps)
}

// settlement is a payment that was executed.
type settlement struct {
	payment
	created   []*contract // by output
	change    *contract   // or nil
	inCoins   decimal
	inApp     decimal
	inValid   decimal
	inSv      decimal
	inFaucet  decimal
	inRecords decimal
	inFund    decimal
	fees      []decimal // by output
	changeFee decimal
	balances  []balanceChange
}

// balanceChange sums up what happened to the coins of one party: their amounts
// as if created in round 0, and their holding fees.
type balanceChange struct {
	owner        party
	amount, rate decimal
}

func (s *settlement) inputs() decimal {
	return s.inCoins + s.inApp + s.inValid + s.inSv + s.inFaucet + s.inRecords + s.inFund
}

func (s *settlement) changeAmount() decimal {
	if s.change == nil {
		return 0
	}
	return s.change.payload.(amulet).amount
}

// outputFee is the fee for creating one coin.
func (x *payments) outputFee() decimal {
	if x.tx.version() > 0 {
		return 0
	}
	return createFeeUSD.over(x.rounds.openRound().price)
}

// takeCoins removes up to limit coins from a wallet and returns them with their sum.
func (x *bank) takeCoins(owner party, limit int) (taken []*contract, sum decimal) {
	if x.users.isManaged(owner) {
		return nil, 0
	}
	w := &x.wallets[owner]
	for len(w.coins) > 0 && len(taken) < limit {
		at, last := x.random.below(len(w.coins)), len(w.coins)-1
		c := w.coins[at]
		w.coins[at] = w.coins[last]
		w.coins[last] = nil
		w.coins = w.coins[:last]
		if c.active() {
			taken = append(taken, c)
			sum += c.payload.(amulet).amount
		}
	}
	return taken, sum
}

// returnCoins puts coins back that were not used after all.
func (x *bank) returnCoins(owner party, cs []*contract) {
	x.wallets[owner].coins = append(x.wallets[owner].coins, cs...)
}

// gather takes coins until they are worth at least amount, up to maxInputs.
func (x *bank) gather(owner party, amount decimal) (taken []*contract, ok bool) {
	var sum decimal
	for sum < amount && len(taken) < maxInputs {
		more, worth := x.takeCoins(owner, 1)
		if len(more) == 0 {
			break
		}
		taken, sum = append(taken, more...), sum+worth
	}
	if sum < amount {
		x.returnCoins(owner, taken)
		return nil, false
	}
	return taken, true
}

// newCoin creates a coin and puts it into the owner's wallet.
func (x *bank) newCoin(owner party, amount decimal) *contract {
	p := x.coinPayload(owner, amount)
	c := x.tx.create(amuletTemplate, p)
	x.supply.circulating += amount
	x.wallets[owner].coins = append(x.wallets[owner].coins, c)
	if p.expiresIn()-p.created < dustRounds {
		x.rounds.noteDust(p.expiresIn(), c)
	}
	return c
}

func (x *bank) coinPayload(owner party, amount decimal) amulet {
	r := x.rounds.openRound()
	return amulet{owner: owner, amount: amount, created: r.number, rate: holdingFeeUSD.over(r.price)}
}

func (x *bank) newLockedCoin(owner party, amount decimal, lock lockedAmulet) *contract {
	lock.amulet = x.coinPayload(owner, amount)
	c := x.tx.create(lockedAmuletTemplate, lock)
	x.supply.circulating += amount
	return c
}

// spend archives a coin, locked or not, and returns its amount.
func (x *bank) spend(c *contract) decimal {
	p := coinOf(c)
	x.tx.archive(c)
	x.supply.circulating -= p.amount
	return p.amount
}

// expectedDSO is the argument by which a caller makes sure of the network it is on.
func (x *transaction) expectedDSO() value { return x.arena().some(partyValue(dso)) }

// settle executes a payment within the node that is open: it archives the inputs,
// creates outputs and change, and hands out the rewards for it.
func (x *payments) settle(p payment) *settlement {
	s := &settlement{payment: p}
	x.consumeInputs(s)
	x.bank.mint(s.inputs() - s.inCoins)
	rest := s.inputs()
	for _, o := range p.outputs {
		s.created = append(s.created, x.createOutput(s, o))
		fee := x.outputFee()
		s.fees = append(s.fees, fee)
		rest -= o.amount + fee
	}
	if rest < 0 {
		x.tx.fail(fmt.Errorf("payment of party %d lacks %s coins", p.sender, -rest))
	}
	s.changeFee = min(rest, x.outputFee())
	if rest -= s.changeFee; rest > 0 {
		s.change = x.bank.newCoin(p.sender, rest)
		s.note(s.change, 1)
	}
	fees := s.changeFee
	for _, f := range s.fees {
		fees += f
	}
	x.bank.burn(fees)
	x.reward(s, fees)
	return s
}

func (x *payments) consumeInputs(s *settlement) {
	for _, c := range s.coins {
		s.note(c, -1)
		s.inCoins += x.bank.spend(c)
	}
	for _, c := range s.coupons {
		p := c.payload.(coupon)
		s.add(p, p.worth(s.round))
		x.tx.archive(c)
	}
}

// add counts a coupon among the inputs.
func (s *settlement) add(p coupon, worth decimal) {
	switch p.(type) {
	case appReward, couponV2:
		s.inApp += worth
	case validatorReward:
		s.inValid += worth
	case svReward:
		s.inSv += worth
	case liveness:
		s.inFaucet += worth
	case activityRecord:
		s.inRecords += worth
	case fundCoupon:
		s.inFund += worth
	}
}

func (x *payments) createOutput(s *settlement, o output) *contract {
	var c *contract
	if o.lock != nil {
		c = x.bank.newLockedCoin(s.sender, o.amount, *o.lock)
	} else {
		c = x.bank.newCoin(o.receiver, o.amount)
	}
	s.note(c, 1)
	return c
}

// note adds a created (sign 1) or archived (sign -1) coin to its owner's balance change.
func (s *settlement) note(c *contract, sign decimal) {
	coin := coinOf(c)
	at := slices.IndexFunc(s.balances, func(b balanceChange) bool { return b.owner == coin.owner })
	if at < 0 {
		at = len(s.balances)
		s.balances = append(s.balances, balanceChange{owner: coin.owner})
	}
	s.balances[at].amount += sign * (coin.amount + decimal(coin.created)*coin.rate)
	s.balances[at].rate += sign * coin.rate
}

// reward gives the app a coupon if it is featured, and in return for burned fees
// one to the app and one to the sender for its validator.
func (x *payments) reward(s *settlement, fees decimal) {
	r := x.rounds.openRound()
	featured := s.provider != noParty && x.apps.right(s.provider) != nil
	if featured {
		x.tx.provider = s.provider
	}
	if featured && !x.rewards.rewardsByTraffic() {
		amount := extraRewardUSD.over(r.price)
		beneficiary := noParty
		if x.random.percent(15) {
			beneficiary = x.names.providers.of(x.random)
		}
		x.rounds.addCoupon(r, appRewardTemplate, appReward{s.provider, true, amount, r.number, beneficiary})
		r.featuredTotal += amount
	}
	if fees == 0 {
		return
	}
	if s.provider != noParty && !featured {
		x.rounds.addCoupon(r, appRewardTemplate, appReward{s.provider, false, fees, r.number, noParty})
		r.unfeaturedTotal += fees
	}
	x.rounds.addCoupon(r, validatorRewardTemplate, validatorReward{s.sender, fees, r.number})
	r.validatorTotal += fees
}

// inputsValue lists the inputs of a payment as a choice argument.
func (x *payments) inputsValue(p *payment) value {
	a := x.tx.arena()
	vs := make([]value, 0, len(p.coins)+len(p.coupons))
	for _, c := range p.coins {
		vs = append(vs, a.variant("InputAmulet", contractID(c.number)))
	}
	for _, c := range p.coupons {
		vs = append(vs, a.variant(c.payload.(coupon).input(), contractID(c.number)))
	}
	return a.list(vs...)
}

// context names the rounds and rights that a payment refers to.
func (x *payments) context(p *payment) value {
	a := x.tx.arena()
	issuing, rights := a.genMap(), a.genMap()
	if p.round != nil {
		issuing = a.genMap(roundValue(a, p.round.number), contractID(p.round.contract.number))
	}
	for _, c := range p.coupons {
		if _, ok := c.payload.(validatorReward); ok {
			rights = a.genMap(partyValue(p.sender), contractID(x.validatorRights[p.sender]))
		}
	}
	right := x.apps.right(p.provider)
	return a.record(transferContextShape, contractID(x.rounds.openRound().contract.number), issuing, rights,
		optional(a, right != nil, idOf(right)))
}

// paymentContext is the context with the rules contract, for choices on others.
func (x *payments) paymentContext(p *payment) value {
	return x.tx.arena().record(paymentContextShape, contractID(x.rules.amulet.number), x.context(p))
}

func (x *payments) outputsValue(p *payment) value {
	a := x.tx.arena()
	vs := make([]value, len(p.outputs))
	for i, o := range p.outputs {
		lock := none()
		if o.lock != nil {
			lock = a.some(o.lock.lock(a))
		}
		fields := []value{partyValue(o.receiver), numeric(0), numeric(o.amount), lock}
		if x.tx.version() > 0 {
			fields = append(fields, optional(a, o.reason != "", metadata(a, reasonMetaKey, o.reason)))
		}
		vs[i] = a.record(outputShape, fields...)
	}
	return a.list(vs...)
}

// transfer exercises AmuletRules_Transfer for a payment.
func (x *payments) transfer(p payment) (*settlement, value) {
	a := x.tx.arena()
	provider := p.provider
	if provider == noParty {
		provider = p.sender
	}
	fields := []value{partyValue(p.sender), partyValue(provider), x.inputsValue(&p), x.outputsValue(&p)}
	if x.tx.version() > 0 {
		fields = append(fields, none())
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_Transfer", a.record(transferArgShape,
		a.record(transferShape, fields...), x.context(&p), x.tx.expectedDSO()), p.controllers()...)
	s := x.settle(p)
	result := x.transferResult(s)
	x.tx.finish(at, result)
	return s, result
}

func (x *payments) transferResult(s *settlement) value {
	a := x.tx.arena()
	created := make([]value, len(s.created))
	for i, c := range s.created {
		tag := "TransferResultAmulet"
		if c.template == lockedAmuletTemplate {
			tag = "TransferResultLockedAmulet"
		}
		created[i] = a.variant(tag, contractID(c.number))
	}
	fields := []value{x.rounds.roundValue(), x.summary(s), a.list(created...), x.changeID(s)}
	return a.record(transferResultShape, x.tx.withMeta(fields, none())...)
}

// withMeta adds a trailing optional field that only the newer version has.
func (x *transaction) withMeta(fields []value, meta value) []value {
	if x.version() == 0 {
		return fields
	}
	return append(fields, meta)
}

func (x *payments) changeID(s *settlement) value {
	return optional(x.tx.arena(), s.change != nil, idOf(s.change))
}

func (x *payments) summary(s *settlement) value {
	a := x.tx.arena()
	fees := make([]value, len(s.fees))
	for i, f := range s.fees {
		fees[i] = numeric(f)
	}
	fields := []value{numeric(s.inApp), numeric(s.inValid), numeric(s.inSv), numeric(s.inCoins),
		x.balancesValue(s), numeric(0), a.list(fees...), numeric(s.changeFee), numeric(s.changeAmount()),
		numeric(x.rounds.openRound().price), a.some(numeric(s.inFaucet))}
	if x.tx.version() > 0 {
		fields = append(fields, a.some(numeric(s.inRecords)), optional(a, s.inFund > 0, numeric(s.inFund)))
	}
	return a.record(transferSummaryShape, fields...)
}

func (x *payments) balancesValue(s *settlement) value {
	a := x.tx.arena()
	slices.SortFunc(s.balances, func(b, c balanceChange) int {
		return x.names.compare(b.owner, c.owner)
	})
	vs := make([]value, 0, 2*len(s.balances))
	for _, b := range s.balances {
		vs = append(vs, partyValue(b.owner), a.record(balanceChangeShape, numeric(b.amount), numeric(b.rate)))
	}
	return a.genMap(vs...)
}

// withoutDSO leaves the governance party out, which agrees to all that its rules allow.
func withoutDSO(ps []party) []party {
	return slices.DeleteFunc(ps, func(p party) bool { return p == dso })
}
