package devnet

import "regexp"

var (
	// validName is what names of the name service look like.
	validName = regexp.MustCompile(`^[a-z0-9_-]{1,60}\.unverified\.cns$`)

	paymentDoneShape    = newShape("subscriptionPayment", "senderChange")
	terminatedDoneShape = newShape("terminatedSubscription")
)

const (
	maxNameURL         = 255
	maxNameDescription = 140
)

func addNameChoices(all *choices) {
	all.on(ansRulesTemplate, "AnsRules_RequestEntry", nonconsuming(byArgument("user"), requestByCommand))
	user := byPayload(func(p subscriptionRequest) []party { return []party{p.user} })
	idleUser := byPayload(func(p subscriptionIdle) []party { return []party{p.user} })
	payers := func(_ *execution, c *contract, arg argument) []party {
		return []party{subscriptionOf(c).user, arg.party("walletProvider")}
	}
	all.on(subscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", consuming(payers, payByCommand))
	all.on(subscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", consuming(payers,
		func(e *execution, c *contract, arg argument) (value, error) {
			if p := c.payload.(subscriptionIdle); e.now() < p.dueAt-p.lifetime/3 {
				return value{}, broken("the next payment is due at %s only", microsText(p.dueAt))
			}
			return payByCommand(e, c, arg)
		}))
	all.on(subscriptionRequestTemplate, "SubscriptionRequest_Reject", consuming(user, terminateByCommand))
	all.on(subscriptionIdleTemplate, "SubscriptionIdleState_CancelSubscription", consuming(idleUser, terminateByCommand))
	all.on(ansEntryTemplate, "AnsEntry_Expire", consuming(byArgument("actor"),
		func(e *execution, c *contract, arg argument) (value, error) {
			p, actor := c.payload.(ansEntry), arg.party("actor")
			switch {
			case actor != p.user && actor != dso:
				return value{}, broken("%s is no party to the name", e.names.name(actor))
			case p.expiresAt > e.now():
				return value{}, broken("the name expires at %s only", microsText(p.expiresAt))
			}
			return e.arena().record(emptyRecordShape), nil
		}))
	all.on(ansEntryContextTemplate, "AnsEntryContext_Terminate", consuming(byArgument("actor"), endContext))
}

// subscriptionOf is what the contracts of a subscription repeat.
func subscriptionOf(c *contract) subscription {
	switch p := c.payload.(type) {
	case subscriptionIdle:
		return p.subscription
	case subscriptionPayment:
		return p.subscription
	case terminatedSubscription:
		return p.subscription
	}
	return c.payload.(subscriptionRequest).subscription
}

// referenceOf is the number of the request by which a subscription is referred to.
func referenceOf(c *contract) uint64 {
	switch p := c.payload.(type) {
	case subscriptionIdle:
		return p.reference
	case subscriptionPayment:
		return p.reference
	case terminatedSubscription:
		return p.reference
	case ansEntryContext:
		return p.reference
	}
	return c.number
}

func requestByCommand(e *execution, _ *contract, arg argument) (value, error) {
	n := nameRequest{user: arg.party("user"), validator: e.names.validatorOf(arg.party("user")), name: arg.text("name"),
		url: arg.text("url"), description: arg.text("description")}
	switch {
	case !validName.MatchString(n.name):
		return value{}, broken("name %.100q is not of the form NAME.unverified.cns", n.name)
	case len(n.url) > maxNameURL || len(n.description) > maxNameDescription:
		return value{}, broken("the url has more than %d bytes or the description more than %d", maxNameURL, maxNameDescription)
	}
	request, err := e.add(subscriptionRequestTemplate, subscriptionRequest{subscription{n, e.entryLifetime()}})
	if err != nil {
		return value{}, err
	}
	entry, err := e.add(ansEntryContextTemplate, ansEntryContext{n, request.number})
	if err != nil {
		return value{}, err
	}
	return e.arena().record(requestEntryDoneShape, contractID(entry.number), contractID(request.number)), nil
}

// payByCommand locks the entry fee, for the first time or for a renewal.
func payByCommand(e *execution, c *contract, arg argument) (value, error) {
	ctx, err := e.paymentContextOf(arg.record("context"))
	if err != nil {
		return value{}, err
	}
	s, round := subscriptionOf(c), ctx.round
	amount := entryFeeUSD.over(round.price)
	lock := lockedAmulet{holder: dso, expiresAt: e.now() + s.lifetime}
	paid, _, err := e.transferBy(order{sender: s.user, provider: arg.party("walletProvider"), inputs: arg.list("inputs"), context: ctx,
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
	return e.arena().record(paymentDoneShape, contractID(payment.number), e.changeID(paid)), nil
}

func terminateByCommand(e *execution, c *contract, _ argument) (value, error) {
	if idle, ok := c.payload.(subscriptionIdle); ok && e.byNumber[idle.agreement].isActive() {
		e.archive(e.byNumber[idle.agreement])
	}
	ended, err := e.add(terminatedTemplate, terminatedSubscription{subscriptionOf(c), referenceOf(c)})
	if err != nil {
		return value{}, err
	}
	return e.arena().record(terminatedDoneShape, contractID(ended.number)), nil
}

// endContext archives what joined a name with a subscription that has ended.
func endContext(e *execution, c *contract, arg argument) (value, error) {
	p, actor := c.payload.(ansEntryContext), arg.party("actor")
	ended, err := e.fetchOf(terminatedTemplate, arg.contract("terminatedSubscriptionCid"))
	switch {
	case err != nil:
		return value{}, err
	case actor != p.user && actor != dso:
		return value{}, broken("%s is no party to the name", e.names.name(actor))
	case referenceOf(ended) != p.reference:
		return value{}, broken("the subscription that has ended is another one")
	}
	e.archive(ended)
	return e.arena().record(emptyRecordShape), nil
}
