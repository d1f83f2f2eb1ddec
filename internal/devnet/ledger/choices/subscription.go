package choices

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	paymentDoneShape     = model.NewShape("subscriptionPayment", "senderChange")
	terminatedDoneShape  = model.NewShape("terminatedSubscription")
	renewalReturnedShape = model.NewShape("subscriptionState", "amuletSum")
)

// maxInterval is the longest time, in µs, between two payments.
const maxInterval = 10 * 365 * 86400e6

// addSubscriptionChoices are subscriptions, those of the name service included.
func addSubscriptionChoices(all *choices) {
	all.creations[model.SubscriptionRequestTemplate] = readSubscription
	user := byPayload(func(p model.SubscriptionRequest) []model.Party { return []model.Party{p.User} })
	payers := func(_ *Execution, c *model.Contract, arg model.Argument) []model.Party {
		return []model.Party{model.SubscriptionOf(c).User, arg.Party("walletProvider")}
	}
	all.on(model.SubscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", consuming(payers, payByCommand))
	all.on(model.SubscriptionRequestTemplate, "SubscriptionRequest_Reject", consuming(user, terminateByCommand))
	all.on(model.SubscriptionRequestTemplate, "SubscriptionRequest_Withdraw", consuming(
		byPayload(func(p model.SubscriptionRequest) []model.Party { return []model.Party{p.Provider} }), terminateByCommand))
	all.on(model.SubscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", consuming(payers,
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p := c.Payload.(model.SubscriptionIdle)
			require(e.Now() >= p.DueAt-p.Duration, "the next payment is due at %s and cannot be made before %s",
				microsText(p.DueAt), microsText(p.DueAt-p.Duration))
			return payByCommand(e, c, arg)
		}))
	all.on(model.SubscriptionIdleTemplate, "SubscriptionIdleState_CancelSubscription", consuming(
		byPayload(func(p model.SubscriptionIdle) []model.Party { return []model.Party{p.User} }), terminateByCommand))
	all.on(model.SubscriptionIdleTemplate, "SubscriptionIdleState_ExpireSubscription", consuming(byArgument("actor"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p := c.Payload.(model.SubscriptionIdle)
			partOf(e, p.Subscription, arg.Party("actor"))
			require(p.DueAt <= e.Now(), "the next payment is not due until %s", microsText(p.DueAt))
			return terminateByCommand(e, c, arg)
		}))
	receiver := byPayload(func(p model.SubscriptionPayment) []model.Party { return []model.Party{p.Receiver} })
	for t, kind := range map[*model.Template]string{model.InitialPaymentTemplate: "SubscriptionInitialPayment", model.RenewalPaymentTemplate: "SubscriptionPayment"} {
		all.on(t, kind+"_Collect", consuming(receiver, collectSubscription))
		all.on(t, kind+"_Reject", consuming(receiver, returnSubscription))
		all.on(t, kind+"_Expire", consuming(byArgument("actor"), expireSubscriptionPayment))
	}
}

// readSubscription reads the request of a subscription with somebody else than the name
// service, which makes its own.
func readSubscription(e *Execution, a model.Argument) model.Payload {
	data, pay := a.Record("subscriptionData"), a.Record("payData")
	s := model.Subscription{NameRequest: model.NameRequest{User: data.Party("sender")}, Receiver: data.Party("receiver"), Provider: data.Party("provider"),
		Description: data.Text("description"),
		Interval:    pay.RelTime("paymentInterval"), Duration: pay.RelTime("paymentDuration")}
	s.Amount, s.InUSD = paymentAmount(pay.Record("paymentAmount"))
	require(s.Interval > 0 && s.Interval <= maxInterval, "paymentInterval must be above 0 and at most ten years")
	require(s.Duration >= 0 && s.Duration <= s.Interval, "paymentDuration must not exceed paymentInterval")
	require(len(s.Description) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	e.isDSO(data.Party("dso"))
	positive("amount", s.Amount)
	return model.SubscriptionRequest{Subscription: s}
}

// partOf checks that somebody takes part in a subscription.
func partOf(e *Execution, s model.Subscription, p model.Party) {
	signatories, _ := s.Stakeholders(nil, nil)
	require(slices.Contains(signatories, p), "%s is not a party to the subscription", e.Names.Name(p))
}

// payByCommand locks what a subscription costs, for the first time or for another one.
func payByCommand(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	ctx := paymentContextOf(e, arg.Record("context"))
	s, round := model.SubscriptionOf(c), ctx.round
	amount := s.Amount
	if s.InUSD {
		amount = amount.Over(round.Price)
	}
	lock := model.LockedAmulet{Holder: s.Provider, ExpiresAt: e.Now() + collectWithin}
	if s.Name != "" {
		lock.ExpiresAt = e.Now() + s.Lifetime
	}
	paid, _ := transferBy(e, order{sender: s.User, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: s.User, Amount: amount, Lock: &lock}}})
	idle, renewal := c.Payload.(model.SubscriptionIdle)
	p := model.SubscriptionPayment{Subscription: s, Renewal: renewal, DueAt: e.Now(), Amount: amount,
		Locked: paid.Created[0].Number, Round: round.Number, Reference: model.ReferenceOf(c)}
	template := model.InitialPaymentTemplate
	if renewal {
		template, p.DueAt, p.Agreement = model.RenewalPaymentTemplate, idle.DueAt, idle.Agreement
	}
	payment := e.add(template, p)
	return e.Tx.Arena().Record(paymentDoneShape, model.ContractID(payment.Number), e.Payments.ChangeID(paid))
}

func terminateByCommand(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	if idle, ok := c.Payload.(model.SubscriptionIdle); ok && e.Tx.ByNumber[idle.Agreement].IsActive() {
		e.Tx.Archive(e.Tx.ByNumber[idle.Agreement])
	}
	return e.addTo(terminatedDoneShape, model.TerminatedTemplate, model.TerminatedSubscription{Subscription: model.SubscriptionOf(c), Reference: model.ReferenceOf(c)})
}

// collectSubscription gives the receiver of a payment its coins, and has the subscription wait
// for the next one.
func collectSubscription(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.SubscriptionPayment)
	ctx, sum := openPayment(e, p.Locked, arg.Record("transferContext"))
	defer e.at(ctx.round)()
	a := e.Tx.Arena()
	paid, _ := transferBy(e, order{sender: p.User, provider: p.Provider, context: ctx,
		inputs:  []model.Value{a.Variant("InputAmulet", *model.Argument{V: &sum}.At("amulet"))},
		outputs: []sim.Output{{Receiver: p.Receiver, Amount: p.Amount - e.Payments.OutputFee()}}}) // the receiver bears the fee
	got := model.ContractID(paid.Created[0].Number)
	if p.Renewal {
		return a.Record(sim.CollectedShape, awaitPayment(e, p, p.DueAt+p.Interval), got)
	}
	made := e.add(model.SubscriptionTemplate, model.Agreement{Subscription: p.Subscription, Reference: p.Reference})
	p.Agreement = made.Number
	return a.Record(sim.FirstCollectedShape, model.ContractID(made.Number), awaitPayment(e, p, e.Now()+p.Interval), got)
}

// awaitPayment has the subscription of a payment wait for the next one, which is due at a time.
func awaitPayment(e *Execution, p model.SubscriptionPayment, due int64) model.Value {
	idle := e.add(model.SubscriptionIdleTemplate, model.SubscriptionIdle{Subscription: p.Subscription, DueAt: due, Agreement: p.Agreement, Reference: p.Reference})
	return model.ContractID(idle.Number)
}

// returnSubscription gives the sender of a payment its coins back. A subscription that had
// begun waits for the same payment again.
func returnSubscription(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.SubscriptionPayment)
	_, sum := openPayment(e, p.Locked, arg.Record("transferContext"))
	a := e.Tx.Arena()
	if !p.Renewal {
		return a.Record(sim.MintDoneShape, sum)
	}
	return a.Record(renewalReturnedShape, awaitPayment(e, p, p.DueAt), sum)
}

// expireSubscriptionPayment returns a payment that its receiver has not collected in time. The
// name service always does.
func expireSubscriptionPayment(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.SubscriptionPayment)
	partOf(e, p.Subscription, arg.Party("actor"))
	if locked := e.Tx.ByNumber[p.Locked]; p.Name != "" || locked != nil && locked.Payload.(model.LockedAmulet).ExpiresAt > e.Now() {
		panic(broken("the payment can still be collected"))
	}
	return returnSubscription(e, c, arg)
}
