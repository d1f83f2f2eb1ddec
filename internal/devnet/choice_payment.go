package devnet

import (
	"slices"
	"time"
)

// collectWithin is how long, in µs, an app may take to collect a payment.
const collectWithin = int64(24 * time.Hour / time.Microsecond)

var (
	paymentAcceptedShape   = newShape("acceptedPayment", "senderChangeAmulet")
	paymentTerminatedShape = newShape("terminatedAppPayment")
	paymentCollectedShape  = newShape("receiverAmulets")
	paymentReturnedShape   = newShape("amulet")
)

// addPaymentChoices are payments that apps ask for.
func addPaymentChoices(all *choices) {
	all.creations[paymentRequestTemplate] = readPaymentRequest
	sender := byPayload(func(p paymentRequest) []party { return []party{p.sender} })
	provider := byPayload(func(p paymentRequest) []party { return []party{p.provider} })
	all.on(paymentRequestTemplate, "AppPaymentRequest_Accept", consuming(
		func(_ *execution, c *contract, arg argument) []party {
			return []party{c.payload.(paymentRequest).sender, arg.party("walletProvider")}
		}, acceptPayment))
	all.on(paymentRequestTemplate, "AppPaymentRequest_Reject", consuming(sender, terminatePayment))
	all.on(paymentRequestTemplate, "AppPaymentRequest_Withdraw", consuming(provider, terminatePayment))
	all.on(paymentRequestTemplate, "AppPaymentRequest_Expire", consuming(byArgument("actor"),
		func(e *execution, c *contract, arg argument) (value, error) {
			p, actor := c.payload.(paymentRequest), arg.party("actor")
			if signatories, _ := p.stakeholders(nil, nil); !slices.Contains(signatories, actor) {
				return value{}, broken("%s is no party to the payment", e.names.name(actor))
			}
			if p.expiresAt > e.now() {
				return value{}, broken("the request expires at %s only", microsText(p.expiresAt))
			}
			return terminatePayment(e, c, arg)
		}))

	collector := byPayload(func(p acceptedPayment) []party { return []party{p.provider} })
	all.on(acceptedPaymentTemplate, "AcceptedAppPayment_Collect", consuming(collector, collectAppPayment))
	all.on(acceptedPaymentTemplate, "AcceptedAppPayment_Reject", consuming(collector, returnAppPayment))
	all.on(acceptedPaymentTemplate, "AcceptedAppPayment_Expire", consuming(
		byPayload(func(p acceptedPayment) []party { return []party{p.sender} }),
		func(e *execution, c *contract, arg argument) (value, error) {
			if locked := e.tx.byNumber[c.payload.(acceptedPayment).locked]; locked != nil {
				if until := locked.payload.(lockedAmulet).expiresAt; until > e.now() {
					return value{}, broken("the app may collect the payment until %s", microsText(until))
				}
			}
			return returnAppPayment(e, c, arg)
		}))
}

func readPaymentRequest(e *execution, a argument) (payload, error) {
	list := a.list("receiverAmounts")
	p := paymentRequest{appPayment: appPayment{sender: a.party("sender"), provider: a.party("provider")},
		expiresAt: a.time("expiresAt"), description: a.text("description")}
	switch {
	case len(list) == 0 || len(list) > maxOutputs:
		return nil, broken("a payment has 1 to %d receivers, not %d", maxOutputs, len(list))
	case len(p.description) > maxTextLength:
		return nil, broken("a text is longer than %d bytes", maxTextLength)
	}
	for i := range list {
		to := argument{&list[i]}
		amount := to.record("amount")
		s := share{to.party("receiver"), amount.numeric("amount"), amount.text("unit") == "USDUnit"}
		if amount.text("unit") == "ExtUnit" {
			return nil, broken("amounts are in coins or in USD")
		}
		if err := e.positive("amount", s.amount); err != nil {
			return nil, err
		}
		p.shares = append(p.shares, s)
	}
	if err := e.isDSO(a.party("dso")); err != nil {
		return nil, err
	}
	return p, e.later("expiry of the request at", p.expiresAt)
}

// acceptPayment locks what an app has asked for, with the app as holder.
func acceptPayment(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(paymentRequest)
	if err := e.later("expiry of the request at", p.expiresAt); err != nil {
		return value{}, err
	}
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	paid, total := p.appPayment, e.payments.outputFee() // and one for each receiver, when they get their coins
	paid.shares = slices.Clone(p.shares)
	for i := range paid.shares {
		s := &paid.shares[i]
		if s.inUSD {
			s.amount, s.inUSD = s.amount.over(ctx.round.price), false
		}
		if total += s.amount + e.payments.outputFee(); total < 0 {
			return value{}, broken("the amounts are worth more than there are coins")
		}
	}
	lock := lockedAmulet{holder: p.provider, expiresAt: e.now() + collectWithin}
	s, _, err := transferBy(e, order{sender: p.sender, provider: arg.party("walletProvider"), inputs: arg.list("inputs"), context: ctx,
		outputs: []output{{receiver: p.sender, amount: total, lock: &lock}}})
	if err != nil {
		return value{}, err
	}
	next, err := e.add(acceptedPaymentTemplate, acceptedPayment{paid, s.created[0].number, ctx.round.number, c.number})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(paymentAcceptedShape, contractID(next.number), e.payments.changeID(s)), nil
}

func terminatePayment(e *execution, c *contract, _ argument) (value, error) {
	ended, err := e.add(terminatedPaymentTemplate, terminatedPayment{c.payload.(paymentRequest).appPayment, c.number})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(paymentTerminatedShape, contractID(ended.number)), nil
}

// appTransferContext reads the context of choices by which apps take payments.
func appTransferContext(e *execution, v argument) (transferContext, error) {
	ctx := transferContext{app: noParty}
	if _, err := e.fetchOf(amuletRulesTemplate, v.contract("amuletRules")); err != nil {
		return ctx, err
	}
	var err error
	if ctx.round, err = openMiningRound(e, v.contract("openMiningRound")); err != nil {
		return ctx, err
	}
	if ctx.app, err = featuredApp(e, v); err != nil {
		return ctx, err
	}
	a := e.tx.arena()
	ctx.given = a.record(transferContextShape, contractID(ctx.round.contract.number), a.genMap(), a.genMap(),
		optional(a, ctx.app != noParty, orUnit(v.given("featuredAppRight"))))
	return ctx, nil
}

// unlockFor unlocks a coin at the price of a context, as a part of another choice, and returns
// what the choice says of the coin that was in it.
func unlockFor(e *execution, n uint64, ctx transferContext) (sum value, err error) {
	locked, err := lockedCoin(e, n)
	if err != nil {
		return value{}, err
	}
	result, err := e.perform(locked, "LockedAmulet_Unlock", e.tx.arena().record(unlockShape, contractID(ctx.round.contract.number)))
	if err != nil {
		return value{}, err
	}
	return *argument{&result}.at("amuletSum"), nil
}

// openPayment unlocks the coin of a payment at the price of the context that its receiver gives,
// and returns that and what the choice says of the coin.
func openPayment(e *execution, locked uint64, given argument) (ctx transferContext, sum value, err error) {
	if ctx, err = appTransferContext(e, given); err != nil {
		return ctx, sum, err
	}
	sum, err = unlockFor(e, locked, ctx)
	return ctx, sum, err
}

// collectAppPayment gives the receivers of a payment their coins.
func collectAppPayment(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(acceptedPayment)
	ctx, sum, err := openPayment(e, p.locked, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	o := order{sender: p.sender, provider: p.provider, context: ctx, inputs: []value{a.variant("InputAmulet", *argument{&sum}.at("amulet"))}}
	for _, s := range p.shares {
		o.outputs = append(o.outputs, output{receiver: s.receiver, amount: s.amount})
	}
	s, _, err := transferBy(e, o)
	if err != nil {
		return value{}, err
	}
	got := make([]value, len(p.shares))
	for i, to := range p.shares {
		got[i] = a.record(tupleShape, partyValue(to.receiver), contractID(s.created[i].number))
	}
	return a.record(paymentCollectedShape, a.list(got...)), nil
}

// returnAppPayment gives the sender of a payment its coins back.
func returnAppPayment(e *execution, c *contract, arg argument) (value, error) {
	_, sum, err := openPayment(e, c.payload.(acceptedPayment).locked, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(paymentReturnedShape, sum), nil
}
