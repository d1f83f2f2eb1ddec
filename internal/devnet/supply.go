package devnet

import "fmt"

// supply counts coins. At any time circulating = minted - burned, and circulating
// is the sum over all active coins, locked ones included.
type supply struct{ minted, burned, circulating decimal }

// bank keeps the coins of all parties.
type bank struct {
	core
	users  *users
	rounds *rounds

	supply  supply
	wallets []wallet // by party
}

// wallet holds the unlocked coins of a party. Coins that were archived otherwise
// than by spending may linger in it.
type wallet struct{ coins []*contract }

// Supply is the coin supply of a ledger, in coins with ten fraction digits.
// Circulating is the sum over all active coins and equals Minted - Burned.
type Supply struct {
	Minted      string `json:"minted"`
	Burned      string `json:"burned"`
	Circulating string `json:"circulating"`
}

func (s supply) export() Supply {
	return Supply{s.minted.String(), s.burned.String(), s.circulating.String()}
}

// mint creates new coins, burn destroys some: the coins themselves are created and
// archived apart from that.
func (x *bank) mint(amount decimal) {
	x.supply.minted += amount
	if x.supply.minted < 0 {
		x.tx.fail(fmt.Errorf("more coins minted than a devnet can count"))
	}
}

func (x *bank) burn(amount decimal) { x.supply.burned += amount }

// checkSupply verifies the conservation of coins after an update.
func (x *bank) checkSupply() {
	if s := x.supply; s.circulating != s.minted-s.burned {
		x.tx.fail(fmt.Errorf("coins not conserved: %s circulate, %s minted, %s burned",
			s.circulating, s.minted, s.burned))
	}
}

var unlockV2DoneShape = newShape("amuletCid", "meta")
