package choices

import (
	"time"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// maxTokenLifetime is how long, in µs, an offer of the token standard may wait.
const maxTokenLifetime = 90 * 24 * int64(time.Hour/time.Microsecond)

func addTokenChoices(all *choices) {
	all.on(ExternalRulesTemplate, "TransferFactory_Transfer", nonconsuming(
		func(_ *Execution, _ *Contract, arg Argument) []Party {
			return []Party{arg.Record("transfer").Party("sender")}
		}, transferTokens).of(TransferFactoryInterface))
	all.on(TransferInstructionTemplate, "TransferInstruction_Accept", consuming(
		byPayload(func(p TransferInstruction) []Party { return []Party{p.Transfer.Receiver} }), acceptTokens).of(TransferInstructionInterface))
	all.on(TransferInstructionTemplate, "TransferInstruction_Reject", consuming(
		byPayload(func(p TransferInstruction) []Party { return []Party{p.Transfer.Receiver} }), returnTokens).of(TransferInstructionInterface))
	all.on(TransferInstructionTemplate, "TransferInstruction_Withdraw", consuming(
		byPayload(func(p TransferInstruction) []Party { return []Party{p.Transfer.Sender} }), returnTokens).of(TransferInstructionInterface))
}

// choiceContext finds the round that prices a choice of the token standard: the open one
// that its context names, else that of the configuration state that it names, else that of
// the newer state. The instrument of a context in another form is not known here.
func choiceContext(e *Execution, extraArgs Argument) (transferContext, error) {
	state := e.Rules.ConfigStates[1]
	ctx := transferContext{app: NoParty, round: roundOf(e, state.Payload.(ConfigState)), state: state.Number}
	entries := extraArgs.Record("context").List("values")
	for i := 0; i < len(entries); i += 2 {
		v := &entries[i+1]
		if v.Text != "AV_ContractId" {
			continue
		}
		c, err := e.fetch(uint64(v.Elems[0].Num))
		if err != nil {
			return ctx, err
		}
		switch p := c.Payload.(type) {
		case OpenRound:
			if ctx.round, err = openMiningRound(e, c.Number); err != nil {
				return ctx, err
			}
		case ConfigState:
			ctx.round, ctx.state = roundOf(e, p), c.Number
		case FeaturedAppRight:
			ctx.app = p.Provider
		}
	}
	return ctx, nil
}

// transferTokens executes a transfer of the token standard: at once if it needs nobody's
// consent, else it locks the coins until the receiver answers.
func transferTokens(e *Execution, _ *Contract, arg Argument) (Value, error) {
	t, err := tokenTransferOf(e, arg)
	if err != nil {
		return Value{}, err
	}
	ctx, err := choiceContext(e, arg.Record("extraArgs"))
	if err != nil {
		return Value{}, err
	}
	defer e.at(ctx.round)()
	o := order{sender: t.Sender, provider: t.Sender, context: ctx}
	if o.inputs, err = holdingInputs(e, t.Sender, arg.Record("transfer").List("inputHoldingCids")); err != nil {
		return Value{}, err
	}
	if t.Receiver == t.Sender {
		o.outputs = []Output{{Receiver: t.Receiver, Amount: t.Amount}}
		s, err := settleOrder(e, o)
		if err != nil {
			return Value{}, err
		}
		return tokensDone(e, "TransferInstructionResult_Completed", CompletedShape, e.idsOf(s.Created[0]), s.Change, "merge-split"), nil
	}
	if approval := e.preapprovals.PreapprovalOf(t.Receiver); approval != nil {
		return sendTokens(e, approval, o, t)
	}
	return lockTokens(e, o, t)
}

// sendTokens delivers a transfer at once by the preapproval of its receiver.
func sendTokens(e *Execution, approval *Contract, o order, t TokenTransfer) (Value, error) {
	a := e.Tx.Arena()
	right := e.apps.Right(o.context.app)
	context := a.Record(ExternalContextShape, ContractID(o.context.state), Optional(a, right != nil, IdOf(right)))
	sent, err := e.perform(approval, "TransferPreapproval_SendV2", a.Record(SendV2Shape, context, Value{Kind: KindList, Elems: o.inputs},
		Numeric(t.Amount), PartyValue(t.Sender), None(), a.Some(t.Metadata(a))))
	if err != nil {
		return Value{}, err
	}
	result := (Argument{&sent}).Record("result")
	changes := a.List()
	if change := result.Given("senderChangeAmulet"); change != nil {
		changes = a.List(*change)
	}
	delivered := a.List(result.List("createdAmulets")[0].Elems[0])
	return a.Record(InstructionDoneShape, a.Variant("TransferInstructionResult_Completed", a.Record(CompletedShape, delivered)),
		changes, Metadata(a, TxKindMetaKey, "transfer")), nil
}

// lockTokens makes an offer to the receiver.
func lockTokens(e *Execution, o order, t TokenTransfer) (Value, error) {
	lock := LockedAmulet{Holder: Dso, ExpiresAt: t.ExecuteBefore}
	if e.Tx.Version() > 0 {
		lock.Context = "transfer to '" + e.Names.Name(t.Receiver) + "'"
	}
	o.outputs = []Output{{Receiver: t.Sender, Amount: t.Amount, Lock: &lock}}
	s, err := settleOrder(e, o)
	if err != nil {
		return Value{}, err
	}
	c, err := e.add(TransferInstructionTemplate, TransferInstruction{s.Created[0].Number, t})
	if err != nil {
		return Value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Pending", PendingShape, ContractID(c.Number), s.Change, "transfer"), nil
}

// tokensDone is the result of a choice of the token standard; output is the content of its
// one field.
func tokensDone(e *Execution, tag string, s *Shape, output Value, change *Contract, kind string) Value {
	a := e.Tx.Arena()
	changes := a.List()
	if change != nil {
		changes = e.idsOf(change)
	}
	content := Unit()
	if s != nil {
		content = a.Record(s, output)
	}
	return a.Record(InstructionDoneShape, a.Variant(tag, content), changes, Metadata(a, TxKindMetaKey, kind))
}

// tokenTransferOf reads and checks the argument of TransferFactory_Transfer.
func tokenTransferOf(e *Execution, arg Argument) (TokenTransfer, error) {
	v := arg.Record("transfer")
	t := TokenTransfer{Sender: v.Party("sender"), Receiver: v.Party("receiver"), Amount: v.Numeric("amount"),
		RequestedAt: v.Time("requestedAt"), ExecuteBefore: v.Time("executeBefore"), Meta: v.Metadata("meta")}
	instrument, inputs := v.Record("instrumentId"), v.List("inputHoldingCids")
	for _, in := range inputs {
		t.Inputs = append(t.Inputs, uint64(in.Num))
	}
	switch {
	case arg.Party("expectedAdmin") != Dso:
		return t, broken("expected admin %s, but the admin is %s", e.Names.Name(arg.Party("expectedAdmin")), e.Names.Name(Dso))
	case instrument.Party("admin") != Dso || instrument.Text("id") != InstrumentAmuletInPayload:
		return t, broken("instrument %.100s of %s is not known here", instrument.Text("id"), e.Names.Name(instrument.Party("admin")))
	case t.RequestedAt > e.Now():
		return t, broken("requestedAt %s is in the future", microsText(t.RequestedAt))
	case t.ExecuteBefore-max(t.RequestedAt, e.Now()-maxTokenLifetime) > maxTokenLifetime:
		return t, broken("executeBefore %s is more than 90 days after requestedAt", microsText(t.ExecuteBefore))
	}
	if err := e.later("executeBefore", t.ExecuteBefore); err != nil {
		return t, err
	}
	return t, e.positive("amount", t.Amount)
}

// holdingInputs turns inputs of the token standard into those of a transfer.
func holdingInputs(e *Execution, sender Party, list []Value) (inputs []Value, err error) {
	switch {
	case len(list) == 0:
		return nil, broken("inputHoldingCids is empty")
	case len(list) > MaxInputs:
		return nil, broken("%d inputs are more than %d", len(list), MaxInputs).with("error_id", ErrorTooManyInputs)
	}
	inputs = make([]Value, len(list))
	for i, in := range list {
		if inputs[i], err = holdingInput(e, sender, uint64(in.Num)); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// holdingInput turns an input of the token standard into one of a transfer. A locked coin whose
// lock has expired is freed for it.
func holdingInput(e *Execution, sender Party, n uint64) (Value, error) {
	c, err := e.fetch(n)
	if err != nil {
		return Value{}, err
	}
	if p, ok := c.Payload.(LockedAmulet); ok {
		if p.Owner != sender || p.ExpiresAt > e.Now() {
			return Value{}, broken("holding %s is locked until %s", e.Names.Ids.AppendContractID(nil, n), microsText(p.ExpiresAt))
		}
		at := e.Tx.Consume(c, "LockedAmulet_OwnerExpireLockV2", e.Tx.Arena().Record(EmptyRecordShape), sender)
		free := freeCoin(e, c)
		e.Tx.Finish(at, e.Tx.Arena().Record(UnlockV2DoneShape, ContractID(free.Number), Metadata(e.Tx.Arena(), TxKindMetaKey, "unlock")))
		n = free.Number
	}
	return e.Tx.Arena().Variant("InputAmulet", ContractID(n)), nil
}

// lockedCoin returns a coin that is locked for an instruction or an allocation.
func lockedCoin(e *Execution, n uint64) (*Contract, error) {
	c := e.Tx.ByNumber[n] // those who may use the instruction need not see it
	if c == nil {
		return nil, contractNotFound(string(e.Names.Ids.AppendContractID(nil, n)))
	}
	return c, nil
}

func acceptTokens(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(TransferInstruction)
	if err := e.later("executeBefore", p.Transfer.ExecuteBefore); err != nil {
		return Value{}, err
	}
	coin, err := releaseTokens(e, p, arg, p.Transfer.Receiver)
	if err != nil {
		return Value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Completed", CompletedShape, e.idsOf(coin), nil, "transfer"), nil
}

// returnTokens gives the coins back to the sender.
func returnTokens(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(TransferInstruction)
	if _, err := releaseTokens(e, p, arg, p.Transfer.Sender); err != nil {
		return Value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Failed", nil, Unit(), nil, "unlock"), nil
}

// releaseTokens turns the locked coin of an instruction into a coin of the owner.
func releaseTokens(e *Execution, p TransferInstruction, arg Argument, owner Party) (*Contract, error) {
	ctx, err := choiceContext(e, arg.Record("extraArgs"))
	if err != nil {
		return nil, err
	}
	locked, err := lockedCoin(e, p.Locked)
	if err != nil {
		return nil, err
	}
	defer e.at(ctx.round)()
	return createCoin(e, owner, e.bank.Spend(locked)), nil
}
