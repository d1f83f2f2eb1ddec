package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
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
	inputs, results := make([]model.Value, len(due)), make([]model.Value, len(due))
	for i, c := range due {
		inputs[i] = a.Record(expireAllocationIn, model.ContractID(c.Number), model.Boolean(x.Tx.ByNumber[c.Payload.(model.AmuletAllocation).Locked].IsActive()))
	}
	at := x.Tx.Exercise(x.Rules.external, "ExternalPartyAmuletRules_ExpireAmuletAllocations",
		a.Record(expireAllocationsShape, model.PartyValue(model.Dso), a.List(inputs...), a.List()), model.Dso)
	for i, c := range due {
		results[i] = x.endAllocation(c)
	}
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, a.List(results...)))
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireAllocations)
	}
}

func (x *Tokens) endAllocation(c *model.Contract) model.Value {
	a, locked, back := x.Tx.Arena(), x.Tx.ByNumber[c.Payload.(model.AmuletAllocation).Locked], x.Tx.Arena().List()
	at := x.Tx.Consume(c, "AmuletAllocation_DsoExpire", a.Record(expireAllocationArg, model.Boolean(locked.IsActive())), model.Dso)
	if locked.IsActive() {
		back = a.List(model.ContractID(x.bank.expireLock(locked).Number))
	}
	result := a.Record(AllocationReturnedShape, back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

var expireAllocationsShape = model.NewShape("expectedDso", "inputs", "observers")

var expireAllocationIn = model.NewShape("allocationCid", "expireLock")

var expireAllocationArg = model.NewShape("expireLock")

var AllocationReturnedShape = model.NewShape("senderHoldingCids", "meta")
