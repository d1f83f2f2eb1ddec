package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	allocatedShape         = model.NewShape("allocationCid")
	allocationSettledShape = model.NewShape("senderHoldingCids", "receiverHoldingCids", "meta")
)

// settleReason is the reason that the event log has of settlements.
const settleReason = "settle allocation"

// addAllocationChoices are coins that are held ready for a settlement, by the first version of
// the token standard.
func addAllocationChoices(all *choices) {
	all.on(model.ExternalRulesTemplate, "AllocationFactory_Allocate", nonconsuming(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{arg.Record("allocation").Record("transferLeg").Party("sender")}
		}, allocateTokens).of(model.AllocationFactoryInterface))
	allThree := byPayload(func(p model.AmuletAllocation) []model.Party {
		return []model.Party{p.Leg.Executor, p.Leg.Sender, p.Leg.Receiver}
	})
	all.on(model.AllocationTemplate, "Allocation_ExecuteTransfer", consuming(allThree, settleAllocation).of(model.AllocationInterface))
	all.on(model.AllocationTemplate, "Allocation_Cancel", consuming(allThree, returnAllocation).of(model.AllocationInterface))
	all.on(model.AllocationTemplate, "Allocation_Withdraw", consuming(
		byPayload(func(p model.AmuletAllocation) []model.Party { return []model.Party{p.Leg.Sender} }), returnAllocation).of(model.AllocationInterface))
}

// legOf reads and checks the argument of AllocationFactory_Allocate.
func legOf(e *Execution, arg model.Argument) model.Leg {
	spec := arg.Record("allocation")
	settlement, transfer := spec.Record("settlement"), spec.Record("transferLeg")
	reference := settlement.Record("settlementRef")
	l := model.Leg{Executor: settlement.Party("executor"), Reference: reference.Text("id"), RequestedAt: settlement.Time("requestedAt"),
		AllocateBefore: settlement.Time("allocateBefore"), SettleBefore: settlement.Time("settleBefore"), SettlementMeta: settlement.Metadata("meta"),
		Id: spec.Text("transferLegId"), Sender: transfer.Party("sender"), Receiver: transfer.Party("receiver"),
		Amount: transfer.Numeric("amount"), Meta: transfer.Metadata("meta")}
	if cid := reference.Given("cid"); cid != nil {
		l.Referenced = uint64(cid.Num)
	}
	e.expectsCoins(arg.Party("expectedAdmin"), transfer.Record("instrumentId"))
	require(arg.Time("requestedAt") <= e.Now(), "requestedAt %s is in the future", microsText(arg.Time("requestedAt")))
	require(l.SettleBefore >= l.AllocateBefore, "settleBefore %s is earlier than allocateBefore, %s", microsText(l.SettleBefore), microsText(l.AllocateBefore))
	require(l.SettleBefore-e.Now() <= maxTokenLifetime, "settleBefore %s is more than 90 days ahead", microsText(l.SettleBefore))
	require(len(l.Id) <= maxTextLength && len(l.Reference) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	e.later("allocateBefore", l.AllocateBefore)
	positive("amount", l.Amount)
	return l
}

// allocateTokens locks coins of a sender for a leg of a settlement.
func allocateTokens(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	l := legOf(e, arg)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	defer e.at(ctx.round)()
	inputs := holdingInputs(e, ctx, l.Sender, arg.List("inputHoldingCids"))
	lock := model.LockedAmulet{Holder: model.Dso, ExpiresAt: l.SettleBefore, Context: "allocation for leg '" + l.Id + "' to '" + e.Names.Name(l.Receiver) + "'"}
	o := order{sender: l.Sender, provider: l.Sender, context: ctx, inputs: inputs,
		outputs: []sim.Output{{Receiver: l.Sender, Amount: l.Amount, Lock: &lock}}}
	s := settleOrder(e, o)
	e.logLocking(o, s)
	c := e.add(model.AllocationTemplate, model.AmuletAllocation{Locked: s.Created[0].Number, Leg: l})
	return tokensDone(e, "AllocationInstructionResult_Completed", allocatedShape, model.ContractID(c.Number), s.Change, "transfer")
}

// settleAllocation gives the receiver of a leg its coins.
func settleAllocation(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.AmuletAllocation)
	e.later("settleBefore", p.Leg.SettleBefore)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	locked := lockedCoin(e, p.Locked)
	defer e.at(ctx.round)()
	got := e.Bank.NewCoin(p.Leg.Receiver, e.Bank.Spend(locked))
	e.logTransfer(ctx, holdingsChange{owner: p.Leg.Sender, in: []uint64{p.Locked}, reason: settleReason},
		model.LegSide{Id: p.Leg.Id, Other: p.Leg.Receiver, Amount: p.Leg.Amount, Meta: p.Leg.Meta}, got)
	a := e.Tx.Arena()
	return a.Record(allocationSettledShape, a.List(), e.Tx.IDs(got), model.Metadata(a, model.TxKindMetaKey, "transfer"))
}

// returnAllocation gives the sender of a leg its coins back, unless their lock has expired and
// the sender has unlocked them.
func returnAllocation(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	a, back := e.Tx.Arena(), e.Tx.Arena().List()
	if locked := e.Tx.ByNumber[c.Payload.(model.AmuletAllocation).Locked]; locked != nil {
		result := e.perform(locked, "LockedAmulet_UnlockV2", a.Record(model.EmptyRecordShape))
		back = a.List(*model.Argument{V: &result}.At("amuletCid"))
	}
	return a.Record(sim.AllocationReturnedShape, back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
}
