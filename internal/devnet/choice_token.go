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
func (e *execution) choiceContext(extraArgs argument) (transferContext, error) {
	state := e.executor.rules.configStates[1]
	ctx := transferContext{app: noParty, round: e.roundOf(state.payload.(configState)), state: state.number}
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
			if ctx.round, err = e.openMiningRound(c.number); err != nil {
				return ctx, err
			}
		case configState:
			ctx.round, ctx.state = e.roundOf(p), c.number
		case featuredAppRight:
			ctx.app = p.provider
		}
	}
	return ctx, nil
}

// transferTokens executes a transfer of the token standard: at once if it needs nobody's
// consent, else it locks the coins until the receiver answers.
func transferTokens(e *execution, _ *contract, arg argument) (value, error) {
	t, err := e.tokenTransfer(arg)
	if err != nil {
		return value{}, err
	}
	ctx, err := e.choiceContext(arg.record("extraArgs"))
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	o := order{sender: t.sender, provider: t.sender, context: ctx}
	if o.inputs, err = e.holdings(t.sender, arg.record("transfer").list("inputHoldingCids")); err != nil {
		return value{}, err
	}
	if t.receiver == t.sender {
		o.outputs = []output{{receiver: t.receiver, amount: t.amount}}
		s, err := e.settleOrder(o)
		if err != nil {
			return value{}, err
		}
		return e.tokensDone("TransferInstructionResult_Completed", completedShape, e.idsOf(s.created[0]), s.change, "merge-split"), nil
	}
	if approval := e.preapprovalOf(t.receiver); approval != nil {
		return e.sendTokens(approval, o, t)
	}
	return e.lockTokens(o, t)
}

// sendTokens delivers a transfer at once by the preapproval of its receiver.
func (e *execution) sendTokens(approval *contract, o order, t tokenTransfer) (value, error) {
	a := e.arena()
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
func (e *execution) lockTokens(o order, t tokenTransfer) (value, error) {
	lock := lockedAmulet{holder: dso, expiresAt: t.executeBefore}
	if e.version() > 0 {
		lock.context = "transfer to '" + e.names.name(t.receiver) + "'"
	}
	o.outputs = []output{{receiver: t.sender, amount: t.amount, lock: &lock}}
	s, err := e.settleOrder(o)
	if err != nil {
		return value{}, err
	}
	c, err := e.add(transferInstructionTemplate, transferInstruction{s.created[0].number, t})
	if err != nil {
		return value{}, err
	}
	return e.tokensDone("TransferInstructionResult_Pending", pendingShape, contractID(c.number), s.change, "transfer"), nil
}

// tokensDone is the result of a choice of the token standard; output is the content of its
// one field.
func (e *execution) tokensDone(tag string, s *shape, output value, change *contract, kind string) value {
	a := e.arena()
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

// tokenTransfer reads and checks the argument of TransferFactory_Transfer.
func (e *execution) tokenTransfer(arg argument) (tokenTransfer, error) {
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

// metadata reads a field of type Metadata as alternating keys and values.
func (f argument) metadata(label string) []string {
	var meta []string
	for _, v := range f.record(label).list("values") {
		meta = append(meta, v.text)
	}
	return meta
}

// holdings turns inputs of the token standard into those of a transfer.
func (e *execution) holdings(sender party, list []value) (inputs []value, err error) {
	switch {
	case len(list) == 0:
		return nil, broken("inputHoldingCids is empty")
	case len(list) > maxInputs:
		return nil, broken("%d inputs are more than %d", len(list), maxInputs).with("error_id", errorTooManyInputs)
	}
	inputs = make([]value, len(list))
	for i, in := range list {
		if inputs[i], err = e.holding(sender, uint64(in.num)); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// holding turns an input of the token standard into one of a transfer. A locked coin whose
// lock has expired is freed for it.
func (e *execution) holding(sender party, n uint64) (value, error) {
	c, err := e.fetch(n)
	if err != nil {
		return value{}, err
	}
	if p, ok := c.payload.(lockedAmulet); ok {
		if p.owner != sender || p.expiresAt > e.now() {
			return value{}, broken("holding %s is locked until %s", e.names.ids.appendContractID(nil, n), microsText(p.expiresAt))
		}
		at := e.consume(c, "LockedAmulet_OwnerExpireLockV2", e.arena().record(emptyRecordShape), sender)
		free := e.freed(c)
		e.finish(at, e.arena().record(unlockV2DoneShape, contractID(free.number), metadata(e.arena(), txKindMetaKey, "unlock")))
		n = free.number
	}
	return e.arena().variant("InputAmulet", contractID(n)), nil
}

// lockedCoin returns a coin that is locked for an instruction or an allocation.
func (e *execution) lockedCoin(n uint64) (*contract, error) {
	c := e.byNumber[n] // those who may use the instruction need not see it
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
	coin, err := e.releaseTokens(p, arg, p.transfer.receiver)
	if err != nil {
		return value{}, err
	}
	return e.tokensDone("TransferInstructionResult_Completed", completedShape, e.idsOf(coin), nil, "transfer"), nil
}

// returnTokens gives the coins back to the sender.
func returnTokens(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(transferInstruction)
	if _, err := e.releaseTokens(p, arg, p.transfer.sender); err != nil {
		return value{}, err
	}
	return e.tokensDone("TransferInstructionResult_Failed", nil, unit(), nil, "unlock"), nil
}

// releaseTokens turns the locked coin of an instruction into a coin of the owner.
func (e *execution) releaseTokens(p transferInstruction, arg argument, owner party) (*contract, error) {
	ctx, err := e.choiceContext(arg.record("extraArgs"))
	if err != nil {
		return nil, err
	}
	locked, err := e.lockedCoin(p.locked)
	if err != nil {
		return nil, err
	}
	defer e.at(ctx.round)()
	return e.coin(owner, e.spend(locked)), nil
}
