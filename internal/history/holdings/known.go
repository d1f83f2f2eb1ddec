package holdings

import (
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// maxKnown coins are remembered at least, and twice as many at most: about 90 bytes each.
const maxKnown = 250_000

// knownCoins remember coins that were created and not consumed, so that most need not be looked up when
// they are. What a coin is never changes: nothing that is forgotten or remembered too long is wrong.
type knownCoins struct{ young, old map[uint64]knownCoin }

// knownCoin is a coin without the pointers of its Decimals.
type knownCoin struct {
	owner        string
	amount, rate [2]uint64
	since        int64
	locked       bool
}

func (k *knownCoins) add(id uint64, c *coins.Coin) {
	if len(k.young) >= maxKnown || k.young == nil {
		k.young, k.old = make(map[uint64]knownCoin), k.young
	}
	known := knownCoin{owner: c.Owner, since: c.Since, locked: c.Locked}
	known.amount[0], known.amount[1], _ = c.Amount.Int128() // what is read is storable
	known.rate[0], known.rate[1], _ = c.Rate.Int128()
	k.young[id] = known
}

// take returns a coin and forgets it.
func (k *knownCoins) take(id uint64) (c coins.Coin, ok bool) {
	of := k.young
	found, ok := of[id]
	if !ok {
		of = k.old
		found, ok = of[id]
	}
	delete(of, id)
	return coins.Coin{
		Owner: found.owner, Amount: decimal.OfInt128(found.amount[0], found.amount[1]), Rate: decimal.OfInt128(found.rate[0], found.rate[1]),
		Since: found.since, Locked: found.locked,
	}, ok
}
