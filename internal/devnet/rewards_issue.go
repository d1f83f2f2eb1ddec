package devnet

import "fmt"

// Rewards by traffic, as Config.TrafficRewards has them: once a round is over, the governance
// party starts from the root of the tree over its allowances and works down to the coupons, a
// batch at a time.

// trafficRewards computes the rewards of apps for the traffic of their transactions.
type trafficRewards struct {
	core
	payments *payments
	users    *users
	rounds   *rounds

	byRound []roundRewards
}

// rewardsByTraffic reports whether apps are rewarded by the traffic of their transactions, and
// not by coupons for transfers and markers.
func (x *trafficRewards) rewardsByTraffic() bool {
	return x.config.TrafficRewards && x.tx.version() > 0
}

// calculateRewards has the rewards of a round that has just ended computed.
func (x *trafficRewards) calculateRewards(number int64) {
	if first, ok := x.earliestRewards(); !x.rewardsByTraffic() || !x.byRound[number].rewarded || !ok || number < first {
		return
	}
	c := x.tx.create(calculateRewardsTemplate, calculateRewards{round: number, closedAt: x.clock.effectiveAt})
	x.clock.tasks = append(x.clock.tasks, func() { x.startProcessing(c) })
}

// startProcessing takes the root of the tree, on which the super-validators have agreed.
func (x *trafficRewards) startProcessing(c *contract) {
	a, p := x.tx.arena(), c.payload.(calculateRewards)
	tree := newRewardTree(x.rewardsOf(p.round).allowances)
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_StartProcessingRewardsV2",
		a.record(startProcessingShape, contractID(c.number), a.record(rewardHashShape, text(tree.root))), dso)
	x.tx.archive(c)
	x.process(p, tree, tree.root)
	x.tx.finish(at, a.record(emptyRecordShape))
}

// process creates what stands for a batch of a tree, and has it processed.
func (x *trafficRewards) process(p calculateRewards, tree *rewardTree, hash string) {
	c := x.tx.create(processRewardsTemplate, processRewards{p, hash})
	x.clock.tasks = append(x.clock.tasks, func() { x.processBatch(c, tree) })
}

// processBatch resolves a batch: into smaller ones, or into coupons.
func (x *trafficRewards) processBatch(c *contract, tree *rewardTree) {
	a, p := x.tx.arena(), c.payload.(processRewards)
	batch := tree.batches[p.hash]
	var content value
	if batch.children != nil {
		hashes := make([]value, len(batch.children))
		for i, h := range batch.children {
			hashes[i] = a.record(rewardHashShape, text(h))
		}
		content = a.variant("BatchOfBatches", a.list(hashes...))
	} else {
		all := make([]value, len(batch.allowances))
		for i, m := range batch.allowances {
			all[i] = a.record(mintingAllowanceShape, partyValue(x.providerOf(m)), numeric(m.amount))
		}
		content = a.variant("BatchOfMintingAllowances", a.list(all...))
	}
	at := x.tx.consume(c, "ProcessRewardsV2_ProcessBatch", a.record(processBatchShape, content, a.record(setShape, a.genMap())), dso)
	for _, h := range batch.children {
		x.process(p.calculateRewards, tree, h)
	}
	if len(batch.allowances) > 0 {
		x.issueCoupons(p.calculateRewards, batch.allowances)
	}
	x.tx.finish(at, a.record(emptyRecordShape))
}

func (x *trafficRewards) providerOf(m allowance) party {
	p, ok := x.names.named(m.provider)
	if !ok {
		x.tx.fail(fmt.Errorf("%s may mint %s but is no party", m.provider, m.amount))
	}
	return p
}

// issueCoupons creates the coupons of a batch. Simulated apps collect most of theirs some time
// later; what is left when they expire is not minted.
func (x *trafficRewards) issueCoupons(p calculateRewards, all []allowance) {
	coupons, expires := make([]*contract, len(all)), p.closedAt+rewardCouponMicros
	for i, m := range all {
		c := x.tx.create(rewardCouponTemplate, couponV2{provider: x.providerOf(m), round: p.round, amount: m.amount,
			expiresAt: expires, beneficiary: noParty})
		coupons[i] = c
		if !x.random.percent(15) {
			x.clock.expireAt(x.clock.recordTime+x.clock.tick*int64(x.random.between(1, 6)), func() { x.collectCoupon(c) })
		}
	}
	x.clock.alarmAt(expires, func() { x.expireCoupons(coupons) })
}

// collectCoupon has a simulated app collect a coupon.
func (x *trafficRewards) collectCoupon(c *contract) {
	p := c.payload.(couponV2)
	if c.active() && p.expiresAt > x.clock.effectiveAt && !x.users.isManaged(p.owner()) {
		x.payments.collectGrant(p.owner(), c)
	}
}

// expireCoupons archives those of some coupons that nobody has collected.
func (x *trafficRewards) expireCoupons(coupons []*contract) {
	a := x.tx.arena()
	var left []*contract
	var ids []value
	for _, c := range coupons {
		if c.active() {
			left, ids = append(left, c), append(ids, contractID(c.number))
		}
	}
	if len(left) == 0 {
		return
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_ClaimExpiredRewardsV2", a.record(claimExpiredV2Shape, a.list(ids...), a.list()), dso)
	var worth decimal
	for _, c := range left {
		worth += c.payload.(couponV2).amount
		x.tx.archive(c)
	}
	x.rounds.addUnclaimed(worth)
	x.tx.finish(at, a.record(emptyRecordShape))
}
