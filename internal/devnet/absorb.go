package devnet

import "slices"

// absorb has the executor take note of what a submission did: which coins and coupons there
// are, what expires when, and what the governance party owes in return.
func (x *executor) absorb(u *update) {
	for i := range u.nodes {
		n := &u.nodes[i]
		switch {
		case n.choice == "" && n.contract.active():
			x.notice(n.contract)
		case n.consuming && n.contract.entry != uint32(u.number):
			x.forget(n, u)
		}
	}
}

// notice takes note of a contract that a submission created.
func (x *executor) notice(c *contract) {
	switch p := c.payload.(type) {
	case amulet:
		x.bank.keepCoin(p, c)
	case appReward:
		r := x.rounds.roundNumbered(p.round)
		r.coupons = append(r.coupons, c)
		if p.featured {
			r.featuredTotal += p.amount
		} else {
			r.unfeaturedTotal += p.amount
		}
	case validatorReward:
		r := x.rounds.roundNumbered(p.round)
		r.coupons = append(r.coupons, c)
		r.validatorTotal += p.amount
	case liveness:
		r := x.rounds.roundNumbered(p.round)
		r.coupons = append(r.coupons, c)
		r.livenessTotal++
	case lockedAmulet:
		if p.expiresIn()-p.created < dustRounds {
			x.rounds.noteDust(max(p.expiresIn(), x.rounds.roundsOpened()), c)
		}
	case preapproval:
		if x.preapprovals.newest == nil {
			x.preapprovals.newest = map[party]*contract{}
		}
		x.preapprovals.newest[p.receiver] = c
		x.clock.alarmAt(p.expiresAt, func() { x.preapprovals.expirePreapproval(c) })
	case featuredAppRight:
		x.apps.grant(p.provider, c)
	case activityMarker:
		x.rounds.markers = append(x.rounds.markers, c)
	case unclaimedFund:
		x.fund.unclaimed = append(x.fund.unclaimed, c)
	case fundCoupon:
		x.fund.coupons = append(x.fund.coupons, c)
	case memberTraffic:
		x.validators.noticeTraffic(p, c)
	case validatorLicense:
		x.validators.licenses[x.names.validators.index(p.validator)] = c
	default:
		x.noticeRequest(c)
	}
}

// noticeRequest takes note of what the governance party, or time, has to answer.
func (x *executor) noticeRequest(c *contract) {
	switch p := c.payload.(type) {
	case transferCommand:
		x.commands.noticeCommand(p, c)
	case transferInstruction:
		x.tokens.awaitAnswer(c)
	case allocation:
		x.tokens.awaitSettlement(c)
	case couponV2:
		x.clock.alarmAt(p.expiresAt, func() { x.rewards.expireCoupons([]*contract{c}) })
	case commandCounter:
		x.commands.counters[p.sender] = c
	case subscriptionRequest:
		if !p.isPrivate() {
			x.ans.accountOf(c).request = c
		}
	case ansEntryContext:
		x.ans.accountOf(c).context = c
	case subscriptionPayment:
		if p.isPrivate() {
			return
		}
		account := x.ans.accountOf(c)
		account.payment, account.locked = c, x.tx.byNumber[p.locked]
		account.request, account.idle = nil, nil
		x.ans.subscribed = slices.DeleteFunc(x.ans.subscribed, func(a *ansAccount) bool { return a == account })
		x.clock.tasks = append(x.clock.tasks, func() { x.ans.collectPayment(account) })
	}
}

// roundNumbered is the open round with a number. Coupons are of no other.
func (x *rounds) roundNumbered(number int64) *round {
	for _, r := range x.open {
		if r.number == number {
			return r
		}
	}
	return x.openRound()
}

// keepCoin puts a coin into its owner's wallet.
func (x *bank) keepCoin(p amulet, c *contract) {
	w := &x.wallets[p.owner]
	if len(w.coins) == cap(w.coins) { // before it grows, those that were spent go
		w.coins = slices.DeleteFunc(w.coins, func(c *contract) bool { return !c.active() })
		w.coins = slices.Grow(w.coins, 1+len(w.coins))
	}
	w.coins = append(w.coins, c)
	if p.expiresIn()-p.created < dustRounds {
		x.rounds.noteDust(max(p.expiresIn(), x.rounds.roundsOpened()), c)
	}
}

func (x *validators) noticeTraffic(p memberTraffic, c *contract) {
	node := x.participantNamed(p.member)
	if node < 0 {
		return
	}
	x.traffic[node] = append(x.traffic[node], c)
	if len(x.traffic[node]) == purchasesBeforeMerge {
		x.clock.tasks = append(x.clock.tasks, func() { x.mergeTraffic(node) })
	}
}

// forget takes note of a contract that was there before a submission archived it.
func (x *executor) forget(n *node, u *update) {
	c := n.contract
	switch p := c.payload.(type) {
	case appReward, validatorReward, svReward, liveness:
		x.rounds.forgetCoupon(c, p.(coupon).owner())
	case fundCoupon:
		x.fund.coupons = without(x.fund.coupons, c)
	case unclaimedFund:
		x.fund.unclaimed = without(x.fund.unclaimed, c)
	case activityRecord:
		x.fund.records = without(x.fund.records, c)
	case lockedAmulet:
		x.users.locks = without(x.users.locks, c)
	case transferInstruction:
		x.tokens.instructions = without(x.tokens.instructions, c)
		delete(x.tokens.lockedCoins, c)
	case featuredAppRight:
		x.apps.grant(p.provider, nil)
	case validatorLicense:
		if at := x.names.validators.index(p.validator); x.validators.licenses[at] == c {
			x.validators.licenses[at] = nil
		}
	case transferCommand:
		x.commands.forgetCommand(c, n)
	case subscriptionRequest, subscriptionIdle:
		x.ans.forgetSubscription(c)
	case shipment:
		x.harbor.shipments = without(x.harbor.shipments, c)
	case lane:
		x.harbor.lanes = without(x.harbor.lanes, c)
	}
}

func without(list []*contract, c *contract) []*contract {
	return slices.DeleteFunc(list, func(o *contract) bool { return o == c })
}

func (x *rounds) forgetCoupon(c *contract, owner party) {
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
