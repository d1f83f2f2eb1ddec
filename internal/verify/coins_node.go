package verify

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Coins of a node's own stream. A node sees a part of most updates: what its parties are
// informed of. Whoever is informed of an exercise is informed of all that it does, so what
// stands below an exercise is there completely; but what stands beside it, or around it,
// may not be. So coins are balanced part by part, a part being an event without a visible
// one around it, with all that is below it. A part is balanced if
//
//   - it is an exercise, for a mere create is what somebody else's exercise has left, and
//     not the bare archival of a coin, which is a piece of a transfer that is not seen;
//   - all choices in it are in the catalogue, so that it is known what they mint and burn;
//   - all coins that it spends were seen when they were created, so that their worth is known.
//
// Of all coins, seen whole or not, those that entered the set of contracts active on the
// node, and did not leave it, must be those that it has at the watermark.

// coinPart is one part of an update.
type coinPart struct {
	// whole says that by itself it can be balanced; the coins that it spends must be known,
	// too.
	whole bool
}

// findNodeParents is findParents for an update of a node's own stream, whose events say up
// to which number those below them go.
func (r *coinReader) findNodeParents(u *schemas.Update) {
	r.open = r.open[:0]
	for i := range u.Events {
		for n := len(r.open); n > 0 && lastBelow(&u.Events[r.open[n-1]]) < u.Events[i].Node; n-- {
			r.open = r.open[:n-1]
		}
		r.parent[i] = -1
		if n := len(r.open); n > 0 {
			r.parent[i] = r.open[n-1]
		}
		if u.Events[i].Kind == schemas.Exercised {
			r.open = append(r.open, i)
		}
	}
}

func lastBelow(e *schemas.Event) int32 {
	if e.Local == nil {
		return e.Node
	}
	return e.Local.LastDescendant
}

// findParts numbers the parts of an update.
func (r *coinReader) findParts(c *coinUpdate, u *schemas.Update) {
	r.parts = slices.Grow(r.parts[:0], len(u.Events))[:len(u.Events)]
	for i := range u.Events {
		if p := r.parent[i]; p >= 0 {
			r.parts[i] = r.parts[p]
			continue
		}
		e := &u.Events[i]
		r.parts[i] = len(c.parts)
		bare := e.Choice == "Archive" && r.coinType(e) != nil
		c.parts = append(c.parts, coinPart{whole: e.Kind == schemas.Exercised && !bare})
	}
}

// part is the number of the part that event i belongs to, 0 in public history.
func (r *coinReader) part(i int) int {
	if i >= len(r.parts) {
		return 0
	}
	return r.parts[i]
}

// reassigned returns what a reassignment does to the coins of a node: public history tells
// of all synchronizers, and coins that are reassigned stay coins there.
func (r *coinReader) reassigned(c coinUpdate, u *schemas.Update) (coinUpdate, bool) {
	if !c.local {
		return c, false
	}
	c.parts = []coinPart{{}}
	for i := range u.Events {
		e := &u.Events[i]
		switch {
		case e.Kind == schemas.Unassigned && r.coinType(e) != nil:
			c.spent = append(c.spent, coin{id: r.facts[i].Contract, node: e.Node, active: true})
		case e.Kind == schemas.Created && r.coinType(e) != nil:
			worth, _ := r.worth(u, i, r.coinType(e))
			c.created = append(c.created, coin{id: r.facts[i].Contract, worth: worth, node: e.Node, active: e.Local.ACSDelta})
		}
	}
	return c, len(c.created)+len(c.spent) > 0
}

// partBalance is what a part does to the supply, by whether below a choice that burns.
type partBalance struct {
	net, minted, burned, within [2]decimal.Decimal
	whole, claims               bool
}

// applyLocal is apply for an update of a node's own stream.
func (l *coinLedger) applyLocal(u *coinUpdate) {
	if u.imported {
		for _, c := range u.created {
			l.coins[c.id] = newHeldCoin(c.worth, schemas.MinMicros, 0)
		}
		return
	}
	l.check.Count("updates", 1)
	parts := make([]partBalance, len(u.parts))
	for i := range parts {
		parts[i].whole = u.parts[i].whole
	}
	fresh := make(map[coinID]decimal.Decimal, len(u.created))
	for i := range u.created {
		c := &u.created[i]
		p := &parts[c.part]
		fresh[c.id] = c.worth
		p.net[index(c.burner)] = p.net[index(c.burner)].Plus(c.worth)
		if !c.active {
			continue
		}
		if _, twice := l.coins[c.id]; twice {
			l.check.Add(Finding{What: "a coin is created twice", Where: u.at(c.node)})
		}
		l.coins[c.id] = newHeldCoin(c.worth, schemas.MinMicros, 0)
	}
	for i := range u.spent {
		l.spendLocal(u, &u.spent[i], fresh, &parts[u.spent[i].part])
	}
	for _, c := range u.claims {
		p, i := &parts[c.part], index(c.burner)
		p.claims = true
		p.minted[i], p.burned[i], p.within[i] = p.minted[i].Plus(c.minted), p.burned[i].Plus(c.burned), p.within[i].Plus(c.within)
	}
	for i := range parts {
		l.balancePart(u, &parts[i])
	}
}

// spendLocal takes a coin out. One that never was active on the node, as the coins of
// others in a transfer that the node sees, has no known worth unless the update made it.
func (l *coinLedger) spendLocal(u *coinUpdate, c *coin, fresh map[coinID]decimal.Decimal, p *partBalance) {
	held, ok := l.coins[c.id]
	worth := held.worth()
	if !ok {
		worth, ok = fresh[c.id]
	} else {
		delete(l.coins, c.id)
	}
	if !ok {
		p.whole = false
		if c.active {
			l.check.Add(Finding{What: "a coin is spent that does not exist", Where: u.at(c.node)})
		}
		return
	}
	p.net[index(c.burner)] = p.net[index(c.burner)].Minus(worth)
}

// balancePart balances a part if it is seen whole, and counts it.
func (l *coinLedger) balancePart(u *coinUpdate, p *partBalance) {
	switch {
	case !p.claims && p.net == [2]decimal.Decimal{}:
		return // no coins, or coins that change hands
	case !p.whole:
		l.check.Count("parts_not_seen_whole", 1)
		return
	}
	l.check.Count("parts_balanced", 1)
	for i := range p.net {
		l.balance(u.position, false, p.net[i], p.minted[i], p.burned[i], p.within[i], i == index(true))
	}
}
