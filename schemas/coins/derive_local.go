package coins

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// A node sees a part of most updates: what its parties are informed of. Whoever is informed of an exercise
// is informed of all that it does, so that what stands below one is there completely; what stands beside
// it, or around it, may not be. So a part of an update, a root with all below it, is explained if it is an
// exercise of which each choice is known and each coin that it consumes; a mere create is what somebody
// else's choice has left, and a bare archival a piece of one that is not seen.
//
// Movements are those of coins that enter or leave the contracts active on the node: only these follow from
// what it tells for good.

// leaveUnclear takes the frames from the parts that are not seen whole.
func (d *Deriver) leaveUnclear() {
	roots, unclear := make([]int, len(d.u.Events)), make([]bool, len(d.u.Events))
	for i := range d.u.Events {
		e := &d.u.Events[i]
		if roots[i] = i; e.Parent >= 0 {
			roots[i] = roots[e.Parent]
		} else {
			unclear[i] = e.Choice == "" || e.Choice == "Archive" && e.Does == Consumes
		}
		unclear[roots[i]] = unclear[roots[i]] || e.Unclear
	}
	for i, root := range roots {
		if unclear[root] {
			d.frame[i] = -1
		}
	}
}

// held is what an update does to the coins of an owner, by pocket: to all and to the active ones.
type held struct {
	owner       string
	all, active [2]decimal.Decimal
}

// keepActive leaves the movements out of who has no active coins in the update. Who has others beside
// them keeps what became of the active ones alone, unexplained.
func (d *Deriver) keepActive() {
	var owners []held
	for i := range d.u.Events {
		e := &d.u.Events[i]
		if e.Does == Nothing {
			continue
		}
		n := slices.IndexFunc(owners, func(h held) bool { return h.owner == e.Coin.Owner })
		if n < 0 {
			n, owners = len(owners), append(owners, held{owner: e.Coin.Owner})
		}
		h, p, amount := &owners[n], pocketOf(&e.Coin), e.Coin.Amount
		if e.Does == Consumes {
			amount = amount.Neg()
		}
		if h.all[p] = h.all[p].Plus(amount); e.Active {
			h.active[p] = h.active[p].Plus(amount)
		}
	}
	whole := func(party string) bool {
		return slices.ContainsFunc(owners, func(h held) bool { return h.owner == party && h.all == h.active })
	}
	d.movements = slices.DeleteFunc(d.movements, func(m Movement) bool { return !whole(m.Party) })
	for i := range owners {
		h := &owners[i]
		if h.all == h.active {
			continue
		}
		s := scene{Deriver: d, told: &Told{Round: -1}, of: Movement{Event: -1, StatedRound: -1}}
		s.nameOutermost(func(i int) bool { return d.u.Events[i].Active && d.u.Events[i].Coin.Owner == h.owner })
		for pocket, amount := range h.active {
			s.add(h.owner, pocket, amount, Unexplained, "", s.other(h.owner))
		}
	}
}
