package choices

import (
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// maxTokenLifetime is how long, in µs, an offer of the token standard may wait.
const maxTokenLifetime = 90 * 24 * int64(time.Hour/time.Microsecond)

func addTokenChoices(all *choices) {
	all.on(model.ExternalRulesTemplate, "TransferFactory_Transfer", nonconsuming(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{arg.Record("transfer").Party("sender")}
		}, transferTokens).of(model.TransferFactoryInterface))
	all.on(model.TransferInstructionTemplate, "TransferInstruction_Accept", consuming(
		byPayload(func(p model.TransferInstruction) []model.Party { return []model.Party{p.Transfer.Receiver} }), acceptTokens).of(model.TransferInstructionInterface))
	all.on(model.TransferInstructionTemplate, "TransferInstruction_Reject", consuming(
		byPayload(func(p model.TransferInstruction) []model.Party { return []model.Party{p.Transfer.Receiver} }), returnTokens).of(model.TransferInstructionInterface))
	all.on(model.TransferInstructionTemplate, "TransferInstruction_Withdraw", consuming(
		byPayload(func(p model.TransferInstruction) []model.Party { return []model.Party{p.Transfer.Sender} }), returnTokens).of(model.TransferInstructionInterface))
	addTokenV2Choices(all)
}

// choiceContext finds the round that prices a choice of the token standard: the open one
// that its context names, else that of the configuration state that it names, else that of
// the newer state. The instrument of a context in another form is not known here.
func choiceContext(e *Execution, extraArgs model.Argument) transferContext {
	state := e.Rules.ConfigStates[1]
	ctx := transferContext{app: model.NoParty, round: roundOf(state.Payload.(model.ConfigState)), state: state.Number}
	entries := extraArgs.Record("context").List("values")
	for i := 0; i < len(entries); i += 2 {
		v := &entries[i+1]
		if v.Text != "AV_ContractId" {
			continue
		}
		c := e.fetch(uint64(v.Elems[0].Num))
		switch p := c.Payload.(type) {
		case model.OpenRound:
			ctx.round = openMiningRound(e, c.Number)
		case model.ConfigState:
			ctx.round, ctx.state = roundOf(p), c.Number
		case model.FeaturedAppRight:
			ctx.app = p.Provider
		}
	}
	return ctx
}

// transferTokens executes a transfer of the token standard: at once if it needs nobody's
// consent, else it locks the coins until the receiver answers.
func transferTokens(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	t := tokenTransferOf(e, arg)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	defer e.at(ctx.round)()
	o := order{sender: t.Sender, provider: t.Sender, context: ctx,
		inputs: holdingInputs(e, ctx, t.Sender, arg.Record("transfer").List("inputHoldingCids"))}
	if t.Receiver == t.Sender {
		o.outputs = []sim.Output{{Receiver: t.Receiver, Amount: t.Amount}}
		s := settleOrder(e, o)
		e.logSending(o, s, model.LegSide{Id: firstLeg, Other: t.Receiver, Amount: t.Amount, Meta: t.Meta})
		return tokensDone(e, "TransferInstructionResult_Completed", sim.CompletedShape, e.Tx.IDs(s.Created[0]), s.Change, "merge-split")
	}
	if approval := e.Preapprovals.PreapprovalOf(t.Receiver); approval != nil {
		return sendTokens(e, approval, o, t)
	}
	return lockTokens(e, o, t)
}

// firstLeg is the first output of a transfer in the event log.
const firstLeg = "leg0"

// sendTokens delivers a transfer at once by the preapproval of its receiver.
func sendTokens(e *Execution, approval *model.Contract, o order, t model.TokenTransfer) model.Value {
	a := e.Tx.Arena()
	right := e.Apps.Right(o.context.app)
	context := a.Record(sim.ExternalContextShape, model.ContractID(o.context.state), model.Optional(a, right != nil, sim.IdOf(right)))
	sent := e.perform(approval, "TransferPreapproval_SendV2", a.Record(sim.SendV2Shape, context, model.Value{Kind: model.KindList, Elems: o.inputs},
		model.Numeric(t.Amount), model.PartyValue(t.Sender), model.None(), a.Some(t.Metadata(a))))
	result := (model.Argument{V: &sent}).Record("result")
	changes := a.List()
	if change := result.Given("senderChangeAmulet"); change != nil {
		changes = a.List(*change)
	}
	delivered := a.List(result.List("createdAmulets")[0].Elems[0])
	return a.Record(sim.InstructionDoneShape, a.Variant("TransferInstructionResult_Completed", a.Record(sim.CompletedShape, delivered)),
		changes, model.Metadata(a, model.TxKindMetaKey, "transfer"))
}

// lockTokens makes an offer to the receiver.
func lockTokens(e *Execution, o order, t model.TokenTransfer) model.Value {
	o.outputs = []sim.Output{e.Tokens.Locked(t)}
	s := settleOrder(e, o)
	e.logLocking(o, s)
	c := e.add(model.TransferInstructionTemplate, model.TransferInstruction{Locked: s.Created[0].Number, Transfer: t})
	return tokensDone(e, "TransferInstructionResult_Pending", sim.PendingShape, model.ContractID(c.Number), s.Change, "transfer")
}

// tokensDone is the result of a choice of the token standard; output is the content of its
// one field.
func tokensDone(e *Execution, tag string, s *model.Shape, output model.Value, change *model.Contract, kind string) model.Value {
	a := e.Tx.Arena()
	changes := a.List()
	if change != nil {
		changes = e.Tx.IDs(change)
	}
	content := model.Unit()
	if s != nil {
		content = a.Record(s, output)
	}
	return a.Record(sim.InstructionDoneShape, a.Variant(tag, content), changes, model.Metadata(a, model.TxKindMetaKey, kind))
}

// tokenTransferOf reads and checks the argument of TransferFactory_Transfer.
func tokenTransferOf(e *Execution, arg model.Argument) model.TokenTransfer {
	v := arg.Record("transfer")
	t := model.TokenTransfer{Sender: v.Party("sender"), Receiver: v.Party("receiver"), Amount: v.Numeric("amount"),
		RequestedAt: v.Time("requestedAt"), ExecuteBefore: v.Time("executeBefore"), Inputs: numbersOf(v.List("inputHoldingCids")), Meta: v.Metadata("meta")}
	e.expectsCoins(arg.Party("expectedAdmin"), v.Record("instrumentId"))
	require(t.RequestedAt <= e.Now(), "requestedAt %s is in the future", microsText(t.RequestedAt))
	require(t.ExecuteBefore-max(t.RequestedAt, e.Now()-maxTokenLifetime) <= maxTokenLifetime, "executeBefore %s is more than 90 days after requestedAt", microsText(t.ExecuteBefore))
	e.later("executeBefore", t.ExecuteBefore)
	positive("amount", t.Amount)
	return t
}

// expectsCoins checks that an instrument of the token standard is the coin of this network.
func (e *Execution) expectsCoins(admin model.Party, instrument model.Argument) {
	require(admin == model.Dso, "expected admin %s, but the admin is %s", e.Names.Name(admin), e.Names.Name(model.Dso))
	require(instrument.Party("admin") == model.Dso && instrument.Text("id") == model.InstrumentAmuletInPayload,
		"instrument %.100s of %s is not known here", instrument.Text("id"), e.Names.Name(instrument.Party("admin")))
}

// holdingInputs turns inputs of the token standard into those of a transfer.
func holdingInputs(e *Execution, ctx transferContext, sender model.Party, list []model.Value) []model.Value {
	require(len(list) > 0, "inputHoldingCids is empty")
	if len(list) > model.MaxInputs {
		panic(broken("%d inputs are more than %d", len(list), model.MaxInputs).with("error_id", ErrorTooManyInputs))
	}
	inputs := make([]model.Value, len(list))
	for i, in := range list {
		inputs[i] = holdingInput(e, ctx, sender, uint64(in.Num))
	}
	return inputs
}

// holdingInput turns an input of the token standard into one of a transfer. A locked coin whose
// lock has expired is freed for it.
func holdingInput(e *Execution, ctx transferContext, sender model.Party, n uint64) model.Value {
	c := e.fetch(n)
	if p, ok := c.Payload.(model.LockedAmulet); ok {
		require(p.Owner == sender && p.ExpiresAt <= e.Now(), "holding %s is locked until %s", e.Names.IDs.AppendContractID(nil, n), microsText(p.ExpiresAt))
		coin := e.Bank.ExpireLock(c)
		e.logUnlocking(ctx, c, coin, lockExpired)
		n = coin.Number
	}
	return e.Tx.Arena().Variant("InputAmulet", model.ContractID(n))
}

// lockedCoin returns a coin that is locked for an instruction or an allocation.
func lockedCoin(e *Execution, n uint64) *model.Contract {
	c := e.Tx.ByNumber[n] // those who may use the instruction need not see it
	if c == nil {
		panic(contractNotFound(string(e.Names.IDs.AppendContractID(nil, n))))
	}
	return c
}

func acceptTokens(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.TransferInstruction)
	e.later("executeBefore", p.Transfer.ExecuteBefore)
	ctx, coin := releaseTokens(e, p, arg, p.Transfer.Receiver)
	e.logTransfer(ctx, holdingsChange{owner: p.Transfer.Sender, in: []uint64{p.Locked}},
		model.LegSide{Other: p.Transfer.Receiver, Amount: p.Transfer.Amount, Meta: p.Transfer.Meta}, coin)
	return tokensDone(e, "TransferInstructionResult_Completed", sim.CompletedShape, e.Tx.IDs(coin), nil, "transfer")
}

// returnTokens gives the coins back to the sender, unless their lock has expired and the sender has
// unlocked them.
func returnTokens(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.TransferInstruction)
	if locked := e.Tx.ByNumber[p.Locked]; locked != nil {
		ctx, coin := releaseTokens(e, p, arg, p.Transfer.Sender)
		e.logUnlocking(ctx, locked, coin, lockReleased)
	}
	return tokensDone(e, "TransferInstructionResult_Failed", nil, model.Unit(), nil, "unlock")
}

// releaseTokens turns the locked coin of an instruction into a coin of the owner. The context is that
// of the choice.
func releaseTokens(e *Execution, p model.TransferInstruction, arg model.Argument, owner model.Party) (transferContext, *model.Contract) {
	ctx := choiceContext(e, arg.Record("extraArgs"))
	locked := lockedCoin(e, p.Locked)
	defer e.at(ctx.round)()
	return ctx, e.Bank.NewCoin(owner, e.Bank.Spend(locked))
}
