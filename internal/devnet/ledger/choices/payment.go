package choices

import (
	"slices"
	"time"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// collectWithin is how long, in µs, an app may take to collect a payment.
const collectWithin = int64(24 * time.Hour / time.Microsecond)

var (
	paymentAcceptedShape   = NewShape("acceptedPayment", "senderChangeAmulet")
	paymentTerminatedShape = NewShape("terminatedAppPayment")
	paymentCollectedShape  = NewShape("receiverAmulets")
	paymentReturnedShape   = NewShape("amulet")
)

// addPaymentChoices are payments that apps ask for.
func addPaymentChoices(all *choices) {
	all.creations[PaymentRequestTemplate] = readPaymentRequest
	sender := byPayload(func(p PaymentRequest) []Party { return []Party{p.Sender} })
	provider := byPayload(func(p PaymentRequest) []Party { return []Party{p.Provider} })
	all.on(PaymentRequestTemplate, "AppPaymentRequest_Accept", consuming(
		func(_ *Execution, c *Contract, arg Argument) []Party {
			return []Party{c.Payload.(PaymentRequest).Sender, arg.Party("walletProvider")}
		}, acceptPayment))
	all.on(PaymentRequestTemplate, "AppPaymentRequest_Reject", consuming(sender, terminatePayment))
	all.on(PaymentRequestTemplate, "AppPaymentRequest_Withdraw", consuming(provider, terminatePayment))
	all.on(PaymentRequestTemplate, "AppPaymentRequest_Expire", consuming(byArgument("actor"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			p, actor := c.Payload.(PaymentRequest), arg.Party("actor")
			if signatories, _ := p.Stakeholders(nil, nil); !slices.Contains(signatories, actor) {
				return Value{}, broken("%s is no party to the payment", e.Names.Name(actor))
			}
			if p.ExpiresAt > e.Now() {
				return Value{}, broken("the request expires at %s only", microsText(p.ExpiresAt))
			}
			return terminatePayment(e, c, arg)
		}))

	collector := byPayload(func(p AcceptedPayment) []Party { return []Party{p.Provider} })
	all.on(AcceptedPaymentTemplate, "AcceptedAppPayment_Collect", consuming(collector, collectAppPayment))
	all.on(AcceptedPaymentTemplate, "AcceptedAppPayment_Reject", consuming(collector, returnAppPayment))
	all.on(AcceptedPaymentTemplate, "AcceptedAppPayment_Expire", consuming(
		byPayload(func(p AcceptedPayment) []Party { return []Party{p.Sender} }),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			if locked := e.Tx.ByNumber[c.Payload.(AcceptedPayment).Locked]; locked != nil {
				if until := locked.Payload.(LockedAmulet).ExpiresAt; until > e.Now() {
					return Value{}, broken("the app may collect the payment until %s", microsText(until))
				}
			}
			return returnAppPayment(e, c, arg)
		}))
}

func readPaymentRequest(e *Execution, a Argument) (Payload, error) {
	list := a.List("receiverAmounts")
	p := PaymentRequest{AppPayment: AppPayment{Sender: a.Party("sender"), Provider: a.Party("provider")},
		ExpiresAt: a.Time("expiresAt"), Description: a.Text("description")}
	switch {
	case len(list) == 0 || len(list) > maxOutputs:
		return nil, broken("a payment has 1 to %d receivers, not %d", maxOutputs, len(list))
	case len(p.Description) > maxTextLength:
		return nil, broken("a text is longer than %d bytes", maxTextLength)
	}
	for i := range list {
		to := Argument{&list[i]}
		amount := to.Record("amount")
		s := Share{to.Party("receiver"), amount.Numeric("amount"), amount.Text("unit") == "USDUnit"}
		if amount.Text("unit") == "ExtUnit" {
			return nil, broken("amounts are in coins or in USD")
		}
		if err := e.positive("amount", s.Amount); err != nil {
			return nil, err
		}
		p.Shares = append(p.Shares, s)
	}
	if err := e.isDSO(a.Party("dso")); err != nil {
		return nil, err
	}
	return p, e.later("expiry of the request at", p.ExpiresAt)
}

// acceptPayment locks what an app has asked for, with the app as holder.
func acceptPayment(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(PaymentRequest)
	if err := e.later("expiry of the request at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	defer e.at(ctx.round)()
	paid, total := p.AppPayment, e.payments.OutputFee() // and one for each receiver, when they get their coins
	paid.Shares = slices.Clone(p.Shares)
	for i := range paid.Shares {
		s := &paid.Shares[i]
		if s.InUSD {
			s.Amount, s.InUSD = s.Amount.Over(ctx.round.Price), false
		}
		if total += s.Amount + e.payments.OutputFee(); total < 0 {
			return Value{}, broken("the amounts are worth more than there are coins")
		}
	}
	lock := LockedAmulet{Holder: p.Provider, ExpiresAt: e.Now() + collectWithin}
	s, _, err := transferBy(e, order{sender: p.Sender, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []Output{{Receiver: p.Sender, Amount: total, Lock: &lock}}})
	if err != nil {
		return Value{}, err
	}
	next, err := e.add(AcceptedPaymentTemplate, AcceptedPayment{paid, s.Created[0].Number, ctx.round.Number, c.Number})
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(paymentAcceptedShape, ContractID(next.Number), e.payments.ChangeID(s)), nil
}

func terminatePayment(e *Execution, c *Contract, _ Argument) (Value, error) {
	ended, err := e.add(TerminatedPaymentTemplate, TerminatedPayment{c.Payload.(PaymentRequest).AppPayment, c.Number})
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(paymentTerminatedShape, ContractID(ended.Number)), nil
}

// appTransferContext reads the context of choices by which apps take payments.
func appTransferContext(e *Execution, v Argument) (transferContext, error) {
	ctx := transferContext{app: NoParty}
	if _, err := e.fetchOf(AmuletRulesTemplate, v.Contract("amuletRules")); err != nil {
		return ctx, err
	}
	var err error
	if ctx.round, err = openMiningRound(e, v.Contract("openMiningRound")); err != nil {
		return ctx, err
	}
	if ctx.app, err = featuredApp(e, v); err != nil {
		return ctx, err
	}
	a := e.Tx.Arena()
	ctx.given = a.Record(TransferContextShape, ContractID(ctx.round.Contract.Number), a.GenMap(), a.GenMap(),
		Optional(a, ctx.app != NoParty, orUnit(v.Given("featuredAppRight"))))
	return ctx, nil
}

// unlockFor unlocks a coin at the price of a context, as a part of another choice, and returns
// what the choice says of the coin that was in it.
func unlockFor(e *Execution, n uint64, ctx transferContext) (sum Value, err error) {
	locked, err := lockedCoin(e, n)
	if err != nil {
		return Value{}, err
	}
	result, err := e.perform(locked, "LockedAmulet_Unlock", e.Tx.Arena().Record(UnlockShape, ContractID(ctx.round.Contract.Number)))
	if err != nil {
		return Value{}, err
	}
	return *Argument{&result}.At("amuletSum"), nil
}

// openPayment unlocks the coin of a payment at the price of the context that its receiver gives,
// and returns that and what the choice says of the coin.
func openPayment(e *Execution, locked uint64, given Argument) (ctx transferContext, sum Value, err error) {
	if ctx, err = appTransferContext(e, given); err != nil {
		return ctx, sum, err
	}
	sum, err = unlockFor(e, locked, ctx)
	return ctx, sum, err
}

// collectAppPayment gives the receivers of a payment their coins.
func collectAppPayment(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(AcceptedPayment)
	ctx, sum, err := openPayment(e, p.Locked, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	o := order{sender: p.Sender, provider: p.Provider, context: ctx, inputs: []Value{a.Variant("InputAmulet", *Argument{&sum}.At("amulet"))}}
	for _, s := range p.Shares {
		o.outputs = append(o.outputs, Output{Receiver: s.Receiver, Amount: s.Amount})
	}
	s, _, err := transferBy(e, o)
	if err != nil {
		return Value{}, err
	}
	got := make([]Value, len(p.Shares))
	for i, to := range p.Shares {
		got[i] = a.Record(TupleShape, PartyValue(to.Receiver), ContractID(s.Created[i].Number))
	}
	return a.Record(paymentCollectedShape, a.List(got...)), nil
}

// returnAppPayment gives the sender of a payment its coins back.
func returnAppPayment(e *Execution, c *Contract, arg Argument) (Value, error) {
	_, sum, err := openPayment(e, c.Payload.(AcceptedPayment).Locked, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(paymentReturnedShape, sum), nil
}
