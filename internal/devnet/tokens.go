package devnet

// awaitSettlement has an allocation end when its time is over.
func (x *tokens) awaitSettlement(c *contract) {
	x.allocations = append(x.allocations, c)
	x.clock.alarmAt(c.payload.(allocation).leg.settleBefore+x.clock.grace(), x.expireAllocations)
}

// expireAllocations gives the senders of all allocations that were not settled in time their
// coins back.
func (x *tokens) expireAllocations() {
	due := x.clock.overdue(&x.allocations, func(c *contract) int64 { return c.payload.(allocation).leg.settleBefore })
	if len(due) == 0 {
		return
	}
	a := x.tx.arena()
	inputs, results := make([]value, len(due)), make([]value, len(due))
	for i, c := range due {
		inputs[i] = a.record(expireAllocationIn, contractID(c.number), boolean(x.tx.byNumber[c.payload.(allocation).locked].isActive()))
	}
	at := x.tx.exercise(x.rules.external, "ExternalPartyAmuletRules_ExpireAmuletAllocations",
		a.record(expireAllocationsShape, partyValue(dso), a.list(inputs...), a.list()), dso)
	for i, c := range due {
		results[i] = x.endAllocation(c)
	}
	x.tx.finish(at, a.record(expireTokensDoneShape, a.list(results...)))
	if len(due) == overduePerBatch {
		x.clock.tasks = append(x.clock.tasks, x.expireAllocations)
	}
}

func (x *tokens) endAllocation(c *contract) value {
	a, locked, back := x.tx.arena(), x.tx.byNumber[c.payload.(allocation).locked], x.tx.arena().list()
	at := x.tx.consume(c, "AmuletAllocation_DsoExpire", a.record(expireAllocationArg, boolean(locked.isActive())), dso)
	if locked.isActive() {
		back = a.list(contractID(x.bank.expireLock(locked).number))
	}
	result := a.record(allocationReturnedShape, back, metadata(a, txKindMetaKey, "unlock"))
	x.tx.finish(at, result)
	return result
}

var expireAllocationsShape = newShape("expectedDso", "inputs", "observers")

var expireAllocationIn = newShape("allocationCid", "expireLock")

var expireAllocationArg = newShape("expireLock")

var allocationReturnedShape = newShape("senderHoldingCids", "meta")
