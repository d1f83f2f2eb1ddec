package devnet

import "slices"

var (
	paymentDoneShape     = newShape("subscriptionPayment", "senderChange")
	terminatedDoneShape  = newShape("terminatedSubscription")
	renewalReturnedShape = newShape("subscriptionState", "amuletSum")
)

// maxInterval is the longest time, in µs, between two payments.
const maxInterval = 10 * 365 * 86400e6

// addSubscriptionChoices are subscriptions, those of the name service included.
func addSubscriptionChoices(all *choices) {
	all.creations[subscriptionRequestTemplate] = readSubscription
	user := byPayload(func(p subscriptionRequest) []party { return []party{p.user} })
	payers := func(_ *execution, c *contract, arg argument) []party {
		return []party{subscriptionOf(c).user, arg.party("walletProvider")}
	}
	all.on(subscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", consuming(payers, payByCommand))
	all.on(subscriptionRequestTemplate, "SubscriptionRequest_Reject", consuming(user, terminateByCommand))
	all.on(subscriptionRequestTemplate, "SubscriptionRequest_Withdraw", consuming(
		byPayload(func(p subscriptionRequest) []party { return []party{p.provider} }), terminateByCommand))
	all.on(subscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", consuming(payers,
		func(e *execution, c *contract, arg argument) (value, error) {
			if p := c.payload.(subscriptionIdle); e.now() < p.dueAt-p.duration {
				return value{}, broken("the next payment is due at %s, and can be made from %s on only", microsText(p.dueAt), microsText(p.dueAt-p.duration))
			}
			return payByCommand(e, c, arg)
		}))
	all.on(subscriptionIdleTemplate, "SubscriptionIdleState_CancelSubscription", consuming(
		byPayload(func(p subscriptionIdle) []party { return []party{p.user} }), terminateByCommand))
	all.on(subscriptionIdleTemplate, "SubscriptionIdleState_ExpireSubscription", consuming(byArgument("actor"),
		func(e *execution, c *contract, arg argument) (value, error) {
			p := c.payload.(subscriptionIdle)
			if err := partOf(e, p.subscription, arg.party("actor")); err != nil {
				return value{}, err
			}
			if p.dueAt > e.now() {
				return value{}, broken("the next payment is due at %s only", microsText(p.dueAt))
			}
			return terminateByCommand(e, c, arg)
		}))
	receiver := byPayload(func(p subscriptionPayment) []party { return []party{p.receiver} })
	for t, kind := range map[*template]string{initialPaymentTemplate: "SubscriptionInitialPayment", renewalPaymentTemplate: "SubscriptionPayment"} {
		all.on(t, kind+"_Collect", consuming(receiver, collectSubscription))
		all.on(t, kind+"_Reject", consuming(receiver, returnSubscription))
		all.on(t, kind+"_Expire", consuming(byArgument("actor"), expireSubscriptionPayment))
	}
}

// readSubscription reads the request of a subscription with somebody else than the name
// service, which makes its own.
func readSubscription(e *execution, a argument) (payload, error) {
	data, pay := a.record("subscriptionData"), a.record("payData")
	amount := pay.record("paymentAmount")
	s := subscription{nameRequest: nameRequest{user: data.party("sender")}, receiver: data.party("receiver"), provider: data.party("provider"),
		description: data.text("description"), amount: amount.numeric("amount"), inUSD: amount.text("unit") == "USDUnit",
		interval: pay.relTime("paymentInterval"), duration: pay.relTime("paymentDuration")}
	switch {
	case amount.text("unit") == "ExtUnit":
		return nil, broken("amounts are in coins or in USD")
	case s.interval <= 0 || s.interval > maxInterval:
		return nil, broken("paymentInterval is not above 0 and at most ten years")
	case s.duration < 0 || s.duration > s.interval:
		return nil, broken("paymentDuration is not within paymentInterval")
	case len(s.description) > maxTextLength:
		return nil, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.isDSO(data.party("dso")); err != nil {
		return nil, err
	}
	return subscriptionRequest{s}, e.positive("amount", s.amount)
}

// partOf checks that somebody takes part in a subscription.
func partOf(e *execution, s subscription, p party) error {
	if signatories, _ := s.stakeholders(nil, nil); !slices.Contains(signatories, p) {
		return broken("%s is no party to the subscription", e.names.name(p))
	}
	return nil
}

// payByCommand locks what a subscription costs, for the first time or for another one.
func payByCommand(e *execution, c *contract, arg argument) (value, error) {
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	s, round := subscriptionOf(c), ctx.round
	amount := s.amount
	if s.inUSD {
		amount = amount.over(round.price)
	}
	lock := lockedAmulet{holder: s.provider, expiresAt: e.now() + collectWithin}
	if s.name != "" {
		lock.expiresAt = e.now() + s.lifetime
	}
	paid, _, err := transferBy(e, order{sender: s.user, provider: arg.party("walletProvider"), inputs: arg.list("inputs"), context: ctx,
		outputs: []output{{receiver: s.user, amount: amount, lock: &lock}}})
	if err != nil {
		return value{}, err
	}
	idle, renewal := c.payload.(subscriptionIdle)
	p := subscriptionPayment{subscription: s, renewal: renewal, dueAt: e.now(), amount: amount,
		locked: paid.created[0].number, round: round.number, reference: referenceOf(c)}
	template := initialPaymentTemplate
	if renewal {
		template, p.dueAt, p.agreement = renewalPaymentTemplate, idle.dueAt, idle.agreement
	}
	payment, err := e.add(template, p)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(paymentDoneShape, contractID(payment.number), e.payments.changeID(paid)), nil
}

func terminateByCommand(e *execution, c *contract, _ argument) (value, error) {
	if idle, ok := c.payload.(subscriptionIdle); ok && e.tx.byNumber[idle.agreement].isActive() {
		e.tx.archive(e.tx.byNumber[idle.agreement])
	}
	ended, err := e.add(terminatedTemplate, terminatedSubscription{subscriptionOf(c), referenceOf(c)})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(terminatedDoneShape, contractID(ended.number)), nil
}

// collectSubscription gives the receiver of a payment its coins, and has the subscription wait
// for the next one.
func collectSubscription(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(subscriptionPayment)
	ctx, sum, err := openPayment(e, p.locked, arg.record("transferContext"))
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	a := e.tx.arena()
	paid, _, err := transferBy(e, order{sender: p.user, provider: p.provider, context: ctx,
		inputs:  []value{a.variant("InputAmulet", *argument{&sum}.at("amulet"))},
		outputs: []output{{receiver: p.receiver, amount: p.amount - e.payments.outputFee()}}}) // the receiver bears the fee
	if err != nil {
		return value{}, err
	}
	got := contractID(paid.created[0].number)
	if p.renewal {
		idle, err := awaitPayment(e, p, p.dueAt+p.interval)
		return a.record(collectedShape, idle, got), err
	}
	made, err := e.add(subscriptionTemplate, agreement{p.subscription, p.reference})
	if err != nil {
		return value{}, err
	}
	p.agreement = made.number
	idle, err := awaitPayment(e, p, e.now()+p.interval)
	return a.record(firstCollectedShape, contractID(made.number), idle, got), err
}

// awaitPayment has the subscription of a payment wait for the next one, which is due at a time.
func awaitPayment(e *execution, p subscriptionPayment, due int64) (value, error) {
	idle, err := e.add(subscriptionIdleTemplate, subscriptionIdle{subscription: p.subscription, dueAt: due, agreement: p.agreement, reference: p.reference})
	if err != nil {
		return value{}, err
	}
	return contractID(idle.number), nil
}

// returnSubscription gives the sender of a payment its coins back. A subscription that had
// begun waits for the same payment again.
func returnSubscription(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(subscriptionPayment)
	_, sum, err := openPayment(e, p.locked, arg.record("transferContext"))
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	if !p.renewal {
		return a.record(mintDoneShape, sum), nil
	}
	idle, err := awaitPayment(e, p, p.dueAt)
	return a.record(renewalReturnedShape, idle, sum), err
}

// expireSubscriptionPayment returns a payment that its receiver has not collected in time. The
// name service always does.
func expireSubscriptionPayment(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(subscriptionPayment)
	if err := partOf(e, p.subscription, arg.party("actor")); err != nil {
		return value{}, err
	}
	if locked := e.tx.byNumber[p.locked]; p.name != "" || locked != nil && locked.payload.(lockedAmulet).expiresAt > e.now() {
		return value{}, broken("the payment can be collected yet")
	}
	return returnSubscription(e, c, arg)
}
