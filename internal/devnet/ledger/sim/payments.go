package sim

import (
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	transferArgShape     = model.NewShape("transfer", "context", "expectedDso")
	transferShape        = model.NewShape("sender", "provider", "inputs", "outputs", "beneficiaries")
	outputShape          = model.NewShape("receiver", "receiverFeeRatio", "amount", "lock", "meta")
	TransferContextShape = model.NewShape("openMiningRound", "issuingMiningRounds", "validatorRights", "featuredAppRight")
	PaymentContextShape  = model.NewShape("amuletRules", "context")
	transferResultShape  = model.NewShape("round", "summary", "createdAmulets", "senderChangeAmulet", "meta")
	transferSummaryShape = model.NewShape("inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount", "inputAmuletAmount", "balanceChanges", "holdingFees", "outputFees", "senderChangeFee", "senderChangeAmount", "amuletPrice", "inputValidatorFaucetAmount", "inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount")
	balanceChangeShape   = model.NewShape("changeToInitialAmountAsOfRoundZero", "changeToHoldingFeesRate")
	appBeneficiaryShape  = model.NewShape("beneficiary", "weight")
)

// Payments executes payments.
type Payments struct {
	Core
	bank    *Bank
	rounds  *Rounds
	rewards *TrafficRewards
	apps    *Apps

	// validatorRights holds contract numbers by party. These contracts are not
	// public, but the arguments of transfers refer to them.
	validatorRights []uint64
}

// Payment is a movement of coins: inputs of one sender to outputs and change.
type Payment struct {
	Sender  model.Party
	Coins   []*model.Contract
	coupons []*model.Contract // of round
	round   *model.Round      // the issuing round of coupons, or nil
	Outputs []Output
	// provider is the app on whose behalf the sender acts; it earns the reward.
	Provider model.Party
}

// Output is one output of a payment; a lock makes it a locked coin.
type Output struct {
	Receiver model.Party
	Amount   model.Decimal
	Lock     *model.LockedAmulet // only the lock part is read
	reason   string
}

// Controllers are the parties that must agree to a payment: nobody is given a coin, or made the
// holder of a lock, without. The governance party agrees to all that its rules allow.
func (p *Payment) Controllers() []model.Party {
	ps := []model.Party{p.Sender}
	if p.Provider != model.NoParty {
		ps = append(ps, p.Provider)
	}
	for _, out := range p.Outputs {
		ps = append(ps, out.Receiver)
		if out.Lock != nil {
			ps = append(append(ps, out.Lock.Holder), out.Lock.Others...)
		}
	}
	return WithoutDSO(ps)
}

// Settlement is a payment that was executed.
type Settlement struct {
	Payment
	Created   []*model.Contract // by output
	Change    *model.Contract   // or nil
	InCoins   model.Decimal
	inApp     model.Decimal
	inValid   model.Decimal
	inSv      model.Decimal
	inFaucet  model.Decimal // a part of inValid
	inRecords model.Decimal
	inFund    model.Decimal
	Fees      []model.Decimal // by output
	ChangeFee model.Decimal
	balances  []balanceChange
}

// balanceChange sums up what happened to the coins of one party: their amounts
// as if created in round 0, and their holding fees.
type balanceChange struct {
	owner        model.Party
	amount, rate model.Decimal
}

// Inputs is what all inputs are worth.
func (s *Settlement) Inputs() model.Decimal {
	return s.InCoins + s.inApp + s.inValid + s.inSv + s.inRecords + s.inFund
}

func (s *Settlement) changeAmount() model.Decimal {
	if s.Change == nil {
		return 0
	}
	return s.Change.Payload.(model.Amulet).Amount
}

// OutputFee is the fee for creating one coin.
func (x *Payments) OutputFee() model.Decimal {
	if x.Tx.Version() > 0 {
		return 0
	}
	return model.CreateFeeUSD.Over(x.rounds.OpenRound().Price)
}

// settle executes a payment within the node that is open: it archives the inputs,
// creates outputs and change, and hands out the rewards for it.
func (x *Payments) settle(p Payment) *Settlement {
	s := &Settlement{Payment: p}
	x.consumeInputs(s)
	fees := x.Pay(s)
	x.reward(s, fees)
	return s
}

// Pay creates the outputs and the change of a payment whose inputs were archived, and burns
// the fees, which it returns.
func (x *Payments) Pay(s *Settlement) (fees model.Decimal) {
	x.bank.Mint(s.Inputs() - s.InCoins)
	rest := s.Inputs()
	for _, o := range s.Outputs {
		s.Created = append(s.Created, x.createOutput(s, o))
		fee := x.OutputFee()
		s.Fees = append(s.Fees, fee)
		rest -= o.Amount + fee
	}
	if rest < 0 {
		x.Tx.fail(fmt.Errorf("payment of party %d lacks %s coins", s.Sender, -rest))
	}
	s.ChangeFee = min(rest, x.OutputFee())
	if rest -= s.ChangeFee; rest > 0 {
		s.Change = x.bank.NewCoin(s.Sender, rest)
		s.Note(s.Change, 1)
	}
	fees = s.ChangeFee
	for _, f := range s.Fees {
		fees += f
	}
	x.bank.Burn(fees)
	return fees
}

func (x *Payments) consumeInputs(s *Settlement) {
	for _, c := range s.Coins {
		s.Note(c, -1)
		s.InCoins += x.bank.Spend(c)
	}
	for _, c := range s.coupons {
		p := c.Payload.(model.Coupon)
		s.Add(p, p.Worth(s.round))
		x.Tx.Archive(c)
	}
}

// Add counts a coupon among the inputs.
func (s *Settlement) Add(p model.Coupon, worth model.Decimal) {
	switch p.(type) {
	case model.AppReward, model.CouponV2:
		s.inApp += worth
	case model.ValidatorReward:
		s.inValid += worth
	case model.SvReward:
		s.inSv += worth
	case model.Liveness:
		s.inValid += worth
		s.inFaucet += worth
	case model.ActivityRecord:
		s.inRecords += worth
	case model.FundCoupon:
		s.inFund += worth
	}
}

func (x *Payments) createOutput(s *Settlement, o Output) *model.Contract {
	var c *model.Contract
	if o.Lock != nil {
		c = x.bank.NewLockedCoin(o.Receiver, o.Amount, *o.Lock)
	} else {
		c = x.bank.NewCoin(o.Receiver, o.Amount)
	}
	s.Note(c, 1)
	return c
}

// Note adds a created (sign 1) or archived (sign -1) coin to its owner's balance change.
func (s *Settlement) Note(c *model.Contract, sign model.Decimal) {
	coin := model.CoinOf(c)
	at := slices.IndexFunc(s.balances, func(b balanceChange) bool { return b.owner == coin.Owner })
	if at < 0 {
		at = len(s.balances)
		s.balances = append(s.balances, balanceChange{owner: coin.Owner})
	}
	s.balances[at].amount += sign * (coin.Amount + model.Decimal(coin.Created)*coin.Rate)
	s.balances[at].rate += sign * coin.Rate
}

// reward rewards a payment of the simulated users.
func (x *Payments) reward(s *Settlement, fees model.Decimal) {
	r := Reward{Round: x.rounds.OpenRound(), Sender: s.Sender, Provider: s.Provider, Fees: fees,
		Featured: s.Provider != model.NoParty && x.apps.Right(s.Provider) != nil}
	if r.Featured && !x.rewards.RewardsByTraffic() && x.Random.Percent(15) {
		r.Beneficiaries = []model.ActivityMarker{{Beneficiary: x.Names.Providers.Of(x.Random), Weight: model.One}}
	}
	x.Reward(r)
}

// Reward says who is rewarded for a payment.
type Reward struct {
	Round    *model.Round
	Sender   model.Party
	Provider model.Party // the app, or NoParty
	Featured bool        // whether the app is featured
	Fees     model.Decimal
	// Beneficiaries get the coupon of a featured app, by their weights; the app itself if there
	// are none.
	Beneficiaries []model.ActivityMarker
}

// Reward gives the app a coupon if it is featured, and in return for burned fees
// one to the app and one to the sender for its validator.
func (x *Payments) Reward(w Reward) {
	r := w.Round
	if w.Featured {
		x.Tx.Provider = w.Provider
	}
	if w.Featured && !x.rewards.RewardsByTraffic() {
		amount, beneficiaries := model.ExtraRewardUSD.Over(r.Price), w.Beneficiaries
		if len(beneficiaries) == 0 {
			beneficiaries = []model.ActivityMarker{{Beneficiary: model.NoParty, Weight: model.One}}
		}
		for _, b := range beneficiaries {
			x.rounds.addCoupon(r, model.AppRewardTemplate, model.AppReward{Provider: w.Provider, Featured: true,
				Amount: amount.Times(b.Weight), Round: r.Number, Beneficiary: b.Beneficiary})
		}
	}
	if w.Fees == 0 {
		return
	}
	if w.Provider != model.NoParty && !w.Featured {
		x.rounds.addCoupon(r, model.AppRewardTemplate, model.AppReward{Provider: w.Provider, Amount: w.Fees, Round: r.Number, Beneficiary: model.NoParty})
	}
	x.rounds.addCoupon(r, model.ValidatorRewardTemplate, model.ValidatorReward{User: w.Sender, Amount: w.Fees, Round: r.Number})
}

// inputsValue lists the inputs of a payment as a choice argument.
func (x *Payments) inputsValue(p *Payment) model.Value {
	a := x.Tx.Arena()
	vs := make([]model.Value, 0, len(p.Coins)+len(p.coupons))
	for _, c := range p.Coins {
		vs = append(vs, a.Variant("InputAmulet", model.ContractID(c.Number)))
	}
	for _, c := range p.coupons {
		vs = append(vs, a.Variant(c.Payload.(model.Coupon).Input(), model.ContractID(c.Number)))
	}
	return a.List(vs...)
}

// context names the rounds and rights that a payment refers to.
func (x *Payments) context(p *Payment) model.Value {
	a := x.Tx.Arena()
	issuing, rights := a.GenMap(), a.GenMap()
	if p.round != nil {
		issuing = a.GenMap(model.RoundValue(a, p.round.Number), model.ContractID(p.round.Contract.Number))
	}
	for _, c := range p.coupons {
		if _, ok := c.Payload.(model.ValidatorReward); ok {
			rights = a.GenMap(model.PartyValue(p.Sender), model.ContractID(x.validatorRights[p.Sender]))
		}
	}
	right := x.apps.Right(p.Provider)
	return a.Record(TransferContextShape, model.ContractID(x.rounds.OpenRound().Contract.Number), issuing, rights,
		model.Optional(a, right != nil, IdOf(right)))
}

// paymentContext is the context with the rules contract, for choices on others.
func (x *Payments) paymentContext(p *Payment) model.Value {
	return x.Tx.Arena().Record(PaymentContextShape, model.ContractID(x.Rules.Amulet.Number), x.context(p))
}

// outputsValue lists the outputs of a payment as a choice argument.
func (x *Payments) outputsValue(p *Payment) model.Value {
	a := x.Tx.Arena()
	return model.ListOf(a, p.Outputs, func(o Output) model.Value {
		lock := model.None()
		if o.Lock != nil {
			lock = a.Some(o.Lock.Lock(a))
		}
		fields := []model.Value{model.PartyValue(o.Receiver), model.Numeric(0), model.Numeric(o.Amount), lock}
		if x.Tx.Version() > 0 {
			fields = append(fields, model.Optional(a, o.reason != "", model.Metadata(a, model.ReasonMetaKey, o.reason)))
		}
		return a.Record(outputShape, fields...)
	})
}

// transfer exercises AmuletRules_Transfer for a payment.
func (x *Payments) transfer(p Payment) (*Settlement, model.Value) {
	return x.Transfer(&p, x.inputsValue(&p), x.context(&p), func() *Settlement { return x.settle(p) })
}

// Transfer exercises AmuletRules_Transfer for a payment, which settle executes, and returns the
// result of the choice as well.
func (x *Payments) Transfer(p *Payment, inputs, context model.Value, settle func() *Settlement) (*Settlement, model.Value) {
	a, provider := x.Tx.Arena(), p.Provider
	if provider == model.NoParty {
		provider = p.Sender
	}
	fields := []model.Value{model.PartyValue(p.Sender), model.PartyValue(provider), inputs, x.outputsValue(p)}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Transfer", a.Record(transferArgShape,
		a.Record(transferShape, x.Tx.WithMeta(fields, model.None())...), context, x.Tx.ExpectedDSO()), p.Controllers()...)
	s := settle()
	result := x.TransferResult(s)
	x.Tx.Finish(at, result)
	return s, result
}

// TransferResult is the result of a transfer.
func (x *Payments) TransferResult(s *Settlement) model.Value {
	a := x.Tx.Arena()
	created := model.ListOf(a, s.Created, func(c *model.Contract) model.Value {
		tag := "TransferResultAmulet"
		if c.Template == model.LockedAmuletTemplate {
			tag = "TransferResultLockedAmulet"
		}
		return a.Variant(tag, model.ContractID(c.Number))
	})
	fields := []model.Value{x.rounds.RoundValue(), x.Summary(s), created, x.ChangeID(s)}
	return a.Record(transferResultShape, x.Tx.WithMeta(fields, model.None())...)
}

// ChangeID is the contract id of the change, if there is any, as an optional.
func (x *Payments) ChangeID(s *Settlement) model.Value {
	return model.Optional(x.Tx.Arena(), s.Change != nil, IdOf(s.Change))
}

// Summary is the summary in the result of a transfer.
func (x *Payments) Summary(s *Settlement) model.Value {
	a := x.Tx.Arena()
	fields := []model.Value{model.Numeric(s.inApp), model.Numeric(s.inValid), model.Numeric(s.inSv), model.Numeric(s.InCoins),
		x.balancesValue(s), model.Numeric(0), model.ListOf(a, s.Fees, model.Numeric), model.Numeric(s.ChangeFee), model.Numeric(s.changeAmount()),
		model.Numeric(x.rounds.OpenRound().Price), a.Some(model.Numeric(s.inFaucet))}
	if x.Tx.Version() > 0 {
		fields = append(fields, a.Some(model.Numeric(s.inRecords)), model.Optional(a, s.inFund > 0, model.Numeric(s.inFund)))
	}
	return a.Record(transferSummaryShape, fields...)
}

func (x *Payments) balancesValue(s *Settlement) model.Value {
	a := x.Tx.Arena()
	slices.SortFunc(s.balances, func(b, c balanceChange) int {
		return x.Names.Compare(b.owner, c.owner)
	})
	vs := make([]model.Value, 0, 2*len(s.balances))
	for _, b := range s.balances {
		vs = append(vs, model.PartyValue(b.owner), a.Record(balanceChangeShape, model.Numeric(b.amount), model.Numeric(b.rate)))
	}
	return a.GenMap(vs...)
}

// WithoutDSO leaves the governance party out, which agrees to all that its rules allow.
func WithoutDSO(ps []model.Party) []model.Party {
	return slices.DeleteFunc(ps, func(p model.Party) bool { return p == model.Dso })
}

// AmuletSum is how results describe a coin that was created.
func (x *Payments) AmuletSum(c *model.Contract) model.Value {
	return x.Tx.Arena().Record(amuletSumShape, model.ContractID(c.Number), model.Numeric(x.rounds.OpenRound().Price), x.rounds.RoundValue())
}

// collectGrant turns a grant into coins of its beneficiary.
func (x *Payments) collectGrant(beneficiary model.Party, c *model.Contract) {
	p := Payment{Sender: beneficiary, coupons: []*model.Contract{c}, Provider: model.NoParty}
	p.Coins, _ = x.bank.takeCoins(beneficiary, 2)
	x.Tx.Current.Workflow = "collect-rewards"
	x.transfer(p)
}

// payAndBurn executes a payment whose single output is burned at once.
func (x *Payments) payAndBurn(p Payment) (*Settlement, model.Value) {
	s, result := x.transfer(p)
	x.bank.Burn(x.bank.Spend(s.Created[0]))
	return s, result
}

// takeFunds takes up to limit coins of sender for a payment of so many outputs. Without
// anything left to spend after fees it takes none.
func (x *Payments) takeFunds(sender model.Party, limit, outputs int) (p Payment, spendable model.Decimal, ok bool) {
	taken, sum := x.bank.takeCoins(sender, limit)
	spendable = sum - model.Decimal(outputs+1)*x.OutputFee()
	if spendable < model.One/1000 {
		x.bank.returnCoins(sender, taken)
		return Payment{}, 0, false
	}
	return Payment{Sender: sender, Coins: taken, Provider: model.NoParty}, spendable, true
}

// Tap has p tap coins.
func (x *Payments) Tap(p model.Party, amount model.Decimal) *model.Contract {
	tap := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_DevNet_Tap", x.Tx.Arena().Record(tapShape,
		model.PartyValue(p), model.Numeric(amount), model.ContractID(x.rounds.OpenRound().Contract.Number)), p)
	c := x.MintTap(p, amount)
	x.Tx.Finish(tap, x.CoinResult(c))
	return c
}

// MintTap mints the coins of a tap for p, in a node of its own.
func (x *Payments) MintTap(p model.Party, amount model.Decimal) *model.Contract {
	a := x.Tx.Arena()
	fields := []model.Value{model.PartyValue(p), model.Numeric(amount), model.ContractID(x.rounds.OpenRound().Contract.Number)}
	if x.Tx.Version() > 0 {
		fields = append(fields, a.Some(model.Text("tap")))
	}
	mint := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Mint", a.Record(mintShape, fields...), model.Dso, p)
	x.bank.Mint(amount)
	c := x.bank.NewCoin(p, amount)
	x.Tx.Finish(mint, a.Record(MintDoneShape, x.AmuletSum(c)))
	return c
}

// CoinResult is the result of a choice that only creates a coin.
func (x *Payments) CoinResult(c *model.Contract) model.Value {
	return x.Tx.Arena().Record(coinDoneShape, x.Tx.WithMeta([]model.Value{x.AmuletSum(c)}, model.None())...)
}

// unlockBy turns a locked coin into one of its owner by a choice, and returns that.
func (x *Payments) unlockBy(c *model.Contract, choice string, actors ...model.Party) *model.Contract {
	round := model.ContractID(x.rounds.OpenRound().Contract.Number)
	at := x.Tx.Consume(c, choice, x.Tx.Arena().Record(UnlockShape, round), actors...)
	coin := x.bank.Unlocked(c)
	x.Tx.Finish(at, x.CoinResult(coin))
	return coin
}
