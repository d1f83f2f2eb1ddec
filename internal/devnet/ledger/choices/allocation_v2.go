package choices

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	allocatedV2Shape = model.NewShape("output", "authorizerChangeCids", "meta")
	endedV2Shape     = model.NewShape("output", "authorizerHoldingCids", "meta")
)

// addAllocationV2Choices are coins that are held ready for a settlement, by the second version of the
// token standard, and the end of allocations of both versions.
func addAllocationV2Choices(all *choices) {
	all.on(model.ExternalRulesTemplate, "AllocationFactory_Allocate", nonconsuming(byActors, allocateV2).of(model.AllocationFactoryV2Interface))
	all.on(model.AllocationV2Template, "Allocation_Withdraw", nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		p := c.Payload.(model.AllocationV2)
		e.actsFor(arg, p.Owner)
		require(!p.Committed || p.Deadline != 0 && p.Deadline <= e.Now(), "the allocation is committed until its settlement deadline")
		return e.endAllocation(c, p.Locked, "AllocationResult_Withdrawn")
	}).of(model.AllocationV2Interface))
	all.on(model.AllocationV2Template, "Allocation_Cancel", nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		p := c.Payload.(model.AllocationV2)
		for _, executor := range p.Executors {
			e.actsFor(arg, executor)
		}
		return e.endAllocation(c, p.Locked, "AllocationResult_Cancelled")
	}).of(model.AllocationV2Interface))
	all.on(model.AllocationTemplate, "Allocation_Withdraw", nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		p := c.Payload.(model.AmuletAllocation)
		e.actsFor(arg, p.Leg.Sender)
		return e.endAllocation(c, p.Locked, "AllocationResult_Withdrawn")
	}).of(model.AllocationV2Interface))
}

// byActors are the controllers that the argument lists.
func byActors(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
	return partiesOf(arg.List("actors"))
}

func partiesOf(list []model.Value) []model.Party {
	parties := make([]model.Party, len(list))
	for i, v := range list {
		parties[i] = model.Party(v.Num)
	}
	return parties
}

// actsFor checks that a party is among the actors of an argument.
func (e *Execution) actsFor(arg model.Argument, p model.Party) {
	require(slices.Contains(byActors(e, nil, arg), p), "%s is not among the actors", e.Names.Name(p))
}

// basicAccount is the owner of an account that has no provider.
func basicAccount(v model.Argument) model.Party {
	owner := v.Given("owner")
	require(owner != nil && v.Given("provider") == nil && v.Text("id") == "", "only accounts of an owner alone hold coins")
	return model.Party(owner.Num)
}

// allocationV2Of reads and checks the argument of AllocationFactory_Allocate.
func allocationV2Of(e *Execution, arg model.Argument) model.AllocationV2 {
	settlement, spec := arg.Record("settlement"), arg.Record("allocation")
	p := model.AllocationV2{
		Executors: partiesOf(settlement.List("executors")), Reference: settlement.Text("id"), SettlementMeta: settlement.Metadata("meta"),
		Owner: basicAccount(spec.Record("authorizer")), Committed: spec.At("committed").Num == 1, Meta: spec.Metadata("meta"),
		CreatedAt: e.Now(), ExpiresAt: e.Now() + maxTokenLifetime,
	}
	e.isDSO(spec.Party("admin"))
	require(len(p.Executors) > 0 && len(p.Reference) <= maxTextLength, "a settlement has executors, and a text of at most %d bytes", maxTextLength)
	require(arg.Time("requestedAt") <= e.Now(), "requestedAt %s is in the future", microsText(arg.Time("requestedAt")))
	if cid := settlement.Given("cid"); cid != nil {
		p.Referenced = uint64(cid.Num)
	}
	if deadline := spec.Given("settlementDeadline"); deadline != nil {
		p.Deadline, p.ExpiresAt = deadline.Num, min(deadline.Num, p.ExpiresAt)
		e.later("settlementDeadline", p.Deadline)
	}
	if next := spec.Given("nextIterationFunding"); next != nil {
		p.Iterated = true
		for i := 0; i < len(next.Elems); i += 2 {
			require(next.Elems[i].Text == model.InstrumentAmuletInPayload, "instrument %.100s is not known here", next.Elems[i].Text)
			p.Next = model.Decimal(next.Elems[i+1].Num)
			require(p.Next >= 0, "the funding of the next iteration is negative")
		}
	}
	list := spec.List("transferLegSides")
	for i := range list {
		v := model.Argument{V: &list[i]}
		side := model.LegSide{Id: v.Text("transferLegId"), Sends: v.At("side").Text == "SenderSide", Other: basicAccount(v.Record("otherside")), Amount: v.Numeric("amount"), Meta: v.Metadata("meta")}
		require(v.Text("instrumentId") == model.InstrumentAmuletInPayload, "instrument %.100s is not known here", v.Text("instrumentId"))
		require(len(side.Id) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
		positive("amount", side.Amount)
		p.Sides = append(p.Sides, side)
		require(p.Needs() >= 0, "the amounts are worth more than there are coins")
	}
	return p
}

// allocateV2 locks coins of an owner for what it sends in a settlement, and for the next one.
func allocateV2(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	p := allocationV2Of(e, arg)
	e.actsFor(arg, p.Owner)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	defer e.at(ctx.round)()
	a, change := e.Tx.Arena(), e.Tx.Arena().TextMap()
	if needs := p.Needs(); needs > 0 {
		lock := model.LockedAmulet{Holder: model.Dso, ExpiresAt: p.ExpiresAt, Context: "allocation for settlement '" + p.Reference + "'"}
		s := settleOrder(e, order{sender: p.Owner, provider: p.Owner, context: ctx, inputs: holdingInputs(e, p.Owner, arg.List("inputHoldingCids")),
			outputs: []sim.Output{{Receiver: p.Owner, Amount: needs, Lock: &lock}}})
		p.Locked = s.Created[0].Number
		if s.Change != nil {
			change = holdingsOf(e, s.Change)
		}
	}
	c := e.add(model.AllocationV2Template, p)
	return a.Record(allocatedV2Shape, a.Variant("AllocationInstructionResult_Completed", a.Record(allocatedShape, model.ContractID(c.Number))), change,
		model.Metadata(a, model.TxKindMetaKey, "transfer"))
}

// holdingsOf is a map from the coin as an instrument to one coin.
func holdingsOf(e *Execution, c *model.Contract) model.Value {
	return e.Tx.Arena().TextMap(model.Text(model.InstrumentAmuletInPayload), e.Tx.IDs(c))
}

// endAllocation archives an allocation and gives its owner the coins back, unless their lock has
// expired and the owner has unlocked them.
func (e *Execution) endAllocation(c *model.Contract, lockedNumber uint64, outcome string) model.Value {
	e.Tx.Archive(c)
	a, back := e.Tx.Arena(), e.Tx.Arena().TextMap()
	if locked := e.Tx.ByNumber[lockedNumber]; locked != nil {
		result := e.perform(locked, "LockedAmulet_UnlockV2", a.Record(model.EmptyRecordShape))
		back = a.TextMap(model.Text(model.InstrumentAmuletInPayload), a.List(*model.Argument{V: &result}.At("amuletCid")))
	}
	return a.Record(endedV2Shape, a.Variant(outcome, model.Unit()), back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
}
