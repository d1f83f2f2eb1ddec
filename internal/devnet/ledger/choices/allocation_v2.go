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
		e.actsOnly(arg, p.Owner)
		require(!p.Committed || p.Deadline != 0 && p.Deadline <= e.Now(), "the allocation is committed until its settlement deadline")
		return e.endAllocation(c, "AllocationResult_Withdrawn")
	}).of(model.AllocationV2Interface).seenBy(contractObservers))
	for _, t := range []*model.Template{model.AllocationV2Template, model.AllocationTemplate} {
		all.on(t, "Allocation_Cancel", nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			e.actsOnly(arg, e.asAllocationV2(c).Settlement.Executors...)
			return e.endAllocation(c, "AllocationResult_Cancelled")
		}).of(model.AllocationV2Interface))
	}
	// Of the first version's allocations the first version's choice gives the coins back.
	all.on(model.AllocationTemplate, "Allocation_Withdraw", nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		e.actsOnly(arg, c.Payload.(model.AmuletAllocation).Leg.Sender)
		result := e.perform(c, "Allocation_Withdraw", e.Tx.Arena().Record(instructionArgShape, *arg.At("extraArgs")))
		return e.endedBy("AllocationResult_Withdrawn", model.Argument{V: &result}.List("senderHoldingCids"))
	}).of(model.AllocationV2Interface).seenBy(contractObservers))
	addSettlementChoices(all)
}

// endedBy is the result of the end of an allocation, which gives coins back.
func (e *Execution) endedBy(outcome string, back []model.Value) model.Value {
	a, holdings := e.Tx.Arena(), e.Tx.Arena().TextMap()
	if len(back) > 0 {
		holdings = a.TextMap(model.Text(model.InstrumentAmuletInPayload), a.List(back...))
	}
	return a.Record(endedV2Shape, a.Variant(outcome, model.Unit()), holdings, model.Metadata(a, model.TxKindMetaKey, "unlock"))
}

// settlementOf reads what allocations are for.
func settlementOf(v model.Argument) model.Settlement {
	s := model.Settlement{Executors: partiesOf(v.List("executors")), Reference: v.Text("id"), Meta: v.Metadata("meta")}
	require(len(s.Executors) > 0 && len(s.Reference) <= maxTextLength, "a settlement has executors, and a text of at most %d bytes", maxTextLength)
	noAccountsIn(s.Meta)
	if cid := v.Given("cid"); cid != nil {
		s.Referenced = uint64(cid.Num)
	}
	return s
}

// isCoinInstrument checks the instrument of a leg or of funding.
func isCoinInstrument(id string) {
	require(id == model.InstrumentAmuletInPayload, "instrument %.100s is not known here", id)
}

// sidesOf reads what legs mean to an account.
func sidesOf(list []model.Value) (sides []model.LegSide) {
	for i := range list {
		v := model.Argument{V: &list[i]}
		s := model.LegSide{Id: v.Text("transferLegId"), Sends: v.At("side").Text == "SenderSide", Amount: v.Numeric("amount"), Meta: v.Metadata("meta")}
		isCoinInstrument(v.Text("instrumentId"))
		checkLeg(s.Id, s.Amount, s.Meta)
		if s.Sends {
			s.Other = receivingAccount(v.Record("otherside"))
		} else {
			s.Other = basicAccount(v.Record("otherside"))
		}
		sides = append(sides, s)
	}
	return sides
}

func checkLeg(id string, amount model.Decimal, meta []string) {
	require(len(id) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	noAccountsIn(meta)
	positive("amount", amount)
}

// receivingAccount is the owner of an account, or the account that burns what it receives.
func receivingAccount(v model.Argument) model.Party {
	if v.Given("owner") == nil && v.Given("provider") == nil && v.Text("id") == model.BurnAccountID {
		return model.BurnAccount
	}
	return basicAccount(v)
}

// checkSides checks that an owner authorizes each side of a leg once, and that they can be counted.
func checkSides(sides []model.LegSide) {
	sum := model.Decimal(0)
	for i, s := range sides {
		require(!slices.ContainsFunc(sides[:i], func(o model.LegSide) bool { return o.Id == s.Id && o.Sends == s.Sends }), "leg %.100s is there twice", s.Id)
		sum += s.Amount
		require(sum > 0, "the amounts are worth more than there are coins")
	}
}

// fundingOf reads what is locked for the next iteration; given is nil if there is none.
func fundingOf(given *model.Value) (sum model.Decimal) {
	if given == nil {
		return 0
	}
	for i := 0; i < len(given.Elems); i += 2 {
		isCoinInstrument(given.Elems[i].Text)
		sum = model.Decimal(given.Elems[i+1].Num)
		require(sum >= 0, "the funding of the next iteration is negative")
	}
	return sum
}

// allocationV2Of reads and checks the argument of AllocationFactory_Allocate.
func allocationV2Of(e *Execution, arg model.Argument) model.AllocationV2 {
	spec, next := arg.Record("allocation"), arg.Record("allocation").Given("nextIterationFunding")
	requested := arg.Time("requestedAt")
	p := model.AllocationV2{
		Settlement: settlementOf(arg.Record("settlement")), Owner: basicAccount(spec.Record("authorizer")), Sides: sidesOf(spec.List("transferLegSides")),
		Iterated: next != nil, Next: fundingOf(next), Committed: spec.At("committed").Num == 1, Meta: spec.Metadata("meta"),
		CreatedAt: requested, ExpiresAt: requested + maxTokenLifetime,
	}
	e.isDSO(spec.Party("admin"))
	require(requested <= e.Now(), "requestedAt %s is in the future", microsText(requested))
	require(p.Iterated || len(p.Sides) > 0, "an allocation without legs needs nextIterationFunding")
	checkSides(p.Sides)
	if deadline := spec.Given("settlementDeadline"); deadline != nil {
		p.Deadline, p.ExpiresAt = deadline.Num, min(deadline.Num, p.ExpiresAt)
		e.later("settlementDeadline", p.Deadline)
	}
	e.later("requestedAt and 90 days, which is", p.ExpiresAt)
	return p
}

// allocateV2 locks coins of an owner for what it sends in a settlement, and for the next one.
func allocateV2(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	p := allocationV2Of(e, arg)
	e.actsOnly(arg, p.Owner)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	defer e.at(ctx.round)()
	a, change := e.Tx.Arena(), e.Tx.Arena().TextMap()
	if needs := p.Needs(); needs > 0 {
		lock := lockFor(p.Settlement, p.ExpiresAt)
		o := order{sender: p.Owner, provider: p.Owner, context: ctx, inputs: holdingInputs(e, ctx, p.Owner, arg.List("inputHoldingCids")),
			outputs: []sim.Output{{Receiver: p.Owner, Amount: needs, Lock: &lock}}}
		s := settleOrder(e, o)
		e.logLocking(o, s)
		p.Locked = s.Created[0].Number
		change = holdingsOf(e, changeOf(s)...)
	}
	c := e.add(model.AllocationV2Template, p)
	return a.Record(allocatedV2Shape, a.Variant("AllocationInstructionResult_Completed", a.Record(allocatedShape, model.ContractID(c.Number))), change,
		model.Metadata(a, model.TxKindMetaKey, "transfer"))
}

// lockFor is the lock of the coins for a settlement.
func lockFor(s model.Settlement, expires int64) model.LockedAmulet {
	return model.LockedAmulet{Holder: model.Dso, ExpiresAt: expires, Context: "allocation for settlement '" + s.Reference + "'"}
}

// holdingsOf is a map from the coin as an instrument to coins.
func holdingsOf(e *Execution, coins ...*model.Contract) model.Value {
	if len(coins) == 0 {
		return e.Tx.Arena().TextMap()
	}
	return e.Tx.Arena().TextMap(model.Text(model.InstrumentAmuletInPayload), e.Tx.IDs(coins...))
}

// endAllocation archives an allocation and gives its owner the coins back, unless their lock has
// expired and the owner has unlocked them.
func (e *Execution) endAllocation(c *model.Contract, outcome string) model.Value {
	e.Tx.Archive(c)
	locked := e.Tx.ByNumber[e.asAllocationV2(c).Locked]
	if locked == nil {
		return e.endedBy(outcome, nil)
	}
	result := e.perform(locked, "LockedAmulet_UnlockV2", e.Tx.Arena().Record(model.EmptyRecordShape))
	return e.endedBy(outcome, []model.Value{*model.Argument{V: &result}.At("amuletCid")})
}
