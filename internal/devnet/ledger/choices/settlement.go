package choices

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	settleArgShape   = model.NewShape("actors", "extraTransferLegSides", "nextIterationFunding", "extraArgs")
	settledShape     = model.NewShape("nextIterationAllocationCid")
	settleBatchShape = model.NewShape("allocationSettleResults", "meta")
)

// addSettlementChoices settle allocations of both versions, by the second version of the token standard.
func addSettlementChoices(all *choices) {
	all.on(model.ExternalRulesTemplate, "SettlementFactory_SettleBatch", nonconsuming(byActors, settleBatch).of(model.SettlementFactoryInterface).seenBy(
		func(_ *Execution, _ *model.Contract, arg model.Argument) (owners []model.Party) {
			for _, l := range legsOf(arg.List("transferLegs")) {
				owners = append(owners, l.sender)
				if l.side.Other != model.BurnAccount {
					owners = append(owners, l.side.Other)
				}
			}
			return owners
		}))
	all.on(model.AllocationV2Template, "Allocation_Settle", nonconsuming(byActors, settleOne).of(model.AllocationV2Interface))
	all.on(model.AllocationTemplate, "Allocation_Settle", nonconsuming(byActors, settleLeg).of(model.AllocationV2Interface))
}

// settledLeg is one transfer of a settlement.
type settledLeg struct {
	sender model.Party
	side   model.LegSide // the sender's
}

func legsOf(list []model.Value) []settledLeg {
	legs := make([]settledLeg, len(list))
	for i := range list {
		v := model.Argument{V: &list[i]}
		s := model.LegSide{Id: v.Text("transferLegId"), Sends: true, Other: receivingAccount(v.Record("receiver")), Amount: v.Numeric("amount"), Meta: v.Metadata("meta")}
		isCoinInstrument(v.Text("instrumentId"))
		checkLeg(s.Id, s.Amount, s.Meta)
		legs[i] = settledLeg{basicAccount(v.Record("sender")), s}
	}
	return legs
}

// authorization identifies that an owner agrees to a side of a leg.
func authorization(owner model.Party, s model.LegSide) string { return fmt.Sprint(owner, s) }

// needed are the authorizations that legs need: those of the owners of both accounts.
func needed(legs []settledLeg) map[string]string {
	all := map[string]string{} // legs by authorization
	for i, l := range legs {
		require(!slices.ContainsFunc(legs[:i], func(o settledLeg) bool { return o.side.Id == l.side.Id }), "leg %.100s is there twice", l.side.Id)
		all[authorization(l.sender, l.side)] = l.side.Id
		if l.side.Other != model.BurnAccount {
			received := l.side
			received.Sends, received.Other = false, l.sender
			all[authorization(l.side.Other, received)] = l.side.Id
		}
	}
	return all
}

// settleBatch settles allocations that authorize exactly what some legs need.
func settleBatch(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	a, settlement := e.Tx.Arena(), settlementOf(arg.Record("settlement"))
	e.actsOnly(arg, settlement.Executors...)
	missing := needed(legsOf(arg.List("transferLegs")))
	list := arg.List("allocations")
	contracts := make([]*model.Contract, len(list))
	for i := range list {
		v := model.Argument{V: &list[i]}
		c := e.fetch(v.Contract("allocationCid"))
		p := e.asAllocationV2(c)
		require(p.Iterated || len(v.List("extraTransferLegSides")) == 0 && v.Given("nextIterationFunding") == nil,
			"the allocation is for one settlement: it takes no further legs and no funding")
		require(fmt.Sprint(p.Settlement) == fmt.Sprint(settlement), "allocation %s is for another settlement", e.Names.IDs.AppendContractID(nil, c.Number))
		for _, s := range append(slices.Clone(p.Sides), sidesOf(v.List("extraTransferLegSides"))...) {
			key := authorization(p.Owner, s)
			require(missing[key] != "", "superfluous authorization: %s authorizes leg %.100s, which is not settled like that, or is authorized twice", e.Names.Name(p.Owner), s.Id)
			delete(missing, key)
		}
		contracts[i] = c
	}
	for _, id := range missing {
		panic(broken("missing authorization: leg %.100s needs one of its sender and one of its receiver", id))
	}
	actors := model.ListOf(a, append([]model.Party{model.Dso}, settlement.Executors...), model.PartyValue)
	results := make([]model.Value, len(list))
	for i, c := range contracts {
		v := model.Argument{V: &list[i]}
		results[i] = e.perform(c, "Allocation_Settle", a.Record(settleArgShape, actors, *v.At("extraTransferLegSides"), *v.At("nextIterationFunding"), *arg.At("extraArgs")))
	}
	return a.Record(settleBatchShape, a.List(results...), model.Metadata(a))
}

// settleOne pays the owner of an allocation what its legs bring and, if it is iterated, locks coins for
// the next iteration.
func settleOne(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p, given := c.Payload.(model.AllocationV2), arg.Given("nextIterationFunding")
	e.actsOnly(arg, append([]model.Party{model.Dso}, p.Settlement.Executors...)...)
	if p.Deadline != 0 {
		e.later("settlementDeadline", p.Deadline)
	}
	sides := append(slices.Clone(p.Sides), sidesOf(arg.List("extraTransferLegSides"))...)
	checkSides(sides)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	defer e.at(ctx.round)()
	e.Tx.Archive(c)
	h := holdingsChange{owner: p.Owner, legs: sides, reason: settleReason}
	payout := model.NetOf(sides) - fundingOf(given)
	if p.Locked != 0 {
		h.in = []uint64{p.Locked}
		payout += e.Bank.Spend(lockedCoin(e, p.Locked))
	}
	require(payout >= 0, "the legs and the funding of the next iteration need %s more than is allocated", -payout)
	for _, s := range sides {
		if s.Other == model.BurnAccount {
			e.Bank.Burn(s.Amount)
		}
	}
	if payout > 0 {
		h.out = append(h.out, e.Bank.NewCoin(p.Owner, payout))
	}
	a, next := e.Tx.Arena(), model.None()
	if given != nil {
		h.out = append(nextIteration(e, &p, fundingOf(given)), h.out...)
		next = a.Some(model.ContractID(e.add(model.AllocationV2Template, p).Number))
	}
	e.logChange(ctx, h)
	return a.Record(endedV2Shape, a.Variant("AllocationResult_Settled", a.Record(settledShape, next)), holdingsOf(e, h.out...),
		model.Metadata(a, model.ReasonMetaKey, "Settle allocation for settlement "+p.Settlement.Reference, model.TxKindMetaKey, "transfer"))
}

// settleLeg takes the coins of an allocation of the first version, whose receiver has them by an
// allocation of its own.
func settleLeg(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := e.asAllocationV2(c)
	e.actsOnly(arg, append([]model.Party{model.Dso}, p.Settlement.Executors...)...)
	e.later("settleBefore", p.Deadline)
	ctx := choiceContext(e, arg.Record("extraArgs"))
	e.Tx.Archive(c)
	e.Bank.Spend(lockedCoin(e, p.Locked))
	e.logChange(ctx, holdingsChange{owner: p.Owner, in: []uint64{p.Locked}, legs: p.Sides, reason: settleReason})
	a := e.Tx.Arena()
	return a.Record(endedV2Shape, a.Variant("AllocationResult_Settled", a.Record(settledShape, model.None())), a.TextMap(),
		model.Metadata(a, model.ReasonMetaKey, "Debit for settlement "+p.Settlement.Reference, model.TxKindMetaKey, "burn"))
}

// asAllocationV2 is an allocation as the second version of the token standard sees it. One of the first
// is the sender's side of its leg.
func (e *Execution) asAllocationV2(c *model.Contract) model.AllocationV2 {
	p, isFirst := c.Payload.(model.AmuletAllocation)
	if !isFirst {
		v2, ok := c.Payload.(model.AllocationV2)
		require(ok, "contract of %s is no allocation", c.Template.Name)
		return v2
	}
	l := p.Leg
	s := model.Settlement{Executors: []model.Party{l.Executor}, Reference: l.Reference, Referenced: l.Referenced}
	for i := 0; i < len(l.SettlementMeta); i += 2 {
		if l.SettlementMeta[i] == extraExecutorsKey {
			s.Executors = append(s.Executors, e.parties(strings.Split(l.SettlementMeta[i+1], ","))...)
			continue
		}
		s.Meta = append(s.Meta, l.SettlementMeta[i:i+2]...)
	}
	side := model.LegSide{Id: l.Id, Sends: true, Other: l.Receiver, Amount: l.Amount, Meta: l.Meta}
	return model.AllocationV2{Locked: p.Locked, Settlement: s, Owner: l.Sender, Sides: []model.LegSide{side}, Deadline: l.SettleBefore}
}

// extraExecutorsKey is metadata by which settlements of the first version have several executors.
const extraExecutorsKey = "cip-112/extra-executors"

// nextIteration turns an allocation into that of the next iteration, and returns what is locked for it.
func nextIteration(e *Execution, p *model.AllocationV2, funding model.Decimal) (locked []*model.Contract) {
	p.Sides, p.Next, p.Locked = nil, funding, 0
	p.Iterations++
	p.ExpiresAt += maxTokenLifetime
	if p.Deadline != 0 {
		p.ExpiresAt = min(p.ExpiresAt, p.Deadline)
	}
	if funding > 0 {
		lock := lockFor(p.Settlement, p.ExpiresAt)
		lock.Holder, lock.Others = p.Owner, []model.Party{model.Dso}
		coin := e.Bank.NewLockedCoin(p.Owner, funding, lock)
		p.Locked = coin.Number
		locked = append(locked, coin)
	}
	return locked
}
