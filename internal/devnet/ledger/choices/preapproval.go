package choices

import (
	"slices"
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
	freeLifetime            = (90 * 24 * time.Hour).Microseconds()
	preapprovalFeePerMicros = time.Duration(24 * time.Hour).Microseconds() // length of a day
)

func addPreapprovalChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_CreateTransferPreapproval", nonconsuming(byArgument("receiver", "provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			e.expectsDSO(arg)
			receiver, provider, expires := arg.Party("receiver"), arg.Party("provider"), arg.Time("expiresAt")
			e.later("expiry of the preapproval at", expires)
			checkLifetime(expires - e.Now())
			b := payLifetime(e, paymentContextOf(e, arg.Record("context")), arg.List("inputs"), provider, expires-e.Now())
			c := e.add(model.PreapprovalTemplate, model.Preapproval{Receiver: receiver, Provider: provider,
				ValidFrom: e.Now(), LastRenewedAt: e.Now(), ExpiresAt: expires})
			return e.Tx.Arena().Record(sim.CreatePreapprovalDoneShape,
				e.Tx.WithMeta([]model.Value{model.ContractID(c.Number), b.result, model.Numeric(b.paid)}, model.None())...)
		}))
	all.on(model.AmuletRulesTemplate, "AmuletRules_CreateExternalPartySetupProposal", nonconsuming(byArgument("validator"), proposeSetup))
	addProposalChoices(all)
	addSendChoices(all)
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Renew", consuming(
		byPayload(func(p model.Preapproval) []model.Party { return []model.Party{p.Provider} }), renewByCommand))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Cancel", consuming(byArgument("p"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, by := c.Payload.(model.Preapproval), arg.Party("p")
			require(by == p.Receiver || by == p.Provider || by == model.Dso, "%s may not cancel the preapproval", e.Names.Name(by))
			return model.Enum("TransferPreapproval_CancelResult")
		}))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Fetch", nonconsuming(byArgument("p"), toPayload))
}

// burned is what was paid for something by coins that were burned.
type burned struct {
	result model.Value // of the transfer
	paid   model.Decimal
}

// lifetimeFee is what a preapproval costs for a time in µs, in coins of the round that is set: 0
// for up to 90 days, which are free.
func lifetimeFee(e *Execution, micros int64) model.Decimal {
	if micros <= freeLifetime {
		return 0
	}
	days := model.Decimal(micros - freeLifetime).Over(model.Decimal(preapprovalFeePerMicros))
	return max(1, model.PreapprovalFeeUSD.Times(days).Over(e.Rounds.OpenRound().Price))
}

func checkLifetime(micros int64) {
	require(micros <= maxPreapprovalLifetime, "a preapproval can be bought for at most two years")
}

// payLifetime has a payer burn the fee for a time in µs.
func payLifetime(e *Execution, ctx transferContext, inputs []model.Value, payer model.Party, micros int64) burned {
	defer e.at(ctx.round)()
	fee := lifetimeFee(e, micros)
	o := order{sender: payer, provider: payer, inputs: inputs, context: ctx}
	if fee > 0 {
		o.outputs = []sim.Output{{Receiver: payer, Amount: fee}}
	}
	s, result := transferBy(e, o)
	for _, c := range s.Created[:len(o.outputs)] {
		e.Bank.Burn(e.Bank.Spend(c))
	}
	return burned{result, fee}
}

func renewByCommand(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.Preapproval)
	expires := arg.Time("newExpiresAt")
	require(p.ExpiresAt > e.Now(), "the preapproval expired at %s", microsText(p.ExpiresAt))
	require(expires > p.ExpiresAt, "the new expiry %s is not after the old one, %s", microsText(expires), microsText(p.ExpiresAt))
	checkLifetime(expires - p.ExpiresAt)
	b := payLifetime(e, paymentContextOf(e, arg.Record("context")), arg.List("inputs"), p.Provider, expires-p.ExpiresAt)
	p.ExpiresAt, p.LastRenewedAt = expires, e.Now()
	next := e.add(model.PreapprovalTemplate, p)
	return e.Tx.Arena().Record(sim.RenewDoneShape, e.Tx.WithMeta([]model.Value{model.ContractID(next.Number), b.result,
		model.PartyValue(p.Receiver), model.PartyValue(p.Provider), model.Numeric(b.paid)}, model.None())...)
}

func addSendChoices(all *choices) {
	all.on(model.PreapprovalTemplate, "TransferPreapproval_Send", nonconsuming(byArgument("sender"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			ctx := paymentContextOf(e, arg.Record("context"))
			o := sendOrder(e, c, arg, ctx)
			// The sender acts, the provider signed the preapproval.
			_, result := transferBy(e, o)
			a := e.Tx.Arena()
			meta := a.Some(model.Metadata(a, model.SenderMetaKey, e.Names.Name(o.sender), model.TxKindMetaKey, "transfer"))
			return a.Record(sim.SendDoneShape, e.Tx.WithMeta([]model.Value{result}, meta)...)
		}))
	all.on(model.PreapprovalTemplate, "TransferPreapproval_SendV2", nonconsuming(byArgument("sender"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			ctx := externalContext(e, arg.Record("context"))
			o := sendOrder(e, c, arg, ctx)
			defer e.at(ctx.round)()
			s := settleOrder(e, o)
			a, meta := e.Tx.Arena(), sendMetadata(arg)
			e.logSending(o, s, model.LegSide{Id: firstLeg, Other: o.outputs[0].Receiver, Amount: o.outputs[0].Amount, Meta: meta})
			return a.Record(sim.SendDoneShape, e.Payments.TransferResult(s), model.Metadata(a, model.ReasonMetaKey, reasonOf(meta),
				model.SenderMetaKey, e.Names.Name(o.sender), model.TxKindMetaKey, "transfer"))
		}))
}

// sendMetadata is the metadata of a send by preapproval. A description takes the place of its reason.
func sendMetadata(arg model.Argument) []string {
	var meta []string
	if given := arg.Given("meta"); given != nil {
		meta = (model.Argument{V: given}).Values()
	}
	description := arg.OptionalText("description")
	if description == "" {
		return meta
	}
	at := 0
	for ; at < len(meta) && meta[at] < model.ReasonMetaKey; at += 2 {
	}
	if at < len(meta) && meta[at] == model.ReasonMetaKey {
		meta[at+1] = description
		return meta
	}
	return slices.Insert(meta, at, model.ReasonMetaKey, description)
}

// reasonOf is the reason in metadata, "" if it has none.
func reasonOf(meta []string) string {
	for i := 0; i < len(meta); i += 2 {
		if meta[i] == model.ReasonMetaKey {
			return meta[i+1]
		}
	}
	return ""
}

// sendOrder is the transfer by a preapproval.
func sendOrder(e *Execution, c *model.Contract, arg model.Argument, ctx transferContext) order {
	p, amount := c.Payload.(model.Preapproval), arg.Numeric("amount")
	positive("amount", amount)
	e.later("expiry of the preapproval at", p.ExpiresAt)
	return order{sender: arg.Party("sender"), provider: p.Provider, inputs: arg.List("inputs"), context: ctx,
		outputs: []sim.Output{{Receiver: p.Receiver, Amount: amount}}}
}

// externalContext is the context of choices whose transactions may be signed long before
// they are executed.
func externalContext(e *Execution, v model.Argument) transferContext {
	state := e.fetchOf(model.ConfigStateTemplate, v.Contract("externalPartyConfigState")).Payload.(model.ConfigState)
	return transferContext{round: roundOf(state), app: featuredApp(e, v), state: v.Contract("externalPartyConfigState")}
}

// roundOf stands for the round whose number and price a configuration state has kept.
func roundOf(p model.ConfigState) *model.Round {
	return &model.Round{Number: p.Round, Price: p.Price}
}

// proposeSetup has a validator pay for the preapproval of an external party.
func proposeSetup(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	e.expectsDSO(arg)
	ctx := paymentContextOf(e, arg.Record("context"))
	user, validator, expires := arg.Party("user"), arg.Party("validator"), arg.Time("preapprovalExpiresAt")
	e.later("expiry of the preapproval at", expires)
	checkLifetime(expires - e.Now())
	b := payLifetime(e, ctx, arg.List("inputs"), validator, expires-e.Now())
	c := e.add(model.SetupProposalTemplate, model.SetupProposal{Validator: validator, User: user, CreatedAt: e.Now(), ExpiresAt: expires})
	return e.Tx.Arena().Record(setupDoneShape, e.Tx.WithMeta([]model.Value{model.ContractID(c.Number), model.PartyValue(user),
		model.PartyValue(validator), b.result, model.Numeric(b.paid)}, model.None())...)
}

func addProposalChoices(all *choices) {
	user := byPayload(func(p model.SetupProposal) []model.Party { return []model.Party{p.User} })
	toDummy := func(e *Execution, _ *model.Contract, _ model.Argument) model.Value {
		return e.Tx.Arena().Record(dummyResultShape, model.Unit())
	}
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Accept", consuming(user, acceptSetup))
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Reject", consuming(user, toDummy))
	all.on(model.SetupProposalTemplate, "ExternalPartySetupProposal_Withdraw", consuming(
		byPayload(func(p model.SetupProposal) []model.Party { return []model.Party{p.Validator} }), toDummy))
	all.creations[model.PreapprovalProposalTemplate] = func(e *Execution, a model.Argument) model.Payload {
		e.expectsDSO(a)
		return model.PreapprovalProposal{Receiver: a.Party("receiver"), Provider: a.Party("provider"), ExpectsDSO: a.Given("expectedDso") != nil}
	}
	all.on(model.PreapprovalProposalTemplate, "TransferPreapprovalProposal_Accept", consuming(
		byPayload(func(p model.PreapprovalProposal) []model.Party { return []model.Party{p.Provider} }),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, a := c.Payload.(model.PreapprovalProposal), e.Tx.Arena()
			result := e.perform(e.Rules.Amulet, "AmuletRules_CreateTransferPreapproval", a.Record(sim.CreatePreapprovalShape,
				*arg.At("context"), *arg.At("inputs"), model.PartyValue(p.Receiver), model.PartyValue(p.Provider), *arg.At("expiresAt"), e.Tx.ExpectedDSO()))
			return a.Record(proposalAcceptedShape, result.Elems[:3]...)
		}))
}

// acceptSetup gives an external party its preapproval, and its validator the right to
// collect its coupons.
func acceptSetup(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	p := c.Payload.(model.SetupProposal)
	e.later("expiry of the preapproval at", p.ExpiresAt)
	right := e.add(model.ValidatorRightTemplate, model.ValidatorRight{User: p.User, Validator: p.Validator})
	approval := e.add(model.PreapprovalTemplate, model.Preapproval{Receiver: p.User, Provider: p.Validator, ValidFrom: p.CreatedAt, LastRenewedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt})
	return e.Tx.Arena().Record(setupAcceptedShape, model.ContractID(right.Number), model.ContractID(approval.Number))
}
