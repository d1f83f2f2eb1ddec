package choices

import (
	"errors"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

const (
	maxOutputs       = 100
	maxLockHolders   = 50
	maxBeneficiaries = 20
)

func microsText(t int64) string { return time.UnixMicro(t).UTC().Format(time.RFC3339Nano) }

func addTransferChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_Transfer", nonconsuming(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			t := arg.Record("transfer")
			ps, outputs := []model.Party{t.Party("sender"), t.Party("provider")}, t.List("outputs")
			for i := range outputs {
				out := model.Argument{V: &outputs[i]}
				ps = append(ps, out.Party("receiver"))
				if lock := out.Given("lock"); lock != nil {
					for _, h := range (model.Argument{V: lock}).List("holders") {
						ps = append(ps, model.Party(h.Num))
					}
				}
			}
			return sim.WithoutDSO(ps)
		},
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return model.Value{}, err
			}
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return model.Value{}, err
			}
			t := arg.Record("transfer")
			o := order{sender: t.Party("sender"), provider: t.Party("provider"), inputs: t.List("inputs"), context: ctx}
			if o.outputs, err = outputsOf(e, t.List("outputs")); err != nil {
				return model.Value{}, err
			}
			if o.beneficiaries, err = beneficiariesOf(e, t.Given("beneficiaries")); err != nil {
				return model.Value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return model.Value{}, err
			}
			return e.payments.TransferResult(s), nil
		}))
	all.on(model.AmuletRulesTemplate, "AmuletRules_Fetch", nonconsuming(byArgument("p"), toPayload))
	all.on(model.OpenRoundTemplate, "OpenMiningRound_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// transferContext is what a transfer may refer to.
type transferContext struct {
	round   *model.Round // open
	issuing map[int64]*model.Round
	rights  map[model.Party]model.Party // validator by user
	app     model.Party                 // whose featured app right is given, or noParty
	given   model.Value                 // the record that it was read from
	state   uint64                      // of the token standard: the configuration state
}

func transferContextOf(e *Execution, v model.Argument) (transferContext, error) {
	ctx := transferContext{app: model.NoParty, given: *v.V}
	var err error
	if ctx.round, err = openMiningRound(e, v.Contract("openMiningRound")); err != nil {
		return ctx, err
	}
	if err = issuingRounds(e, &ctx, v.List("issuingMiningRounds")); err != nil {
		return ctx, err
	}
	rights := v.List("validatorRights")
	for i := 0; i < len(rights); i += 2 {
		c, err := e.fetchOf(model.ValidatorRightTemplate, uint64(rights[i+1].Num))
		if err != nil {
			return ctx, err
		}
		p := c.Payload.(model.ValidatorRight)
		if p.User != model.Party(rights[i].Num) {
			return ctx, broken("the validator right of %s is not one of %s", e.Names.Name(p.User), e.Names.Name(model.Party(rights[i].Num)))
		}
		if ctx.rights == nil {
			ctx.rights = map[model.Party]model.Party{}
		}
		ctx.rights[p.User] = p.Validator
	}
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// openMiningRound is the round of an open one's contract.
func openMiningRound(e *Execution, n uint64) (*model.Round, error) {
	c, err := e.fetchOf(model.OpenRoundTemplate, n)
	if err != nil {
		return nil, err
	}
	r := c.Payload.(model.OpenRound).Round
	if r.OpensAt > e.Now() {
		return nil, broken("mining round %d opens at %s only", r.Number, microsText(r.OpensAt))
	}
	return r, nil
}

func issuingRounds(e *Execution, ctx *transferContext, entries []model.Value) error {
	for i := 0; i < len(entries); i += 2 {
		c, err := e.fetchOf(model.IssuingRoundTemplate, uint64(entries[i+1].Num))
		if err != nil {
			return err
		}
		r := c.Payload.(model.IssuingRound).Round
		switch key := (model.Argument{V: &entries[i]}).Int64("number"); {
		case key != r.Number:
			return broken("issuing round %d was given as round %d", r.Number, key)
		case r.IssuesAt > e.Now():
			return broken("issuing of round %d opens at %s only", r.Number, microsText(r.IssuesAt))
		}
		if ctx.issuing == nil {
			ctx.issuing = map[int64]*model.Round{}
		}
		ctx.issuing[r.Number] = r
	}
	return nil
}

// featuredApp is the provider of the featured app right in a context, or noParty.
func featuredApp(e *Execution, v model.Argument) (model.Party, error) {
	right := v.Given("featuredAppRight")
	if right == nil {
		return model.NoParty, nil
	}
	c, err := e.fetchOf(model.FeaturedAppRightTemplate, uint64(right.Num))
	if err != nil {
		return model.NoParty, err
	}
	return c.Payload.(model.FeaturedAppRight).Provider, nil
}

// paymentContextOf reads the context of a choice that is not one of the rules.
func paymentContextOf(e *Execution, v model.Argument) (transferContext, error) {
	if _, err := e.fetchOf(model.AmuletRulesTemplate, v.Contract("amuletRules")); err != nil {
		return transferContext{}, err
	}
	return transferContextOf(e, v.Record("context"))
}

// order is a transfer that a command asks for.
type order struct {
	sender        model.Party
	provider      model.Party
	inputs        []model.Value // variants of TransferInput
	outputs       []sim.Output
	beneficiaries []model.ActivityMarker // only the beneficiary and the weight are read
	context       transferContext
}

func outputsOf(e *Execution, list []model.Value) ([]sim.Output, error) {
	if len(list) > maxOutputs {
		return nil, broken("%d outputs are more than %d", len(list), maxOutputs).with("error_id", errorTooManyOutputs)
	}
	outputs := make([]sim.Output, len(list))
	for i := range list {
		v := model.Argument{V: &list[i]}
		o := sim.Output{Receiver: v.Party("receiver"), Amount: v.Numeric("amount")}
		if err := e.positive("amount of output "+strconv.Itoa(i), o.Amount); err != nil {
			return nil, err
		}
		if ratio := v.Numeric("receiverFeeRatio"); ratio < 0 || ratio > model.One {
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

func (e *Execution) positive(what string, amount model.Decimal) error {
	if amount <= 0 {
		return broken("%s must be positive, not %s", what, amount).with("error_id", "amount-not-positive")
	}
	return nil
}

func lockOf(e *Execution, v *model.Value) (*model.LockedAmulet, error) {
	if v == nil {
		return nil, nil
	}
	lock := model.Argument{V: v}
	holders := lock.List("holders")
	if len(holders) == 0 || len(holders) > maxLockHolders {
		return nil, broken("a lock has 1 to %d holders, not %d", maxLockHolders, len(holders))
	}
	l := &model.LockedAmulet{Holder: model.Party(holders[0].Num), ExpiresAt: lock.Time("expiresAt"), Context: lock.OptionalText("optContext")}
	for _, h := range holders[1:] {
		l.Others = append(l.Others, model.Party(h.Num))
	}
	return l, nil
}

func beneficiariesOf(e *Execution, v *model.Value) ([]model.ActivityMarker, error) {
	if v == nil {
		return nil, nil
	}
	if len(v.Elems) == 0 || len(v.Elems) > maxBeneficiaries {
		return nil, broken("a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(v.Elems))
	}
	var sum model.Decimal
	list := make([]model.ActivityMarker, len(v.Elems))
	for i := range v.Elems {
		b := model.Argument{V: &v.Elems[i]}
		list[i] = model.ActivityMarker{Beneficiary: b.Party("beneficiary"), Weight: b.Numeric("weight")}
		if list[i].Weight <= 0 || list[i].Weight > model.One {
			return nil, broken("weight %s of a beneficiary is not above 0 and at most 1", list[i].Weight)
		}
		sum += list[i].Weight
	}
	if sum > model.One {
		return nil, broken("weights of beneficiaries add up to %s, more than 1", sum)
	}
	return list, nil
}

// controllers are the parties that must agree.
func (o *order) controllers() []model.Party {
	return (&sim.Payment{Sender: o.sender, Provider: o.provider, Outputs: o.outputs}).Controllers()
}

// settleOrder executes a transfer within the node that is open, at the prices of the round
// that is set.
func settleOrder(e *Execution, o order) (*sim.Settlement, error) {
	s := &sim.Settlement{Payment: sim.Payment{Sender: o.sender, Provider: o.provider, Outputs: o.outputs}}
	if err := takeInputs(e, s, o); err != nil {
		return nil, err
	}
	fee := e.payments.OutputFee()
	rest, needed := s.Inputs(), model.Decimal(0)
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
	burned := s.ChangeFee + fee*model.Decimal(len(o.outputs))
	e.bank.Burn(burned)
	rewardOrder(e, o, burned)
	return s, nil
}

// insufficientFunds is the refusal of a transfer whose inputs are worth less than it needs.
func insufficientFunds(outputs []sim.Output, fee, have model.Decimal) error {
	needed := model.Decimal(0)
	for _, o := range outputs {
		if needed += o.Amount + fee; needed < 0 {
			return broken("the outputs are worth more than there are coins")
		}
	}
	missing := needed - have
	return &invalidTransfer{broken("Insufficient funds: the transfer needs %s, %s are missing", needed, missing).
		with("error_id", ErrorInsufficientFunds).with("requiredAmount", needed.String()).with("missingAmount", missing.String()),
		func(a *model.Arena) model.Value {
			return a.Variant("ITR_InsufficientFunds", a.Record(sim.MissingFundsShape, model.Numeric(missing)))
		}}
}

// invalidTransfer is a refusal that a batch of operations tells of as the outcome of one of
// them, and goes on.
type invalidTransfer struct {
	refusal *Refusal
	reason  func(a *model.Arena) model.Value // a variant of InvalidTransferReason
}

// asInvalid reports whether err is an invalid transfer, and which.
func asInvalid(err error, target **invalidTransfer) bool { return errors.As(err, target) }

func (i *invalidTransfer) Error() string { return i.refusal.Error() }
func (i *invalidTransfer) Unwrap() error { return i.refusal }

// createCoin creates a coin of which nobody keeps track yet.
func createCoin(e *Execution, owner model.Party, amount model.Decimal) *model.Contract {
	c := e.Tx.Create(model.AmuletTemplate, e.bank.CoinPayload(owner, amount))
	e.bank.Supply.Circulating += amount
	return c
}

func createOrdered(e *Execution, s *sim.Settlement, o sim.Output) *model.Contract {
	var c *model.Contract
	if o.Lock != nil {
		lock := *o.Lock
		lock.Amulet = e.bank.CoinPayload(o.Receiver, o.Amount)
		c = e.Tx.Create(model.LockedAmuletTemplate, lock)
		e.bank.Supply.Circulating += o.Amount
	} else {
		c = createCoin(e, o.Receiver, o.Amount)
	}
	s.Note(c, 1)
	return c
}

// takeInputs archives the inputs of a transfer and adds up what they are worth.
func takeInputs(e *Execution, s *sim.Settlement, o order) error {
	if len(o.inputs) > model.MaxInputs {
		return broken("%d inputs are more than %d", len(o.inputs), model.MaxInputs).with("error_id", ErrorTooManyInputs)
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

func takeInput(e *Execution, s *sim.Settlement, o order, tag string, c *model.Contract) error {
	if tag == "InputAmulet" {
		return takeCoin(e, s, o.sender, c)
	}
	p, ok := c.Payload.(model.Coupon)
	if !ok || p.Input() != tag || c.Template == model.UnallocatedTemplate {
		return broken("contract %s of %s is no %s", e.Names.IDs.AppendContractID(nil, c.Number), c.Template.Name, tag)
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

func takeCoin(e *Execution, s *sim.Settlement, sender model.Party, c *model.Contract) error {
	p, ok := c.Payload.(model.Amulet)
	switch {
	case !ok:
		return broken("contract %s of %s is no coin to spend", e.Names.IDs.AppendContractID(nil, c.Number), c.Template.Name)
	case p.Owner != sender:
		return broken("coin %s is not owned by the sender", e.Names.IDs.AppendContractID(nil, c.Number)).with("error_id", "not-owner")
	}
	s.Coins = append(s.Coins, c)
	s.Note(c, -1)
	s.InCoins += e.bank.Spend(c)
	return nil
}

// mayCollect checks that the sender of an order may collect a coupon now. It returns the
// issuing round of the coupon, nil for a grant.
func mayCollect(e *Execution, o order, c *model.Contract, p model.Coupon) (*model.Round, error) {
	validator, other := o.context.rights[p.Owner()]
	_, byRight := p.(model.ValidatorReward)
	if owner := p.Owner(); owner != o.sender && !(byRight && other && validator == o.sender) {
		return nil, broken("coupon %s belongs to %s, not to the sender", e.Names.IDs.AppendContractID(nil, c.Number), e.Names.Name(owner)).
			with("error_id", "not-owner")
	}
	var number int64
	switch p := p.(type) {
	case model.ActivityRecord:
		return nil, e.later("expiry of the activity record at", p.ExpiresAt)
	case model.FundCoupon:
		return nil, e.later("expiry of the development fund coupon at", p.ExpiresAt)
	case model.CouponV2:
		return nil, e.later("expiry of the reward coupon at", p.ExpiresAt)
	case model.AppReward:
		number = p.Round
	case model.ValidatorReward:
		number = p.Round
	case model.SvReward:
		number = p.Round
	case model.Liveness:
		number = p.Round
	}
	r := o.context.issuing[number]
	if r == nil {
		return nil, broken("no issuing round is given for a coupon of round %d", number).with("error_id", "missing-issuing-round")
	}
	return r, nil
}

// rewardOrder is reward for a transfer by a command.
func rewardOrder(e *Execution, o order, burned model.Decimal) {
	r := rewardedRound(e)
	featured := o.context.app != model.NoParty && o.context.app == o.provider
	if featured {
		e.Tx.Provider = o.provider
	}
	if featured && !e.rewards.RewardsByTraffic() {
		amount := model.ExtraRewardUSD.Over(r.Price)
		if len(o.beneficiaries) == 0 {
			e.Tx.Create(model.AppRewardTemplate, model.AppReward{Provider: o.provider, Featured: true, Amount: amount, Round: r.Number, Beneficiary: model.NoParty})
		}
		for _, b := range o.beneficiaries {
			e.Tx.Create(model.AppRewardTemplate, model.AppReward{Provider: o.provider, Featured: true, Amount: amount.Times(b.Weight), Round: r.Number, Beneficiary: b.Beneficiary})
		}
	}
	if burned == 0 {
		return
	}
	if o.provider != o.sender && !featured {
		e.Tx.Create(model.AppRewardTemplate, model.AppReward{Provider: o.provider, Featured: false, Amount: burned, Round: r.Number, Beneficiary: model.NoParty})
	}
	e.Tx.Create(model.ValidatorRewardTemplate, model.ValidatorReward{User: o.sender, Amount: burned, Round: r.Number})
}

// rewardedRound is the round whose coupons a transfer earns: the one of its context, or the
// newest if that only kept the number and the price of one.
func rewardedRound(e *Execution) *model.Round {
	if r := e.rounds.OpenRound(); r.Contract != nil {
		return r
	}
	defer e.at(nil)()
	return e.rounds.OpenRound()
}

// transferBy exercises AmuletRules_Transfer as a part of another choice.
func transferBy(e *Execution, o order) (*sim.Settlement, model.Value, error) {
	controllers := o.controllers()
	if err := e.authorized(controllers, "exercising AmuletRules_Transfer"); err != nil {
		return nil, model.Value{}, err
	}
	a := e.Tx.Arena()
	defer e.at(o.context.round)()
	arg := a.Record(sim.TransferArgShape, orderValue(e, o), o.context.given, e.Tx.ExpectedDSO())
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_Transfer", arg, controllers...)
	s, err := settleOrder(e, o)
	if err != nil {
		return nil, model.Value{}, err
	}
	result := e.payments.TransferResult(s)
	e.Tx.Finish(at, result)
	return s, result, nil
}

func orderValue(e *Execution, o order) model.Value {
	a := e.Tx.Arena()
	fields := []model.Value{model.PartyValue(o.sender), model.PartyValue(o.provider), {Kind: model.KindList, Elems: o.inputs},
		e.payments.OutputsValue(&sim.Payment{Outputs: o.outputs})}
	if e.Tx.Version() > 0 {
		fields = append(fields, model.None())
	}
	return a.Record(sim.TransferShape, fields...)
}
