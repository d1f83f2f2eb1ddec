package holdings

import (
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// maxKnown coins are remembered at least, and twice as many at most: about 60 bytes each.
const maxKnown = 250_000

// knownCoins remember coins that were created and not consumed, so that most need not be looked up when
// they are. What a coin is never changes: nothing that is forgotten or remembered too long is wrong.
type knownCoins struct{ young, old map[uint64]knownCoin }

// knownCoin is a coin without the pointer of a Decimal.
type knownCoin struct {
	owner     string
	high, low uint64
	locked    bool
}

func (k *knownCoins) add(id uint64, c *coins.Coin) {
	if len(k.young) >= maxKnown || k.young == nil {
		k.young, k.old = make(map[uint64]knownCoin), k.young
	}
	high, low, _ := c.Amount.Int128() // what is read is storable
	k.young[id] = knownCoin{c.Owner, high, low, c.Locked}
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
	return coins.Coin{Owner: found.owner, Amount: decimal.OfInt128(found.high, found.low), Locked: found.locked}, ok
}
