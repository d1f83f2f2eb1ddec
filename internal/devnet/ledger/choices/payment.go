package choices

import (
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// collectWithin is how long, in µs, an app may take to collect a payment.
const collectWithin = int64(24 * time.Hour / time.Microsecond)

var (
	paymentAcceptedShape   = model.NewShape("acceptedPayment", "senderChangeAmulet")
	paymentTerminatedShape = model.NewShape("terminatedAppPayment")
	paymentCollectedShape  = model.NewShape("receiverAmulets")
	paymentReturnedShape   = model.NewShape("amulet")
)

// addPaymentChoices are payments that apps ask for.
func addPaymentChoices(all *choices) {
	all.creations[model.PaymentRequestTemplate] = readPaymentRequest
	sender := byPayload(func(p model.PaymentRequest) []model.Party { return []model.Party{p.Sender} })
	provider := byPayload(func(p model.PaymentRequest) []model.Party { return []model.Party{p.Provider} })
	all.on(model.PaymentRequestTemplate, "AppPaymentRequest_Accept", consuming(
		func(_ *Execution, c *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{c.Payload.(model.PaymentRequest).Sender, arg.Party("walletProvider")}
		}, acceptPayment))
	all.on(model.PaymentRequestTemplate, "AppPaymentRequest_Reject", consuming(sender, terminatePayment))
	all.on(model.PaymentRequestTemplate, "AppPaymentRequest_Withdraw", consuming(provider, terminatePayment))
	all.on(model.PaymentRequestTemplate, "AppPaymentRequest_Expire", consuming(byArgument("actor"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p, actor := c.Payload.(model.PaymentRequest), arg.Party("actor")
			if signatories, _ := p.Stakeholders(nil, nil); !slices.Contains(signatories, actor) {
				return model.Value{}, broken("%s is no party to the payment", e.Names.Name(actor))
			}
			if p.ExpiresAt > e.Now() {
				return model.Value{}, broken("the request expires at %s only", microsText(p.ExpiresAt))
			}
			return terminatePayment(e, c, arg)
		}))

	collector := byPayload(func(p model.AcceptedPayment) []model.Party { return []model.Party{p.Provider} })
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Collect", consuming(collector, collectAppPayment))
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Reject", consuming(collector, returnAppPayment))
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Expire", consuming(
		byPayload(func(p model.AcceptedPayment) []model.Party { return []model.Party{p.Sender} }),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			if locked := e.Tx.ByNumber[c.Payload.(model.AcceptedPayment).Locked]; locked != nil {
				if until := locked.Payload.(model.LockedAmulet).ExpiresAt; until > e.Now() {
					return model.Value{}, broken("the app may collect the payment until %s", microsText(until))
				}
			}
			return returnAppPayment(e, c, arg)
		}))
}

func readPaymentRequest(e *Execution, a model.Argument) (model.Payload, error) {
	list := a.List("receiverAmounts")
	p := model.PaymentRequest{AppPayment: model.AppPayment{Sender: a.Party("sender"), Provider: a.Party("provider")},
		ExpiresAt: a.Time("expiresAt"), Description: a.Text("description")}
	switch {
	case len(list) == 0 || len(list) > maxOutputs:
		return nil, broken("a payment has 1 to %d receivers, not %d", maxOutputs, len(list))
	case len(p.Description) > maxTextLength:
		return nil, broken("a text is longer than %d bytes", maxTextLength)
	}
	for i := range list {
		to := model.Argument{V: &list[i]}
		amount := to.Record("amount")
		s := model.Share{Receiver: to.Party("receiver"), Amount: amount.Numeric("amount"), InUSD: amount.Text("unit") == "USDUnit"}
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
func acceptPayment(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.PaymentRequest)
	if err := e.later("expiry of the request at", p.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
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
			return model.Value{}, broken("the amounts are worth more than there are coins")
		}
	}
	lock := model.LockedAmulet{Holder: p.Provider, ExpiresAt: e.Now() + collectWithin}
	s, _, err := transferBy(e, order{sender: p.Sender, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: p.Sender, Amount: total, Lock: &lock}}})
	if err != nil {
		return model.Value{}, err
	}
	next, err := e.add(model.AcceptedPaymentTemplate, model.AcceptedPayment{AppPayment: paid, Locked: s.Created[0].Number, Round: ctx.round.Number, Reference: c.Number})
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(paymentAcceptedShape, model.ContractID(next.Number), e.payments.ChangeID(s)), nil
}

func terminatePayment(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	return e.addTo(paymentTerminatedShape, model.TerminatedPaymentTemplate, model.TerminatedPayment{AppPayment: c.Payload.(model.PaymentRequest).AppPayment, Reference: c.Number})
}

// appTransferContext reads the context of choices by which apps take payments.
func appTransferContext(e *Execution, v model.Argument) (transferContext, error) {
	ctx := transferContext{app: model.NoParty}
	if _, err := e.fetchOf(model.AmuletRulesTemplate, v.Contract("amuletRules")); err != nil {
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
	ctx.given = a.Record(sim.TransferContextShape, model.ContractID(ctx.round.Contract.Number), a.GenMap(), a.GenMap(),
		model.Optional(a, ctx.app != model.NoParty, orUnit(v.Given("featuredAppRight"))))
	return ctx, nil
}

// unlockFor unlocks a coin at the price of a context, as a part of another choice, and returns
// what the choice says of the coin that was in it.
func unlockFor(e *Execution, n uint64, ctx transferContext) (sum model.Value, err error) {
	locked, err := lockedCoin(e, n)
	if err != nil {
		return model.Value{}, err
	}
	result, err := e.perform(locked, "LockedAmulet_Unlock", e.Tx.Arena().Record(sim.UnlockShape, model.ContractID(ctx.round.Contract.Number)))
	if err != nil {
		return model.Value{}, err
	}
	return *model.Argument{V: &result}.At("amuletSum"), nil
}

// openPayment unlocks the coin of a payment at the price of the context that its receiver gives,
// and returns that and what the choice says of the coin.
func openPayment(e *Execution, locked uint64, given model.Argument) (ctx transferContext, sum model.Value, err error) {
	if ctx, err = appTransferContext(e, given); err != nil {
		return ctx, sum, err
	}
	sum, err = unlockFor(e, locked, ctx)
	return ctx, sum, err
}

// collectAppPayment gives the receivers of a payment their coins.
func collectAppPayment(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.AcceptedPayment)
	ctx, sum, err := openPayment(e, p.Locked, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	a := e.Tx.Arena()
	o := order{sender: p.Sender, provider: p.Provider, context: ctx, inputs: []model.Value{a.Variant("InputAmulet", *model.Argument{V: &sum}.At("amulet"))}}
	for _, s := range p.Shares {
		o.outputs = append(o.outputs, sim.Output{Receiver: s.Receiver, Amount: s.Amount})
	}
	s, _, err := transferBy(e, o)
	if err != nil {
		return model.Value{}, err
	}
	got := make([]model.Value, len(p.Shares))
	for i, to := range p.Shares {
		got[i] = a.Record(model.TupleShape, model.PartyValue(to.Receiver), model.ContractID(s.Created[i].Number))
	}
	return a.Record(paymentCollectedShape, a.List(got...)), nil
}

// returnAppPayment gives the sender of a payment its coins back.
func returnAppPayment(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	_, sum, err := openPayment(e, c.Payload.(model.AcceptedPayment).Locked, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(paymentReturnedShape, sum), nil
}
