package devnet

var (
	factoryTransferShape  = newShape("expectedAdmin", "transfer", "extraArgs")
	extraArgsShape        = newShape("context", "meta")
	choiceContextShape    = newShape("values")
	instructionArgShape   = newShape("extraArgs")
	instructionDoneShape  = newShape("output", "senderChangeCids", "meta")
	pendingShape          = newShape("transferInstructionCid")
	completedShape        = newShape("receiverHoldingCids")
	choiceContextRulesKey = "amulet-rules"
	choiceContextRoundKey = "open-round"
)

// tokens are the offers and allocations of the token standard.
type tokens struct {
	core
	bank     *bank
	payments *payments
	users    *users
	rounds   *rounds

	instructions []*contract
	waiting      []*contract // offers of tokens that end when their time is over
	allocations  []*contract
	// lockedCoins holds the locked coin of each open transfer instruction.
	lockedCoins map[*contract]*contract
}

// offerTokens has a user offer coins to another by the token standard: the coins
// are locked until the receiver answers.
func (x *tokens) offerTokens() bool {
	sender := x.users.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 2, 1)
	if !ok {
		return false
	}
	a := x.tx.arena()
	t := tokenTransfer{sender: sender, receiver: x.names.users.of(x.random),
		amount: max(1, spendable.times(x.random.decimalBetween(one/50, one/2))), requestedAt: x.clock.effectiveAt,
		executeBefore: x.clock.effectiveAt + x.clock.tick*int64(x.random.between(2, 20)), reason: x.users.reason()}
	for _, c := range p.coins {
		t.inputs = append(t.inputs, c.number)
	}
	lock := lockedAmulet{holder: dso, expiresAt: t.executeBefore}
	if x.tx.version() > 0 {
		lock.context = "transfer to '" + x.names.name(t.receiver) + "'"
	}
	p.outputs = []output{{receiver: sender, amount: t.amount, lock: &lock}}
	at := x.tx.exercise(x.rules.external, "TransferFactory_Transfer",
		a.record(factoryTransferShape, partyValue(dso), t.value(a), x.extraArgs()), sender)
	x.tx.through(at, transferFactoryInterface)
	s := x.payments.settle(p)
	c := x.tx.create(transferInstructionTemplate, transferInstruction{s.created[0].number, t})
	change := a.list()
	if s.change != nil {
		change = a.list(contractID(s.change.number))
	}
	x.tx.finish(at, a.record(instructionDoneShape, a.variant("TransferInstructionResult_Pending",
		a.record(pendingShape, contractID(c.number))), change, metadata(a, txKindMetaKey, "transfer")))
	x.instructions = append(x.instructions, c)
	x.lockedFor(c, s.created[0])
	return true
}

// lockedFor remembers which locked coin belongs to a transfer instruction.
func (x *tokens) lockedFor(instruction, locked *contract) {
	if x.lockedCoins == nil {
		x.lockedCoins = map[*contract]*contract{}
	}
	x.lockedCoins[instruction] = locked
}

// extraArgs carries the contracts that a choice of the token standard needs.
func (x *tokens) extraArgs() value {
	a := x.tx.arena()
	return a.record(extraArgsShape, a.record(choiceContextShape, a.textMap(
		text(choiceContextRulesKey), a.variant("AV_ContractId", contractID(x.rules.amulet.number)),
		text(choiceContextRoundKey), a.variant("AV_ContractId", contractID(x.rounds.openRound().contract.number)))),
		metadata(a))
}

// answerTokenOffer has the receiver accept or reject an offer, or the sender
// withdraw it.
func (x *tokens) answerTokenOffer() bool {
	c := takeAny(x.random, &x.instructions)
	if c == nil {
		return false
	}
	t := c.payload.(transferInstruction).transfer
	if x.users.isManaged(t.sender) || x.users.isManaged(t.receiver) {
		x.awaitAnswer(c)
		return false
	}
	if t.executeBefore <= x.clock.effectiveAt && x.tx.version() > 0 {
		x.endInstructions([]*contract{c})
		return true
	}
	choice, actor, owner, kind := "TransferInstruction_Accept", t.receiver, t.receiver, "transfer"
	switch expired := t.executeBefore <= x.clock.effectiveAt; {
	case expired || x.random.percent(15):
		choice, actor, owner, kind = "TransferInstruction_Withdraw", t.sender, t.sender, "unlock"
	case x.random.percent(15):
		choice, actor, owner, kind = "TransferInstruction_Reject", t.receiver, t.sender, "unlock"
	}
	a := x.tx.arena()
	at := x.tx.consume(c, choice, a.record(instructionArgShape, x.extraArgs()), actor)
	x.tx.through(at, transferInstructionInterface)
	amount := x.bank.spend(x.lockedCoins[c])
	delete(x.lockedCoins, c)
	coin := x.bank.newCoin(owner, amount)
	output := a.variant("TransferInstructionResult_Failed", unit())
	if owner == t.receiver && kind == "transfer" {
		output = a.variant("TransferInstructionResult_Completed",
			a.record(completedShape, a.list(contractID(coin.number))))
	}
	x.tx.finish(at, a.record(instructionDoneShape, output, a.list(), metadata(a, txKindMetaKey, kind)))
	return true
}
