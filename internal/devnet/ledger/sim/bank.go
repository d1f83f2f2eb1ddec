package sim

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// CoinSupply counts coins. At any time circulating = minted - burned, and circulating
// is the sum over all active coins, locked ones included.
type CoinSupply struct{ minted, burned, Circulating model.Decimal }

// Bank keeps the coins of all parties.
type Bank struct {
	Core
	users  *users
	rounds *Rounds

	Supply  CoinSupply
	Wallets []wallet // by party
}

// wallet holds the unlocked coins of a party. Coins that were archived otherwise
// than by spending may linger in it.
type wallet struct{ Coins []*model.Contract }

// Supply is the coin supply of a ledger, in coins with ten fraction digits.
// Circulating is the sum over all active coins and equals Minted - Burned.
type Supply struct {
	Minted      string `json:"minted"`
	Burned      string `json:"burned"`
	Circulating string `json:"circulating"`
}

// Export writes the supply as texts.
func (s CoinSupply) Export() Supply {
	return Supply{s.minted.String(), s.burned.String(), s.Circulating.String()}
}

// Mint creates new coins, burn destroys some: the coins themselves are created and
// archived apart from that.
func (x *Bank) Mint(amount model.Decimal) {
	x.Supply.minted += amount
	if x.Supply.minted < 0 {
		x.Tx.fail(fmt.Errorf("more coins minted than a devnet can count"))
	}
}

// Burn destroys coins; see Mint.
func (x *Bank) Burn(amount model.Decimal) { x.Supply.burned += amount }

// checkSupply verifies the conservation of coins after an update.
func (x *Bank) checkSupply() {
	if s := x.Supply; s.Circulating != s.minted-s.burned {
		x.Tx.fail(fmt.Errorf("coins not conserved: %s circulate, %s minted, %s burned",
			s.Circulating, s.minted, s.burned))
	}
}

var UnlockV2DoneShape = model.NewShape("amuletCid", "meta")
