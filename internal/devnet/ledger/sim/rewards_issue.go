package sim

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Rewards by traffic, as Config.TrafficRewards has them: once a round is over, the governance
// party starts from the root of the tree over its allowances and works down to the coupons, a
// batch at a time.

// TrafficRewards computes the rewards of apps for the traffic of their transactions.
type TrafficRewards struct {
	Core
	payments *Payments
	users    *users
	rounds   *Rounds

	ByRound []roundRewards
}

// RewardsByTraffic reports whether apps are rewarded by the traffic of their transactions, and
// not by coupons for transfers and markers.
func (x *TrafficRewards) RewardsByTraffic() bool {
	return x.Config.TrafficRewards && x.Tx.Version() > 0
}

// calculateRewards has the rewards of a round that has just ended computed.
func (x *TrafficRewards) calculateRewards(number int64) {
	if first, ok := x.EarliestRewards(); !x.RewardsByTraffic() || !x.ByRound[number].Rewarded || !ok || number < first {
		return
	}
	c := x.Tx.Create(model.CalculateRewardsTemplate, model.CalculateRewards{Round: number, ClosedAt: x.Clock.EffectiveAt})
	x.Clock.Tasks = append(x.Clock.Tasks, func() { x.startProcessing(c) })
}

// startProcessing takes the root of the tree, on which the super-validators have agreed.
func (x *TrafficRewards) startProcessing(c *model.Contract) {
	a, p := x.Tx.Arena(), c.Payload.(model.CalculateRewards)
	tree := NewRewardTree(x.RewardsOf(p.Round).Allowances)
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_StartProcessingRewardsV2",
		a.Record(model.StartProcessingShape, model.ContractID(c.Number), a.Record(model.RewardHashShape, model.Text(tree.Root))), model.Dso)
	x.Tx.Archive(c)
	x.process(p, tree, tree.Root)
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}

// process creates what stands for a batch of a tree, and has it processed.
func (x *TrafficRewards) process(p model.CalculateRewards, tree *rewardTree, hash string) {
	c := x.Tx.Create(model.ProcessRewardsTemplate, model.ProcessRewards{CalculateRewards: p, Hash: hash})
	x.Clock.Tasks = append(x.Clock.Tasks, func() { x.processBatch(c, tree) })
}

// processBatch resolves a batch: into smaller ones, or into coupons.
func (x *TrafficRewards) processBatch(c *model.Contract, tree *rewardTree) {
	a, p := x.Tx.Arena(), c.Payload.(model.ProcessRewards)
	batch := tree.Batches[p.Hash]
	var content model.Value
	if batch.Children != nil {
		hashes := make([]model.Value, len(batch.Children))
		for i, h := range batch.Children {
			hashes[i] = a.Record(model.RewardHashShape, model.Text(h))
		}
		content = a.Variant("BatchOfBatches", a.List(hashes...))
	} else {
		all := make([]model.Value, len(batch.Allowances))
		for i, m := range batch.Allowances {
			all[i] = a.Record(model.MintingAllowanceShape, model.PartyValue(x.providerOf(m)), model.Numeric(m.Amount))
		}
		content = a.Variant("BatchOfMintingAllowances", a.List(all...))
	}
	at := x.Tx.Consume(c, "ProcessRewardsV2_ProcessBatch", a.Record(model.ProcessBatchShape, content, a.Record(model.SetShape, a.GenMap())), model.Dso)
	for _, h := range batch.Children {
		x.process(p.CalculateRewards, tree, h)
	}
	if len(batch.Allowances) > 0 {
		x.issueCoupons(p.CalculateRewards, batch.Allowances)
	}
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}

func (x *TrafficRewards) providerOf(m allowance) model.Party {
	p, ok := x.Names.Named(m.Provider)
	if !ok {
		x.Tx.fail(fmt.Errorf("%s may mint %s but is no party", m.Provider, m.Amount))
	}
	return p
}

// issueCoupons creates the coupons of a batch. Simulated apps collect most of theirs some time
// later; what is left when they expire is not minted.
func (x *TrafficRewards) issueCoupons(p model.CalculateRewards, all []allowance) {
	coupons, expires := make([]*model.Contract, len(all)), p.ClosedAt+model.RewardCouponMicros
	for i, m := range all {
		c := x.Tx.Create(model.RewardCouponTemplate, model.CouponV2{Provider: x.providerOf(m), Round: p.Round, Amount: m.Amount,
			ExpiresAt: expires, Beneficiary: model.NoParty})
		coupons[i] = c
		if !x.Random.Percent(15) {
			x.Clock.expireAt(x.Clock.RecordTime+x.Clock.tick*int64(x.Random.Between(1, 6)), func() { x.collectCoupon(c) })
		}
	}
	x.Clock.alarmAt(expires, func() { x.expireCoupons(coupons) })
}

// collectCoupon has a simulated app collect a coupon.
func (x *TrafficRewards) collectCoupon(c *model.Contract) {
	p := c.Payload.(model.CouponV2)
	if c.Active() && p.ExpiresAt > x.Clock.EffectiveAt && !x.users.isManaged(p.Owner()) {
		x.payments.collectGrant(p.Owner(), c)
	}
}

// expireCoupons archives those of some coupons that nobody has collected.
func (x *TrafficRewards) expireCoupons(coupons []*model.Contract) {
	a := x.Tx.Arena()
	var left []*model.Contract
	var ids []model.Value
	for _, c := range coupons {
		if c.Active() {
			left, ids = append(left, c), append(ids, model.ContractID(c.Number))
		}
	}
	if len(left) == 0 {
		return
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_ClaimExpiredRewardsV2", a.Record(model.ClaimExpiredV2Shape, a.List(ids...), a.List()), model.Dso)
	var worth model.Decimal
	for _, c := range left {
		worth += c.Payload.(model.CouponV2).Amount
		x.Tx.Archive(c)
	}
	x.rounds.addUnclaimed(worth)
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}
