package coins

import (
	"cmp"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// RoundEntry is what an update adds to what a party has in a mining round: the one that the result of a choice
// names, or else the one that was open. What a stream begins with is in no round, -1.
//
// Balances are as of round 0: a coin of amount a that was created in round r, and is charged h for each round,
// counts a + h*r and h, whatever the round in which it is looked at.
type RoundEntry struct {
	Round int64
	Party string
	// AppRewards and ValidatorRewards are what was minted for it.
	AppRewards, ValidatorRewards decimal.Decimal
	// What it bought of traffic: bytes, coins that it paid, and how often.
	TrafficBytes, TrafficPurchases int64
	TrafficSpent                   decimal.Decimal
	// InitialChange is by how much its coins as of round 0 changed, RateChange their fees for a round.
	InitialChange, RateChange decimal.Decimal

	seen bool // a choice other than unlocking is about it
}

// RoundEntries returns what the update that movements were last derived for adds to rounds, by round and party. The
// result is valid until the next call. A party has an entry where a choice rewards it, sells it traffic, or changes its
// coins by more than unlocking them, even if that adds up to nothing.
func (d *Deriver) RoundEntries() []RoundEntry {
	d.entries = d.entries[:0]
	for i := range d.movements {
		d.reward(&d.movements[i])
	}
	for i := range d.u.Events {
		e := &d.u.Events[i]
		if e.Told != nil && e.Told.Bought != nil {
			d.purchase(e)
		}
		switch {
		case e.Does == Creates:
			d.changeCoin(i, e.Coin.InitialAmount(), e.Coin.Rate)
		case e.Does == Consumes:
			d.changeCoin(i, e.Coin.InitialAmount().Neg(), e.Coin.Rate.Neg())
		}
	}
	d.entries = slices.DeleteFunc(d.entries, func(e RoundEntry) bool {
		return !e.seen && e.InitialChange.Sign() == 0 && e.RateChange.Sign() == 0
	})
	slices.SortFunc(d.entries, func(a, b RoundEntry) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Party, b.Party)) })
	return d.entries
}

// InitialAmount is what the coin would have been in round 0 to be worth its amount in the round of its creation.
func (c *Coin) InitialAmount() decimal.Decimal { return c.Amount.Plus(c.Rate.TimesInt(c.Since)) }

// entry is that of a party in a round; a round below 0 stands for the one that was open.
func (d *Deriver) entry(round int64, party string) *RoundEntry {
	if round < 0 && !d.u.Opening {
		round = d.u.Round
	}
	i := slices.IndexFunc(d.entries, func(e RoundEntry) bool { return e.Round == round && e.Party == party })
	if i < 0 {
		i = len(d.entries)
		d.entries = append(d.entries, RoundEntry{Round: round, Party: party})
	}
	return &d.entries[i]
}

// reward adds what a movement mints for an app or a validator.
func (d *Deriver) reward(m *Movement) {
	if m.Cause != Mint {
		return
	}
	switch m.Class {
	case App:
		e := d.entry(m.StatedRound, m.Party)
		e.AppRewards, e.seen = e.AppRewards.Plus(m.Amount), true
	case ValidatorUsage, ValidatorLiveness:
		e := d.entry(m.StatedRound, m.Party)
		e.ValidatorRewards, e.seen = e.ValidatorRewards.Plus(m.Amount), true
	}
}

func (d *Deriver) purchase(bought *Event) {
	e := d.entry(bought.Told.Round, bought.Told.Bought.Buyer)
	e.TrafficBytes += bought.Told.Bought.Bytes
	e.TrafficSpent = e.TrafficSpent.Plus(bought.Told.Paid)
	e.TrafficPurchases, e.seen = e.TrafficPurchases+1, true
}

// changeCoin adds a coin that an event creates, or takes away one that it consumes.
func (d *Deriver) changeCoin(i int, initial, rate decimal.Decimal) {
	owner := d.u.Events[i].Coin.Owner
	round, unlocks := int64(-1), false
	if !d.u.Opening {
		round, unlocks = d.roundAround(i), d.frame[i] >= 0 && frames[d.u.Events[d.frame[i]].Choice].purpose == purposeUnlock
	}
	e := d.entry(round, owner)
	e.InitialChange, e.RateChange = e.InitialChange.Plus(initial), e.RateChange.Plus(rate)
	e.seen = e.seen || !unlocks && !(d.transient && owner == d.u.Admin)
}

// roundAround is the round that the choices around an event name, -1 if none does.
func (d *Deriver) roundAround(i int) int64 {
	round := int64(-1)
	for at := i; at >= 0; at = d.u.Events[at].Parent {
		if t := d.u.Events[at].Told; t != nil {
			round = max(round, t.Round)
		}
	}
	return round
}
