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
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			if p := c.Payload.(model.SubscriptionIdle); e.Now() < p.DueAt-p.Duration {
				return model.Value{}, broken("the next payment is due at %s, and can be made from %s on only", microsText(p.DueAt), microsText(p.DueAt-p.Duration))
			}
			return payByCommand(e, c, arg)
		}))
	all.on(model.SubscriptionIdleTemplate, "SubscriptionIdleState_CancelSubscription", consuming(
		byPayload(func(p model.SubscriptionIdle) []model.Party { return []model.Party{p.User} }), terminateByCommand))
	all.on(model.SubscriptionIdleTemplate, "SubscriptionIdleState_ExpireSubscription", consuming(byArgument("actor"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p := c.Payload.(model.SubscriptionIdle)
			if err := partOf(e, p.Subscription, arg.Party("actor")); err != nil {
				return model.Value{}, err
			}
			if p.DueAt > e.Now() {
				return model.Value{}, broken("the next payment is due at %s only", microsText(p.DueAt))
			}
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
func readSubscription(e *Execution, a model.Argument) (model.Payload, error) {
	data, pay := a.Record("subscriptionData"), a.Record("payData")
	amount := pay.Record("paymentAmount")
	s := model.Subscription{NameRequest: model.NameRequest{User: data.Party("sender")}, Receiver: data.Party("receiver"), Provider: data.Party("provider"),
		Description: data.Text("description"), Amount: amount.Numeric("amount"), InUSD: amount.Text("unit") == "USDUnit",
		Interval: pay.RelTime("paymentInterval"), Duration: pay.RelTime("paymentDuration")}
	switch {
	case amount.Text("unit") == "ExtUnit":
		return nil, broken("amounts are in coins or in USD")
	case s.Interval <= 0 || s.Interval > maxInterval:
		return nil, broken("paymentInterval is not above 0 and at most ten years")
	case s.Duration < 0 || s.Duration > s.Interval:
		return nil, broken("paymentDuration is not within paymentInterval")
	case len(s.Description) > maxTextLength:
		return nil, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.isDSO(data.Party("dso")); err != nil {
		return nil, err
	}
	return model.SubscriptionRequest{Subscription: s}, e.positive("amount", s.Amount)
}

// partOf checks that somebody takes part in a subscription.
func partOf(e *Execution, s model.Subscription, p model.Party) error {
	if signatories, _ := s.Stakeholders(nil, nil); !slices.Contains(signatories, p) {
		return broken("%s is no party to the subscription", e.Names.Name(p))
	}
	return nil
}

// payByCommand locks what a subscription costs, for the first time or for another one.
func payByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	s, round := model.SubscriptionOf(c), ctx.round
	amount := s.Amount
	if s.InUSD {
		amount = amount.Over(round.Price)
	}
	lock := model.LockedAmulet{Holder: s.Provider, ExpiresAt: e.Now() + collectWithin}
	if s.Name != "" {
		lock.ExpiresAt = e.Now() + s.Lifetime
	}
	paid, _, err := transferBy(e, order{sender: s.User, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: s.User, Amount: amount, Lock: &lock}}})
	if err != nil {
		return model.Value{}, err
	}
	idle, renewal := c.Payload.(model.SubscriptionIdle)
	p := model.SubscriptionPayment{Subscription: s, Renewal: renewal, DueAt: e.Now(), Amount: amount,
		Locked: paid.Created[0].Number, Round: round.Number, Reference: model.ReferenceOf(c)}
	template := model.InitialPaymentTemplate
	if renewal {
		template, p.DueAt, p.Agreement = model.RenewalPaymentTemplate, idle.DueAt, idle.Agreement
	}
	payment, err := e.add(template, p)
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(paymentDoneShape, model.ContractID(payment.Number), e.payments.ChangeID(paid)), nil
}

func terminateByCommand(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	if idle, ok := c.Payload.(model.SubscriptionIdle); ok && e.Tx.ByNumber[idle.Agreement].IsActive() {
		e.Tx.Archive(e.Tx.ByNumber[idle.Agreement])
	}
	return e.addTo(terminatedDoneShape, model.TerminatedTemplate, model.TerminatedSubscription{Subscription: model.SubscriptionOf(c), Reference: model.ReferenceOf(c)})
}

// collectSubscription gives the receiver of a payment its coins, and has the subscription wait
// for the next one.
func collectSubscription(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.SubscriptionPayment)
	ctx, sum, err := openPayment(e, p.Locked, arg.Record("transferContext"))
	if err != nil {
		return model.Value{}, err
	}
	defer e.at(ctx.round)()
	a := e.Tx.Arena()
	paid, _, err := transferBy(e, order{sender: p.User, provider: p.Provider, context: ctx,
		inputs:  []model.Value{a.Variant("InputAmulet", *model.Argument{V: &sum}.At("amulet"))},
		outputs: []sim.Output{{Receiver: p.Receiver, Amount: p.Amount - e.payments.OutputFee()}}}) // the receiver bears the fee
	if err != nil {
		return model.Value{}, err
	}
	got := model.ContractID(paid.Created[0].Number)
	if p.Renewal {
		idle, err := awaitPayment(e, p, p.DueAt+p.Interval)
		return a.Record(sim.CollectedShape, idle, got), err
	}
	made, err := e.add(model.SubscriptionTemplate, model.Agreement{Subscription: p.Subscription, Reference: p.Reference})
	if err != nil {
		return model.Value{}, err
	}
	p.Agreement = made.Number
	idle, err := awaitPayment(e, p, e.Now()+p.Interval)
	return a.Record(sim.FirstCollectedShape, model.ContractID(made.Number), idle, got), err
}

// awaitPayment has the subscription of a payment wait for the next one, which is due at a time.
func awaitPayment(e *Execution, p model.SubscriptionPayment, due int64) (model.Value, error) {
	idle, err := e.add(model.SubscriptionIdleTemplate, model.SubscriptionIdle{Subscription: p.Subscription, DueAt: due, Agreement: p.Agreement, Reference: p.Reference})
	if err != nil {
		return model.Value{}, err
	}
	return model.ContractID(idle.Number), nil
}

// returnSubscription gives the sender of a payment its coins back. A subscription that had
// begun waits for the same payment again.
func returnSubscription(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.SubscriptionPayment)
	_, sum, err := openPayment(e, p.Locked, arg.Record("transferContext"))
	if err != nil {
		return model.Value{}, err
	}
	a := e.Tx.Arena()
	if !p.Renewal {
		return a.Record(sim.MintDoneShape, sum), nil
	}
	idle, err := awaitPayment(e, p, p.DueAt)
	return a.Record(renewalReturnedShape, idle, sum), err
}

// expireSubscriptionPayment returns a payment that its receiver has not collected in time. The
// name service always does.
func expireSubscriptionPayment(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.SubscriptionPayment)
	if err := partOf(e, p.Subscription, arg.Party("actor")); err != nil {
		return model.Value{}, err
	}
	if locked := e.Tx.ByNumber[p.Locked]; p.Name != "" || locked != nil && locked.Payload.(model.LockedAmulet).ExpiresAt > e.Now() {
		return model.Value{}, broken("the payment can be collected yet")
	}
	return returnSubscription(e, c, arg)
}
