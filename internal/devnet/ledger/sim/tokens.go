package sim

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// awaitSettlement has an allocation end when its time is over.
func (x *Tokens) awaitSettlement(c *Contract) {
	x.allocations = append(x.allocations, c)
	x.Clock.alarmAt(c.Payload.(AmuletAllocation).Leg.SettleBefore+x.Clock.grace(), x.expireAllocations)
}

// expireAllocations gives the senders of all allocations that were not settled in time their
// coins back.
func (x *Tokens) expireAllocations() {
	due := x.Clock.overdue(&x.allocations, func(c *Contract) int64 { return c.Payload.(AmuletAllocation).Leg.SettleBefore })
	if len(due) == 0 {
		return
	}
	a := x.Tx.Arena()
	inputs, results := make([]Value, len(due)), make([]Value, len(due))
	for i, c := range due {
		inputs[i] = a.Record(expireAllocationIn, ContractID(c.Number), Boolean(x.Tx.ByNumber[c.Payload.(AmuletAllocation).Locked].IsActive()))
	}
	at := x.Tx.Exercise(x.Rules.external, "ExternalPartyAmuletRules_ExpireAmuletAllocations",
		a.Record(expireAllocationsShape, PartyValue(Dso), a.List(inputs...), a.List()), Dso)
	for i, c := range due {
		results[i] = x.endAllocation(c)
	}
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, a.List(results...)))
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireAllocations)
	}
}

func (x *Tokens) endAllocation(c *Contract) Value {
	a, locked, back := x.Tx.Arena(), x.Tx.ByNumber[c.Payload.(AmuletAllocation).Locked], x.Tx.Arena().List()
	at := x.Tx.Consume(c, "AmuletAllocation_DsoExpire", a.Record(expireAllocationArg, Boolean(locked.IsActive())), Dso)
	if locked.IsActive() {
		back = a.List(ContractID(x.bank.expireLock(locked).Number))
	}
	result := a.Record(AllocationReturnedShape, back, Metadata(a, TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

var expireAllocationsShape = NewShape("expectedDso", "inputs", "observers")

var expireAllocationIn = NewShape("allocationCid", "expireLock")

var expireAllocationArg = NewShape("expireLock")

var AllocationReturnedShape = NewShape("senderHoldingCids", "meta")
