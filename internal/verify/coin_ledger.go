package verify

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Supply is what became of the coins of a history, as its events tell it.
type Supply struct {
	// Carried is what the history began with, if its first migration began with coins.
	Carried decimal.Decimal `json:"carried"`
	Minted  decimal.Decimal `json:"minted"`
	Burned  decimal.Decimal `json:"burned"`
	// Circulating is what is left, locked coins included: Carried + Minted - Burned.
	Circulating decimal.Decimal `json:"circulating"`
	// Unexplained is the part of Burned that no choice explains which is in the catalogue.
	Unexplained decimal.Decimal `json:"unexplained"`
	// Coins is the number of coins that circulate.
	Coins int `json:"coins"`
	// Rounds are the mining rounds by number, in which coins were minted or burned.
	Rounds []RoundSupply `json:"rounds,omitempty"`
}

// RoundSupply is what one mining round did to the supply, and what circulated at its end.
type RoundSupply struct {
	Round       int64           `json:"round"`
	Minted      decimal.Decimal `json:"minted"`
	Burned      decimal.Decimal `json:"burned"`
	Circulating decimal.Decimal `json:"circulating"`
}

// heldCoin is a coin that is not spent.
type heldCoin struct {
	high, low uint64         // its worth, without the pointer of a Decimal: there are millions
	at        schemas.Micros // record time of the update that created it
	migration int64          // the last one that it was seen in
}

func newHeldCoin(worth decimal.Decimal, at schemas.Micros, migration int64) heldCoin {
	high, low, _ := worth.Int128() // what is read is storable
	return heldCoin{high, low, at, migration}
}

func (c heldCoin) worth() decimal.Decimal { return decimal.OfInt128(c.high, c.low) }

// origin says since when the coin is there.
func (c heldCoin) origin() string {
	if c.at == schemas.MinMicros {
		return "a coin of unknown origin"
	}
	return "created at " + c.at.String()
}

// coinLedger follows every coin through history. It takes about 100 bytes for each coin
// that is not spent.
type coinLedger struct {
	check     *Check
	catalog   *values.Catalog
	coins     map[coinID]heldCoin
	migration int64 // of the last update, -1 before the first
	importing bool  // the coins of this migration are being carried over
	carried   int   // coins carried over into this migration
	supply    Supply
}

func newCoinLedger(check *Check, catalog *values.Catalog) *coinLedger {
	return &coinLedger{check: check, catalog: catalog, coins: make(map[coinID]heldCoin), migration: -1}
}

// apply takes the updates in the order of history.
func (l *coinLedger) apply(u *coinUpdate) {
	for _, f := range u.findings {
		l.check.Add(f)
	}
	if u.local {
		l.applyLocal(u)
		return
	}
	first := l.migration < 0
	if u.position.MigrationID != l.migration {
		l.endImports()
		l.importing, l.carried = !first, 0
		l.migration = u.position.MigrationID
	}
	if u.imported {
		for i := range u.created {
			l.carryOver(u, &u.created[i])
		}
		return
	}
	l.endImports()
	l.check.Count("updates", 1)
	// By whether it happened below a choice that burns.
	var net, minted, burned, within [2]decimal.Decimal
	for i := range u.created {
		c := &u.created[i]
		if _, twice := l.coins[c.id]; twice {
			l.check.Add(Finding{What: "a coin is created twice", Where: u.at(c.node)})
		}
		l.coins[c.id] = newHeldCoin(c.worth, u.position.RecordTime, u.position.MigrationID)
		net[index(c.burner)] = net[index(c.burner)].Plus(c.worth)
	}
	for i := range u.spent {
		c := &u.spent[i]
		held, ok := l.coins[c.id]
		if !ok {
			l.check.Add(Finding{What: "a coin is spent that does not exist", Where: u.at(c.node)})
			continue
		}
		delete(l.coins, c.id)
		net[index(c.burner)] = net[index(c.burner)].Minus(held.worth())
	}
	for _, c := range u.claims {
		i := index(c.burner)
		minted[i], burned[i], within[i] = minted[i].Plus(c.minted), burned[i].Plus(c.burned), within[i].Plus(c.within)
	}
	for i := range net {
		l.balance(u.position, u.unknown, net[i], minted[i], burned[i], within[i], i == index(true))
	}
	l.book(u, minted[0].Plus(minted[1]), net[0].Plus(net[1]))
}

func index(burner bool) int {
	if burner {
		return 1
	}
	return 0
}

// balance compares what an update did to the supply with what its choices say that it did.
// unknown says that one of the choices is not in the catalogue.
func (l *coinLedger) balance(at schemas.Position, unknown bool, net, minted, burned, within decimal.Decimal, burner bool) {
	expected := minted.Minus(burned)
	difference := net.Minus(expected)
	switch {
	case difference == decimal.Decimal{}, difference == within:
	case difference.Sign() > 0:
		l.check.Add(Finding{
			What: "coins appear without being minted", Where: where(at),
			Expected: fmt.Sprintf("a supply changed by %s (%s minted, %s burned)", expected, minted, burned), Found: "changed by " + net.String(),
		})
	case burner: // the coins themselves say what is burned
	case unknown:
		l.supply.Unexplained = l.supply.Unexplained.Minus(difference)
	default:
		l.check.Add(Finding{
			What: "coins disappear without being burned", Where: where(at),
			Expected: fmt.Sprintf("a supply changed by %s (%s minted, %s burned)", expected, minted, burned), Found: "changed by " + net.String(),
		})
	}
}

// book adds an update to the supply of its round.
func (l *coinLedger) book(u *coinUpdate, minted, net decimal.Decimal) {
	burned := minted.Minus(net)
	s := &l.supply
	s.Minted, s.Burned, s.Circulating = s.Minted.Plus(minted), s.Burned.Plus(burned), s.Circulating.Plus(net)
	if u.round < 0 && len(s.Rounds) == 0 {
		return
	}
	if len(s.Rounds) == 0 || u.round > s.Rounds[len(s.Rounds)-1].Round {
		s.Rounds = append(s.Rounds, RoundSupply{Round: u.round})
	}
	// A transaction may name a round before the newest; rounds follow record time here.
	r := &s.Rounds[len(s.Rounds)-1]
	r.Minted, r.Burned, r.Circulating = r.Minted.Plus(minted), r.Burned.Plus(burned), s.Circulating
}

// carryOver takes a coin that a migration began with.
func (l *coinLedger) carryOver(u *coinUpdate, c *coin) {
	held, ok := l.coins[c.id]
	switch {
	case !l.importing && !ok: // the first migration that the store has
		held = newHeldCoin(c.worth, schemas.MinMicros, 0)
		l.supply.Carried, l.supply.Circulating = l.supply.Carried.Plus(c.worth), l.supply.Circulating.Plus(c.worth)
	case !ok:
		l.check.Add(Finding{What: "a coin is carried over that did not exist", Where: where(u.position)})
		held = newHeldCoin(c.worth, schemas.MinMicros, 0)
	case held.worth() != c.worth:
		l.check.Add(Finding{What: "a coin changes when it is carried over", Where: where(u.position), Expected: held.worth().String(), Found: c.worth.String()})
	}
	held.migration = u.position.MigrationID
	l.coins[c.id] = held
	l.carried++
}

// endImports compares the coins that were carried over with those that there were.
func (l *coinLedger) endImports() {
	if !l.importing {
		return
	}
	l.importing = false
	if l.carried == len(l.coins) {
		return
	}
	if l.carried == 0 {
		l.check.Add(Finding{
			What: "no coins were carried over", Where: fmt.Sprintf("migration %d", l.migration),
			Expected: fmt.Sprintf("%d coins", len(l.coins)), Found: "none",
		})
		return
	}
	for _, held := range l.coins {
		if held.migration != l.migration {
			l.check.Add(Finding{
				What: "a coin was not carried over", Where: fmt.Sprintf("migration %d", l.migration),
				Expected: fmt.Sprintf("%s coins created at %s", held.worth(), held.at), Found: "none",
			})
		}
	}
}

// endWithinImports is for a store that ends among the imports of a migration: which coins of
// the migration before are still to come, only those that are not there yet can say.
func (l *coinLedger) endWithinImports() {
	l.importing = false
	for id, held := range l.coins {
		if held.migration != l.migration {
			delete(l.coins, id)
		}
	}
}

// allHeld takes the coins that are held, if they are those that the events leave.
func (l *coinLedger) allHeld(held coinSum) bool {
	var left coinSum
	for id, c := range l.coins {
		left.add(id, c.worth())
	}
	if left != held {
		return false
	}
	l.check.Count("coins_held", int64(held.coins))
	l.supply.Coins = held.coins
	clear(l.coins)
	return true
}

// held compares a contract that the store has as active with the coins that are left.
func (l *coinLedger) held(c *history.ActiveContract) {
	e := &c.Event
	kind := coinType(l.catalog, e)
	if kind == nil {
		return
	}
	l.check.Count("coins_held", 1)
	id := audit.LifetimeHash(e.ContractID)
	worth, _ := coinWorth(kind, e, c.Encoding)
	left, ok := l.coins[id]
	switch {
	case !ok:
		l.check.Add(Finding{
			What: "a coin is held that the events do not leave", Where: "contract " + e.ContractID,
			Expected: "none", Found: worth.String() + " coins",
		})
	case left.worth() != worth:
		l.check.Add(Finding{What: "the amount of a coin", Where: "contract " + e.ContractID, Expected: left.worth().String(), Found: worth.String()})
	}
	if ok {
		l.supply.Coins++
		delete(l.coins, id)
	}
}

// close reports coins that the events leave and that nobody holds, and returns the supply.
func (l *coinLedger) close() *Supply {
	l.endImports()
	for _, left := range l.coins {
		l.supply.Coins++
		l.check.Add(Finding{
			What: "the events leave a coin that nobody holds", Where: left.origin(),
			Expected: left.worth().String() + " coins held", Found: "none",
		})
	}
	return &l.supply
}
