package state

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// maxSettled is the most legs, parties and allocations of a settlement.
const maxSettled = 100

// allocationFactory serves what AllocationFactory_Allocate needs.
func (g *registry) allocationFactory(v tokenVersion) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		b := g.newContext(p)
		var of instrumentID
		object(p, "choiceArguments", func(args *query.Params) {
			object(args, "allocation", func(spec *query.Params) { of = v.allocated(spec) })
		})
		factory, err := b.factoryOf(ctx, p, of)
		if err != nil {
			return err
		}
		if v == tokenV1 {
			err = b.addRound(ctx)
		} else {
			err = b.addLatest(ctx, template.ContextConfigState, template.ExternalPartyConfigState)
		}
		if err != nil {
			return err
		}
		return b.answer(ctx, r, func(c choiceContext) any { return factoryAnswer{FactoryID: factory, Context: c} })
	}
}

// allocated reads what is to be allocated: in the second version anything of a registry, as the legs
// come later.
func (v tokenVersion) allocated(spec *query.Params) (of instrumentID) {
	if v == tokenV2 {
		v.owner(spec, "authorizer")
		return instrumentID{spec.Text("admin"), template.CoinInstrument}
	}
	object(spec, "transferLeg", func(leg *query.Params) {
		v.owner(leg, "sender")
		v.owner(leg, "receiver")
		of = instrumentOf(leg)
	})
	return of
}

// onAllocation serves what a choice on an allocation needs: the second version knows those of the
// first.
func (g *registry) onAllocation(v tokenVersion, add addContext) query.Handler {
	return g.onContract("allocation_id", "allocation", add, allocationsOf(v)...)
}

func allocationsOf(v tokenVersion) []string {
	if v == tokenV1 {
		return []string{template.CoinAllocation}
	}
	return []string{template.CoinAllocation, template.CoinAllocationV2}
}

// settle adds what Allocation_ExecuteTransfer needs, for which the executor may be rewarded.
func (b *contextBuilder) settle(ctx context.Context, allocation *contract) error {
	if err := b.spend(ctx, allocation); err != nil {
		return err
	}
	var payload struct {
		Allocation struct {
			Settlement struct {
				Executor string `json:"executor"`
			} `json:"settlement"`
		} `json:"allocation"`
	}
	if err := allocation.decode(&payload); err != nil {
		return err
	}
	return b.addFeaturedApp(ctx, payload.Allocation.Settlement.Executor)
}

// noInstruction refuses choices of allocation instructions, which the coin never makes: it allocates
// at once.
func (g *registry) noInstruction(context.Context, *query.Request) error {
	return query.Errorf(query.Invalid, "%s has no allocation instructions: allocating it completes at once.", template.CoinInstrument)
}

// settlementFactory serves what SettlementFactory_SettleBatch needs.
func (g *registry) settlementFactory(ctx context.Context, r *query.Request) error {
	p := r.Body()
	b := g.newContext(p)
	var allocations []string
	object(p, "choiceArguments", func(args *query.Params) { allocations = settledBy(args) })
	if err := p.Err(); err != nil {
		return err
	}
	factory, err := b.factory(ctx)
	if err != nil {
		return err
	}
	if err := b.addLatest(ctx, template.ContextConfigState, template.ExternalPartyConfigState); err != nil {
		return err
	}
	for _, id := range allocations {
		if err := b.addAllocated(ctx, id); err != nil {
			return err
		}
	}
	return b.answer(ctx, r, func(c choiceContext) any { return factoryAnswer{FactoryID: factory, Context: c} })
}

// settledBy reads the allocations of a settlement, each once.
func settledBy(args *query.Params) (allocations []string) {
	var parties []string
	for _, leg := range args.Objects("transferLegs", 0, maxSettled) {
		for _, side := range []string{"sender", "receiver"} {
			object(leg, side, func(account *query.Params) {
				if owner, ok := account.OptionalText("owner"); ok {
					parties = append(parties, owner)
				}
			})
		}
	}
	for _, a := range args.Objects("allocations", 0, maxSettled) {
		if id := a.Text("allocationCid"); !slices.Contains(allocations, id) {
			allocations = append(allocations, id)
		}
	}
	slices.Sort(parties)
	if n := len(slices.Compact(parties)); n > maxSettled {
		args.Fail("A settlement has at most %d parties, not %d.", maxSettled, n)
	}
	return allocations
}

// addAllocated discloses the coin of an allocation.
func (b *contextBuilder) addAllocated(ctx context.Context, id string) error {
	allocation, err := b.registry.byID(ctx, id, allocationsOf(tokenV2)...)
	if err != nil {
		return err
	}
	if allocation == nil {
		return query.Errorf(query.NotFound, "No active allocation with contract id %.200s found.", id)
	}
	coin, locked, err := b.registry.lockedCoin(ctx, allocation)
	switch {
	case err != nil:
		return err
	case coin != nil:
		b.list = append(b.list, *coin)
	case locked != "":
		return errSpent(locked, allocation)
	}
	return nil
}
