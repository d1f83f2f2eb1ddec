package devnet

import "time"

var (
	setupDoneShape          = newShape("proposalCid", "user", "validator", "transferResult", "amuletPaid", "meta")
	setupArgShape           = newShape("context", "inputs", "user", "validator", "preapprovalExpiresAt", "expectedDso")
	setupAcceptedShape      = newShape("validatorRightCid", "transferPreapprovalCid")
	proposalAcceptedShape   = newShape("transferPreapprovalCid", "transferResult", "amuletPaid")
	dummyResultShape        = newShape("dummyArg")
	maxPreapprovalLifetime  = (2 * 365 * 24 * time.Hour).Microseconds()
	preapprovalFeePerMicros = time.Duration(24 * time.Hour).Microseconds() // length of a day
)

func addPreapprovalChoices(all *choices) {
	all.on(amuletRulesTemplate, "AmuletRules_CreateTransferPreapproval", nonconsuming(byArgument("receiver", "provider"),
		func(e *execution, _ *contract, arg argument) (value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return value{}, err
			}
			b, err := buyPreapproval(e, arg, arg.party("receiver"), arg.party("provider"), arg.time("expiresAt"))
			if err != nil {
				return value{}, err
			}
			return e.tx.arena().record(createPreapprovalDoneShape,
				e.tx.withMeta([]value{contractID(b.contract.number), b.result, numeric(b.paid)}, none())...), nil
		}))
	all.on(amuletRulesTemplate, "AmuletRules_CreateExternalPartySetupProposal", nonconsuming(byArgument("validator"), proposeSetup))
	addProposalChoices(all)
	addSendChoices(all)
	all.on(preapprovalTemplate, "TransferPreapproval_Renew", consuming(
		byPayload(func(p preapproval) []party { return []party{p.provider} }), renewByCommand))
	all.on(preapprovalTemplate, "TransferPreapproval_Cancel", consuming(byArgument("p"),
		func(e *execution, c *contract, arg argument) (value, error) {
			if p, by := c.payload.(preapproval), arg.party("p"); by != p.receiver && by != p.provider && by != dso {
				return value{}, broken("%s may not cancel the preapproval", e.names.name(by))
			}
			return enum("TransferPreapproval_CancelResult"), nil
		}))
	all.on(preapprovalTemplate, "TransferPreapproval_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// bought is something that was paid for by coins that were burned.
type bought struct {
	contract *contract
	result   value // of the transfer
	paid     decimal
	change   *contract
}

// lifetimeFee is what a preapproval costs for a time in µs, in coins of the round that is set.
func lifetimeFee(e *execution, micros int64) decimal {
	days := decimal(micros).over(decimal(preapprovalFeePerMicros))
	return max(1, preapprovalFeeUSD.times(days).over(e.rounds.openRound().price))
}

// payLifetime has a payer burn the fee for a time in µs by the context and inputs of arg.
func payLifetime(e *execution, arg argument, payer party, micros int64) (bought, error) {
	if micros > maxPreapprovalLifetime {
		return bought{}, broken("a preapproval is sold for at most two years")
	}
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return bought{}, err
	}
	return payLifetimeIn(e, ctx, arg.list("inputs"), payer, micros)
}

func payLifetimeIn(e *execution, ctx transferContext, inputs []value, payer party, micros int64) (bought, error) {
	defer e.at(ctx.round)()
	fee := lifetimeFee(e, micros)
	s, result, err := transferBy(e, order{sender: payer, provider: payer, inputs: inputs, context: ctx,
		outputs: []output{{receiver: payer, amount: fee}}})
	if err != nil {
		return bought{}, err
	}
	e.bank.burn(e.bank.spend(s.created[0]))
	return bought{result: result, paid: fee, change: s.change}, nil
}

func buyPreapproval(e *execution, arg argument, receiver, provider party, expires int64) (bought, error) {
	if err := e.later("expiry of the preapproval at", expires); err != nil {
		return bought{}, err
	}
	b, err := payLifetime(e, arg, provider, expires-e.now())
	if err != nil {
		return bought{}, err
	}
	b.contract, err = e.add(preapprovalTemplate, preapproval{receiver, provider, e.now(), e.now(), expires})
	return b, err
}

func renewByCommand(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(preapproval)
	expires := arg.time("newExpiresAt")
	switch {
	case p.expiresAt <= e.now():
		return value{}, broken("the preapproval expired at %s", microsText(p.expiresAt))
	case expires <= p.expiresAt:
		return value{}, broken("the new expiry %s is not after the old one, %s", microsText(expires), microsText(p.expiresAt))
	}
	b, err := payLifetime(e, arg, p.provider, expires-p.expiresAt)
	if err != nil {
		return value{}, err
	}
	p.expiresAt, p.lastRenewedAt = expires, e.now()
	next, err := e.add(preapprovalTemplate, p)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(renewDoneShape, e.tx.withMeta([]value{contractID(next.number), b.result,
		partyValue(p.receiver), partyValue(p.provider), numeric(b.paid)}, none())...), nil
}

func addSendChoices(all *choices) {
	all.on(preapprovalTemplate, "TransferPreapproval_Send", nonconsuming(byArgument("sender"),
		func(e *execution, c *contract, arg argument) (value, error) {
			ctx, err := paymentContextOf(e, arg.record("context"))
			if err != nil {
				return value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return value{}, err
			}
			// The sender acts, the provider signed the preapproval.
			_, result, err := transferBy(e, o)
			if err != nil {
				return value{}, err
			}
			a := e.tx.arena()
			meta := a.some(metadata(a, senderMetaKey, e.names.name(o.sender), txKindMetaKey, "transfer"))
			return a.record(sendDoneShape, e.tx.withMeta([]value{result}, meta)...), nil
		}))
	all.on(preapprovalTemplate, "TransferPreapproval_SendV2", nonconsuming(byArgument("sender"),
		func(e *execution, c *contract, arg argument) (value, error) {
			ctx, err := externalContext(e, arg.record("context"))
			if err != nil {
				return value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return value{}, err
			}
			a := e.tx.arena()
			return a.record(sendDoneShape, e.payments.transferResult(s),
				metadata(a, senderMetaKey, e.names.name(o.sender), txKindMetaKey, "transfer")), nil
		}))
}

// sendOrder is the transfer by a preapproval.
func sendOrder(e *execution, c *contract, arg argument, ctx transferContext) (order, error) {
	p, amount := c.payload.(preapproval), arg.numeric("amount")
	if err := e.positive("amount", amount); err != nil {
		return order{}, err
	}
	if err := e.later("expiry of the preapproval at", p.expiresAt); err != nil {
		return order{}, err
	}
	return order{sender: arg.party("sender"), provider: p.provider, inputs: arg.list("inputs"), context: ctx,
		outputs: []output{{receiver: p.receiver, amount: amount}}}, nil
}

// externalContext is the context of choices whose transactions may be signed long before
// they are executed.
func externalContext(e *execution, v argument) (transferContext, error) {
	ctx := transferContext{app: noParty}
	c, err := e.fetchOf(configStateTemplate, v.contract("externalPartyConfigState"))
	if err != nil {
		return ctx, err
	}
	ctx.round = roundOf(e, c.payload.(configState))
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// roundOf stands for the round whose number and price a configuration state has kept.
func roundOf(e *execution, p configState) *round {
	return &round{number: p.round, price: p.price}
}

// proposeSetup has a validator pay for the preapproval of an external party.
func proposeSetup(e *execution, _ *contract, arg argument) (value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return value{}, err
	}
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	b, err := settleSetup(e, ctx, arg.list("inputs"), arg.party("user"), arg.party("validator"), arg.time("preapprovalExpiresAt"))
	if err != nil {
		return value{}, err
	}
	return setupDone(e, b, arg.party("user"), arg.party("validator")), nil
}

func setupDone(e *execution, b bought, user, validator party) value {
	return e.tx.arena().record(setupDoneShape, e.tx.withMeta([]value{contractID(b.contract.number), partyValue(user),
		partyValue(validator), b.result, numeric(b.paid)}, none())...)
}

func settleSetup(e *execution, ctx transferContext, inputs []value, user, validator party, expires int64) (bought, error) {
	if err := e.later("expiry of the preapproval at", expires); err != nil {
		return bought{}, err
	}
	if expires-e.now() > maxPreapprovalLifetime {
		return bought{}, broken("a preapproval is sold for at most two years")
	}
	b, err := payLifetimeIn(e, ctx, inputs, validator, expires-e.now())
	if err != nil {
		return bought{}, err
	}
	b.contract, err = e.add(setupProposalTemplate, setupProposal{validator: validator, user: user, createdAt: e.now(), expiresAt: expires})
	return b, err
}

func addProposalChoices(all *choices) {
	user := byPayload(func(p setupProposal) []party { return []party{p.user} })
	toDummy := func(e *execution, _ *contract, _ argument) (value, error) {
		return e.tx.arena().record(dummyResultShape, unit()), nil
	}
	all.on(setupProposalTemplate, "ExternalPartySetupProposal_Accept", consuming(user, acceptSetup))
	all.on(setupProposalTemplate, "ExternalPartySetupProposal_Reject", consuming(user, toDummy))
	all.on(setupProposalTemplate, "ExternalPartySetupProposal_Withdraw", consuming(
		byPayload(func(p setupProposal) []party { return []party{p.validator} }), toDummy))
	all.creations[preapprovalProposalTemplate] = func(e *execution, a argument) (payload, error) {
		return preapprovalProposal{receiver: a.party("receiver"), provider: a.party("provider"),
			expectsDSO: a.given("expectedDso") != nil}, e.expectsDSO(a)
	}
	all.on(preapprovalProposalTemplate, "TransferPreapprovalProposal_Accept", consuming(
		byPayload(func(p preapprovalProposal) []party { return []party{p.provider} }),
		func(e *execution, c *contract, arg argument) (value, error) {
			p, a := c.payload.(preapprovalProposal), e.tx.arena()
			result, err := e.perform(e.rules.amulet, "AmuletRules_CreateTransferPreapproval", a.record(createPreapprovalShape,
				*arg.at("context"), *arg.at("inputs"), partyValue(p.receiver), partyValue(p.provider), *arg.at("expiresAt"), e.tx.expectedDSO()))
			if err != nil {
				return value{}, err
			}
			return a.record(proposalAcceptedShape, result.elems[:3]...), nil
		}))
}

// acceptSetup gives an external party its preapproval, and its validator the right to
// collect its coupons.
func acceptSetup(e *execution, c *contract, _ argument) (value, error) {
	p := c.payload.(setupProposal)
	if err := e.later("expiry of the preapproval at", p.expiresAt); err != nil {
		return value{}, err
	}
	right, err := e.add(validatorRightTemplate, validatorRight{user: p.user, validator: p.validator})
	if err != nil {
		return value{}, err
	}
	approval, err := e.add(preapprovalTemplate, preapproval{p.user, p.validator, p.createdAt, p.createdAt, p.expiresAt})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(setupAcceptedShape, contractID(right.number), contractID(approval.number)), nil
}
