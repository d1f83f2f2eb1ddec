package choices

import (
	"errors"
	"strconv"
	"time"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

const (
	maxOutputs       = 100
	maxLockHolders   = 50
	maxBeneficiaries = 20
)

func microsText(t int64) string { return time.UnixMicro(t).UTC().Format(time.RFC3339Nano) }

func addTransferChoices(all *choices) {
	all.on(AmuletRulesTemplate, "AmuletRules_Transfer", nonconsuming(
		func(_ *Execution, _ *Contract, arg Argument) []Party {
			t := arg.Record("transfer")
			ps, outputs := []Party{t.Party("sender"), t.Party("provider")}, t.List("outputs")
			for i := range outputs {
				out := Argument{&outputs[i]}
				ps = append(ps, out.Party("receiver"))
				if lock := out.Given("lock"); lock != nil {
					for _, h := range (Argument{lock}).List("holders") {
						ps = append(ps, Party(h.Num))
					}
				}
			}
			return WithoutDSO(ps)
		},
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return Value{}, err
			}
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return Value{}, err
			}
			t := arg.Record("transfer")
			o := order{sender: t.Party("sender"), provider: t.Party("provider"), inputs: t.List("inputs"), context: ctx}
			if o.outputs, err = outputsOf(e, t.List("outputs")); err != nil {
				return Value{}, err
			}
			if o.beneficiaries, err = beneficiariesOf(e, t.Given("beneficiaries")); err != nil {
				return Value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return Value{}, err
			}
			return e.payments.TransferResult(s), nil
		}))
	all.on(AmuletRulesTemplate, "AmuletRules_Fetch", nonconsuming(byArgument("p"), toPayload))
	all.on(OpenRoundTemplate, "OpenMiningRound_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// transferContext is what a transfer may refer to.
type transferContext struct {
	round   *Round // open
	issuing map[int64]*Round
	rights  map[Party]Party // validator by user
	app     Party           // whose featured app right is given, or noParty
	given   Value           // the record that it was read from
	state   uint64          // of the token standard: the configuration state
}

func transferContextOf(e *Execution, v Argument) (transferContext, error) {
	ctx := transferContext{app: NoParty, given: *v.V}
	var err error
	if ctx.round, err = openMiningRound(e, v.Contract("openMiningRound")); err != nil {
		return ctx, err
	}
	if err = issuingRounds(e, &ctx, v.List("issuingMiningRounds")); err != nil {
		return ctx, err
	}
	rights := v.List("validatorRights")
	for i := 0; i < len(rights); i += 2 {
		c, err := e.fetchOf(ValidatorRightTemplate, uint64(rights[i+1].Num))
		if err != nil {
			return ctx, err
		}
		p := c.Payload.(ValidatorRight)
		if p.User != Party(rights[i].Num) {
			return ctx, broken("the validator right of %s is not one of %s", e.Names.Name(p.User), e.Names.Name(Party(rights[i].Num)))
		}
		if ctx.rights == nil {
			ctx.rights = map[Party]Party{}
		}
		ctx.rights[p.User] = p.Validator
	}
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// openMiningRound is the round of an open one's contract.
func openMiningRound(e *Execution, n uint64) (*Round, error) {
	c, err := e.fetchOf(OpenRoundTemplate, n)
	if err != nil {
		return nil, err
	}
	r := c.Payload.(OpenRound).Round
	if r.OpensAt > e.Now() {
		return nil, broken("mining round %d opens at %s only", r.Number, microsText(r.OpensAt))
	}
	return r, nil
}

func issuingRounds(e *Execution, ctx *transferContext, entries []Value) error {
	for i := 0; i < len(entries); i += 2 {
		c, err := e.fetchOf(IssuingRoundTemplate, uint64(entries[i+1].Num))
		if err != nil {
			return err
		}
		r := c.Payload.(IssuingRound).Round
		switch key := (Argument{&entries[i]}).Int64("number"); {
		case key != r.Number:
			return broken("issuing round %d was given as round %d", r.Number, key)
		case r.IssuesAt > e.Now():
			return broken("issuing of round %d opens at %s only", r.Number, microsText(r.IssuesAt))
		}
		if ctx.issuing == nil {
			ctx.issuing = map[int64]*Round{}
		}
		ctx.issuing[r.Number] = r
	}
	return nil
}

// featuredApp is the provider of the featured app right in a context, or noParty.
func featuredApp(e *Execution, v Argument) (Party, error) {
	right := v.Given("featuredAppRight")
	if right == nil {
		return NoParty, nil
	}
	c, err := e.fetchOf(FeaturedAppRightTemplate, uint64(right.Num))
	if err != nil {
		return NoParty, err
	}
	return c.Payload.(FeaturedAppRight).Provider, nil
}

// paymentContextOf reads the context of a choice that is not one of the rules.
func paymentContextOf(e *Execution, v Argument) (transferContext, error) {
	if _, err := e.fetchOf(AmuletRulesTemplate, v.Contract("amuletRules")); err != nil {
		return transferContext{}, err
	}
	return transferContextOf(e, v.Record("context"))
}

// order is a transfer that a command asks for.
type order struct {
	sender        Party
	provider      Party
	inputs        []Value // variants of TransferInput
	outputs       []Output
	beneficiaries []ActivityMarker // only the beneficiary and the weight are read
	context       transferContext
}

func outputsOf(e *Execution, list []Value) ([]Output, error) {
	if len(list) > maxOutputs {
		return nil, broken("%d outputs are more than %d", len(list), maxOutputs).with("error_id", errorTooManyOutputs)
	}
	outputs := make([]Output, len(list))
	for i := range list {
		v := Argument{&list[i]}
		o := Output{Receiver: v.Party("receiver"), Amount: v.Numeric("amount")}
		if err := e.positive("amount of output "+strconv.Itoa(i), o.Amount); err != nil {
			return nil, err
		}
		if ratio := v.Numeric("receiverFeeRatio"); ratio < 0 || ratio > One {
			return nil, broken("receiverFeeRatio %s is not between 0 and 1", ratio)
		}
		var err error
		if o.Lock, err = lockOf(e, v.Given("lock")); err != nil {
			return nil, err
		}
		outputs[i] = o
	}
	return outputs, nil
}

func (e *Execution) positive(what string, amount Decimal) error {
	if amount <= 0 {
		return broken("%s must be positive, not %s", what, amount).with("error_id", "amount-not-positive")
	}
	return nil
}

func lockOf(e *Execution, v *Value) (*LockedAmulet, error) {
	if v == nil {
		return nil, nil
	}
	lock := Argument{v}
	holders := lock.List("holders")
	if len(holders) == 0 || len(holders) > maxLockHolders {
		return nil, broken("a lock has 1 to %d holders, not %d", maxLockHolders, len(holders))
	}
	l := &LockedAmulet{Holder: Party(holders[0].Num), ExpiresAt: lock.Time("expiresAt"), Context: lock.OptionalText("optContext")}
	for _, h := range holders[1:] {
		l.Others = append(l.Others, Party(h.Num))
	}
	return l, nil
}

func beneficiariesOf(e *Execution, v *Value) ([]ActivityMarker, error) {
	if v == nil {
		return nil, nil
	}
	if len(v.Elems) == 0 || len(v.Elems) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(v.Elems))
	}
	var sum Decimal
	list := make([]ActivityMarker, len(v.Elems))
	for i := range v.Elems {
		b := Argument{&v.Elems[i]}
		list[i] = ActivityMarker{Beneficiary: b.Party("beneficiary"), Weight: b.Numeric("weight")}
		if list[i].Weight <= 0 || list[i].Weight > One {
			return nil, broken("weight %s of a beneficiary is not above 0 and at most 1", list[i].Weight)
		}
		sum += list[i].Weight
	}
	if sum > One {
		return nil, broken("weights of beneficiaries add up to %s, more than 1", sum)
	}
	return list, nil
}

// controllers are the parties that must agree.
func (o *order) controllers() []Party {
	return (&Payment{Sender: o.sender, Provider: o.provider, Outputs: o.outputs}).Controllers()
}

// settleOrder executes a transfer within the node that is open, at the prices of the round
// that is set.
func settleOrder(e *Execution, o order) (*Settlement, error) {
	s := &Settlement{Payment: Payment{Sender: o.sender, Provider: o.provider, Outputs: o.outputs}}
	if err := takeInputs(e, s, o); err != nil {
		return nil, err
	}
	fee := e.payments.OutputFee()
	rest, needed := s.Inputs(), Decimal(0)
	for _, out := range o.outputs {
		needed += out.Amount + fee
		if needed < 0 || needed > rest { // below 0: it overflowed
			return nil, insufficientFunds(o.outputs, fee, rest)
		}
	}
	e.bank.Mint(rest - s.InCoins)
	for _, out := range o.outputs {
		s.Created = append(s.Created, createOrdered(e, s, out))
		s.Fees = append(s.Fees, fee)
	}
	rest -= needed
	s.ChangeFee = min(rest, fee)
	if rest -= s.ChangeFee; rest > 0 {
		s.Change = createCoin(e, o.sender, rest)
		s.Note(s.Change, 1)
	}
	burned := s.ChangeFee + fee*Decimal(len(o.outputs))
	e.bank.Burn(burned)
	rewardOrder(e, o, burned)
	return s, nil
}

// insufficientFunds is the refusal of a transfer whose inputs are worth less than it needs.
func insufficientFunds(outputs []Output, fee, have Decimal) error {
	needed := Decimal(0)
	for _, o := range outputs {
		if needed += o.Amount + fee; needed < 0 {
			return broken("the outputs are worth more than there are coins")
		}
	}
	missing := needed - have
	return &invalidTransfer{broken("Insufficient funds: the transfer needs %s, %s are missing", needed, missing).
		with("error_id", ErrorInsufficientFunds).with("requiredAmount", needed.String()).with("missingAmount", missing.String()),
		func(a *Arena) Value {
			return a.Variant("ITR_InsufficientFunds", a.Record(MissingFundsShape, Numeric(missing)))
		}}
}

// invalidTransfer is a refusal that a batch of operations tells of as the outcome of one of
// them, and goes on.
type invalidTransfer struct {
	refusal *Refusal
	reason  func(a *Arena) Value // a variant of InvalidTransferReason
}

// asInvalid reports whether err is an invalid transfer, and which.
func asInvalid(err error, target **invalidTransfer) bool { return errors.As(err, target) }

func (i *invalidTransfer) Error() string { return i.refusal.Error() }
func (i *invalidTransfer) Unwrap() error { return i.refusal }

// createCoin creates a coin of which nobody keeps track yet.
func createCoin(e *Execution, owner Party, amount Decimal) *Contract {
	c := e.Tx.Create(AmuletTemplate, e.bank.CoinPayload(owner, amount))
	e.bank.Supply.Circulating += amount
	return c
}

func createOrdered(e *Execution, s *Settlement, o Output) *Contract {
	var c *Contract
	if o.Lock != nil {
		lock := *o.Lock
		lock.Amulet = e.bank.CoinPayload(o.Receiver, o.Amount)
		c = e.Tx.Create(LockedAmuletTemplate, lock)
		e.bank.Supply.Circulating += o.Amount
	} else {
		c = createCoin(e, o.Receiver, o.Amount)
	}
	s.Note(c, 1)
	return c
}

// takeInputs archives the inputs of a transfer and adds up what they are worth.
func takeInputs(e *Execution, s *Settlement, o order) error {
	if len(o.inputs) > MaxInputs {
		return broken("%d inputs are more than %d", len(o.inputs), MaxInputs).with("error_id", ErrorTooManyInputs)
	}
	for i := range o.inputs {
		in := &o.inputs[i]
		if in.Text == "ExtTransferInput" {
			return broken("faucet coupons are not in use on this network")
		}
		c, err := e.fetch(uint64(in.Elems[0].Num))
		if err != nil {
			return err
		}
		if err := takeInput(e, s, o, in.Text, c); err != nil {
			return err
		}
	}
	return nil
}

func takeInput(e *Execution, s *Settlement, o order, tag string, c *Contract) error {
	if tag == "InputAmulet" {
		return takeCoin(e, s, o.sender, c)
	}
	p, ok := c.Payload.(Coupon)
	if !ok || p.Input() != tag || c.Template == UnallocatedTemplate {
		return broken("contract %s of %s is no %s", e.Names.Ids.AppendContractID(nil, c.Number), c.Template.Name, tag)
	}
	r, err := mayCollect(e, o, c, p)
	if err != nil {
		return err
	}
	if r == nil {
		r = o.context.round // a grant is worth the same in any
	}
	s.Add(p, p.Worth(r))
	e.Tx.Archive(c)
	return nil
}

func takeCoin(e *Execution, s *Settlement, sender Party, c *Contract) error {
	p, ok := c.Payload.(Amulet)
	switch {
	case !ok:
		return broken("contract %s of %s is no coin to spend", e.Names.Ids.AppendContractID(nil, c.Number), c.Template.Name)
	case p.Owner != sender:
		return broken("coin %s is not owned by the sender", e.Names.Ids.AppendContractID(nil, c.Number)).with("error_id", "not-owner")
	}
	s.Coins = append(s.Coins, c)
	s.Note(c, -1)
	s.InCoins += e.bank.Spend(c)
	return nil
}

// mayCollect checks that the sender of an order may collect a coupon now. It returns the
// issuing round of the coupon, nil for a grant.
func mayCollect(e *Execution, o order, c *Contract, p Coupon) (*Round, error) {
	validator, other := o.context.rights[p.Owner()]
	_, byRight := p.(ValidatorReward)
	if owner := p.Owner(); owner != o.sender && !(byRight && other && validator == o.sender) {
		return nil, broken("coupon %s belongs to %s, not to the sender", e.Names.Ids.AppendContractID(nil, c.Number), e.Names.Name(owner)).
			with("error_id", "not-owner")
	}
	var number int64
	switch p := p.(type) {
	case ActivityRecord:
		return nil, e.later("expiry of the activity record at", p.ExpiresAt)
	case FundCoupon:
		return nil, e.later("expiry of the development fund coupon at", p.ExpiresAt)
	case CouponV2:
		return nil, e.later("expiry of the reward coupon at", p.ExpiresAt)
	case AppReward:
		number = p.Round
	case ValidatorReward:
		number = p.Round
	case SvReward:
		number = p.Round
	case Liveness:
		number = p.Round
	}
	r := o.context.issuing[number]
	if r == nil {
		return nil, broken("no issuing round is given for a coupon of round %d", number).with("error_id", "missing-issuing-round")
	}
	return r, nil
}

// rewardOrder is reward for a transfer by a command.
func rewardOrder(e *Execution, o order, burned Decimal) {
	r := rewardedRound(e)
	featured := o.context.app != NoParty && o.context.app == o.provider
	if featured {
		e.Tx.Provider = o.provider
	}
	if featured && !e.rewards.RewardsByTraffic() {
		amount := ExtraRewardUSD.Over(r.Price)
		if len(o.beneficiaries) == 0 {
			e.Tx.Create(AppRewardTemplate, AppReward{o.provider, true, amount, r.Number, NoParty})
		}
		for _, b := range o.beneficiaries {
			e.Tx.Create(AppRewardTemplate, AppReward{o.provider, true, amount.Times(b.Weight), r.Number, b.Beneficiary})
		}
	}
	if burned == 0 {
		return
	}
	if o.provider != o.sender && !featured {
		e.Tx.Create(AppRewardTemplate, AppReward{o.provider, false, burned, r.Number, NoParty})
	}
	e.Tx.Create(ValidatorRewardTemplate, ValidatorReward{o.sender, burned, r.Number})
}

// rewardedRound is the round whose coupons a transfer earns: the one of its context, or the
// newest if that only kept the number and the price of one.
func rewardedRound(e *Execution) *Round {
	if r := e.rounds.OpenRound(); r.Contract != nil {
		return r
	}
	defer e.at(nil)()
	return e.rounds.OpenRound()
}

// transferBy exercises AmuletRules_Transfer as a part of another choice.
func transferBy(e *Execution, o order) (*Settlement, Value, error) {
	controllers := o.controllers()
	if err := e.authorized(controllers, "exercising AmuletRules_Transfer"); err != nil {
		return nil, Value{}, err
	}
	a := e.Tx.Arena()
	defer e.at(o.context.round)()
	arg := a.Record(TransferArgShape, orderValue(e, o), o.context.given, e.Tx.ExpectedDSO())
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_Transfer", arg, controllers...)
	s, err := settleOrder(e, o)
	if err != nil {
		return nil, Value{}, err
	}
	result := e.payments.TransferResult(s)
	e.Tx.Finish(at, result)
	return s, result, nil
}

func orderValue(e *Execution, o order) Value {
	a := e.Tx.Arena()
	fields := []Value{PartyValue(o.sender), PartyValue(o.provider), {Kind: KindList, Elems: o.inputs},
		e.payments.OutputsValue(&Payment{Outputs: o.outputs})}
	if e.Tx.Version() > 0 {
		fields = append(fields, None())
	}
	return a.Record(TransferShape, fields...)
}
