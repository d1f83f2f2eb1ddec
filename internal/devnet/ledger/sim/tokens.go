package sim

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

var (
	factoryTransferShape = model.NewShape("expectedAdmin", "transfer", "extraArgs")
	extraArgsShape       = model.NewShape("context", "meta")
	choiceContextShape   = model.NewShape("values")
	instructionArgShape  = model.NewShape("extraArgs")
	InstructionDoneShape = model.NewShape("output", "senderChangeCids", "meta")
	PendingShape         = model.NewShape("transferInstructionCid")
	CompletedShape       = model.NewShape("receiverHoldingCids")

	AllocationReturnedShape = model.NewShape("senderHoldingCids", "meta")

	choiceContextRulesKey = "amulet-rules"
	choiceContextRoundKey = "open-round"
)

// Tokens are the offers and allocations of the token standard.
type Tokens struct {
	Core
	bank     *Bank
	payments *Payments
	users    *users
	rounds   *Rounds

	instructions []*model.Contract
	waiting      []*model.Contract // offers of tokens that end when their time is over
	allocations  []*model.Contract
	// lockedCoins holds the locked coin of each open transfer instruction.
	lockedCoins map[*model.Contract]*model.Contract
}

// What the governance party does about offers of tokens, allocations and coins whose time
// is over.

const overduePerBatch = 100

var (
	expireTokensShape     = model.NewShape("expectedDso", "inputs", "observers")
	expireInstructionIn   = model.NewShape("transferInstructionCid", "expireLock")
	expireTokensDoneShape = model.NewShape("results")
	expireAllocationIn    = model.NewShape("allocationCid", "expireLock")
	expireAllocationArg   = model.NewShape("expireLock")
	instructionUpdate     = model.NewShape("extraActors", "extraArgs")
	configStatesShape     = model.NewShape("externalPartyConfigState0Cid", "externalPartyConfigState1Cid")
	expireV2SumShape      = model.NewShape("owner")
)

// awaitSettlement has an allocation end when its time is over.
func (x *Tokens) awaitSettlement(c *model.Contract) {
	x.allocations = append(x.allocations, c)
	x.Clock.alarmAt(c.Payload.(model.AmuletAllocation).Leg.SettleBefore+x.Clock.grace(), x.expireAllocations)
}

// expireAllocations gives the senders of all allocations that were not settled in time their
// coins back.
func (x *Tokens) expireAllocations() {
	due := x.Clock.overdue(&x.allocations, func(c *model.Contract) int64 { return c.Payload.(model.AmuletAllocation).Leg.SettleBefore })
	if len(due) == 0 {
		return
	}
	a := x.Tx.Arena()
	inputs := model.ListOf(a, due, func(c *model.Contract) model.Value {
		locked := x.Tx.ByNumber[c.Payload.(model.AmuletAllocation).Locked]
		return a.Record(expireAllocationIn, model.ContractID(c.Number), model.Boolean(locked.IsActive()))
	})
	at := x.Tx.Exercise(x.Rules.external, "ExternalPartyAmuletRules_ExpireAmuletAllocations",
		a.Record(expireTokensShape, model.PartyValue(model.Dso), inputs, a.List()), model.Dso)
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, model.ListOf(a, due, x.endAllocation)))
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireAllocations)
	}
}

var (
	expireAllocationsV2 = model.NewShape("cancellations", "observers")
	cancelAllocation    = model.NewShape("actors", "extraArgs")
	cancelledShape      = model.NewShape("output", "authorizerHoldingCids", "meta")
)

// awaitSettlementV2 has an allocation of the second version end when its time is over.
func (x *Tokens) awaitSettlementV2(c *model.Contract) {
	x.Clock.alarmAt(c.Payload.(model.AllocationV2).ExpiresAt+x.Clock.grace(), func() { x.expireAllocationV2(c) })
}

func (x *Tokens) expireAllocationV2(c *model.Contract) {
	if !c.IsActive() {
		return
	}
	a, locked, back := x.Tx.Arena(), x.Tx.ByNumber[c.Payload.(model.AllocationV2).Locked], x.Tx.Arena().TextMap()
	argument := a.Record(cancelAllocation, a.List(model.PartyValue(model.Dso)), x.extraArgs())
	at := x.Tx.Exercise(x.Rules.external, "ExternalPartyAmuletRules_ExpireAmuletAllocationsV2",
		a.Record(expireAllocationsV2, a.List(a.Record(model.TupleShape, model.ContractID(c.Number), argument)), a.List()), model.Dso)
	inner := x.Tx.Exercise(c, "Allocation_Cancel", argument, model.Dso)
	x.Tx.Through(inner, model.AllocationV2Interface)
	x.Tx.Archive(c)
	if locked.IsActive() {
		back = a.TextMap(model.Text(model.InstrumentAmuletInPayload), a.List(model.ContractID(x.bank.ExpireLock(locked).Number)))
	}
	x.Tx.Finish(inner, a.Record(cancelledShape, a.Variant("AllocationResult_Cancelled", model.Unit()), back, model.Metadata(a, model.TxKindMetaKey, "unlock")))
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}

func (x *Tokens) endAllocation(c *model.Contract) model.Value {
	a, locked, back := x.Tx.Arena(), x.Tx.ByNumber[c.Payload.(model.AmuletAllocation).Locked], x.Tx.Arena().List()
	at := x.Tx.Consume(c, "AmuletAllocation_DsoExpire", a.Record(expireAllocationArg, model.Boolean(locked.IsActive())), model.Dso)
	if locked.IsActive() {
		back = a.List(model.ContractID(x.bank.ExpireLock(locked).Number))
	}
	result := a.Record(AllocationReturnedShape, back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

// answerTokenOffer has the receiver accept or reject an offer, or the sender
// withdraw it.
func (x *Tokens) answerTokenOffer() bool {
	c := takeAny(x.Random, &x.instructions)
	if c == nil {
		return false
	}
	t := c.Payload.(model.TransferInstruction).Transfer
	if x.users.isManaged(t.Sender) || x.users.isManaged(t.Receiver) {
		x.awaitAnswer(c)
		return false
	}
	if t.ExecuteBefore <= x.Clock.EffectiveAt && x.Tx.Version() > 0 {
		x.endInstructions([]*model.Contract{c})
		return true
	}
	choice, actor, owner, kind := "TransferInstruction_Accept", t.Receiver, t.Receiver, "transfer"
	switch expired := t.ExecuteBefore <= x.Clock.EffectiveAt; {
	case expired || x.Random.Percent(15):
		choice, actor, owner, kind = "TransferInstruction_Withdraw", t.Sender, t.Sender, "unlock"
	case x.Random.Percent(15):
		choice, actor, owner, kind = "TransferInstruction_Reject", t.Receiver, t.Sender, "unlock"
	}
	a := x.Tx.Arena()
	at := x.Tx.Consume(c, choice, a.Record(instructionArgShape, x.extraArgs()), actor)
	x.Tx.Through(at, model.TransferInstructionInterface)
	amount := x.bank.Spend(x.lockedCoins[c])
	delete(x.lockedCoins, c)
	coin := x.bank.NewCoin(owner, amount)
	output := a.Variant("TransferInstructionResult_Failed", model.Unit())
	if owner == t.Receiver && kind == "transfer" {
		output = a.Variant("TransferInstructionResult_Completed",
			a.Record(CompletedShape, a.List(model.ContractID(coin.Number))))
	}
	x.Tx.Finish(at, a.Record(InstructionDoneShape, output, a.List(), model.Metadata(a, model.TxKindMetaKey, kind)))
	return true
}

// awaitAnswer has an offer of tokens end when its time is over.
func (x *Tokens) awaitAnswer(c *model.Contract) {
	x.waiting = append(x.waiting, c)
	x.Clock.alarmAt(c.Payload.(model.TransferInstruction).Transfer.ExecuteBefore+x.Clock.grace(), x.expireInstructions)
}

// coinOfInstruction is the coin that is locked for an offer of tokens, nil if its owner has
// unlocked it: the lock ends when the offer does.
func (x *Tokens) coinOfInstruction(c *model.Contract) *model.Contract {
	if locked := x.lockedCoins[c]; locked.IsActive() {
		return locked
	}
	if locked := x.Tx.ByNumber[c.Payload.(model.TransferInstruction).Locked]; locked.IsActive() {
		return locked
	}
	return nil
}

func (x *Tokens) endInstruction(c *model.Contract) model.Value {
	a, locked := x.Tx.Arena(), x.coinOfInstruction(c)
	at := x.Tx.Consume(c, "TransferInstruction_Update", a.Record(instructionUpdate, a.List(model.PartyValue(model.Dso)), x.extraArgs()), model.Dso)
	x.Tx.Through(at, model.TransferInstructionInterface)
	delete(x.lockedCoins, c)
	back := a.List()
	if locked != nil {
		back = a.List(model.ContractID(x.bank.ExpireLock(locked).Number))
	}
	result := a.Record(InstructionDoneShape, a.Variant("TransferInstructionResult_Failed", model.Unit()), back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

// endInstructions ends some offers of tokens in one transaction.
func (x *Tokens) endInstructions(due []*model.Contract) {
	a := x.Tx.Arena()
	inputs := model.ListOf(a, due, func(c *model.Contract) model.Value {
		return a.Record(expireInstructionIn, model.ContractID(c.Number), model.Boolean(x.coinOfInstruction(c) != nil))
	})
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Amulet_ExpireTransferInstructions",
		a.Record(expireTokensShape, model.PartyValue(model.Dso), inputs, a.List()), model.Dso)
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, model.ListOf(a, due, x.endInstruction)))
}

// expireInstructions gives the senders of all offers of tokens that nobody answered in time
// their coins back.
func (x *Tokens) expireInstructions() {
	due := x.Clock.overdue(&x.waiting, func(c *model.Contract) int64 { return c.Payload.(model.TransferInstruction).Transfer.ExecuteBefore })
	if len(due) > 0 {
		x.endInstructions(due)
	}
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireInstructions)
	}
}

// extraArgs carries the contracts that a choice of the token standard needs.
func (x *Tokens) extraArgs() model.Value {
	a := x.Tx.Arena()
	return a.Record(extraArgsShape, a.Record(choiceContextShape, a.TextMap(
		model.Text(choiceContextRulesKey), a.Variant("AV_ContractId", model.ContractID(x.Rules.Amulet.Number)),
		model.Text(choiceContextRoundKey), a.Variant("AV_ContractId", model.ContractID(x.rounds.OpenRound().Contract.Number)))),
		model.Metadata(a))
}

// Locked is the output that holds the coins of a transfer until its receiver answers.
func (x *Tokens) Locked(t model.TokenTransfer) Output {
	lock := model.LockedAmulet{Holder: model.Dso, ExpiresAt: t.ExecuteBefore}
	if x.Tx.Version() > 0 {
		lock.Context = "transfer to '" + x.Names.Name(t.Receiver) + "'"
	}
	return Output{Receiver: t.Sender, Amount: t.Amount, Lock: &lock}
}

// lockedFor remembers which locked coin belongs to a transfer instruction.
func (x *Tokens) lockedFor(instruction, locked *model.Contract) {
	if x.lockedCoins == nil {
		x.lockedCoins = map[*model.Contract]*model.Contract{}
	}
	x.lockedCoins[instruction] = locked
}

// offerTokens has a user offer coins to another by the token standard: the coins
// are locked until the receiver answers.
func (x *Tokens) offerTokens() bool {
	sender := x.users.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 2, 1)
	if !ok {
		return false
	}
	a := x.Tx.Arena()
	t := model.TokenTransfer{Sender: sender, Receiver: x.Names.Users.Of(x.Random),
		Amount: max(1, spendable.Times(x.Random.DecimalBetween(model.One/50, model.One/2))), RequestedAt: x.Clock.EffectiveAt,
		ExecuteBefore: x.Clock.EffectiveAt + x.Clock.tick*int64(x.Random.Between(2, 20)), Reason: x.users.reason()}
	for _, c := range p.Coins {
		t.Inputs = append(t.Inputs, c.Number)
	}
	p.Outputs = []Output{x.Locked(t)}
	at := x.Tx.Exercise(x.Rules.external, "TransferFactory_Transfer",
		a.Record(factoryTransferShape, model.PartyValue(model.Dso), t.Value(a), x.extraArgs()), sender)
	x.Tx.Through(at, model.TransferFactoryInterface)
	s := x.payments.settle(p)
	c := x.Tx.Create(model.TransferInstructionTemplate, model.TransferInstruction{Locked: s.Created[0].Number, Transfer: t})
	change := a.List()
	if s.Change != nil {
		change = a.List(model.ContractID(s.Change.Number))
	}
	x.Tx.Finish(at, a.Record(InstructionDoneShape, a.Variant("TransferInstructionResult_Pending",
		a.Record(PendingShape, model.ContractID(c.Number))), change, model.Metadata(a, model.TxKindMetaKey, "transfer")))
	x.instructions = append(x.instructions, c)
	x.lockedFor(c, s.Created[0])
	return true
}
