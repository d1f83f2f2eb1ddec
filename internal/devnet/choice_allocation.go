package devnet

var (
	allocatedShape         = newShape("allocationCid")
	allocationSettledShape = newShape("senderHoldingCids", "receiverHoldingCids", "meta")
)

// addAllocationChoices are coins that are held ready for a settlement, by the first version of
// the token standard.
func addAllocationChoices(all *choices) {
	all.on(externalRulesTemplate, "AllocationFactory_Allocate", nonconsuming(
		func(_ *execution, _ *contract, arg argument) []party {
			return []party{arg.record("allocation").record("transferLeg").party("sender")}
		}, allocateTokens).of(allocationFactoryInterface))
	allThree := byPayload(func(p allocation) []party { return []party{p.leg.executor, p.leg.sender, p.leg.receiver} })
	all.on(allocationTemplate, "Allocation_ExecuteTransfer", consuming(allThree, settleAllocation).of(allocationInterface))
	all.on(allocationTemplate, "Allocation_Cancel", consuming(allThree, returnAllocation).of(allocationInterface))
	all.on(allocationTemplate, "Allocation_Withdraw", consuming(
		byPayload(func(p allocation) []party { return []party{p.leg.sender} }), returnAllocation).of(allocationInterface))
}

// legOf reads and checks the argument of AllocationFactory_Allocate.
func legOf(e *execution, arg argument) (leg, error) {
	spec := arg.record("allocation")
	settlement, transfer := spec.record("settlement"), spec.record("transferLeg")
	reference, instrument := settlement.record("settlementRef"), transfer.record("instrumentId")
	l := leg{executor: settlement.party("executor"), reference: reference.text("id"), requestedAt: settlement.time("requestedAt"),
		allocateBefore: settlement.time("allocateBefore"), settleBefore: settlement.time("settleBefore"), settlementMeta: settlement.metadata("meta"),
		id: spec.text("transferLegId"), sender: transfer.party("sender"), receiver: transfer.party("receiver"),
		amount: transfer.numeric("amount"), meta: transfer.metadata("meta")}
	if cid := reference.given("cid"); cid != nil {
		l.referenced = uint64(cid.num)
	}
	switch {
	case arg.party("expectedAdmin") != dso:
		return l, broken("expected admin %s, but the admin is %s", e.names.name(arg.party("expectedAdmin")), e.names.name(dso))
	case instrument.party("admin") != dso || instrument.text("id") != instrumentAmuletInPayload:
		return l, broken("instrument %.100s of %s is not known here", instrument.text("id"), e.names.name(instrument.party("admin")))
	case arg.time("requestedAt") > e.now():
		return l, broken("requestedAt %s is in the future", microsText(arg.time("requestedAt")))
	case l.settleBefore < l.allocateBefore:
		return l, broken("settleBefore %s is earlier than allocateBefore, %s", microsText(l.settleBefore), microsText(l.allocateBefore))
	case l.settleBefore-e.now() > maxTokenLifetime:
		return l, broken("settleBefore %s is more than 90 days ahead", microsText(l.settleBefore))
	case len(l.id) > maxTextLength || len(l.reference) > maxTextLength:
		return l, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.later("allocateBefore", l.allocateBefore); err != nil {
		return l, err
	}
	return l, e.positive("amount", l.amount)
}

// allocateTokens locks coins of a sender for a leg of a settlement.
func allocateTokens(e *execution, _ *contract, arg argument) (value, error) {
	l, err := legOf(e, arg)
	if err != nil {
		return value{}, err
	}
	ctx, err := choiceContext(e, arg.record("extraArgs"))
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	inputs, err := holdingInputs(e, l.sender, arg.list("inputHoldingCids"))
	if err != nil {
		return value{}, err
	}
	lock := lockedAmulet{holder: dso, expiresAt: l.settleBefore, context: "allocation for leg '" + l.id + "' to '" + e.names.name(l.receiver) + "'"}
	s, err := settleOrder(e, order{sender: l.sender, provider: l.sender, context: ctx, inputs: inputs,
		outputs: []output{{receiver: l.sender, amount: l.amount, lock: &lock}}})
	if err != nil {
		return value{}, err
	}
	c, err := e.add(allocationTemplate, allocation{s.created[0].number, l})
	if err != nil {
		return value{}, err
	}
	return tokensDone(e, "AllocationInstructionResult_Completed", allocatedShape, contractID(c.number), s.change, "transfer"), nil
}

// settleAllocation gives the receiver of a leg its coins.
func settleAllocation(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(allocation)
	if err := e.later("settleBefore", p.leg.settleBefore); err != nil {
		return value{}, err
	}
	ctx, err := choiceContext(e, arg.record("extraArgs"))
	if err != nil {
		return value{}, err
	}
	locked, err := lockedCoin(e, p.locked)
	if err != nil {
		return value{}, err
	}
	defer e.at(ctx.round)()
	got := createCoin(e, p.leg.receiver, e.bank.spend(locked))
	a := e.tx.arena()
	return a.record(allocationSettledShape, a.list(), e.idsOf(got), metadata(a, txKindMetaKey, "transfer")), nil
}

// returnAllocation gives the sender of a leg its coins back, unless their lock has expired and
// the sender has unlocked them.
func returnAllocation(e *execution, c *contract, _ argument) (value, error) {
	a, back := e.tx.arena(), e.tx.arena().list()
	if locked := e.tx.byNumber[c.payload.(allocation).locked]; locked != nil {
		result, err := e.perform(locked, "LockedAmulet_UnlockV2", a.record(emptyRecordShape))
		if err != nil {
			return value{}, err
		}
		back = a.list(*argument{&result}.at("amuletCid"))
	}
	return a.record(allocationReturnedShape, back, metadata(a, txKindMetaKey, "unlock")), nil
}
