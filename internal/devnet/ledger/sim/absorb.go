package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
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
func (x *Executor) notice(c *model.Contract) {
	switch p := c.Payload.(type) {
	case model.Amulet:
		x.Bank.keepCoin(p, c)
	case model.AppReward:
		x.Rounds.roundNumbered(p.Round).Count(c)
	case model.ValidatorReward:
		x.Rounds.roundNumbered(p.Round).Count(c)
	case model.Liveness:
		x.Rounds.roundNumbered(p.Round).Count(c)
	case model.LockedAmulet:
		if p.ExpiresIn()-p.Created < dustRounds {
			x.Rounds.noteDust(max(p.ExpiresIn(), x.Rounds.RoundsOpened()), c)
		}
	case model.Preapproval:
		if x.Preapprovals.newest == nil {
			x.Preapprovals.newest = map[model.Party]*model.Contract{}
		}
		x.Preapprovals.newest[p.Receiver] = c
		x.Clock.alarmAt(p.ExpiresAt, func() { x.Preapprovals.expirePreapproval(c) })
	case model.FeaturedAppRight:
		x.Apps.grant(p.Provider, c)
	case model.ActivityMarker:
		x.Rounds.markers = append(x.Rounds.markers, c)
	case model.UnclaimedFund:
		x.Fund.unclaimed = append(x.Fund.unclaimed, c)
	case model.FundCoupon:
		x.Fund.coupons = append(x.Fund.coupons, c)
	case model.MemberTraffic:
		x.Validators.noticeTraffic(p, c)
	case model.ValidatorLicense:
		x.Validators.licenses[x.Names.Validators.Index(p.Validator)] = c
	default:
		x.noticeRequest(c)
	}
}

// noticeRequest takes note of what the governance party, or time, has to answer.
func (x *Executor) noticeRequest(c *model.Contract) {
	switch p := c.Payload.(type) {
	case model.TransferCommand:
		x.Commands.noticeCommand(p, c)
	case model.TransferInstruction:
		x.Tokens.awaitAnswer(c)
	case model.AmuletAllocation:
		x.Tokens.awaitSettlement(c)
	case model.AllocationV2:
		x.Tokens.awaitSettlementV2(c)
	case model.CouponV2:
		x.Clock.alarmAt(p.ExpiresAt, func() { x.Rewards.expireCoupons([]*model.Contract{c}) })
	case model.CommandCounter:
		x.Commands.counters[p.Sender] = c
	case model.SubscriptionRequest:
		if !p.IsPrivate() {
			x.Ans.accountOf(c).request = c
		}
	case model.AnsEntryContext:
		x.Ans.accountOf(c).context = c
	case model.SubscriptionPayment:
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
func (x *Rounds) roundNumbered(number int64) *model.Round {
	for _, r := range x.open {
		if r.Number == number {
			return r
		}
	}
	return x.OpenRound()
}

func (x *Validators) noticeTraffic(p model.MemberTraffic, c *model.Contract) {
	if node := x.ParticipantNamed(p.Member); node >= 0 {
		x.keepPurchase(node, c)
	}
}

// forget takes note of a contract that was there before a submission archived it.
func (x *Executor) forget(n *Node, u *Update) {
	c := n.Contract
	switch p := c.Payload.(type) {
	case model.AppReward, model.ValidatorReward, model.SvReward, model.Liveness:
		x.Rounds.forgetCoupon(c, p.(model.Coupon).Owner())
	case model.FundCoupon:
		x.Fund.coupons = without(x.Fund.coupons, c)
	case model.UnclaimedFund:
		x.Fund.unclaimed = without(x.Fund.unclaimed, c)
	case model.ActivityRecord:
		x.Fund.records = without(x.Fund.records, c)
	case model.LockedAmulet:
		x.users.locks = without(x.users.locks, c)
	case model.TransferInstruction:
		x.Tokens.instructions = without(x.Tokens.instructions, c)
		delete(x.Tokens.lockedCoins, c)
	case model.FeaturedAppRight:
		x.Apps.revoke(p.Provider, c)
	case model.ValidatorLicense:
		if at := x.Names.Validators.Index(p.Validator); x.Validators.licenses[at] == c {
			x.Validators.licenses[at] = nil
		}
	case model.TransferCommand:
		x.Commands.forgetCommand(c, n)
	case model.SubscriptionRequest, model.SubscriptionIdle:
		x.Ans.forgetSubscription(c)
	case model.Shipment:
		x.Harbor.shipments = without(x.Harbor.shipments, c)
	case model.Lane:
		x.Harbor.lanes = without(x.Harbor.lanes, c)
	}
}

func without(list []*model.Contract, c *model.Contract) []*model.Contract {
	return slices.DeleteFunc(list, func(o *model.Contract) bool { return o == c })
}

func (x *Rounds) forgetCoupon(c *model.Contract, owner model.Party) {
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
