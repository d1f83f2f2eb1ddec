package choices

import (
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
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			e.expectsDSO(arg)
			ctx := transferContextOf(e, arg.Record("context"))
			t := arg.Record("transfer")
			o := order{sender: t.Party("sender"), provider: t.Party("provider"), inputs: t.List("inputs"), context: ctx,
				outputs: outputsOf(e, t.List("outputs")), beneficiaries: beneficiariesOf(t.Given("beneficiaries"))}
			defer e.at(ctx.round)()
			return e.Payments.TransferResult(settleOrder(e, o))
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

func transferContextOf(e *Execution, v model.Argument) transferContext {
	ctx := transferContext{given: *v.V, issuing: map[int64]*model.Round{}, rights: map[model.Party]model.Party{}}
	ctx.round = openMiningRound(e, v.Contract("openMiningRound"))
	issuing := v.List("issuingMiningRounds")
	for i := 0; i < len(issuing); i += 2 {
		r := e.fetchOf(model.IssuingRoundTemplate, uint64(issuing[i+1].Num)).Payload.(model.IssuingRound).Round
		key := (model.Argument{V: &issuing[i]}).Int64("number")
		require(key == r.Number, "the contract given for issuing round %[2]d is for round %[1]d", r.Number, key)
		require(r.IssuesAt <= e.Now(), "issuing of round %d does not open until %s", r.Number, microsText(r.IssuesAt))
		ctx.issuing[r.Number] = r
	}
	rights := v.List("validatorRights")
	for i := 0; i < len(rights); i += 2 {
		p := e.fetchOf(model.ValidatorRightTemplate, uint64(rights[i+1].Num)).Payload.(model.ValidatorRight)
		key := model.Party(rights[i].Num)
		require(p.User == key, "the validator right is for user %s, not %s", e.Names.Name(p.User), e.Names.Name(key))
		ctx.rights[p.User] = p.Validator
	}
	ctx.app = featuredApp(e, v)
	return ctx
}

// openMiningRound is the round of an open one's contract.
func openMiningRound(e *Execution, n uint64) *model.Round {
	r := e.fetchOf(model.OpenRoundTemplate, n).Payload.(model.OpenRound).Round
	require(r.OpensAt <= e.Now(), "mining round %d does not open until %s", r.Number, microsText(r.OpensAt))
	return r
}

// featuredApp is the provider of the featured app right in a context, or noParty.
func featuredApp(e *Execution, v model.Argument) model.Party {
	right := v.Given("featuredAppRight")
	if right == nil {
		return model.NoParty
	}
	return e.fetchOf(model.FeaturedAppRightTemplate, uint64(right.Num)).Payload.(model.FeaturedAppRight).Provider
}

// paymentContextOf reads the context of a choice that is not one of the rules.
func paymentContextOf(e *Execution, v model.Argument) transferContext {
	e.fetchOf(model.AmuletRulesTemplate, v.Contract("amuletRules"))
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

func outputsOf(e *Execution, list []model.Value) []sim.Output {
	if len(list) > maxOutputs {
		panic(broken("%d outputs are more than %d", len(list), maxOutputs).with("error_id", errorTooManyOutputs))
	}
	outputs := make([]sim.Output, len(list))
	for i := range list {
		v := model.Argument{V: &list[i]}
		o := sim.Output{Receiver: v.Party("receiver"), Amount: v.Numeric("amount")}
		positive("amount of output "+strconv.Itoa(i), o.Amount)
		ratio := v.Numeric("receiverFeeRatio")
		require(ratio >= 0 && ratio <= model.One, "receiverFeeRatio %s is not between 0 and 1", ratio)
		o.Lock = lockOf(v.Given("lock"))
		outputs[i] = o
	}
	return outputs
}

func positive(what string, amount model.Decimal) {
	if amount <= 0 {
		panic(broken("%s must be positive, not %s", what, amount).with("error_id", "amount-not-positive"))
	}
}

func lockOf(v *model.Value) *model.LockedAmulet {
	if v == nil {
		return nil
	}
	lock := model.Argument{V: v}
	holders := lock.List("holders")
	require(len(holders) != 0 && len(holders) <= maxLockHolders, "a lock has 1 to %d holders, not %d", maxLockHolders, len(holders))
	l := &model.LockedAmulet{Holder: model.Party(holders[0].Num), ExpiresAt: lock.Time("expiresAt"), Context: lock.OptionalText("optContext")}
	for _, h := range holders[1:] {
		l.Others = append(l.Others, model.Party(h.Num))
	}
	return l
}

// beneficiariesOf reads beneficiaries, whose weights are at most 1 together; v may be nil.
func beneficiariesOf(v *model.Value) []model.ActivityMarker {
	if v == nil {
		return nil
	}
	list, sum := sharesOf(v.Elems, "weight", "weight")
	require(sum <= model.One, "weights of beneficiaries add up to %s, more than 1", sum)
	return list
}

// sharesOf reads beneficiaries with their weights, which are in the field label and are called
// what, and adds the weights up.
func sharesOf(list []model.Value, label, what string) (shares []model.ActivityMarker, sum model.Decimal) {
	require(len(list) != 0 && len(list) <= maxBeneficiaries, "a reward has 1 to %d beneficiaries, not %d", maxBeneficiaries, len(list))
	for i := range list {
		b := model.Argument{V: &list[i]}
		s := model.ActivityMarker{Beneficiary: b.Party("beneficiary"), Weight: b.Numeric(label)}
		require(s.Weight > 0 && s.Weight <= model.One, "%s %s of a beneficiary is not above 0 and at most 1", what, s.Weight)
		shares, sum = append(shares, s), sum+s.Weight
	}
	return shares, sum
}

// payment is the transfer without its inputs.
func (o *order) payment() sim.Payment {
	return sim.Payment{Sender: o.sender, Provider: o.provider, Outputs: o.outputs}
}

// settleOrder executes a transfer within the node that is open, at the prices of the round
// that is set.
func settleOrder(e *Execution, o order) *sim.Settlement {
	s := &sim.Settlement{Payment: o.payment()}
	takeInputs(e, s, o)
	fee := e.Payments.OutputFee()
	have, needed := s.Inputs(), model.Decimal(0)
	for _, out := range o.outputs {
		needed += out.Amount + fee
		if needed < 0 || needed > have { // below 0: it overflowed
			panic(insufficientFunds(o.outputs, fee, have))
		}
	}
	fees := e.Payments.Pay(s)
	reward := sim.Reward{Round: rewardedRound(e), Sender: o.sender, Provider: o.provider, Fees: fees,
		Featured: o.context.app != model.NoParty && o.context.app == o.provider, Beneficiaries: o.beneficiaries}
	if !reward.Featured && o.provider == o.sender {
		reward.Provider = model.NoParty // nobody is an app of its own
	}
	e.Payments.Reward(reward)
	return s
}

// insufficientFunds is the refusal of a transfer whose inputs are worth less than it needs.
func insufficientFunds(outputs []sim.Output, fee, have model.Decimal) *Refusal {
	needed := model.Decimal(0)
	for _, o := range outputs {
		if needed += o.Amount + fee; needed < 0 {
			return broken("the outputs are worth more than there are coins")
		}
	}
	missing := needed - have
	return broken("Insufficient funds: the transfer needs %s, %s are missing", needed, missing).
		with("error_id", ErrorInsufficientFunds).with("requiredAmount", needed.String()).with("missingAmount", missing.String()).
		asInvalid(func(a *model.Arena) model.Value {
			return a.Variant("ITR_InsufficientFunds", a.Record(sim.MissingFundsShape, model.Numeric(missing)))
		})
}

// takeInputs archives the inputs of a transfer and adds up what they are worth.
func takeInputs(e *Execution, s *sim.Settlement, o order) {
	if len(o.inputs) > model.MaxInputs {
		panic(broken("%d inputs are more than %d", len(o.inputs), model.MaxInputs).with("error_id", ErrorTooManyInputs))
	}
	for i := range o.inputs {
		in := &o.inputs[i]
		require(in.Text != "ExtTransferInput", "this network does not use faucet coupons")
		takeInput(e, s, o, in.Text, e.fetch(uint64(in.Elems[0].Num)))
	}
}

func takeInput(e *Execution, s *sim.Settlement, o order, tag string, c *model.Contract) {
	if tag == "InputAmulet" {
		takeCoin(e, s, o.sender, c)
		return
	}
	p, ok := c.Payload.(model.Coupon)
	require(ok && p.Input() == tag && c.Template != model.UnallocatedTemplate, "contract %s of %s is not a %s", e.Names.IDs.AppendContractID(nil, c.Number), c.Template.Name, tag)
	r := mayCollect(e, o, c, p)
	if r == nil {
		r = o.context.round // a grant is worth the same in any
	}
	s.Add(p, p.Worth(r))
	e.Tx.Archive(c)
}

func takeCoin(e *Execution, s *sim.Settlement, sender model.Party, c *model.Contract) {
	p, ok := c.Payload.(model.Amulet)
	require(ok, "contract %s of %s is not a coin that can be spent", e.Names.IDs.AppendContractID(nil, c.Number), c.Template.Name)
	if p.Owner != sender {
		panic(broken("coin %s is not owned by the sender", e.Names.IDs.AppendContractID(nil, c.Number)).with("error_id", "not-owner"))
	}
	s.Coins = append(s.Coins, c)
	s.Note(c, -1)
	s.InCoins += e.Bank.Spend(c)
}

// mayCollect checks that the sender of an order may collect a coupon now. It returns the
// issuing round of the coupon, nil for a grant.
func mayCollect(e *Execution, o order, c *model.Contract, p model.Coupon) *model.Round {
	validator, other := o.context.rights[p.Owner()]
	_, byRight := p.(model.ValidatorReward)
	if owner := p.Owner(); owner != o.sender && !(byRight && other && validator == o.sender) {
		panic(broken("coupon %s belongs to %s, not to the sender", e.Names.IDs.AppendContractID(nil, c.Number), e.Names.Name(owner)).
			with("error_id", "not-owner"))
	}
	var number int64
	switch p := p.(type) {
	case model.ActivityRecord:
		e.later("expiry of the activity record at", p.ExpiresAt)
		return nil
	case model.FundCoupon:
		e.later("expiry of the development fund coupon at", p.ExpiresAt)
		require(p.MintAfter <= e.Now(), "the development fund coupon cannot be minted before %s", microsText(p.MintAfter))
		fundRules(e)
		return nil
	case model.CouponV2:
		e.later("expiry of the reward coupon at", p.ExpiresAt)
		return nil
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
		panic(broken("no issuing round is given for a coupon of round %d", number).with("error_id", "missing-issuing-round"))
	}
	return r
}

// rewardedRound is the round whose coupons a transfer earns: the one of its context, or the
// newest if that only kept the number and the price of one.
func rewardedRound(e *Execution) *model.Round {
	if r := e.Rounds.OpenRound(); r.Contract != nil {
		return r
	}
	defer e.at(nil)()
	return e.Rounds.OpenRound()
}

// transferBy exercises AmuletRules_Transfer as a part of another choice.
func transferBy(e *Execution, o order) (*sim.Settlement, model.Value) {
	p := o.payment()
	e.authorized(p.Controllers(), "exercising AmuletRules_Transfer")
	defer e.at(o.context.round)()
	inputs := model.Value{Kind: model.KindList, Elems: o.inputs}
	return e.Payments.Transfer(&p, inputs, o.context.given, func() *sim.Settlement { return settleOrder(e, o) })
}
