package devnet

import "time"

// maxTokenLifetime is how long, in µs, an offer of the token standard may wait.
const maxTokenLifetime = 90 * 24 * int64(time.Hour/time.Microsecond)

func addTokenChoices(all *choices) {
	all.on(externalRulesTemplate, "TransferFactory_Transfer", nonconsuming(
		func(_ *execution, _ *contract, arg argument) []party {
			return []party{arg.record("transfer").party("sender")}
		}, transferTokens).of(transferFactoryInterface))
	all.on(transferInstructionTemplate, "TransferInstruction_Accept", consuming(
		byPayload(func(p transferInstruction) []party { return []party{p.transfer.receiver} }), acceptTokens).of(transferInstructionInterface))
	all.on(transferInstructionTemplate, "TransferInstruction_Reject", consuming(
		byPayload(func(p transferInstruction) []party { return []party{p.transfer.receiver} }), returnTokens).of(transferInstructionInterface))
	all.on(transferInstructionTemplate, "TransferInstruction_Withdraw", consuming(
		byPayload(func(p transferInstruction) []party { return []party{p.transfer.sender} }), returnTokens).of(transferInstructionInterface))
}

// choiceContext finds the round that prices a choice of the token standard: the open one
// that its context names, else that of the configuration state that it names, else that of
// the newer state. The instrument of a context in another form is not known here.
func choiceContext(e *execution, extraArgs argument) (transferContext, error) {
	state := e.rules.configStates[1]
	ctx := transferContext{app: noParty, round: roundOf(e, state.payload.(configState)), state: state.number}
	entries := extraArgs.record("context").list("values")
	for i := 0; i < len(entries); i += 2 {
		v := &entries[i+1]
		if v.text != "AV_ContractId" {
			continue
		}
		c, err := e.fetch(uint64(v.elems[0].num))
		if err != nil {
			return ctx, err
		}
		switch p := c.payload.(type) {
		case openRound:
			if ctx.round, err = openMiningRound(e, c.number); err != nil {
				return ctx, err
			}
		case configState:
			ctx.round, ctx.state = roundOf(e, p), c.number
		case featuredAppRight:
			ctx.app = p.provider
		}
	}
	return ctx, nil
}

// transferTokens executes a transfer of the token standard: at once if it needs nobody's
// consent, else it locks the coins until the receiver answers.
func transferTokens(e *execution, _ *contract, arg argument) (value, error) {
	t, err := tokenTransferOf(e, arg)
	if err != nil {
		return value{}, err
	}
	ctx, err := choiceContext(e, arg.record("extraArgs"))
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	o := order{sender: t.sender, provider: t.sender, context: ctx}
	if o.inputs, err = holdingInputs(e, t.sender, arg.record("transfer").list("inputHoldingCids")); err != nil {
		return value{}, err
	}
	if t.receiver == t.sender {
		o.outputs = []output{{receiver: t.receiver, amount: t.amount}}
		s, err := settleOrder(e, o)
		if err != nil {
			return value{}, err
		}
		return tokensDone(e, "TransferInstructionResult_Completed", completedShape, e.idsOf(s.created[0]), s.change, "merge-split"), nil
	}
	if approval := e.preapprovals.preapprovalOf(t.receiver); approval != nil {
		return sendTokens(e, approval, o, t)
	}
	return lockTokens(e, o, t)
}

// sendTokens delivers a transfer at once by the preapproval of its receiver.
func sendTokens(e *execution, approval *contract, o order, t tokenTransfer) (value, error) {
	a := e.tx.arena()
	right := e.apps.right(o.context.app)
	context := a.record(externalContextShape, contractID(o.context.state), optional(a, right != nil, idOf(right)))
	sent, err := e.perform(approval, "TransferPreapproval_SendV2", a.record(sendV2Shape, context, value{kind: kindList, elems: o.inputs},
		numeric(t.amount), partyValue(t.sender), none(), a.some(t.metadata(a))))
	if err != nil {
		return value{}, err
	}
	result := (argument{&sent}).record("result")
	changes := a.list()
	if change := result.given("senderChangeAmulet"); change != nil {
		changes = a.list(*change)
	}
	delivered := a.list(result.list("createdAmulets")[0].elems[0])
	return a.record(instructionDoneShape, a.variant("TransferInstructionResult_Completed", a.record(completedShape, delivered)),
		changes, metadata(a, txKindMetaKey, "transfer")), nil
}

// lockTokens makes an offer to the receiver.
func lockTokens(e *execution, o order, t tokenTransfer) (value, error) {
	lock := lockedAmulet{holder: dso, expiresAt: t.executeBefore}
	if e.tx.version() > 0 {
		lock.context = "transfer to '" + e.names.name(t.receiver) + "'"
	}
	o.outputs = []output{{receiver: t.sender, amount: t.amount, lock: &lock}}
	s, err := settleOrder(e, o)
	if err != nil {
		return value{}, err
	}
	c, err := e.add(transferInstructionTemplate, transferInstruction{s.created[0].number, t})
	if err != nil {
		return value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Pending", pendingShape, contractID(c.number), s.change, "transfer"), nil
}

// tokensDone is the result of a choice of the token standard; output is the content of its
// one field.
func tokensDone(e *execution, tag string, s *shape, output value, change *contract, kind string) value {
	a := e.tx.arena()
	changes := a.list()
	if change != nil {
		changes = e.idsOf(change)
	}
	content := unit()
	if s != nil {
		content = a.record(s, output)
	}
	return a.record(instructionDoneShape, a.variant(tag, content), changes, metadata(a, txKindMetaKey, kind))
}

// tokenTransferOf reads and checks the argument of TransferFactory_Transfer.
func tokenTransferOf(e *execution, arg argument) (tokenTransfer, error) {
	v := arg.record("transfer")
	t := tokenTransfer{sender: v.party("sender"), receiver: v.party("receiver"), amount: v.numeric("amount"),
		requestedAt: v.time("requestedAt"), executeBefore: v.time("executeBefore"), meta: v.metadata("meta")}
	instrument, inputs := v.record("instrumentId"), v.list("inputHoldingCids")
	for _, in := range inputs {
		t.inputs = append(t.inputs, uint64(in.num))
	}
	switch {
	case arg.party("expectedAdmin") != dso:
		return t, broken("expected admin %s, but the admin is %s", e.names.name(arg.party("expectedAdmin")), e.names.name(dso))
	case instrument.party("admin") != dso || instrument.text("id") != instrumentAmuletInPayload:
		return t, broken("instrument %.100s of %s is not known here", instrument.text("id"), e.names.name(instrument.party("admin")))
	case t.requestedAt > e.now():
		return t, broken("requestedAt %s is in the future", microsText(t.requestedAt))
	case t.executeBefore-max(t.requestedAt, e.now()-maxTokenLifetime) > maxTokenLifetime:
		return t, broken("executeBefore %s is more than 90 days after requestedAt", microsText(t.executeBefore))
	}
	if err := e.later("executeBefore", t.executeBefore); err != nil {
		return t, err
	}
	return t, e.positive("amount", t.amount)
}

// holdingInputs turns inputs of the token standard into those of a transfer.
func holdingInputs(e *execution, sender party, list []value) (inputs []value, err error) {
	switch {
	case len(list) == 0:
		return nil, broken("inputHoldingCids is empty")
	case len(list) > maxInputs:
		return nil, broken("%d inputs are more than %d", len(list), maxInputs).with("error_id", errorTooManyInputs)
	}
	inputs = make([]value, len(list))
	for i, in := range list {
		if inputs[i], err = holdingInput(e, sender, uint64(in.num)); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// holdingInput turns an input of the token standard into one of a transfer. A locked coin whose
// lock has expired is freed for it.
func holdingInput(e *execution, sender party, n uint64) (value, error) {
	c, err := e.fetch(n)
	if err != nil {
		return value{}, err
	}
	if p, ok := c.payload.(lockedAmulet); ok {
		if p.owner != sender || p.expiresAt > e.now() {
			return value{}, broken("holding %s is locked until %s", e.names.ids.appendContractID(nil, n), microsText(p.expiresAt))
		}
		at := e.tx.consume(c, "LockedAmulet_OwnerExpireLockV2", e.tx.arena().record(emptyRecordShape), sender)
		free := freeCoin(e, c)
		e.tx.finish(at, e.tx.arena().record(unlockV2DoneShape, contractID(free.number), metadata(e.tx.arena(), txKindMetaKey, "unlock")))
		n = free.number
	}
	return e.tx.arena().variant("InputAmulet", contractID(n)), nil
}

// lockedCoin returns a coin that is locked for an instruction or an allocation.
func lockedCoin(e *execution, n uint64) (*contract, error) {
	c := e.tx.byNumber[n] // those who may use the instruction need not see it
	if c == nil {
		return nil, contractNotFound(string(e.names.ids.appendContractID(nil, n)))
	}
	return c, nil
}

func acceptTokens(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(transferInstruction)
	if err := e.later("executeBefore", p.transfer.executeBefore); err != nil {
		return value{}, err
	}
	coin, err := releaseTokens(e, p, arg, p.transfer.receiver)
	if err != nil {
		return value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Completed", completedShape, e.idsOf(coin), nil, "transfer"), nil
}

// returnTokens gives the coins back to the sender.
func returnTokens(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(transferInstruction)
	if _, err := releaseTokens(e, p, arg, p.transfer.sender); err != nil {
		return value{}, err
	}
	return tokensDone(e, "TransferInstructionResult_Failed", nil, unit(), nil, "unlock"), nil
}

// releaseTokens turns the locked coin of an instruction into a coin of the owner.
func releaseTokens(e *execution, p transferInstruction, arg argument, owner party) (*contract, error) {
	ctx, err := choiceContext(e, arg.record("extraArgs"))
	if err != nil {
		return nil, err
	}
	locked, err := lockedCoin(e, p.locked)
	if err != nil {
		return nil, err
	}
	defer e.at(ctx.round)()
	return createCoin(e, owner, e.bank.spend(locked)), nil
}
