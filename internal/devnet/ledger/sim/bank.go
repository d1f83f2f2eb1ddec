package sim

import (
	"cmp"
	"fmt"
	"slices"

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

var unlockV2DoneShape = model.NewShape("amuletCid", "meta")

// coinPayload is a coin as of the open round.
func (x *Bank) coinPayload(owner model.Party, amount model.Decimal) model.Amulet {
	r := x.rounds.OpenRound()
	return model.Amulet{Owner: owner, Amount: amount, Created: r.Number, Rate: model.HoldingFeeUSD.Over(r.Price)}
}

// Spend archives a coin, locked or not, and returns its amount.
func (x *Bank) Spend(c *model.Contract) model.Decimal {
	p := model.CoinOf(c)
	x.Tx.Archive(c)
	x.Supply.Circulating -= p.Amount
	return p.Amount
}

func (x *Bank) burnExpired(coin model.Amulet) {
	x.Supply.Circulating -= coin.Amount
	x.Burn(coin.Amount)
}

// expireCoin burns a coin that is used up, unless it was spent. One that is locked waits for
// the end of its lock: it may yet be what somebody was promised.
func (x *Bank) expireCoin(c *model.Contract) {
	if !c.Active() {
		return
	}
	lock, locked := c.Payload.(model.LockedAmulet)
	if locked && lock.ExpiresAt > x.Clock.EffectiveAt {
		x.Clock.alarmAt(lock.ExpiresAt, func() { x.expireCoin(c) })
		return
	}
	choice := "Amulet_Expire"
	if locked {
		choice = "LockedAmulet_ExpireAmulet"
	}
	if x.Tx.Version() > 0 {
		x.expireCoinV2(c, choice+"V2")
		return
	}
	a, coin := x.Tx.Arena(), model.CoinOf(c)
	at := x.Tx.Consume(c, choice, a.Record(expireAmuletShape, model.ContractID(x.rounds.OpenRound().Contract.Number)), model.Dso)
	x.burnExpired(coin)
	asOfZero := coin.Amount + model.Decimal(coin.Created)*coin.Rate
	sum := a.Record(expireSumShape, model.PartyValue(coin.Owner), x.rounds.RoundValue(), model.Numeric(-asOfZero), model.Numeric(-coin.Rate))
	x.Tx.Finish(at, a.Record(expireDoneShape, sum))
}

// expireDust queues the expiry of the coins that are used up by a round.
func (x *Bank) expireDust(round int64) {
	for _, c := range x.rounds.dust[round] {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.expireCoin(c) })
	}
	delete(x.rounds.dust, round)
}

// ExpireLock unlocks a coin whose lock has expired, in the name of its owner, who has agreed
// to it beforehand, and returns it.
func (x *Bank) ExpireLock(locked *model.Contract) *model.Contract {
	owner := locked.Payload.(model.LockedAmulet).Owner
	at := x.Tx.Consume(locked, "LockedAmulet_OwnerExpireLockV2", x.Tx.Arena().Record(model.EmptyRecordShape), owner)
	coin := x.Unlocked(locked)
	x.Tx.Finish(at, x.UnlockResult(coin))
	return coin
}

// Unlocked creates the coin that was in a locked one, whose archival is the node in work.
func (x *Bank) Unlocked(locked *model.Contract) *model.Contract {
	p := locked.Payload.(model.LockedAmulet)
	x.Supply.Circulating -= p.Amount
	return x.NewCoin(p.Owner, p.Amount)
}

// UnlockResult is the result of a choice that unlocks a coin without naming a round.
func (x *Bank) UnlockResult(coin *model.Contract) model.Value {
	a := x.Tx.Arena()
	return a.Record(unlockV2DoneShape, model.ContractID(coin.Number), model.Metadata(a, model.TxKindMetaKey, "unlock"))
}

// gather takes coins until they are worth at least amount, up to maxInputs.
func (x *Bank) gather(owner model.Party, amount model.Decimal) (taken []*model.Contract, ok bool) {
	var sum model.Decimal
	for sum < amount && len(taken) < model.MaxInputs {
		more, worth := x.takeCoins(owner, 1)
		if len(more) == 0 {
			break
		}
		taken, sum = append(taken, more...), sum+worth
	}
	if sum < amount {
		x.returnCoins(owner, taken)
		return nil, false
	}
	return taken, true
}

// gatherLargest is gather for a party that acts by commands: the largest coins come first,
// as its validator would have them.
func (x *Bank) gatherLargest(owner model.Party, amount model.Decimal) (taken []*model.Contract, ok bool) {
	w := &x.Wallets[owner]
	w.Coins = slices.DeleteFunc(w.Coins, func(c *model.Contract) bool { return !c.Active() })
	all := slices.Clone(w.Coins)
	slices.SortStableFunc(all, func(a, b *model.Contract) int { return cmp.Compare(model.CoinOf(b).Amount, model.CoinOf(a).Amount) })
	var sum model.Decimal
	for _, c := range all[:min(model.MaxInputs, len(all))] {
		if sum >= amount {
			break
		}
		taken, sum = append(taken, c), sum+model.CoinOf(c).Amount
	}
	if sum < amount {
		return nil, false
	}
	w.Coins = slices.DeleteFunc(w.Coins, func(c *model.Contract) bool { return slices.Contains(taken, c) })
	return taken, true
}

// keepCoin puts a coin into its owner's wallet.
func (x *Bank) keepCoin(p model.Amulet, c *model.Contract) {
	w := &x.Wallets[p.Owner]
	if len(w.Coins) == cap(w.Coins) { // before it grows, those that were spent go
		w.Coins = slices.DeleteFunc(w.Coins, func(c *model.Contract) bool { return !c.Active() })
		w.Coins = slices.Grow(w.Coins, 1+len(w.Coins))
	}
	w.Coins = append(w.Coins, c)
	if p.ExpiresIn()-p.Created < dustRounds {
		x.rounds.noteDust(max(p.ExpiresIn(), x.rounds.RoundsOpened()), c)
	}
}

// NewCoin creates a coin and puts it into the owner's wallet. The coins of a submission get
// there once it has succeeded; see absorb.
func (x *Bank) NewCoin(owner model.Party, amount model.Decimal) *model.Contract {
	p := x.coinPayload(owner, amount)
	c := x.Tx.Create(model.AmuletTemplate, p)
	x.Supply.Circulating += amount
	if x.Tx.Attempt != nil {
		return c
	}
	x.Wallets[owner].Coins = append(x.Wallets[owner].Coins, c)
	if p.ExpiresIn()-p.Created < dustRounds {
		x.rounds.noteDust(p.ExpiresIn(), c)
	}
	return c
}

// NewLockedCoin creates a coin that is locked as lock says.
func (x *Bank) NewLockedCoin(owner model.Party, amount model.Decimal, lock model.LockedAmulet) *model.Contract {
	lock.Amulet = x.coinPayload(owner, amount)
	c := x.Tx.Create(model.LockedAmuletTemplate, lock)
	x.Supply.Circulating += amount
	return c
}

// returnCoins puts coins back that were not used after all.
func (x *Bank) returnCoins(owner model.Party, cs []*model.Contract) {
	x.Wallets[owner].Coins = append(x.Wallets[owner].Coins, cs...)
}

// takeCoins removes up to limit coins from a wallet and returns them with their sum.
func (x *Bank) takeCoins(owner model.Party, limit int) (taken []*model.Contract, sum model.Decimal) {
	if x.users.isManaged(owner) {
		return nil, 0
	}
	w := &x.Wallets[owner]
	for len(w.Coins) > 0 && len(taken) < limit {
		at, last := x.Random.Below(len(w.Coins)), len(w.Coins)-1
		c := w.Coins[at]
		w.Coins[at] = w.Coins[last]
		w.Coins[last] = nil
		w.Coins = w.Coins[:last]
		if c.Active() {
			taken = append(taken, c)
			sum += c.Payload.(model.Amulet).Amount
		}
	}
	return taken, sum
}

// expireCoinV2 is expireCoin by the prices of the configuration states in place of a round's.
func (x *Bank) expireCoinV2(c *model.Contract, choice string) {
	a, coin, states := x.Tx.Arena(), model.CoinOf(c), x.Rules.ConfigStates
	at := x.Tx.Consume(c, choice, a.Record(configStatesShape, model.ContractID(states[0].Number), model.ContractID(states[1].Number)), model.Dso)
	x.burnExpired(coin)
	x.Tx.Finish(at, a.Record(expireDoneShape, a.Record(expireV2SumShape, model.PartyValue(coin.Owner)), model.Metadata(a, model.TxKindMetaKey, "expire-dust")))
}
