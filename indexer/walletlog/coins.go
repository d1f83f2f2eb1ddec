package walletlog

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// coin is an unlocked coin that was created.
type coin struct {
	id, owner string
	amount    decimal.Decimal
}

// coinOf reads the create of a coin.
func (w *walk) coinOf(e *schemas.Event) coin {
	v := w.argument(e)
	return coin{e.ContractID, w.text(e, "owner", v.At("owner")), w.amount(e, "amount of a coin", v.At("amount", "initialAmount"))}
}

// madeCoin returns the coin with an id that was created below.
func (b branch) madeCoin(id string) coin {
	for _, e := range b.below() {
		if e.Kind == schemas.Created && e.ContractID == id && isCoin(e) {
			return b.coinOf(e)
		}
	}
	b.fail(b.event(), "the coin %.80q is not created below it", id)
	return coin{}
}

// leftCoins returns the coins that were created below and still are there at the end.
func (b branch) leftCoins() (coins []coin) {
	for i, e := range b.below() {
		if e.Kind != schemas.Created || !isCoin(e) {
			continue
		}
		spent := slices.ContainsFunc(b.below()[i:], func(o *schemas.Event) bool { return o.Consuming && o.ContractID == e.ContractID })
		if !spent {
			coins = append(coins, b.coinOf(e))
		}
	}
	return coins
}

// amounts adds amounts up by party, in the order in which the parties first appear.
type amounts []store.PartyAmount

func (a *amounts) add(party string, d decimal.Decimal) {
	i := slices.IndexFunc(*a, func(p store.PartyAmount) bool { return p.Party == party })
	if i < 0 {
		*a = append(*a, store.PartyAmount{Party: party, Amount: d})
		return
	}
	(*a)[i].Amount = (*a)[i].Amount.Plus(d)
}

// upTo takes at most limit of what a party has, nothing if that is below 0, and returns it.
func (a *amounts) upTo(party string, limit decimal.Decimal) (taken decimal.Decimal) {
	i := slices.IndexFunc(*a, func(p store.PartyAmount) bool { return p.Party == party })
	if i < 0 || (*a)[i].Amount.Sign() <= 0 {
		return taken
	}
	if taken = limit; (*a)[i].Amount.Less(limit) {
		taken = (*a)[i].Amount
	}
	(*a)[i].Amount = (*a)[i].Amount.Minus(taken)
	return taken
}

// take removes a party and returns its amount, 0 if it has none.
func (a *amounts) take(party string) (d decimal.Decimal) {
	i := slices.IndexFunc(*a, func(p store.PartyAmount) bool { return p.Party == party })
	if i >= 0 {
		d = (*a)[i].Amount
		*a = slices.Delete(*a, i, i+1)
	}
	return d
}
