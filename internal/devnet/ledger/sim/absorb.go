package sim

import (
	"slices"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// absorb has the executor take note of what a submission did: which coins and coupons there
// are, what expires when, and what the governance party owes in return.
func (x *Executor) absorb(u *Update) {
	for i := range u.Nodes {
		n := &u.Nodes[i]
		switch {
		case n.Choice == "" && n.Contract.Active():
			x.notice(n.Contract)
		case n.Consuming && n.Contract.Entry != uint32(u.Number):
			x.forget(n, u)
		}
	}
}

// notice takes note of a contract that a submission created.
func (x *Executor) notice(c *Contract) {
	switch p := c.Payload.(type) {
	case Amulet:
		x.Bank.keepCoin(p, c)
	case AppReward:
		r := x.Rounds.roundNumbered(p.Round)
		r.Coupons = append(r.Coupons, c)
		if p.Featured {
			r.FeaturedTotal += p.Amount
		} else {
			r.UnfeaturedTotal += p.Amount
		}
	case ValidatorReward:
		r := x.Rounds.roundNumbered(p.Round)
		r.Coupons = append(r.Coupons, c)
		r.ValidatorTotal += p.Amount
	case Liveness:
		r := x.Rounds.roundNumbered(p.Round)
		r.Coupons = append(r.Coupons, c)
		r.LivenessTotal++
	case LockedAmulet:
		if p.ExpiresIn()-p.Created < dustRounds {
			x.Rounds.noteDust(max(p.ExpiresIn(), x.Rounds.RoundsOpened()), c)
		}
	case Preapproval:
		if x.Preapprovals.newest == nil {
			x.Preapprovals.newest = map[Party]*Contract{}
		}
		x.Preapprovals.newest[p.Receiver] = c
		x.Clock.alarmAt(p.ExpiresAt, func() { x.Preapprovals.expirePreapproval(c) })
	case FeaturedAppRight:
		x.Apps.grant(p.Provider, c)
	case ActivityMarker:
		x.Rounds.markers = append(x.Rounds.markers, c)
	case UnclaimedFund:
		x.Fund.unclaimed = append(x.Fund.unclaimed, c)
	case FundCoupon:
		x.Fund.coupons = append(x.Fund.coupons, c)
	case MemberTraffic:
		x.Validators.noticeTraffic(p, c)
	case ValidatorLicense:
		x.Validators.licenses[x.Names.Validators.Index(p.Validator)] = c
	default:
		x.noticeRequest(c)
	}
}

// noticeRequest takes note of what the governance party, or time, has to answer.
func (x *Executor) noticeRequest(c *Contract) {
	switch p := c.Payload.(type) {
	case TransferCommand:
		x.Commands.noticeCommand(p, c)
	case TransferInstruction:
		x.Tokens.awaitAnswer(c)
	case AmuletAllocation:
		x.Tokens.awaitSettlement(c)
	case CouponV2:
		x.Clock.alarmAt(p.ExpiresAt, func() { x.Rewards.expireCoupons([]*Contract{c}) })
	case CommandCounter:
		x.Commands.counters[p.Sender] = c
	case SubscriptionRequest:
		if !p.IsPrivate() {
			x.Ans.accountOf(c).request = c
		}
	case AnsEntryContext:
		x.Ans.accountOf(c).context = c
	case SubscriptionPayment:
		if p.IsPrivate() {
			return
		}
		account := x.Ans.accountOf(c)
		account.payment, account.locked = c, x.Tx.ByNumber[p.Locked]
		account.request, account.idle = nil, nil
		x.Ans.subscribed = slices.DeleteFunc(x.Ans.subscribed, func(a *ansAccount) bool { return a == account })
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.Ans.collectPayment(account) })
	}
}

// roundNumbered is the open round with a number. Coupons are of no other.
func (x *Rounds) roundNumbered(number int64) *Round {
	for _, r := range x.open {
		if r.Number == number {
			return r
		}
	}
	return x.OpenRound()
}

// keepCoin puts a coin into its owner's wallet.
func (x *Bank) keepCoin(p Amulet, c *Contract) {
	w := &x.Wallets[p.Owner]
	if len(w.Coins) == cap(w.Coins) { // before it grows, those that were spent go
		w.Coins = slices.DeleteFunc(w.Coins, func(c *Contract) bool { return !c.Active() })
		w.Coins = slices.Grow(w.Coins, 1+len(w.Coins))
	}
	w.Coins = append(w.Coins, c)
	if p.ExpiresIn()-p.Created < dustRounds {
		x.rounds.noteDust(max(p.ExpiresIn(), x.rounds.RoundsOpened()), c)
	}
}

func (x *Validators) noticeTraffic(p MemberTraffic, c *Contract) {
	node := x.ParticipantNamed(p.Member)
	if node < 0 {
		return
	}
	x.traffic[node] = append(x.traffic[node], c)
	if len(x.traffic[node]) == PurchasesBeforeMerge {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.mergeTraffic(node) })
	}
}

// forget takes note of a contract that was there before a submission archived it.
func (x *Executor) forget(n *Node, u *Update) {
	c := n.Contract
	switch p := c.Payload.(type) {
	case AppReward, ValidatorReward, SvReward, Liveness:
		x.Rounds.forgetCoupon(c, p.(Coupon).Owner())
	case FundCoupon:
		x.Fund.coupons = without(x.Fund.coupons, c)
	case UnclaimedFund:
		x.Fund.unclaimed = without(x.Fund.unclaimed, c)
	case ActivityRecord:
		x.Fund.records = without(x.Fund.records, c)
	case LockedAmulet:
		x.users.locks = without(x.users.locks, c)
	case TransferInstruction:
		x.Tokens.instructions = without(x.Tokens.instructions, c)
		delete(x.Tokens.lockedCoins, c)
	case FeaturedAppRight:
		x.Apps.grant(p.Provider, nil)
	case ValidatorLicense:
		if at := x.Names.Validators.Index(p.Validator); x.Validators.licenses[at] == c {
			x.Validators.licenses[at] = nil
		}
	case TransferCommand:
		x.Commands.forgetCommand(c, n)
	case SubscriptionRequest, SubscriptionIdle:
		x.Ans.forgetSubscription(c)
	case Shipment:
		x.Harbor.shipments = without(x.Harbor.shipments, c)
	case Lane:
		x.Harbor.lanes = without(x.Harbor.lanes, c)
	}
}

func without(list []*Contract, c *Contract) []*Contract {
	return slices.DeleteFunc(list, func(o *Contract) bool { return o == c })
}

func (x *Rounds) forgetCoupon(c *Contract, owner Party) {
	for i := range x.collections {
		if all := &x.collections[i]; all.owner == owner && slices.Contains(all.coupons, c) {
			all.coupons = without(slices.Clone(all.coupons), c)
			if len(all.coupons) == 0 {
				x.collections = slices.Delete(x.collections, i, i+1)
			}
			return
		}
	}
}
