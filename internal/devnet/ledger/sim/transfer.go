package sim

import (
	"fmt"
	"slices"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	TransferArgShape     = NewShape("transfer", "context", "expectedDso")
	TransferShape        = NewShape("sender", "provider", "inputs", "outputs", "beneficiaries")
	outputShape          = NewShape("receiver", "receiverFeeRatio", "amount", "lock", "meta")
	TransferContextShape = NewShape("openMiningRound", "issuingMiningRounds", "validatorRights", "featuredAppRight")
	PaymentContextShape  = NewShape("amuletRules", "context")
	transferResultShape  = NewShape("round", "summary", "createdAmulets", "senderChangeAmulet", "meta")
	transferSummaryShape = NewShape("inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount", "inputAmuletAmount", "balanceChanges", "holdingFees", "outputFees", "senderChangeFee", "senderChangeAmount", "amuletPrice", "inputValidatorFaucetAmount", "inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount")
	balanceChangeShape   = NewShape("changeToInitialAmountAsOfRoundZero", "changeToHoldingFeesRate")
	appBeneficiaryShape  = NewShape("beneficiary", "weight")
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
	Sender  Party
	Coins   []*Contract
	coupons []*Contract // of round
	round   *Round      // the issuing round of coupons, or nil
	Outputs []Output
	// provider is the app on whose behalf the sender acts; it earns the reward.
	Provider Party
}

// Output is one output of a payment; a lock makes it a locked coin.
type Output struct {
	Receiver Party
	Amount   Decimal
	Lock     *LockedAmulet // only the lock part is read
	reason   string
}

// Controllers are the parties that must agree to a payment: nobody is given a coin, or made the
// holder of a lock, without. The governance party agrees to all that its rules allow.
func (p *Payment) Controllers() []Party {
	ps := []Party{p.Sender}
	if p.Provider != NoParty {
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
	Created   []*Contract // by output
	Change    *Contract   // or nil
	InCoins   Decimal
	inApp     Decimal
	inValid   Decimal
	inSv      Decimal
	inFaucet  Decimal
	inRecords Decimal
	inFund    Decimal
	Fees      []Decimal // by output
	ChangeFee Decimal
	balances  []balanceChange
}

// balanceChange sums up what happened to the coins of one party: their amounts
// as if created in round 0, and their holding fees.
type balanceChange struct {
	owner        Party
	amount, rate Decimal
}

func (s *Settlement) Inputs() Decimal {
	return s.InCoins + s.inApp + s.inValid + s.inSv + s.inFaucet + s.inRecords + s.inFund
}

func (s *Settlement) changeAmount() Decimal {
	if s.Change == nil {
		return 0
	}
	return s.Change.Payload.(Amulet).Amount
}

// OutputFee is the fee for creating one coin.
func (x *Payments) OutputFee() Decimal {
	if x.Tx.Version() > 0 {
		return 0
	}
	return CreateFeeUSD.Over(x.rounds.OpenRound().Price)
}

// takeCoins removes up to limit coins from a wallet and returns them with their sum.
func (x *Bank) takeCoins(owner Party, limit int) (taken []*Contract, sum Decimal) {
	if x.users.isManaged(owner) {
		return nil, 0
	}
	w := &x.Wallets[owner]
	for len(w.Coins) > 0 && len(taken) < limit {
		at, last := x.Random.Below(len(w.Coins)), len(w.Coins)-1
		c := w.Coins[at]
		w.Coins[at] = w.Coins[last]
		w.Coins[last] = nil
		w.Coins = w.Coins[:last]
		if c.Active() {
			taken = append(taken, c)
			sum += c.Payload.(Amulet).Amount
		}
	}
	return taken, sum
}

// returnCoins puts coins back that were not used after all.
func (x *Bank) returnCoins(owner Party, cs []*Contract) {
	x.Wallets[owner].Coins = append(x.Wallets[owner].Coins, cs...)
}

// gather takes coins until they are worth at least amount, up to maxInputs.
func (x *Bank) gather(owner Party, amount Decimal) (taken []*Contract, ok bool) {
	var sum Decimal
	for sum < amount && len(taken) < MaxInputs {
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
func (x *Bank) newCoin(owner Party, amount Decimal) *Contract {
	p := x.CoinPayload(owner, amount)
	c := x.Tx.Create(AmuletTemplate, p)
	x.Supply.Circulating += amount
	x.Wallets[owner].Coins = append(x.Wallets[owner].Coins, c)
	if p.ExpiresIn()-p.Created < dustRounds {
		x.rounds.noteDust(p.ExpiresIn(), c)
	}
	return c
}

func (x *Bank) CoinPayload(owner Party, amount Decimal) Amulet {
	r := x.rounds.OpenRound()
	return Amulet{Owner: owner, Amount: amount, Created: r.Number, Rate: HoldingFeeUSD.Over(r.Price)}
}

func (x *Bank) newLockedCoin(owner Party, amount Decimal, lock LockedAmulet) *Contract {
	lock.Amulet = x.CoinPayload(owner, amount)
	c := x.Tx.Create(LockedAmuletTemplate, lock)
	x.Supply.Circulating += amount
	return c
}

// Spend archives a coin, locked or not, and returns its amount.
func (x *Bank) Spend(c *Contract) Decimal {
	p := CoinOf(c)
	x.Tx.Archive(c)
	x.Supply.Circulating -= p.Amount
	return p.Amount
}

// ExpectedDSO is the argument by which a caller makes sure of the network it is on.
func (x *transaction) ExpectedDSO() Value { return x.Arena().Some(PartyValue(Dso)) }

// settle executes a payment within the node that is open: it archives the inputs,
// creates outputs and change, and hands out the rewards for it.
func (x *Payments) settle(p Payment) *Settlement {
	s := &Settlement{Payment: p}
	x.consumeInputs(s)
	x.bank.Mint(s.Inputs() - s.InCoins)
	rest := s.Inputs()
	for _, o := range p.Outputs {
		s.Created = append(s.Created, x.createOutput(s, o))
		fee := x.OutputFee()
		s.Fees = append(s.Fees, fee)
		rest -= o.Amount + fee
	}
	if rest < 0 {
		x.Tx.fail(fmt.Errorf("payment of party %d lacks %s coins", p.Sender, -rest))
	}
	s.ChangeFee = min(rest, x.OutputFee())
	if rest -= s.ChangeFee; rest > 0 {
		s.Change = x.bank.newCoin(p.Sender, rest)
		s.Note(s.Change, 1)
	}
	fees := s.ChangeFee
	for _, f := range s.Fees {
		fees += f
	}
	x.bank.Burn(fees)
	x.reward(s, fees)
	return s
}

func (x *Payments) consumeInputs(s *Settlement) {
	for _, c := range s.Coins {
		s.Note(c, -1)
		s.InCoins += x.bank.Spend(c)
	}
	for _, c := range s.coupons {
		p := c.Payload.(Coupon)
		s.Add(p, p.Worth(s.round))
		x.Tx.Archive(c)
	}
}

// Add counts a coupon among the inputs.
func (s *Settlement) Add(p Coupon, worth Decimal) {
	switch p.(type) {
	case AppReward, CouponV2:
		s.inApp += worth
	case ValidatorReward:
		s.inValid += worth
	case SvReward:
		s.inSv += worth
	case Liveness:
		s.inFaucet += worth
	case ActivityRecord:
		s.inRecords += worth
	case FundCoupon:
		s.inFund += worth
	}
}

func (x *Payments) createOutput(s *Settlement, o Output) *Contract {
	var c *Contract
	if o.Lock != nil {
		c = x.bank.newLockedCoin(s.Sender, o.Amount, *o.Lock)
	} else {
		c = x.bank.newCoin(o.Receiver, o.Amount)
	}
	s.Note(c, 1)
	return c
}

// Note adds a created (sign 1) or archived (sign -1) coin to its owner's balance change.
func (s *Settlement) Note(c *Contract, sign Decimal) {
	coin := CoinOf(c)
	at := slices.IndexFunc(s.balances, func(b balanceChange) bool { return b.owner == coin.Owner })
	if at < 0 {
		at = len(s.balances)
		s.balances = append(s.balances, balanceChange{owner: coin.Owner})
	}
	s.balances[at].amount += sign * (coin.Amount + Decimal(coin.Created)*coin.Rate)
	s.balances[at].rate += sign * coin.Rate
}

// reward gives the app a coupon if it is featured, and in return for burned fees
// one to the app and one to the sender for its validator.
func (x *Payments) reward(s *Settlement, fees Decimal) {
	r := x.rounds.OpenRound()
	featured := s.Provider != NoParty && x.apps.Right(s.Provider) != nil
	if featured {
		x.Tx.Provider = s.Provider
	}
	if featured && !x.rewards.RewardsByTraffic() {
		amount := ExtraRewardUSD.Over(r.Price)
		beneficiary := NoParty
		if x.Random.Percent(15) {
			beneficiary = x.Names.Providers.Of(x.Random)
		}
		x.rounds.addCoupon(r, AppRewardTemplate, AppReward{s.Provider, true, amount, r.Number, beneficiary})
		r.FeaturedTotal += amount
	}
	if fees == 0 {
		return
	}
	if s.Provider != NoParty && !featured {
		x.rounds.addCoupon(r, AppRewardTemplate, AppReward{s.Provider, false, fees, r.Number, NoParty})
		r.UnfeaturedTotal += fees
	}
	x.rounds.addCoupon(r, ValidatorRewardTemplate, ValidatorReward{s.Sender, fees, r.Number})
	r.ValidatorTotal += fees
}

// inputsValue lists the inputs of a payment as a choice argument.
func (x *Payments) inputsValue(p *Payment) Value {
	a := x.Tx.Arena()
	vs := make([]Value, 0, len(p.Coins)+len(p.coupons))
	for _, c := range p.Coins {
		vs = append(vs, a.Variant("InputAmulet", ContractID(c.Number)))
	}
	for _, c := range p.coupons {
		vs = append(vs, a.Variant(c.Payload.(Coupon).Input(), ContractID(c.Number)))
	}
	return a.List(vs...)
}

// context names the rounds and rights that a payment refers to.
func (x *Payments) context(p *Payment) Value {
	a := x.Tx.Arena()
	issuing, rights := a.GenMap(), a.GenMap()
	if p.round != nil {
		issuing = a.GenMap(RoundValue(a, p.round.Number), ContractID(p.round.Contract.Number))
	}
	for _, c := range p.coupons {
		if _, ok := c.Payload.(ValidatorReward); ok {
			rights = a.GenMap(PartyValue(p.Sender), ContractID(x.validatorRights[p.Sender]))
		}
	}
	right := x.apps.Right(p.Provider)
	return a.Record(TransferContextShape, ContractID(x.rounds.OpenRound().Contract.Number), issuing, rights,
		Optional(a, right != nil, IdOf(right)))
}

// paymentContext is the context with the rules contract, for choices on others.
func (x *Payments) paymentContext(p *Payment) Value {
	return x.Tx.Arena().Record(PaymentContextShape, ContractID(x.Rules.Amulet.Number), x.context(p))
}

func (x *Payments) OutputsValue(p *Payment) Value {
	a := x.Tx.Arena()
	vs := make([]Value, len(p.Outputs))
	for i, o := range p.Outputs {
		lock := None()
		if o.Lock != nil {
			lock = a.Some(o.Lock.Lock(a))
		}
		fields := []Value{PartyValue(o.Receiver), Numeric(0), Numeric(o.Amount), lock}
		if x.Tx.Version() > 0 {
			fields = append(fields, Optional(a, o.reason != "", Metadata(a, ReasonMetaKey, o.reason)))
		}
		vs[i] = a.Record(outputShape, fields...)
	}
	return a.List(vs...)
}

// transfer exercises AmuletRules_Transfer for a payment.
func (x *Payments) transfer(p Payment) (*Settlement, Value) {
	a := x.Tx.Arena()
	provider := p.Provider
	if provider == NoParty {
		provider = p.Sender
	}
	fields := []Value{PartyValue(p.Sender), PartyValue(provider), x.inputsValue(&p), x.OutputsValue(&p)}
	if x.Tx.Version() > 0 {
		fields = append(fields, None())
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Transfer", a.Record(TransferArgShape,
		a.Record(TransferShape, fields...), x.context(&p), x.Tx.ExpectedDSO()), p.Controllers()...)
	s := x.settle(p)
	result := x.TransferResult(s)
	x.Tx.Finish(at, result)
	return s, result
}

func (x *Payments) TransferResult(s *Settlement) Value {
	a := x.Tx.Arena()
	created := make([]Value, len(s.Created))
	for i, c := range s.Created {
		tag := "TransferResultAmulet"
		if c.Template == LockedAmuletTemplate {
			tag = "TransferResultLockedAmulet"
		}
		created[i] = a.Variant(tag, ContractID(c.Number))
	}
	fields := []Value{x.rounds.RoundValue(), x.Summary(s), a.List(created...), x.ChangeID(s)}
	return a.Record(transferResultShape, x.Tx.WithMeta(fields, None())...)
}

// WithMeta adds a trailing optional field that only the newer version has.
func (x *transaction) WithMeta(fields []Value, meta Value) []Value {
	if x.Version() == 0 {
		return fields
	}
	return append(fields, meta)
}

func (x *Payments) ChangeID(s *Settlement) Value {
	return Optional(x.Tx.Arena(), s.Change != nil, IdOf(s.Change))
}

func (x *Payments) Summary(s *Settlement) Value {
	a := x.Tx.Arena()
	fees := make([]Value, len(s.Fees))
	for i, f := range s.Fees {
		fees[i] = Numeric(f)
	}
	fields := []Value{Numeric(s.inApp), Numeric(s.inValid), Numeric(s.inSv), Numeric(s.InCoins),
		x.balancesValue(s), Numeric(0), a.List(fees...), Numeric(s.ChangeFee), Numeric(s.changeAmount()),
		Numeric(x.rounds.OpenRound().Price), a.Some(Numeric(s.inFaucet))}
	if x.Tx.Version() > 0 {
		fields = append(fields, a.Some(Numeric(s.inRecords)), Optional(a, s.inFund > 0, Numeric(s.inFund)))
	}
	return a.Record(transferSummaryShape, fields...)
}

func (x *Payments) balancesValue(s *Settlement) Value {
	a := x.Tx.Arena()
	slices.SortFunc(s.balances, func(b, c balanceChange) int {
		return x.Names.Compare(b.owner, c.owner)
	})
	vs := make([]Value, 0, 2*len(s.balances))
	for _, b := range s.balances {
		vs = append(vs, PartyValue(b.owner), a.Record(balanceChangeShape, Numeric(b.amount), Numeric(b.rate)))
	}
	return a.GenMap(vs...)
}

// WithoutDSO leaves the governance party out, which agrees to all that its rules allow.
func WithoutDSO(ps []Party) []Party {
	return slices.DeleteFunc(ps, func(p Party) bool { return p == Dso })
}
