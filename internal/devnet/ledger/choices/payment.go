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
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, actor := c.Payload.(model.PaymentRequest), arg.Party("actor")
			signatories, _ := p.Stakeholders(nil, nil)
			require(slices.Contains(signatories, actor), "%s is not a party to the payment", e.Names.Name(actor))
			require(p.ExpiresAt <= e.Now(), "the request does not expire until %s", microsText(p.ExpiresAt))
			return terminatePayment(e, c, arg)
		}))

	collector := byPayload(func(p model.AcceptedPayment) []model.Party { return []model.Party{p.Provider} })
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Collect", consuming(collector, collectAppPayment))
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Reject", consuming(collector, returnAppPayment))
	all.on(model.AcceptedPaymentTemplate, "AcceptedAppPayment_Expire", consuming(
		byPayload(func(p model.AcceptedPayment) []model.Party { return []model.Party{p.Sender} }),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			if locked := e.Tx.ByNumber[c.Payload.(model.AcceptedPayment).Locked]; locked != nil {
				until := locked.Payload.(model.LockedAmulet).ExpiresAt
				require(until <= e.Now(), "the app may collect the payment until %s", microsText(until))
			}
			return returnAppPayment(e, c, arg)
		}))
}

func readPaymentRequest(e *Execution, a model.Argument) model.Payload {
	list := a.List("receiverAmounts")
	p := model.PaymentRequest{AppPayment: model.AppPayment{Sender: a.Party("sender"), Provider: a.Party("provider")},
		ExpiresAt: a.Time("expiresAt"), Description: a.Text("description")}
	require(len(list) != 0 && len(list) <= maxOutputs, "a payment has 1 to %d receivers, not %d", maxOutputs, len(list))
	require(len(p.Description) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	for i := range list {
		to := model.Argument{V: &list[i]}
		s := model.Share{Receiver: to.Party("receiver")}
		s.Amount, s.InUSD = paymentAmount(to.Record("amount"))
		positive("amount", s.Amount)
		p.Shares = append(p.Shares, s)
	}
	e.isDSO(a.Party("dso"))
	e.later("expiry of the request at", p.ExpiresAt)
	return p
}

// paymentAmount reads an amount, which is in coins or in USD.
func paymentAmount(v model.Argument) (amount model.Decimal, inUSD bool) {
	unit := v.Text("unit")
	require(unit != "ExtUnit", "amounts must be in coins or in USD")
	return v.Numeric("amount"), unit == "USDUnit"
}

// acceptPayment locks what an app has asked for, with the app as holder.
func acceptPayment(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.PaymentRequest)
	e.later("expiry of the request at", p.ExpiresAt)
	ctx := paymentContextOf(e, arg.Record("context"))
	defer e.at(ctx.round)()
	paid, total := p.AppPayment, e.Payments.OutputFee() // and one for each receiver, when they get their coins
	paid.Shares = slices.Clone(p.Shares)
	for i := range paid.Shares {
		s := &paid.Shares[i]
		if s.InUSD {
			s.Amount, s.InUSD = s.Amount.Over(ctx.round.Price), false
		}
		total += s.Amount + e.Payments.OutputFee()
		require(total >= 0, "the amounts are worth more than there are coins")
	}
	lock := model.LockedAmulet{Holder: p.Provider, ExpiresAt: e.Now() + collectWithin}
	s, _ := transferBy(e, order{sender: p.Sender, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: p.Sender, Amount: total, Lock: &lock}}})
	next := e.add(model.AcceptedPaymentTemplate, model.AcceptedPayment{AppPayment: paid, Locked: s.Created[0].Number, Round: ctx.round.Number, Reference: c.Number})
	return e.Tx.Arena().Record(paymentAcceptedShape, model.ContractID(next.Number), e.Payments.ChangeID(s))
}

func terminatePayment(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	return e.addTo(paymentTerminatedShape, model.TerminatedPaymentTemplate, model.TerminatedPayment{AppPayment: c.Payload.(model.PaymentRequest).AppPayment, Reference: c.Number})
}

// appTransferContext reads the context of choices by which apps take payments.
func appTransferContext(e *Execution, v model.Argument) transferContext {
	e.fetchOf(model.AmuletRulesTemplate, v.Contract("amuletRules"))
	ctx := transferContext{round: openMiningRound(e, v.Contract("openMiningRound")), app: featuredApp(e, v)}
	a := e.Tx.Arena()
	ctx.given = a.Record(sim.TransferContextShape, model.ContractID(ctx.round.Contract.Number), a.GenMap(), a.GenMap(),
		model.Optional(a, ctx.app != model.NoParty, orUnit(v.Given("featuredAppRight"))))
	return ctx
}

// openPayment unlocks the coin of a payment at the price of the context that its receiver gives,
// and returns that and what the choice says of the coin.
func openPayment(e *Execution, locked uint64, given model.Argument) (ctx transferContext, sum model.Value) {
	ctx = appTransferContext(e, given)
	result := e.perform(lockedCoin(e, locked), "LockedAmulet_Unlock",
		e.Tx.Arena().Record(sim.UnlockShape, model.ContractID(ctx.round.Contract.Number)))
	return ctx, *model.Argument{V: &result}.At("amuletSum")
}

// collectAppPayment gives the receivers of a payment their coins.
func collectAppPayment(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.AcceptedPayment)
	ctx, sum := openPayment(e, p.Locked, arg.Record("context"))
	a := e.Tx.Arena()
	o := order{sender: p.Sender, provider: p.Provider, context: ctx, inputs: []model.Value{a.Variant("InputAmulet", *model.Argument{V: &sum}.At("amulet"))}}
	for _, s := range p.Shares {
		o.outputs = append(o.outputs, sim.Output{Receiver: s.Receiver, Amount: s.Amount})
	}
	s, _ := transferBy(e, o)
	got := make([]model.Value, len(p.Shares))
	for i, to := range p.Shares {
		got[i] = a.Record(model.TupleShape, model.PartyValue(to.Receiver), model.ContractID(s.Created[i].Number))
	}
	return a.Record(paymentCollectedShape, a.List(got...))
}

// returnAppPayment gives the sender of a payment its coins back.
func returnAppPayment(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	_, sum := openPayment(e, c.Payload.(model.AcceptedPayment).Locked, arg.Record("context"))
	return e.Tx.Arena().Record(paymentReturnedShape, sum)
}
