package sim

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	tapShape          = model.NewShape("receiver", "amount", "openRound")
	mintShape         = model.NewShape("receiver", "amount", "openRound", "reason")
	coinDoneShape     = model.NewShape("amuletSum", "meta")
	MintDoneShape     = model.NewShape("amuletSum")
	amuletSumShape    = model.NewShape("amulet", "amuletPrice", "round")
	UnlockShape       = model.NewShape("openRoundCid")
	expireAmuletShape = model.NewShape("roundCid")
	expireDoneShape   = model.NewShape("expireSum", "meta")
	expireSumShape    = model.NewShape("owner", "round", "changeToInitialAmountAsOfRoundZero", "changeToHoldingFeesRate")

	transferReasons = []string{"", "", "rent", "Kaffee & Kuchen", "invoice \"7-B\"", "お土産", "split of dinner\n2 persons"}
)

// users decides what simulated users do with their coins.
type users struct {
	Core
	bank     *Bank
	payments *Payments
	rounds   *Rounds

	managed map[model.Party]bool // parties that act by commands: nobody else acts for them
	acting  model.Party          // a managed party for which a task acts
	locks   []*model.Contract
}

// dustRounds is how soon a coin must expire to be dust that is watched.
const dustRounds = 400

// tapSomeone gives a user new coins, as only a development network does.
func (x *users) tapSomeone() {
	x.payments.Tap(x.someUser(), x.Random.DecimalBetween(model.Coins(10), model.Coins(400)))
}

// transferCoins moves coins from one user to one to three others, often through an app.
func (x *users) transferCoins() bool {
	sender := x.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 3+x.Random.Below(6), 8)
	if !ok {
		return false
	}
	p.Provider = x.someProvider(sender)
	for range 2 + x.Random.Below(7) {
		amount := max(1, spendable.Times(x.Random.DecimalBetween(model.One/100, model.One/9)))
		if x.Random.Percent(4) {
			amount = min(amount, x.Random.DecimalBetween(1000, model.One/200)) // dust
		}
		p.Outputs = append(p.Outputs, Output{Receiver: x.Names.Users.Of(x.Random), Amount: amount, reason: x.reason()})
	}
	x.payments.transfer(p)
	return true
}

func (x *users) reason() string { return transferReasons[x.Random.Below(len(transferReasons))] }

// someProvider is the app through which a user transfers: mostly one of the
// providers, else the user's own validator.
func (x *users) someProvider(user model.Party) model.Party {
	if x.Random.Percent(70) {
		return x.Names.Providers.Of(x.Random)
	}
	return x.Names.ValidatorOf(user)
}

// collectRewards turns coupons of an issuing round into coins of their owner.
func (x *users) collectRewards() bool {
	all := x.rounds.collections
	if len(all) == 0 {
		return false
	}
	at := x.Random.Below(len(all))
	c := &all[at]
	if c.round.IssuesAt > x.Clock.RecordTime || x.isManaged(c.owner) {
		return false
	}
	n := min(couponsPerTransfer, len(c.coupons))
	p := Payment{Sender: c.owner, coupons: c.coupons[:n:n], round: c.round, Provider: model.NoParty}
	c.coupons = c.coupons[n:]
	if len(c.coupons) == 0 {
		all[at] = all[len(all)-1]
		all[len(all)-1] = collection{}
		x.rounds.collections = all[:len(all)-1]
	}
	p.Coins, _ = x.bank.takeCoins(p.Sender, 3)
	x.Tx.Current.Workflow = "collect-rewards"
	x.payments.transfer(p)
	return true
}

const couponsPerTransfer = 16

// mergeCoins turns the coins of a party that has many into one.
func (x *users) mergeCoins() bool {
	for range 8 {
		p := model.Party(x.Random.Below(len(x.Names.Parties)))
		if len(x.bank.Wallets[p].Coins) < coinsBeforeMerge {
			continue
		}
		taken, sum := x.bank.takeCoins(p, coinsPerMerge)
		if sum <= x.payments.OutputFee() {
			x.bank.returnCoins(p, taken)
			continue
		}
		x.payments.transfer(Payment{Sender: p, Coins: taken, Provider: model.NoParty})
		return true
	}
	return false
}

const (
	coinsBeforeMerge = 8
	coinsPerMerge    = 12
)

// lockCoins locks coins of a user with another user as holder.
func (x *users) lockCoins() bool {
	sender := x.someUser()
	p, spendable, ok := x.payments.takeFunds(sender, 2, 1)
	if !ok {
		return false
	}
	expires := x.Clock.EffectiveAt + x.Clock.tick*int64(x.Random.Between(1, 12))
	lock := model.LockedAmulet{Holder: x.Names.Users.Of(x.Random), ExpiresAt: expires}
	if x.Tx.Version() > 0 {
		lock.Context = "escrow № " + strconv.Itoa(x.Tx.Updates)
	}
	p.Outputs = []Output{{Receiver: sender, Amount: max(1, spendable.Times(model.One/3)), Lock: &lock}}
	s, _ := x.payments.transfer(p)
	x.locks = append(x.locks, s.Created[0])
	return true
}

// unlockCoins ends a lock, by its holder or, when it has expired, by the owner.
func (x *users) unlockCoins() bool {
	c := takeAny(x.Random, &x.locks)
	if c == nil {
		return false
	}
	lock := c.Payload.(model.LockedAmulet)
	if x.isManaged(lock.Owner) || x.isManaged(lock.Holder) {
		return false
	}
	if lock.ExpiresAt < x.Clock.EffectiveAt {
		x.payments.unlockBy(c, "LockedAmulet_OwnerExpireLock", lock.Owner)
	} else {
		x.payments.unlockBy(c, "LockedAmulet_Unlock", lock.Owner, lock.Holder)
	}
	return true
}

// takeAny removes a random contract from a list, or returns nil.
func takeAny(r *model.Random, list *[]*model.Contract) *model.Contract {
	n := len(*list)
	if n == 0 {
		return nil
	}
	at := r.Below(n)
	c := (*list)[at]
	(*list)[at] = (*list)[n-1]
	(*list)[n-1] = nil
	*list = (*list)[:n-1]
	return c
}

// noteDust remembers a coin that holding fees use up by the given round.
func (x *Rounds) noteDust(round int64, c *model.Contract) {
	if x.dust == nil {
		x.dust = map[int64][]*model.Contract{}
	}
	x.dust[round] = append(x.dust[round], c)
}

// isManaged reports whether p acts by commands, so that nothing may be done in its name.
func (x *users) isManaged(p model.Party) bool {
	return x.managed != nil && x.managed[p] && p != x.acting
}

// someUser prefers the users with low numbers, as some people are busier. If it can it
// spares those that act by commands.
func (x *users) someUser() model.Party {
	n := x.Names.Users.Len()
	p := x.Names.Users.At(min(x.Random.Below(n), x.Random.Below(n)))
	for try := 0; x.isManaged(p) && try < n; try++ {
		p = x.Names.Users.At(x.Random.Below(n))
	}
	return p
}
