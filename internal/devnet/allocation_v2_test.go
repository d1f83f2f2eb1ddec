package devnet

import (
	"maps"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// through has a command exercise a choice by an interface.
func through(i model.InterfaceName, c choices.Command) choices.Command {
	c.TemplateID = "#" + model.InterfaceNames[i][0] + ":" + model.InterfaceNames[i][1]
	return c
}

// leg is a transfer of a settlement; without a receiver its coins are burned.
type leg struct{ id, from, to, amount string }

var noMeta = map[string]any{"values": map[string]any{}}

// account is that of an owner alone, or the one that burns what it receives.
func account(owner string) map[string]any {
	if owner == "" {
		return map[string]any{"owner": nil, "provider": nil, "id": model.BurnAccountID}
	}
	return map[string]any{"owner": owner, "provider": nil, "id": ""}
}

// sidesOf is what legs mean to an owner.
func sidesOf(owner string, legs []leg) []map[string]any {
	sides := []map[string]any{}
	for _, l := range legs {
		side := map[string]any{"transferLegId": l.id, "amount": l.amount, "instrumentId": "Amulet", "meta": noMeta, "side": "SenderSide", "otherside": account(l.to)}
		if l.from == owner {
			sides = append(sides, side)
		}
		if l.to == owner {
			received := maps.Clone(side)
			received["side"], received["otherside"] = "ReceiverSide", account(l.from)
			sides = append(sides, received)
		}
	}
	return sides
}

func settlementOf(executor string) map[string]any {
	return map[string]any{"executors": []string{executor}, "id": "deal", "cid": nil, "meta": noMeta}
}

// allocateLegs has an owner allocate coins to its part of some legs, by the second version of the token
// standard.
func (d *desk) allocateLegs(executor, owner string, legs []leg, committed bool, next any, within time.Duration) choices.Command {
	ids, _ := d.coins(owner)
	if ids == nil {
		ids = []string{}
	}
	now := d.l.Now()
	return through(model.AllocationFactoryV2Interface, exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "AllocationFactory_Allocate",
		"settlement", settlementOf(executor),
		"allocation", map[string]any{"admin": d.l.GovernanceParty(), "authorizer": account(owner), "committed": committed, "meta": noMeta,
			"settlementDeadline": now.Add(within).Format(time.RFC3339Nano), "nextIterationFunding": next, "transferLegSides": sidesOf(owner, legs)},
		"requestedAt", now.Format(time.RFC3339Nano), "inputHoldingCids", ids, "extraArgs", emptyExtraArgs, "actors", []string{owner}))
}

// allocateSides is allocateLegs for one leg to some other party.
func (d *desk) allocateSides(executor, owner, other, amount string, committed bool, next any, within time.Duration) choices.Command {
	return d.allocateLegs(executor, owner, []leg{{"leg-1", owner, other, amount}}, committed, next, within)
}

// TestAllocationsV2 takes coins that are allocated by the second version of the token standard through
// all that can become of them.
func TestAllocationsV2(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 73})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	d.advance(2 * time.Second)
	d.tap(alice, 50)
	allocated := func(amount string, committed bool, next any) string {
		t.Helper()
		return in(t, d.must([]string{alice}, d.allocateSides(venue, alice, bob, amount, committed, next, time.Hour))[0], "output", "value", "allocationCid")
	}
	end := func(by, id, choice string) choices.Submission {
		return d.submission([]string{by}, through(model.AllocationV2Interface, exercise(model.AllocationV2Template, id, choice, "actors", []string{by}, "extraArgs", emptyExtraArgs)))
	}
	has := func(what string, want model.Decimal) {
		t.Helper()
		if got := d.balance(alice); got != want {
			t.Errorf("%s: alice has %s, want %s", what, got, want)
		}
	}
	free := allocated("8", false, map[string]string{"Amulet": "2"})
	has("allocated with funding", model.Coins(40))
	for _, by := range []string{venue, bob} {
		d.refused(end(by, free, "Allocation_Withdraw"))
	}
	d.refused(end(alice, free, "Allocation_Cancel"))
	d.mustSubmit(end(alice, free, "Allocation_Withdraw"))
	has("withdrawn", model.Coins(50))
	d.mustSubmit(end(venue, allocated("5", true, nil), "Allocation_Cancel"))
	has("cancelled", model.Coins(50))
	committed := allocated("5", true, nil)
	d.refused(end(alice, committed, "Allocation_Withdraw"))
	d.must([]string{alice}, d.allocate(venue, alice, bob, "1", time.Hour)) // of the first version
	first := d.newest(model.AllocationTemplate, nil)
	d.mustSubmit(d.submission([]string{alice}, through(model.AllocationV2Interface, exercise(model.AllocationTemplate, first, "Allocation_Withdraw", "actors", []string{alice}, "extraArgs", emptyExtraArgs))))
	has("one of the first version withdrawn", model.Coins(45))
	d.must([]string{alice}, d.allocate(venue, alice, bob, "1", time.Hour))
	cancel := func(actors ...string) choices.Submission {
		return d.submission([]string{venue, alice, bob}, through(model.AllocationV2Interface, exercise(model.AllocationTemplate, d.newest(model.AllocationTemplate, nil), "Allocation_Cancel",
			"actors", actors, "extraArgs", emptyExtraArgs)))
	}
	d.refused(cancel(alice))
	d.refused(cancel(venue, alice, bob))
	d.mustSubmit(cancel(venue))
	has("one of the first version cancelled", model.Coins(45))
	d.advance(time.Hour + d.l.Config.Tick() + time.Second)
	has("after its time", model.Coins(50))
	if left := d.l.OfTemplate(model.AllocationV2Template, nil); len(left) != 0 {
		t.Errorf("%d allocations are left", len(left))
	}
	for what, wrong := range map[string]choices.Command{
		"too much":         d.allocateSides(venue, alice, bob, "51", false, nil, time.Hour),
		"nothing":          d.allocateSides(venue, alice, bob, "0", false, nil, time.Hour),
		"in the past":      d.allocateSides(venue, alice, bob, "1", false, nil, -time.Hour),
		"other tokens":     d.allocateSides(venue, alice, bob, "1", false, map[string]string{"Gold": "1"}, time.Hour),
		"of somebody else": d.allocateSides(venue, bob, alice, "1", false, nil, time.Hour),
	} {
		t.Log(what, d.refused(d.submission([]string{alice}, wrong)))
	}
	d.finish()
}
