package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	factoryTransferShape  = model.NewShape("expectedAdmin", "transfer", "extraArgs")
	extraArgsShape        = model.NewShape("context", "meta")
	choiceContextShape    = model.NewShape("values")
	instructionArgShape   = model.NewShape("extraArgs")
	InstructionDoneShape  = model.NewShape("output", "senderChangeCids", "meta")
	PendingShape          = model.NewShape("transferInstructionCid")
	CompletedShape        = model.NewShape("receiverHoldingCids")
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
	lock := model.LockedAmulet{Holder: model.Dso, ExpiresAt: t.ExecuteBefore}
	if x.Tx.Version() > 0 {
		lock.Context = "transfer to '" + x.Names.Name(t.Receiver) + "'"
	}
	p.Outputs = []Output{{Receiver: sender, Amount: t.Amount, Lock: &lock}}
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

// lockedFor remembers which locked coin belongs to a transfer instruction.
func (x *Tokens) lockedFor(instruction, locked *model.Contract) {
	if x.lockedCoins == nil {
		x.lockedCoins = map[*model.Contract]*model.Contract{}
	}
	x.lockedCoins[instruction] = locked
}

// extraArgs carries the contracts that a choice of the token standard needs.
func (x *Tokens) extraArgs() model.Value {
	a := x.Tx.Arena()
	return a.Record(extraArgsShape, a.Record(choiceContextShape, a.TextMap(
		model.Text(choiceContextRulesKey), a.Variant("AV_ContractId", model.ContractID(x.Rules.Amulet.Number)),
		model.Text(choiceContextRoundKey), a.Variant("AV_ContractId", model.ContractID(x.rounds.OpenRound().Contract.Number)))),
		model.Metadata(a))
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
	coin := x.bank.newCoin(owner, amount)
	output := a.Variant("TransferInstructionResult_Failed", model.Unit())
	if owner == t.Receiver && kind == "transfer" {
		output = a.Variant("TransferInstructionResult_Completed",
			a.Record(CompletedShape, a.List(model.ContractID(coin.Number))))
	}
	x.Tx.Finish(at, a.Record(InstructionDoneShape, output, a.List(), model.Metadata(a, model.TxKindMetaKey, kind)))
	return true
}
