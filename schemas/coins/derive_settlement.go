package coins

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// settle explains a settlement by its legs. Its owners unlock what they held ready, and may lock coins
// for the next one.
func (s *scene) settle(at int) {
	for _, l := range s.told.Legs {
		s.leg(l.Sender, LegSide{l.ID, l.Reason, l.Receiver, l.Amount.Neg()})
		if l.Receiver != "" {
			s.leg(l.Receiver, LegSide{l.ID, l.Reason, l.Sender, l.Amount})
		}
	}
	for i := range s.u.Events {
		if t := s.u.Events[i].Told; s.Deriver.frame[i] == at && s.of.Choice == template.AllocationSettle && t != nil && t.Log != nil {
			for _, side := range t.Log.Sides {
				s.leg(t.Log.Account, side)
			}
		}
	}
	s.of.Reference, s.of.Reason = "", ""
	for i := range s.accounts {
		a := &s.accounts[i]
		s.relock(a)
		s.add(a.owner, 0, a.net(0).Plus(a.net(1)), Unexplained, "", "")
	}
}

// leg explains a part of what a settlement does to an account.
func (s *scene) leg(party string, l LegSide) {
	s.of.Reference, s.of.Reason = l.ID, l.Reason
	a := s.account(party)
	a.out[0] = a.out[0].Minus(l.Amount) // now explained
	switch {
	case l.Other != "":
		s.add(party, 0, l.Amount, Transfer, "", l.Other)
	case l.Amount.Sign() < 0:
		s.add(party, 0, l.Amount, Burn, s.burns, "")
	default:
		s.add(party, 0, l.Amount, Mint, Other, "")
	}
}

// SettlesAlone reports whether an update settles an allocation whose legs only the event log tells.
func (u *Update) SettlesAlone() bool {
	return slices.ContainsFunc(u.Events, func(e Event) bool {
		if e.Choice != template.AllocationSettle {
			return false
		}
		for p := e.Parent; p >= 0; p = u.Events[p].Parent {
			if u.Events[p].Choice == template.SettlementFactorySettleBatch {
				return false
			}
		}
		return true
	})
}
