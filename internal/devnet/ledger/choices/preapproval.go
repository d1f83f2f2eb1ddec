package choices

import (
	"time"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	setupDoneShape          = NewShape("proposalCid", "user", "validator", "transferResult", "amuletPaid", "meta")
	setupArgShape           = NewShape("context", "inputs", "user", "validator", "preapprovalExpiresAt", "expectedDso")
	setupAcceptedShape      = NewShape("validatorRightCid", "transferPreapprovalCid")
	proposalAcceptedShape   = NewShape("transferPreapprovalCid", "transferResult", "amuletPaid")
	dummyResultShape        = NewShape("dummyArg")
	maxPreapprovalLifetime  = (2 * 365 * 24 * time.Hour).Microseconds()
	preapprovalFeePerMicros = time.Duration(24 * time.Hour).Microseconds() // length of a day
)

func addPreapprovalChoices(all *choices) {
	all.on(AmuletRulesTemplate, "AmuletRules_CreateTransferPreapproval", nonconsuming(byArgument("receiver", "provider"),
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return Value{}, err
			}
			b, err := buyPreapproval(e, arg, arg.Party("receiver"), arg.Party("provider"), arg.Time("expiresAt"))
			if err != nil {
				return Value{}, err
			}
			return e.Tx.Arena().Record(CreatePreapprovalDoneShape,
				e.Tx.WithMeta([]Value{ContractID(b.contract.Number), b.result, Numeric(b.paid)}, None())...), nil
		}))
	all.on(AmuletRulesTemplate, "AmuletRules_CreateExternalPartySetupProposal", nonconsuming(byArgument("validator"), proposeSetup))
	addProposalChoices(all)
	addSendChoices(all)
	all.on(PreapprovalTemplate, "TransferPreapproval_Renew", consuming(
		byPayload(func(p Preapproval) []Party { return []Party{p.Provider} }), renewByCommand))
	all.on(PreapprovalTemplate, "TransferPreapproval_Cancel", consuming(byArgument("p"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			if p, by := c.Payload.(Preapproval), arg.Party("p"); by != p.Receiver && by != p.Provider && by != Dso {
				return Value{}, broken("%s may not cancel the preapproval", e.Names.Name(by))
			}
			return Enum("TransferPreapproval_CancelResult"), nil
		}))
	all.on(PreapprovalTemplate, "TransferPreapproval_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// bought is something that was paid for by coins that were burned.
type bought struct {
	contract *Contract
	result   Value // of the transfer
	paid     Decimal
	change   *Contract
}

// lifetimeFee is what a preapproval costs for a time in µs, in coins of the round that is set.
func lifetimeFee(e *Execution, micros int64) Decimal {
	days := Decimal(micros).Over(Decimal(preapprovalFeePerMicros))
	return max(1, PreapprovalFeeUSD.Times(days).Over(e.rounds.OpenRound().Price))
}

// payLifetime has a payer burn the fee for a time in µs by the context and inputs of arg.
func payLifetime(e *Execution, arg Argument, payer Party, micros int64) (bought, error) {
	if micros > maxPreapprovalLifetime {
		return bought{}, broken("a preapproval is sold for at most two years")
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return bought{}, err
	}
	return payLifetimeIn(e, ctx, arg.List("inputs"), payer, micros)
}

func payLifetimeIn(e *Execution, ctx transferContext, inputs []Value, payer Party, micros int64) (bought, error) {
	defer e.at(ctx.round)()
	fee := lifetimeFee(e, micros)
	s, result, err := transferBy(e, order{sender: payer, provider: payer, inputs: inputs, context: ctx,
		outputs: []Output{{Receiver: payer, Amount: fee}}})
	if err != nil {
		return bought{}, err
	}
	e.bank.Burn(e.bank.Spend(s.Created[0]))
	return bought{result: result, paid: fee, change: s.Change}, nil
}

func buyPreapproval(e *Execution, arg Argument, receiver, provider Party, expires int64) (bought, error) {
	if err := e.later("expiry of the preapproval at", expires); err != nil {
		return bought{}, err
	}
	b, err := payLifetime(e, arg, provider, expires-e.Now())
	if err != nil {
		return bought{}, err
	}
	b.contract, err = e.add(PreapprovalTemplate, Preapproval{receiver, provider, e.Now(), e.Now(), expires})
	return b, err
}

func renewByCommand(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(Preapproval)
	expires := arg.Time("newExpiresAt")
	switch {
	case p.ExpiresAt <= e.Now():
		return Value{}, broken("the preapproval expired at %s", microsText(p.ExpiresAt))
	case expires <= p.ExpiresAt:
		return Value{}, broken("the new expiry %s is not after the old one, %s", microsText(expires), microsText(p.ExpiresAt))
	}
	b, err := payLifetime(e, arg, p.Provider, expires-p.ExpiresAt)
	if err != nil {
		return Value{}, err
	}
	p.ExpiresAt, p.LastRenewedAt = expires, e.Now()
	next, err := e.add(PreapprovalTemplate, p)
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(RenewDoneShape, e.Tx.WithMeta([]Value{ContractID(next.Number), b.result,
		PartyValue(p.Receiver), PartyValue(p.Provider), Numeric(b.paid)}, None())...), nil
}

func addSendChoices(all *choices) {
	all.on(PreapprovalTemplate, "TransferPreapproval_Send", nonconsuming(byArgument("sender"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			ctx, err := paymentContextOf(e, arg.Record("context"))
			if err != nil {
				return Value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return Value{}, err
			}
			// The sender acts, the provider signed the preapproval.
			_, result, err := transferBy(e, o)
			if err != nil {
				return Value{}, err
			}
			a := e.Tx.Arena()
			meta := a.Some(Metadata(a, SenderMetaKey, e.Names.Name(o.sender), TxKindMetaKey, "transfer"))
			return a.Record(SendDoneShape, e.Tx.WithMeta([]Value{result}, meta)...), nil
		}))
	all.on(PreapprovalTemplate, "TransferPreapproval_SendV2", nonconsuming(byArgument("sender"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			ctx, err := externalContext(e, arg.Record("context"))
			if err != nil {
				return Value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return Value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return Value{}, err
			}
			a := e.Tx.Arena()
			return a.Record(SendDoneShape, e.payments.TransferResult(s),
				Metadata(a, SenderMetaKey, e.Names.Name(o.sender), TxKindMetaKey, "transfer")), nil
		}))
}

// sendOrder is the transfer by a preapproval.
func sendOrder(e *Execution, c *Contract, arg Argument, ctx transferContext) (order, error) {
	p, amount := c.Payload.(Preapproval), arg.Numeric("amount")
	if err := e.positive("amount", amount); err != nil {
		return order{}, err
	}
	if err := e.later("expiry of the preapproval at", p.ExpiresAt); err != nil {
		return order{}, err
	}
	return order{sender: arg.Party("sender"), provider: p.Provider, inputs: arg.List("inputs"), context: ctx,
		outputs: []Output{{Receiver: p.Receiver, Amount: amount}}}, nil
}

// externalContext is the context of choices whose transactions may be signed long before
// they are executed.
func externalContext(e *Execution, v Argument) (transferContext, error) {
	ctx := transferContext{app: NoParty}
	c, err := e.fetchOf(ConfigStateTemplate, v.Contract("externalPartyConfigState"))
	if err != nil {
		return ctx, err
	}
	ctx.round = roundOf(e, c.Payload.(ConfigState))
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// roundOf stands for the round whose number and price a configuration state has kept.
func roundOf(e *Execution, p ConfigState) *Round {
	return &Round{Number: p.Round, Price: p.Price}
}

// proposeSetup has a validator pay for the preapproval of an external party.
func proposeSetup(e *Execution, _ *Contract, arg Argument) (Value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	b, err := settleSetup(e, ctx, arg.List("inputs"), arg.Party("user"), arg.Party("validator"), arg.Time("preapprovalExpiresAt"))
	if err != nil {
		return Value{}, err
	}
	return setupDone(e, b, arg.Party("user"), arg.Party("validator")), nil
}

func setupDone(e *Execution, b bought, user, validator Party) Value {
	return e.Tx.Arena().Record(setupDoneShape, e.Tx.WithMeta([]Value{ContractID(b.contract.Number), PartyValue(user),
		PartyValue(validator), b.result, Numeric(b.paid)}, None())...)
}

func settleSetup(e *Execution, ctx transferContext, inputs []Value, user, validator Party, expires int64) (bought, error) {
	if err := e.later("expiry of the preapproval at", expires); err != nil {
		return bought{}, err
	}
	if expires-e.Now() > maxPreapprovalLifetime {
		return bought{}, broken("a preapproval is sold for at most two years")
	}
	b, err := payLifetimeIn(e, ctx, inputs, validator, expires-e.Now())
	if err != nil {
		return bought{}, err
	}
	b.contract, err = e.add(SetupProposalTemplate, SetupProposal{Validator: validator, User: user, CreatedAt: e.Now(), ExpiresAt: expires})
	return b, err
}

func addProposalChoices(all *choices) {
	user := byPayload(func(p SetupProposal) []Party { return []Party{p.User} })
	toDummy := func(e *Execution, _ *Contract, _ Argument) (Value, error) {
		return e.Tx.Arena().Record(dummyResultShape, Unit()), nil
	}
	all.on(SetupProposalTemplate, "ExternalPartySetupProposal_Accept", consuming(user, acceptSetup))
	all.on(SetupProposalTemplate, "ExternalPartySetupProposal_Reject", consuming(user, toDummy))
	all.on(SetupProposalTemplate, "ExternalPartySetupProposal_Withdraw", consuming(
		byPayload(func(p SetupProposal) []Party { return []Party{p.Validator} }), toDummy))
	all.creations[PreapprovalProposalTemplate] = func(e *Execution, a Argument) (Payload, error) {
		return PreapprovalProposal{Receiver: a.Party("receiver"), Provider: a.Party("provider"),
			ExpectsDSO: a.Given("expectedDso") != nil}, e.expectsDSO(a)
	}
	all.on(PreapprovalProposalTemplate, "TransferPreapprovalProposal_Accept", consuming(
		byPayload(func(p PreapprovalProposal) []Party { return []Party{p.Provider} }),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			p, a := c.Payload.(PreapprovalProposal), e.Tx.Arena()
			result, err := e.perform(e.Rules.Amulet, "AmuletRules_CreateTransferPreapproval", a.Record(CreatePreapprovalShape,
				*arg.At("context"), *arg.At("inputs"), PartyValue(p.Receiver), PartyValue(p.Provider), *arg.At("expiresAt"), e.Tx.ExpectedDSO()))
			if err != nil {
				return Value{}, err
			}
			return a.Record(proposalAcceptedShape, result.Elems[:3]...), nil
		}))
}

// acceptSetup gives an external party its preapproval, and its validator the right to
// collect its coupons.
func acceptSetup(e *Execution, c *Contract, _ Argument) (Value, error) {
	p := c.Payload.(SetupProposal)
	if err := e.later("expiry of the preapproval at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	right, err := e.add(ValidatorRightTemplate, ValidatorRight{User: p.User, Validator: p.Validator})
	if err != nil {
		return Value{}, err
	}
	approval, err := e.add(PreapprovalTemplate, Preapproval{p.User, p.Validator, p.CreatedAt, p.CreatedAt, p.ExpiresAt})
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(setupAcceptedShape, ContractID(right.Number), ContractID(approval.Number)), nil
}
