package analytics

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// checkLogs compares the movements of an update with what its event log says of accounts, where it says
// something: the coins of a report are worth as much more as its legs bring, and where the reports on a
// party have all of its coins, its movements with each other party are their legs with that.
func (a *Audit) checkLogs(u *coins.Update, movements []coins.Movement) {
	legs := make(map[string]map[string]decimal.Decimal) // by account and the other one
	reported := make(map[int32]bool)                    // nodes
	for i := range u.Events {
		t := u.Events[i].Told
		if t == nil || t.Log == nil {
			continue
		}
		a.looked["reports"]++
		brought, by := decimal.Decimal{}, legs[t.Log.Account]
		if by == nil {
			by = make(map[string]decimal.Decimal)
			legs[t.Log.Account] = by
		}
		for _, s := range t.Log.Sides {
			brought = brought.Plus(s.Amount)
			by[s.Other] = by[s.Other].Plus(s.Amount)
		}
		if worth := reportedWorth(u, t.Log, reported); worth != brought {
			a.found(Difference{"the coins in a report of the event log are not what its legs bring", t.Log.Account, u.Position.UpdateID, brought.String(), worth.String()})
		}
	}
	for party, by := range legs {
		if slices.ContainsFunc(u.Events, func(e coins.Event) bool { return e.Does != coins.Nothing && e.Coin.Owner == party && !reported[e.Node] }) {
			continue // something else happens to its coins, too
		}
		for i := range movements {
			if m := &movements[i]; m.Party == party {
				other := m.Counterparty
				if other == u.Admin {
					other = "" // the event log has it as minting and burning
				}
				by[other] = by[other].Minus(m.Amount)
			}
		}
		for other, rest := range by {
			if rest.Sign() != 0 {
				a.found(Difference{"the movements of a party are not the legs that the event log reports", party, u.Position.UpdateID, "what it gains of or loses to " + orNobody(other), rest.String() + " less"})
			}
		}
	}
}

// reportedWorth is what the coins of a report are worth, and notes what creates and consumes them.
func reportedWorth(u *coins.Update, l *coins.Log, reported map[int32]bool) (worth decimal.Decimal) {
	for i := range u.Events {
		switch e := &u.Events[i]; {
		case e.Does == coins.Creates && slices.Contains(l.Out, e.ID):
			worth = worth.Plus(e.Coin.Amount)
			reported[e.Node] = true
		case e.Does == coins.Consumes && slices.Contains(l.In, e.ID):
			worth = worth.Minus(e.Coin.Amount)
			reported[e.Node] = true
		}
	}
	return worth
}

func orNobody(party string) string {
	if party == "" {
		return "nobody"
	}
	return party
}
