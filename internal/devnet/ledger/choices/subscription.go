package choices

import (
	"slices"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	paymentDoneShape     = NewShape("subscriptionPayment", "senderChange")
	terminatedDoneShape  = NewShape("terminatedSubscription")
	renewalReturnedShape = NewShape("subscriptionState", "amuletSum")
)

// maxInterval is the longest time, in µs, between two payments.
const maxInterval = 10 * 365 * 86400e6

// addSubscriptionChoices are subscriptions, those of the name service included.
func addSubscriptionChoices(all *choices) {
	all.creations[SubscriptionRequestTemplate] = readSubscription
	user := byPayload(func(p SubscriptionRequest) []Party { return []Party{p.User} })
	payers := func(_ *Execution, c *Contract, arg Argument) []Party {
		return []Party{SubscriptionOf(c).User, arg.Party("walletProvider")}
	}
	all.on(SubscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", consuming(payers, payByCommand))
	all.on(SubscriptionRequestTemplate, "SubscriptionRequest_Reject", consuming(user, terminateByCommand))
	all.on(SubscriptionRequestTemplate, "SubscriptionRequest_Withdraw", consuming(
		byPayload(func(p SubscriptionRequest) []Party { return []Party{p.Provider} }), terminateByCommand))
	all.on(SubscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", consuming(payers,
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			if p := c.Payload.(SubscriptionIdle); e.Now() < p.DueAt-p.Duration {
				return Value{}, broken("the next payment is due at %s, and can be made from %s on only", microsText(p.DueAt), microsText(p.DueAt-p.Duration))
			}
			return payByCommand(e, c, arg)
		}))
	all.on(SubscriptionIdleTemplate, "SubscriptionIdleState_CancelSubscription", consuming(
		byPayload(func(p SubscriptionIdle) []Party { return []Party{p.User} }), terminateByCommand))
	all.on(SubscriptionIdleTemplate, "SubscriptionIdleState_ExpireSubscription", consuming(byArgument("actor"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			p := c.Payload.(SubscriptionIdle)
			if err := partOf(e, p.Subscription, arg.Party("actor")); err != nil {
				return Value{}, err
			}
			if p.DueAt > e.Now() {
				return Value{}, broken("the next payment is due at %s only", microsText(p.DueAt))
			}
			return terminateByCommand(e, c, arg)
		}))
	receiver := byPayload(func(p SubscriptionPayment) []Party { return []Party{p.Receiver} })
	for t, kind := range map[*Template]string{InitialPaymentTemplate: "SubscriptionInitialPayment", RenewalPaymentTemplate: "SubscriptionPayment"} {
		all.on(t, kind+"_Collect", consuming(receiver, collectSubscription))
		all.on(t, kind+"_Reject", consuming(receiver, returnSubscription))
		all.on(t, kind+"_Expire", consuming(byArgument("actor"), expireSubscriptionPayment))
	}
}

// readSubscription reads the request of a subscription with somebody else than the name
// service, which makes its own.
func readSubscription(e *Execution, a Argument) (Payload, error) {
	data, pay := a.Record("subscriptionData"), a.Record("payData")
	amount := pay.Record("paymentAmount")
	s := Subscription{NameRequest: NameRequest{User: data.Party("sender")}, Receiver: data.Party("receiver"), Provider: data.Party("provider"),
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
	return SubscriptionRequest{s}, e.positive("amount", s.Amount)
}

// partOf checks that somebody takes part in a subscription.
func partOf(e *Execution, s Subscription, p Party) error {
	if signatories, _ := s.Stakeholders(nil, nil); !slices.Contains(signatories, p) {
		return broken("%s is no party to the subscription", e.Names.Name(p))
	}
	return nil
}

// payByCommand locks what a subscription costs, for the first time or for another one.
func payByCommand(e *Execution, c *Contract, arg Argument) (Value, error) {
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	s, round := SubscriptionOf(c), ctx.round
	amount := s.Amount
	if s.InUSD {
		amount = amount.Over(round.Price)
	}
	lock := LockedAmulet{Holder: s.Provider, ExpiresAt: e.Now() + collectWithin}
	if s.Name != "" {
		lock.ExpiresAt = e.Now() + s.Lifetime
	}
	paid, _, err := transferBy(e, order{sender: s.User, provider: arg.Party("walletProvider"), inputs: arg.List("inputs"), context: ctx,
		outputs: []Output{{Receiver: s.User, Amount: amount, Lock: &lock}}})
	if err != nil {
		return Value{}, err
	}
	idle, renewal := c.Payload.(SubscriptionIdle)
	p := SubscriptionPayment{Subscription: s, Renewal: renewal, DueAt: e.Now(), Amount: amount,
		Locked: paid.Created[0].Number, Round: round.Number, Reference: ReferenceOf(c)}
	template := InitialPaymentTemplate
	if renewal {
		template, p.DueAt, p.Agreement = RenewalPaymentTemplate, idle.DueAt, idle.Agreement
	}
	payment, err := e.add(template, p)
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(paymentDoneShape, ContractID(payment.Number), e.payments.ChangeID(paid)), nil
}

func terminateByCommand(e *Execution, c *Contract, _ Argument) (Value, error) {
	if idle, ok := c.Payload.(SubscriptionIdle); ok && e.Tx.ByNumber[idle.Agreement].IsActive() {
		e.Tx.Archive(e.Tx.ByNumber[idle.Agreement])
	}
	ended, err := e.add(TerminatedTemplate, TerminatedSubscription{SubscriptionOf(c), ReferenceOf(c)})
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(terminatedDoneShape, ContractID(ended.Number)), nil
}

// collectSubscription gives the receiver of a payment its coins, and has the subscription wait
// for the next one.
func collectSubscription(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(SubscriptionPayment)
	ctx, sum, err := openPayment(e, p.Locked, arg.Record("transferContext"))
	if err != nil {
		return Value{}, err
	}
	defer e.at(ctx.round)()
	a := e.Tx.Arena()
	paid, _, err := transferBy(e, order{sender: p.User, provider: p.Provider, context: ctx,
		inputs:  []Value{a.Variant("InputAmulet", *Argument{&sum}.At("amulet"))},
		outputs: []Output{{Receiver: p.Receiver, Amount: p.Amount - e.payments.OutputFee()}}}) // the receiver bears the fee
	if err != nil {
		return Value{}, err
	}
	got := ContractID(paid.Created[0].Number)
	if p.Renewal {
		idle, err := awaitPayment(e, p, p.DueAt+p.Interval)
		return a.Record(CollectedShape, idle, got), err
	}
	made, err := e.add(SubscriptionTemplate, Agreement{p.Subscription, p.Reference})
	if err != nil {
		return Value{}, err
	}
	p.Agreement = made.Number
	idle, err := awaitPayment(e, p, e.Now()+p.Interval)
	return a.Record(FirstCollectedShape, ContractID(made.Number), idle, got), err
}

// awaitPayment has the subscription of a payment wait for the next one, which is due at a time.
func awaitPayment(e *Execution, p SubscriptionPayment, due int64) (Value, error) {
	idle, err := e.add(SubscriptionIdleTemplate, SubscriptionIdle{Subscription: p.Subscription, DueAt: due, Agreement: p.Agreement, Reference: p.Reference})
	if err != nil {
		return Value{}, err
	}
	return ContractID(idle.Number), nil
}

// returnSubscription gives the sender of a payment its coins back. A subscription that had
// begun waits for the same payment again.
func returnSubscription(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(SubscriptionPayment)
	_, sum, err := openPayment(e, p.Locked, arg.Record("transferContext"))
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	if !p.Renewal {
		return a.Record(MintDoneShape, sum), nil
	}
	idle, err := awaitPayment(e, p, p.DueAt)
	return a.Record(renewalReturnedShape, idle, sum), err
}

// expireSubscriptionPayment returns a payment that its receiver has not collected in time. The
// name service always does.
func expireSubscriptionPayment(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(SubscriptionPayment)
	if err := partOf(e, p.Subscription, arg.Party("actor")); err != nil {
		return Value{}, err
	}
	if locked := e.Tx.ByNumber[p.Locked]; p.Name != "" || locked != nil && locked.Payload.(LockedAmulet).ExpiresAt > e.Now() {
		return Value{}, broken("the payment can be collected yet")
	}
	return returnSubscription(e, c, arg)
}
