package devnet

// interfaceName numbers the interfaces through which choices are exercised.
type interfaceName int

const noInterface interfaceName = -1

const (
	transferFactoryInterface interfaceName = iota
	transferInstructionInterface
	featuredAppRightInterface
	trackedInterface
	allocationFactoryInterface
	allocationInterface
	rewardCouponInterface
	interfaceCount
)

// interfaceNames are package name and Module:Entity, by number.
var interfaceNames = [interfaceCount][2]string{
	{"splice-api-token-transfer-instruction-v1", "Splice.Api.Token.TransferInstructionV1:TransferFactory"},
	{"splice-api-token-transfer-instruction-v1", "Splice.Api.Token.TransferInstructionV1:TransferInstruction"},
	{"splice-api-featured-app-v1", "Splice.Api.FeaturedAppRightV1:FeaturedAppRight"},
	{"harbor-api", "Harbor.Api.Tracked:Tracked"},
	{"splice-api-token-allocation-instruction-v1", "Splice.Api.Token.AllocationInstructionV1:AllocationFactory"},
	{"splice-api-token-allocation-v1", "Splice.Api.Token.AllocationV1:Allocation"},
	{"splice-api-reward-assignment-v1", "Splice.Api.RewardAssignmentV1:RewardCoupon"},
}

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

// offerTokens has a user offer coins to another by the token standard: the coins
// are locked until the receiver answers.
func (x *executor) offerTokens() bool {
	sender := x.someUser()
	p, spendable, ok := x.takeFunds(sender, 2, 1)
	if !ok {
		return false
	}
	a := x.arena()
	t := tokenTransfer{sender: sender, receiver: x.names.users.of(&x.random),
		amount: max(1, spendable.times(x.random.decimalBetween(one/50, one/2))), requestedAt: x.effectiveAt,
		executeBefore: x.effectiveAt + x.tick*int64(x.random.between(2, 20)), reason: x.reason()}
	for _, c := range p.coins {
		t.inputs = append(t.inputs, c.number)
	}
	lock := lockedAmulet{holder: dso, expiresAt: t.executeBefore}
	if x.version() > 0 {
		lock.context = "transfer to '" + x.names.name(t.receiver) + "'"
	}
	p.outputs = []output{{receiver: sender, amount: t.amount, lock: &lock}}
	at := x.exercise(x.rules.external, "TransferFactory_Transfer",
		a.record(factoryTransferShape, partyValue(dso), t.value(a), x.extraArgs()), sender)
	x.through(at, transferFactoryInterface)
	s := x.settle(p)
	c := x.create(transferInstructionTemplate, transferInstruction{s.created[0].number, t})
	change := a.list()
	if s.change != nil {
		change = a.list(contractID(s.change.number))
	}
	x.finish(at, a.record(instructionDoneShape, a.variant("TransferInstructionResult_Pending",
		a.record(pendingShape, contractID(c.number))), change, metadata(a, txKindMetaKey, "transfer")))
	x.instructions = append(x.instructions, c)
	x.lockedFor(c, s.created[0])
	return true
}

// lockedFor remembers which locked coin belongs to a transfer instruction.
func (x *executor) lockedFor(instruction, locked *contract) {
	if x.lockedCoins == nil {
		x.lockedCoins = map[*contract]*contract{}
	}
	x.lockedCoins[instruction] = locked
}

// extraArgs carries the contracts that a choice of the token standard needs.
func (x *executor) extraArgs() value {
	a := x.arena()
	return a.record(extraArgsShape, a.record(choiceContextShape, a.textMap(
		text(choiceContextRulesKey), a.variant("AV_ContractId", contractID(x.rules.amulet.number)),
		text(choiceContextRoundKey), a.variant("AV_ContractId", contractID(x.openRound().contract.number)))),
		metadata(a))
}

// answerTokenOffer has the receiver accept or reject an offer, or the sender
// withdraw it.
func (x *executor) answerTokenOffer() bool {
	c := takeAny(&x.random, &x.instructions)
	if c == nil {
		return false
	}
	t := c.payload.(transferInstruction).transfer
	if x.isManaged(t.sender) || x.isManaged(t.receiver) {
		x.awaitAnswer(c)
		return false
	}
	if t.executeBefore <= x.effectiveAt && x.version() > 0 {
		x.endInstructions([]*contract{c})
		return true
	}
	choice, actor, owner, kind := "TransferInstruction_Accept", t.receiver, t.receiver, "transfer"
	switch expired := t.executeBefore <= x.effectiveAt; {
	case expired || x.random.percent(15):
		choice, actor, owner, kind = "TransferInstruction_Withdraw", t.sender, t.sender, "unlock"
	case x.random.percent(15):
		choice, actor, owner, kind = "TransferInstruction_Reject", t.receiver, t.sender, "unlock"
	}
	a := x.arena()
	at := x.consume(c, choice, a.record(instructionArgShape, x.extraArgs()), actor)
	x.through(at, transferInstructionInterface)
	amount := x.spend(x.lockedCoins[c])
	delete(x.lockedCoins, c)
	coin := x.newCoin(owner, amount)
	output := a.variant("TransferInstructionResult_Failed", unit())
	if owner == t.receiver && kind == "transfer" {
		output = a.variant("TransferInstructionResult_Completed",
			a.record(completedShape, a.list(contractID(coin.number))))
	}
	x.finish(at, a.record(instructionDoneShape, output, a.list(), metadata(a, txKindMetaKey, kind)))
	return true
}
