package devnet

import (
	"errors"
	"strconv"
	"time"
)

const (
	maxOutputs       = 100
	maxLockHolders   = 50
	maxBeneficiaries = 20
)

func microsText(t int64) string { return time.UnixMicro(t).UTC().Format(time.RFC3339Nano) }

func addTransferChoices(all *choices) {
	all.on(amuletRulesTemplate, "AmuletRules_Transfer", nonconsuming(
		func(_ *execution, _ *contract, arg argument) []party {
			t := arg.record("transfer")
			ps, outputs := []party{t.party("sender"), t.party("provider")}, t.list("outputs")
			for i := range outputs {
				out := argument{&outputs[i]}
				ps = append(ps, out.party("receiver"))
				if lock := out.given("lock"); lock != nil {
					for _, h := range (argument{lock}).list("holders") {
						ps = append(ps, party(h.num))
					}
				}
			}
			return withoutDSO(ps)
		},
		func(e *execution, _ *contract, arg argument) (value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return value{}, err
			}
			ctx, err := transferContextOf(e, arg.record("context"))
			if err != nil {
				return value{}, err
			}
			t := arg.record("transfer")
			o := order{sender: t.party("sender"), provider: t.party("provider"), inputs: t.list("inputs"), context: ctx}
			if o.outputs, err = outputsOf(e, t.list("outputs")); err != nil {
				return value{}, err
			}
			if o.beneficiaries, err = beneficiariesOf(e, t.given("beneficiaries")); err != nil {
				return value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return value{}, err
			}
			return e.payments.transferResult(s), nil
		}))
	all.on(amuletRulesTemplate, "AmuletRules_Fetch", nonconsuming(byArgument("p"), toPayload))
	all.on(openRoundTemplate, "OpenMiningRound_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// transferContext is what a transfer may refer to.
type transferContext struct {
	round   *round // open
	issuing map[int64]*round
	rights  map[party]party // validator by user
	app     party           // whose featured app right is given, or noParty
	given   value           // the record that it was read from
	state   uint64          // of the token standard: the configuration state
}

func transferContextOf(e *execution, v argument) (transferContext, error) {
	ctx := transferContext{app: noParty, given: *v.v}
	var err error
	if ctx.round, err = openMiningRound(e, v.contract("openMiningRound")); err != nil {
		return ctx, err
	}
	if err = issuingRounds(e, &ctx, v.list("issuingMiningRounds")); err != nil {
		return ctx, err
	}
	rights := v.list("validatorRights")
	for i := 0; i < len(rights); i += 2 {
		c, err := e.fetchOf(validatorRightTemplate, uint64(rights[i+1].num))
		if err != nil {
			return ctx, err
		}
		p := c.payload.(validatorRight)
		if p.user != party(rights[i].num) {
			return ctx, broken("the validator right of %s is not one of %s", e.names.name(p.user), e.names.name(party(rights[i].num)))
		}
		if ctx.rights == nil {
			ctx.rights = map[party]party{}
		}
		ctx.rights[p.user] = p.validator
	}
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// openMiningRound is the round of an open one's contract.
func openMiningRound(e *execution, n uint64) (*round, error) {
	c, err := e.fetchOf(openRoundTemplate, n)
	if err != nil {
		return nil, err
	}
	r := c.payload.(openRound).round
	if r.opensAt > e.now() {
		return nil, broken("mining round %d opens at %s only", r.number, microsText(r.opensAt))
	}
	return r, nil
}

func issuingRounds(e *execution, ctx *transferContext, entries []value) error {
	for i := 0; i < len(entries); i += 2 {
		c, err := e.fetchOf(issuingRoundTemplate, uint64(entries[i+1].num))
		if err != nil {
			return err
		}
		r := c.payload.(issuingRound).round
		switch key := (argument{&entries[i]}).int64("number"); {
		case key != r.number:
			return broken("issuing round %d was given as round %d", r.number, key)
		case r.issuesAt > e.now():
			return broken("issuing of round %d opens at %s only", r.number, microsText(r.issuesAt))
		}
		if ctx.issuing == nil {
			ctx.issuing = map[int64]*round{}
		}
		ctx.issuing[r.number] = r
	}
	return nil
}

// featuredApp is the provider of the featured app right in a context, or noParty.
func featuredApp(e *execution, v argument) (party, error) {
	right := v.given("featuredAppRight")
	if right == nil {
		return noParty, nil
	}
	c, err := e.fetchOf(featuredAppRightTemplate, uint64(right.num))
	if err != nil {
		return noParty, err
	}
	return c.payload.(featuredAppRight).provider, nil
}

// paymentContextOf reads the context of a choice that is not one of the rules.
func paymentContextOf(e *execution, v argument) (transferContext, error) {
	if _, err := e.fetchOf(amuletRulesTemplate, v.contract("amuletRules")); err != nil {
		return transferContext{}, err
	}
	return transferContextOf(e, v.record("context"))
}

// order is a transfer that a command asks for.
type order struct {
	sender        party
	provider      party
	inputs        []value // variants of TransferInput
	outputs       []output
	beneficiaries []activityMarker // only the beneficiary and the weight are read
	context       transferContext
}

func outputsOf(e *execution, list []value) ([]output, error) {
	if len(list) > maxOutputs {
		return nil, broken("%d outputs are more than %d", len(list), maxOutputs).with("error_id", errorTooManyOutputs)
	}
	outputs := make([]output, len(list))
	for i := range list {
		v := argument{&list[i]}
		o := output{receiver: v.party("receiver"), amount: v.numeric("amount")}
		if err := e.positive("amount of output "+strconv.Itoa(i), o.amount); err != nil {
			return nil, err
		}
		if ratio := v.numeric("receiverFeeRatio"); ratio < 0 || ratio > one {
			return nil, broken("receiverFeeRatio %s is not between 0 and 1", ratio)
		}
		var err error
		if o.lock, err = lockOf(e, v.given("lock")); err != nil {
			return nil, err
		}
		outputs[i] = o
	}
	return outputs, nil
}

func (e *execution) positive(what string, amount decimal) error {
	if amount <= 0 {
		return broken("%s must be positive, not %s", what, amount).with("error_id", "amount-not-positive")
	}
	return nil
}

func lockOf(e *execution, v *value) (*lockedAmulet, error) {
	if v == nil {
		return nil, nil
	}
	lock := argument{v}
	holders := lock.list("holders")
	if len(holders) == 0 || len(holders) > maxLockHolders {
		return nil, broken("a lock has 1 to %d holders, not %d", maxLockHolders, len(holders))
	}
	l := &lockedAmulet{holder: party(holders[0].num), expiresAt: lock.time("expiresAt"), context: lock.optionalText("optContext")}
	for _, h := range holders[1:] {
		l.others = append(l.others, party(h.num))
	}
	return l, nil
}

func beneficiariesOf(e *execution, v *value) ([]activityMarker, error) {
	if v == nil {
		return nil, nil
	}
	if len(v.elems) == 0 || len(v.elems) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(v.elems))
	}
	var sum decimal
	list := make([]activityMarker, len(v.elems))
	for i := range v.elems {
		b := argument{&v.elems[i]}
		list[i] = activityMarker{beneficiary: b.party("beneficiary"), weight: b.numeric("weight")}
		if list[i].weight <= 0 || list[i].weight > one {
			return nil, broken("weight %s of a beneficiary is not above 0 and at most 1", list[i].weight)
		}
		sum += list[i].weight
	}
	if sum > one {
		return nil, broken("weights of beneficiaries add up to %s, more than 1", sum)
	}
	return list, nil
}

// controllers are the parties that must agree.
func (o *order) controllers() []party {
	return (&payment{sender: o.sender, provider: o.provider, outputs: o.outputs}).controllers()
}

// settleOrder executes a transfer within the node that is open, at the prices of the round
// that is set.
func settleOrder(e *execution, o order) (*settlement, error) {
	s := &settlement{payment: payment{sender: o.sender, provider: o.provider, outputs: o.outputs}}
	if err := takeInputs(e, s, o); err != nil {
		return nil, err
	}
	fee := e.payments.outputFee()
	rest, needed := s.inputs(), decimal(0)
	for _, out := range o.outputs {
		needed += out.amount + fee
		if needed < 0 || needed > rest { // below 0: it overflowed
			return nil, insufficientFunds(o.outputs, fee, rest)
		}
	}
	e.bank.mint(rest - s.inCoins)
	for _, out := range o.outputs {
		s.created = append(s.created, createOrdered(e, s, out))
		s.fees = append(s.fees, fee)
	}
	rest -= needed
	s.changeFee = min(rest, fee)
	if rest -= s.changeFee; rest > 0 {
		s.change = createCoin(e, o.sender, rest)
		s.note(s.change, 1)
	}
	burned := s.changeFee + fee*decimal(len(o.outputs))
	e.bank.burn(burned)
	rewardOrder(e, o, burned)
	return s, nil
}

// insufficientFunds is the refusal of a transfer whose inputs are worth less than it needs.
func insufficientFunds(outputs []output, fee, have decimal) error {
	needed := decimal(0)
	for _, o := range outputs {
		if needed += o.amount + fee; needed < 0 {
			return broken("the outputs are worth more than there are coins")
		}
	}
	missing := needed - have
	return &invalidTransfer{broken("Insufficient funds: the transfer needs %s, %s are missing", needed, missing).
		with("error_id", errorInsufficientFunds).with("requiredAmount", needed.String()).with("missingAmount", missing.String()),
		func(a *arena) value {
			return a.variant("ITR_InsufficientFunds", a.record(missingFundsShape, numeric(missing)))
		}}
}

// invalidTransfer is a refusal that a batch of operations tells of as the outcome of one of
// them, and goes on.
type invalidTransfer struct {
	refusal *Refusal
	reason  func(a *arena) value // a variant of InvalidTransferReason
}

// asInvalid reports whether err is an invalid transfer, and which.
func asInvalid(err error, target **invalidTransfer) bool { return errors.As(err, target) }

func (i *invalidTransfer) Error() string { return i.refusal.Error() }
func (i *invalidTransfer) Unwrap() error { return i.refusal }

// createCoin creates a coin of which nobody keeps track yet.
func createCoin(e *execution, owner party, amount decimal) *contract {
	c := e.tx.create(amuletTemplate, e.bank.coinPayload(owner, amount))
	e.bank.supply.circulating += amount
	return c
}

func createOrdered(e *execution, s *settlement, o output) *contract {
	var c *contract
	if o.lock != nil {
		lock := *o.lock
		lock.amulet = e.bank.coinPayload(o.receiver, o.amount)
		c = e.tx.create(lockedAmuletTemplate, lock)
		e.bank.supply.circulating += o.amount
	} else {
		c = createCoin(e, o.receiver, o.amount)
	}
	s.note(c, 1)
	return c
}

// takeInputs archives the inputs of a transfer and adds up what they are worth.
func takeInputs(e *execution, s *settlement, o order) error {
	if len(o.inputs) > maxInputs {
		return broken("%d inputs are more than %d", len(o.inputs), maxInputs).with("error_id", errorTooManyInputs)
	}
	for i := range o.inputs {
		in := &o.inputs[i]
		if in.text == "ExtTransferInput" {
			return broken("faucet coupons are not in use on this network")
		}
		c, err := e.fetch(uint64(in.elems[0].num))
		if err != nil {
			return err
		}
		if err := takeInput(e, s, o, in.text, c); err != nil {
			return err
		}
	}
	return nil
}

func takeInput(e *execution, s *settlement, o order, tag string, c *contract) error {
	if tag == "InputAmulet" {
		return takeCoin(e, s, o.sender, c)
	}
	p, ok := c.payload.(coupon)
	if !ok || p.input() != tag || c.template == unallocatedTemplate {
		return broken("contract %s of %s is no %s", e.names.ids.appendContractID(nil, c.number), c.template.name, tag)
	}
	r, err := mayCollect(e, o, c, p)
	if err != nil {
		return err
	}
	if r == nil {
		r = o.context.round // a grant is worth the same in any
	}
	s.add(p, p.worth(r))
	e.tx.archive(c)
	return nil
}

func takeCoin(e *execution, s *settlement, sender party, c *contract) error {
	p, ok := c.payload.(amulet)
	switch {
	case !ok:
		return broken("contract %s of %s is no coin to spend", e.names.ids.appendContractID(nil, c.number), c.template.name)
	case p.owner != sender:
		return broken("coin %s is not owned by the sender", e.names.ids.appendContractID(nil, c.number)).with("error_id", "not-owner")
	}
	s.coins = append(s.coins, c)
	s.note(c, -1)
	s.inCoins += e.bank.spend(c)
	return nil
}

// mayCollect checks that the sender of an order may collect a coupon now. It returns the
// issuing round of the coupon, nil for a grant.
func mayCollect(e *execution, o order, c *contract, p coupon) (*round, error) {
	validator, other := o.context.rights[p.owner()]
	_, byRight := p.(validatorReward)
	if owner := p.owner(); owner != o.sender && !(byRight && other && validator == o.sender) {
		return nil, broken("coupon %s belongs to %s, not to the sender", e.names.ids.appendContractID(nil, c.number), e.names.name(owner)).
			with("error_id", "not-owner")
	}
	var number int64
	switch p := p.(type) {
	case activityRecord:
		return nil, e.later("expiry of the activity record at", p.expiresAt)
	case fundCoupon:
		return nil, e.later("expiry of the development fund coupon at", p.expiresAt)
	case couponV2:
		return nil, e.later("expiry of the reward coupon at", p.expiresAt)
	case appReward:
		number = p.round
	case validatorReward:
		number = p.round
	case svReward:
		number = p.round
	case liveness:
		number = p.round
	}
	r := o.context.issuing[number]
	if r == nil {
		return nil, broken("no issuing round is given for a coupon of round %d", number).with("error_id", "missing-issuing-round")
	}
	return r, nil
}

// rewardOrder is reward for a transfer by a command.
func rewardOrder(e *execution, o order, burned decimal) {
	r := rewardedRound(e)
	featured := o.context.app != noParty && o.context.app == o.provider
	if featured {
		e.tx.provider = o.provider
	}
	if featured && !e.rewards.rewardsByTraffic() {
		amount := extraRewardUSD.over(r.price)
		if len(o.beneficiaries) == 0 {
			e.tx.create(appRewardTemplate, appReward{o.provider, true, amount, r.number, noParty})
		}
		for _, b := range o.beneficiaries {
			e.tx.create(appRewardTemplate, appReward{o.provider, true, amount.times(b.weight), r.number, b.beneficiary})
		}
	}
	if burned == 0 {
		return
	}
	if o.provider != o.sender && !featured {
		e.tx.create(appRewardTemplate, appReward{o.provider, false, burned, r.number, noParty})
	}
	e.tx.create(validatorRewardTemplate, validatorReward{o.sender, burned, r.number})
}

// rewardedRound is the round whose coupons a transfer earns: the one of its context, or the
// newest if that only kept the number and the price of one.
func rewardedRound(e *execution) *round {
	if r := e.rounds.openRound(); r.contract != nil {
		return r
	}
	defer e.at(nil)()
	return e.rounds.openRound()
}

// transferBy exercises AmuletRules_Transfer as a part of another choice.
func transferBy(e *execution, o order) (*settlement, value, error) {
	controllers := o.controllers()
	if err := e.authorized(controllers, "exercising AmuletRules_Transfer"); err != nil {
		return nil, value{}, err
	}
	a := e.tx.arena()
	defer e.at(o.context.round)()
	arg := a.record(transferArgShape, orderValue(e, o), o.context.given, e.tx.expectedDSO())
	at := e.tx.exercise(e.rules.amulet, "AmuletRules_Transfer", arg, controllers...)
	s, err := settleOrder(e, o)
	if err != nil {
		return nil, value{}, err
	}
	result := e.payments.transferResult(s)
	e.tx.finish(at, result)
	return s, result, nil
}

func orderValue(e *execution, o order) value {
	a := e.tx.arena()
	fields := []value{partyValue(o.sender), partyValue(o.provider), {kind: kindList, elems: o.inputs},
		e.payments.outputsValue(&payment{outputs: o.outputs})}
	if e.tx.version() > 0 {
		fields = append(fields, none())
	}
	return a.record(transferShape, fields...)
}
