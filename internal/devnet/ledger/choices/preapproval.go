package choices

import (
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	setupDoneShape          = model.NewShape("proposalCid", "user", "validator", "transferResult", "amuletPaid", "meta")
	setupArgShape           = model.NewShape("context", "inputs", "user", "validator", "preapprovalExpiresAt", "expectedDso")
	setupAcceptedShape      = model.NewShape("validatorRightCid", "transferPreapprovalCid")
	proposalAcceptedShape   = model.NewShape("transferPreapprovalCid", "transferResult", "amuletPaid")
	dummyResultShape        = model.NewShape("dummyArg")
	maxPreapprovalLifetime  = (2 * 365 * 24 * time.Hour).Microseconds()
	preapprovalFeePerMicros = time.Duration(24 * time.Hour).Microseconds() // length of a day
)

func addPreapprovalChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_CreateTransferPreapproval", nonconsuming(byArgument("receiver", "provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return model.Value{}, err
			}
			b, err := buyPreapproval(e, arg, arg.Party("receiver"), arg.Party("provider"), arg.Time("expiresAt"))
			if err != nil {
				return model.Value{}, err
			}
			return e.Tx.Arena().Record(sim.CreatePreapprovalDoneShape,
				e.Tx.WithMeta([]model.Value{model.ContractID(b.contract.Number), b.result, model.Numeric(b.paid)}, model.None())...), nil
		}))
	all.on(model.AmuletRulesTemplate, "AmuletRules_CreateExternalPartySetupProposal", nonconsuming(byArgument("validator"), proposeSetup))
	addProposalChoices(all)
	addSendChoices(all)
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Renew", consuming(
		byPayload(func(p model.Preapproval) []model.Party { return []model.Party{p.Provider} }), renewByCommand))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Cancel", consuming(byArgument("p"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			if p, by := c.Payload.(model.Preapproval), arg.Party("p"); by != p.Receiver && by != p.Provider && by != model.Dso {
				return model.Value{}, broken("%s may not cancel the preapproval", e.Names.Name(by))
			}
			return model.Enum("TransferPreapproval_CancelResult"), nil
		}))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// bought is something that was paid for by coins that were burned.
type bought struct {
	contract *model.Contract
	result   model.Value // of the transfer
	paid     model.Decimal
	change   *model.Contract
}

// lifetimeFee is what a preapproval costs for a time in µs, in coins of the round that is set.
func lifetimeFee(e *Execution, micros int64) model.Decimal {
	days := model.Decimal(micros).Over(model.Decimal(preapprovalFeePerMicros))
	return max(1, model.PreapprovalFeeUSD.Times(days).Over(e.rounds.OpenRound().Price))
}

// payLifetime has a payer burn the fee for a time in µs by the context and inputs of arg.
func payLifetime(e *Execution, arg model.Argument, payer model.Party, micros int64) (bought, error) {
	if micros > maxPreapprovalLifetime {
		return bought{}, broken("a preapproval is sold for at most two years")
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return bought{}, err
	}
	return payLifetimeIn(e, ctx, arg.List("inputs"), payer, micros)
}

func payLifetimeIn(e *Execution, ctx transferContext, inputs []model.Value, payer model.Party, micros int64) (bought, error) {
	defer e.at(ctx.round)()
	fee := lifetimeFee(e, micros)
	s, result, err := transferBy(e, order{sender: payer, provider: payer, inputs: inputs, context: ctx,
		outputs: []sim.Output{{Receiver: payer, Amount: fee}}})
	if err != nil {
		return bought{}, err
	}
	e.bank.Burn(e.bank.Spend(s.Created[0]))
	return bought{result: result, paid: fee, change: s.Change}, nil
}

func buyPreapproval(e *Execution, arg model.Argument, receiver, provider model.Party, expires int64) (bought, error) {
	if err := e.later("expiry of the preapproval at", expires); err != nil {
		return bought{}, err
	}
	b, err := payLifetime(e, arg, provider, expires-e.Now())
	if err != nil {
		return bought{}, err
	}
	b.contract, err = e.add(model.PreapprovalTemplate, model.Preapproval{Receiver: receiver, Provider: provider, ValidFrom: e.Now(), LastRenewedAt: e.Now(), ExpiresAt: expires})
	return b, err
}

func renewByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.Preapproval)
	expires := arg.Time("newExpiresAt")
	switch {
	case p.ExpiresAt <= e.Now():
		return model.Value{}, broken("the preapproval expired at %s", microsText(p.ExpiresAt))
	case expires <= p.ExpiresAt:
		return model.Value{}, broken("the new expiry %s is not after the old one, %s", microsText(expires), microsText(p.ExpiresAt))
	}
	b, err := payLifetime(e, arg, p.Provider, expires-p.ExpiresAt)
	if err != nil {
		return model.Value{}, err
	}
	p.ExpiresAt, p.LastRenewedAt = expires, e.Now()
	next, err := e.add(model.PreapprovalTemplate, p)
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(sim.RenewDoneShape, e.Tx.WithMeta([]model.Value{model.ContractID(next.Number), b.result,
		model.PartyValue(p.Receiver), model.PartyValue(p.Provider), model.Numeric(b.paid)}, model.None())...), nil
}

func addSendChoices(all *choices) {
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Send", nonconsuming(byArgument("sender"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			ctx, err := paymentContextOf(e, arg.Record("context"))
			if err != nil {
				return model.Value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return model.Value{}, err
			}
			// The sender acts, the provider signed the preapproval.
			_, result, err := transferBy(e, o)
			if err != nil {
				return model.Value{}, err
			}
			a := e.Tx.Arena()
			meta := a.Some(model.Metadata(a, model.SenderMetaKey, e.Names.Name(o.sender), model.TxKindMetaKey, "transfer"))
			return a.Record(sim.SendDoneShape, e.Tx.WithMeta([]model.Value{result}, meta)...), nil
		}))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_SendV2", nonconsuming(byArgument("sender"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			ctx, err := externalContext(e, arg.Record("context"))
			if err != nil {
				return model.Value{}, err
			}
			o, err := sendOrder(e, c, arg, ctx)
			if err != nil {
				return model.Value{}, err
			}
			defer e.at(ctx.round)()
			s, err := settleOrder(e, o)
			if err != nil {
				return model.Value{}, err
			}
			a := e.Tx.Arena()
			return a.Record(sim.SendDoneShape, e.payments.TransferResult(s),
				model.Metadata(a, model.SenderMetaKey, e.Names.Name(o.sender), model.TxKindMetaKey, "transfer")), nil
		}))
}

// sendOrder is the transfer by a preapproval.
func sendOrder(e *Execution, c *model.Contract, arg model.Argument, ctx transferContext) (order, error) {
	p, amount := c.Payload.(model.Preapproval), arg.Numeric("amount")
	if err := e.positive("amount", amount); err != nil {
		return order{}, err
	}
	if err := e.later("expiry of the preapproval at", p.ExpiresAt); err != nil {
		return order{}, err
	}
	return order{sender: arg.Party("sender"), provider: p.Provider, inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: p.Receiver, Amount: amount}}}, nil
}

// externalContext is the context of choices whose transactions may be signed long before
// they are executed.
func externalContext(e *Execution, v model.Argument) (transferContext, error) {
	ctx := transferContext{app: model.NoParty}
	c, err := e.fetchOf(model.ConfigStateTemplate, v.Contract("externalPartyConfigState"))
	if err != nil {
		return ctx, err
	}
	ctx.round = roundOf(e, c.Payload.(model.ConfigState))
	ctx.app, err = featuredApp(e, v)
	return ctx, err
}

// roundOf stands for the round whose number and price a configuration state has kept.
func roundOf(e *Execution, p model.ConfigState) *model.Round {
	return &model.Round{Number: p.Round, Price: p.Price}
}

// proposeSetup has a validator pay for the preapproval of an external party.
func proposeSetup(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return model.Value{}, err
	}
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	b, err := settleSetup(e, ctx, arg.List("inputs"), arg.Party("user"), arg.Party("validator"), arg.Time("preapprovalExpiresAt"))
	if err != nil {
		return model.Value{}, err
	}
	return setupDone(e, b, arg.Party("user"), arg.Party("validator")), nil
}

func setupDone(e *Execution, b bought, user, validator model.Party) model.Value {
	return e.Tx.Arena().Record(setupDoneShape, e.Tx.WithMeta([]model.Value{model.ContractID(b.contract.Number), model.PartyValue(user),
		model.PartyValue(validator), b.result, model.Numeric(b.paid)}, model.None())...)
}

func settleSetup(e *Execution, ctx transferContext, inputs []model.Value, user, validator model.Party, expires int64) (bought, error) {
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
	b.contract, err = e.add(model.SetupProposalTemplate, model.SetupProposal{Validator: validator, User: user, CreatedAt: e.Now(), ExpiresAt: expires})
	return b, err
}

func addProposalChoices(all *choices) {
	user := byPayload(func(p model.SetupProposal) []model.Party { return []model.Party{p.User} })
	toDummy := func(e *Execution, _ *model.Contract, _ model.Argument) (model.Value, error) {
		return e.Tx.Arena().Record(dummyResultShape, model.Unit()), nil
	}
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Accept", consuming(user, acceptSetup))
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Reject", consuming(user, toDummy))
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Withdraw", consuming(
		byPayload(func(p model.SetupProposal) []model.Party { return []model.Party{p.Validator} }), toDummy))
	all.creations[model.PreapprovalProposalTemplate] = func(e *Execution, a model.Argument) (model.Payload, error) {
		return model.PreapprovalProposal{Receiver: a.Party("receiver"), Provider: a.Party("provider"),
			ExpectsDSO: a.Given("expectedDso") != nil}, e.expectsDSO(a)
	}
	all.on(model.PreapprovalProposalTemplate, "TransferPreapprovalProposal_Accept", consuming(
		byPayload(func(p model.PreapprovalProposal) []model.Party { return []model.Party{p.Provider} }),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p, a := c.Payload.(model.PreapprovalProposal), e.Tx.Arena()
			result, err := e.perform(e.Rules.Amulet, "AmuletRules_CreateTransferPreapproval", a.Record(sim.CreatePreapprovalShape,
				*arg.At("context"), *arg.At("inputs"), model.PartyValue(p.Receiver), model.PartyValue(p.Provider), *arg.At("expiresAt"), e.Tx.ExpectedDSO()))
			if err != nil {
				return model.Value{}, err
			}
			return a.Record(proposalAcceptedShape, result.Elems[:3]...), nil
		}))
}

// acceptSetup gives an external party its preapproval, and its validator the right to
// collect its coupons.
func acceptSetup(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	p := c.Payload.(model.SetupProposal)
	if err := e.later("expiry of the preapproval at", p.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	right, err := e.add(model.ValidatorRightTemplate, model.ValidatorRight{User: p.User, Validator: p.Validator})
	if err != nil {
		return model.Value{}, err
	}
	approval, err := e.add(model.PreapprovalTemplate, model.Preapproval{Receiver: p.User, Provider: p.Validator, ValidFrom: p.CreatedAt, LastRenewedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt})
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(setupAcceptedShape, model.ContractID(right.Number), model.ContractID(approval.Number)), nil
}
