package sim

import (
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Rounds are the mining rounds that are not archived.
type Rounds struct {
	Core
	bank    *Bank
	rewards *TrafficRewards
	apps    *Apps
	fund    *Fund
	votes   *Votes

	Priced  *model.Round   // whose price applies in place of the open round's
	open    []*model.Round // three, oldest first
	issuing []*model.Round // oldest first
	// collections are the coupons that can be collected, by owner, of issuing rounds.
	collections []collection
	// markers wait to be converted to app rewards.
	markers []*model.Contract
	// dust holds coins by the round in which holding fees have used them up.
	dust map[int64][]*model.Contract
	// unclaimed rewards wait to be merged.
	unclaimed []*model.Contract
}

// collection is the coupons of one owner and round.
type collection struct {
	round   *model.Round
	owner   model.Party
	coupons []*model.Contract
}

// OpenRound is the newest round that is open now.
func (x *Rounds) OpenRound() *model.Round {
	if x.Priced != nil {
		return x.Priced
	}
	for i := len(x.open) - 1; i > 0; i-- {
		if r := x.open[i]; r.OpensAt <= x.Clock.RecordTime {
			return r
		}
	}
	return x.open[0]
}

// RoundValue is the open round as it appears in results.
func (x *Rounds) RoundValue() model.Value {
	return model.RoundValue(x.Tx.Arena(), x.OpenRound().Number)
}

func (x *Rounds) newRound(number int64, price model.Decimal, opensAt int64) *model.Round {
	r := &model.Round{Number: number, Price: price, OpensAt: opensAt, ClosesAt: opensAt + 2*x.Clock.tick}
	r.Contract = x.Tx.Create(model.OpenRoundTemplate, model.OpenRound{RoundPayload: x.payloadOf(r)})
	x.open = append(x.open, r)
	x.rewards.ByRound = append(x.rewards.ByRound, roundRewards{price: price, Rewarded: x.Tx.Version() > 0})
	return r
}

// Opened returns the price of a round, and the package version in which it was opened.
func (x *Rounds) Opened(number int64) (price model.Decimal, version uint8, ok bool) {
	if number < 0 || number >= int64(len(x.rewards.ByRound)) {
		return 0, 0, false
	}
	r := x.rewards.ByRound[number]
	if r.Rewarded {
		version = 1
	}
	return r.price, version, true
}

// RoundsOpened is the number of rounds so far, 0 before the network is founded.
func (x *Rounds) RoundsOpened() int64 {
	if len(x.open) == 0 {
		return 0
	}
	return x.open[len(x.open)-1].Number + 1
}

func (x *Rounds) payloadOf(r *model.Round) model.RoundPayload {
	return model.RoundPayload{Round: r, Tick: time.Duration(x.Clock.tick) * time.Microsecond, ByTraffic: x.Config.TrafficRewards}
}

// scheduleRounds queues the round automation when a tick has passed.
func (x *Rounds) scheduleRounds() {
	if x.Clock.NextTick == 0 || x.Clock.RecordTime < x.Clock.NextTick {
		return
	}
	x.Clock.NextTick += x.Clock.tick * (1 + (x.Clock.RecordTime-x.Clock.NextTick)/x.Clock.tick)
	x.Clock.Tasks = append(x.Clock.Tasks, x.advanceRounds, x.startIssuing, x.rewardSuperValidator)
	for _, r := range x.issuing {
		if r.IssuingClosesAt <= x.Clock.RecordTime {
			x.Clock.Tasks = append(x.Clock.Tasks, x.closeRound)
		}
	}
	newest := x.OpenRound().Number
	x.votes.schedule(newest)
	if newest%roundsPerReview == 0 {
		app := x.Names.Providers.Of(x.Random)
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.apps.endApp(app, newest/roundsPerReview) })
	}
	for n := len(x.unclaimed); n > model.UnclaimedBeforeMerge; n -= rewardsPerMerge {
		x.Clock.Tasks = append(x.Clock.Tasks, x.mergeUnclaimed)
	}
}

const (
	rewardsPerMerge = 12
	// roundsPerReview is how often an app loses its right for a while.
	roundsPerReview = 9
)

var (
	advanceShape      = model.NewShape("amuletPrice", "roundToArchiveCid", "middleRoundCid", "latestRoundCid")
	advanceDoneShape  = model.NewShape("summarizingRoundCid", "openRoundCid")
	startIssuingShape = model.NewShape("miningRoundCid", "summary")
	roundSummaryShape = model.NewShape("totalValidatorRewardCoupons", "totalFeaturedAppRewardCoupons", "totalUnfeaturedAppRewardCoupons", "totalSvRewardWeight", "optTotalValidatorFaucetCoupons")
	issuingDoneShape  = model.NewShape("issuingRoundCid", "unclaimedDevelopmentFundCouponCid")
	closeRoundShape   = model.NewShape("issuingRoundCid")
	closeDoneShape    = model.NewShape("closedRoundCid")
	archiveRoundShape = model.NewShape("closedRoundCid")
	claimShape        = model.NewShape("closedRoundCid", "validatorRewardCouponCids", "appCouponCids", "svRewardCouponCids", "optValidatorFaucetCouponCids", "optValidatorLivenessActivityRecordCids")
	claimDoneShape    = model.NewShape("unclaimedRewardCid")
	expireCouponShape = model.NewShape("closedRoundCid")
	mergeRewardsShape = model.NewShape("unclaimedRewardCids")
)

// advanceRounds closes the oldest open round and opens the next.
func (x *Rounds) advanceRounds() {
	a, open := x.Tx.Arena(), x.open
	oldest, latest := open[0], open[len(open)-1]
	price := x.votes.Price()
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_AdvanceOpenMiningRounds", a.Record(advanceShape, model.Numeric(price),
		model.ContractID(oldest.Contract.Number), model.ContractID(open[1].Contract.Number), model.ContractID(latest.Contract.Number)), model.Dso)
	x.Tx.Archive(oldest.Contract)
	oldest.Contract = x.Tx.Create(model.SummarizingRoundTemplate, model.SummarizingRound{RoundPayload: x.payloadOf(oldest)})
	x.open = open[1:]
	next := x.newRound(latest.Number+1, price, max(x.Clock.EffectiveAt, latest.OpensAt)+x.Clock.tick)
	x.rewards.calculateRewards(oldest.Number)
	x.Tx.Finish(at, a.Record(advanceDoneShape, model.ContractID(oldest.Contract.Number), model.ContractID(next.Contract.Number)))
	x.issuing = append(x.issuing, oldest)
	x.bank.expireDust(next.Number)
}

// startIssuing fixes the rewards of the round that was summarized last.
func (x *Rounds) startIssuing() {
	a, r := x.Tx.Arena(), x.issuing[len(x.issuing)-1]
	x.setIssuance(r)
	summary := a.Record(roundSummaryShape, model.Numeric(r.ValidatorTotal), model.Numeric(r.FeaturedTotal),
		model.Numeric(r.UnfeaturedTotal), model.Int64Value(r.SvWeightTotal), a.Some(model.Int64Value(r.LivenessTotal)))
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MiningRound_StartIssuing",
		a.Record(startIssuingShape, model.ContractID(r.Contract.Number), summary), model.Dso)
	x.Tx.Archive(r.Contract)
	r.IssuesAt = x.Clock.EffectiveAt + x.Clock.tick
	r.IssuingClosesAt = r.IssuesAt + 2*x.Clock.tick
	r.Contract = x.Tx.Create(model.IssuingRoundTemplate, model.IssuingRound{RoundPayload: x.payloadOf(r)})
	x.addUnclaimed(r.Unclaimed)
	done := []model.Value{model.ContractID(r.Contract.Number)}
	if x.Tx.Version() > 0 {
		c := x.fund.addToFund(r.Fund)
		done = append(done, model.Optional(a, c != nil, IdOf(c)))
	}
	x.Tx.Finish(at, a.Record(issuingDoneShape, done...))
	x.groupCoupons(r)
}

// setIssuance divides what the round issues among its coupons, up to the caps.
func (x *Rounds) setIssuance(r *model.Round) {
	const year = int64(365 * 24 * time.Hour / time.Microsecond)
	pool := model.IssuancePerYear.Times(model.Decimal(x.Clock.tick)).Over(model.Decimal(year))
	if r.Fund = 0; x.Tx.Version() > 0 {
		r.Fund = pool.Times(model.FundShare)
		pool -= r.Fund
	}
	validators, apps := pool.Times(model.ValidatorShare), pool.Times(model.AppShare)
	svs := pool - validators - apps

	var usedFeatured, usedUnfeatured, usedLiveness, usedValidator model.Decimal
	r.PerFeaturedApp, usedFeatured = rate(apps, r.FeaturedTotal, model.FeaturedAppCap)
	if x.rewards.RewardsByTraffic() && x.rewards.ByRound[r.Number].Rewarded {
		usedFeatured = min(apps, usedFeatured+x.rewards.RewardsOf(r.Number).Minting)
	}
	r.PerUnfeaturedApp, usedUnfeatured = rate(apps-usedFeatured, r.UnfeaturedTotal, model.UnfeaturedAppCap)
	r.PerLiveness, usedLiveness = rate(validators, model.Coins(int(r.LivenessTotal)), model.LivenessCapUSD.Over(r.Price))
	r.PerValidator, usedValidator = rate(validators-usedLiveness, r.ValidatorTotal, model.ValidatorCap)
	var usedSv model.Decimal
	r.PerSvWeight, usedSv = rate(svs, model.Coins(int(r.SvWeightTotal)), model.One)
	r.Unclaimed = pool - usedFeatured - usedUnfeatured - usedLiveness - usedValidator - usedSv
}

// rate returns the issuance per unit of total, at most limit, and what of the pool
// that uses. Rounding down keeps the use within the pool.
func rate(pool, total, limit model.Decimal) (per, used model.Decimal) {
	per = limit
	if total > 0 && total.Times(limit) > pool {
		per = max(0, pool.Over(total)-1)
	}
	return per, min(pool, total.Times(per))
}

// groupCoupons makes the coupons of r collectable by their owners.
func (x *Rounds) groupCoupons(r *model.Round) {
	at := map[model.Party]int{}
	first := len(x.collections)
	for _, c := range r.Coupons {
		owner := c.Payload.(model.Coupon).Owner()
		i, ok := at[owner]
		if !ok {
			i = len(x.collections)
			at[owner] = i
			x.collections = append(x.collections, collection{round: r, owner: owner})
		}
		x.collections[i].coupons = append(x.collections[i].coupons, c)
	}
	fresh := x.collections[first:]
	for i := len(fresh) - 1; i > 0; i-- { // else the same owners would always come too late
		j := x.Random.Below(i + 1)
		fresh[i], fresh[j] = fresh[j], fresh[i]
	}
}

// closeRound ends the issuing of the oldest issuing round, then sweeps its coupons.
func (x *Rounds) closeRound() {
	a, r := x.Tx.Arena(), x.issuing[0]
	x.issuing = x.issuing[1:]
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MiningRound_Close",
		a.Record(closeRoundShape, model.ContractID(r.Contract.Number)), model.Dso)
	x.Tx.Archive(r.Contract)
	r.Contract = x.Tx.Create(model.ClosedRoundTemplate, model.ClosedRound{RoundPayload: x.payloadOf(r)})
	x.Tx.Finish(at, a.Record(closeDoneShape, model.ContractID(r.Contract.Number)))

	x.collections = slices.DeleteFunc(x.collections, func(c collection) bool { return c.round == r })
	x.queueClaims(r)
}

// queueClaims queues the sweep of the coupons that nobody collected, in portions,
// and the archival of the round some time after it.
func (x *Rounds) queueClaims(r *model.Round) {
	left := slices.DeleteFunc(r.Coupons, func(c *model.Contract) bool { return !c.Active() })
	r.Coupons = nil
	for portion := range slices.Chunk(left, couponsPerClaim) {
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.claimExpired(r, portion) })
	}
	x.Clock.expireAt(x.Clock.RecordTime+closedRoundTicks*x.Clock.tick, func() { x.archiveRound(r) })
}

const (
	couponsPerClaim = 12
	// closedRoundTicks is how long a closed round stays.
	closedRoundTicks = 2
)

// claimExpired turns uncollected coupons into an unclaimed reward.
func (x *Rounds) claimExpired(r *model.Round, coupons []*model.Contract) {
	a := x.Tx.Arena()
	byTemplate := func(t *model.Template) model.Value {
		return x.Tx.IDs(slices.DeleteFunc(slices.Clone(coupons), func(c *model.Contract) bool { return c.Template != t })...)
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_ClaimExpiredRewards", a.Record(claimShape,
		model.ContractID(r.Contract.Number), byTemplate(model.ValidatorRewardTemplate), byTemplate(model.AppRewardTemplate),
		byTemplate(model.SvRewardTemplate), model.None(), a.Some(byTemplate(model.LivenessTemplate))), model.Dso)
	var worth model.Decimal
	for _, c := range coupons {
		worth += c.Payload.(model.Coupon).Worth(r)
		x.Tx.Finish(x.Tx.Consume(c, c.Template.Entity()+"_DsoExpire",
			a.Record(expireCouponShape, model.ContractID(r.Contract.Number)), model.Dso), c.Payload.(model.Coupon).Expiry(a))
	}
	reward := x.addUnclaimed(worth)
	x.Tx.Finish(at, a.Record(claimDoneShape, model.Optional(a, reward != nil, IdOf(reward))))
}

// IdOf is the contract id of c, or an arbitrary value if c is nil.
func IdOf(c *model.Contract) model.Value {
	if c == nil {
		return model.Unit()
	}
	return model.ContractID(c.Number)
}

// addUnclaimed creates an unclaimed reward unless amount is 0.
func (x *Rounds) addUnclaimed(amount model.Decimal) *model.Contract {
	if amount <= 0 {
		return nil
	}
	c := x.Tx.Create(model.UnclaimedRewardTemplate, model.UnclaimedReward{Amount: amount})
	x.unclaimed = append(x.unclaimed, c)
	return c
}

func (x *Rounds) archiveRound(r *model.Round) {
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MiningRound_Archive",
		x.Tx.Arena().Record(archiveRoundShape, model.ContractID(r.Contract.Number)), model.Dso)
	x.Tx.Archive(r.Contract)
	x.Tx.Finish(at, model.Enum("AmuletRules_MiningRound_ArchiveResult"))
}

// mergeUnclaimed turns the oldest unclaimed rewards into one.
func (x *Rounds) mergeUnclaimed() {
	a := x.Tx.Arena()
	n := min(rewardsPerMerge, len(x.unclaimed))
	rewards := x.unclaimed[:n:n]
	x.unclaimed = x.unclaimed[n:]
	var total model.Decimal
	for _, c := range rewards {
		total += c.Payload.(model.UnclaimedReward).Amount
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_MergeUnclaimedRewards",
		a.Record(mergeRewardsShape, x.Tx.IDs(rewards...)), model.Dso)
	for _, c := range rewards {
		x.Tx.Archive(c)
	}
	merged := x.addUnclaimed(total)
	x.Tx.Finish(at, a.Record(claimDoneShape, IdOf(merged)))
}

var (
	receiveSvShape     = model.NewShape("sv", "openRoundCid", "rewardStateCid", "beneficiaries")
	receiveSvDoneShape = model.NewShape("svRewardState", "svRewardCoupons")
)

// rewardSuperValidator gives one of the super-validators, in turn, its coupon for
// the open round.
func (x *Rounds) rewardSuperValidator() {
	a, r := x.Tx.Arena(), x.OpenRound()
	turn := int(r.Number) % x.Names.SuperValidators.Len()
	sv, state := x.Names.SuperValidators.At(turn), x.Rules.rewardStates[turn]
	shares := []model.SvReward{{Sv: sv, Beneficiary: sv, Round: r.Number, Weight: x.Rules.dso.Payload.(model.DsoRules).Weight(sv)}}
	if r.Number%3 == 0 { // a part goes to somebody else
		shares[0].Weight -= 2500
		shares = append(shares, model.SvReward{Sv: sv, Beneficiary: x.Names.Validators.At(0), Round: r.Number, Weight: 2500})
	}
	beneficiaries := model.ListOf(a, shares, func(s model.SvReward) model.Value {
		return a.Record(model.TupleShape, model.PartyValue(s.Beneficiary), model.Int64Value(s.Weight))
	})
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_ReceiveSvRewardCoupon", a.Record(receiveSvShape,
		model.PartyValue(sv), model.ContractID(r.Contract.Number), model.ContractID(state.Number), beneficiaries), sv)
	x.Tx.Archive(state)
	next := x.Tx.Create(model.RewardStateTemplate, state.Payload.(model.SvRewardState).RewardedIn(r.Number, int64(len(shares))))
	x.Rules.rewardStates[turn] = next
	coupons := model.ListOf(a, shares, func(s model.SvReward) model.Value {
		return model.ContractID(x.addCoupon(r, model.SvRewardTemplate, s).Number)
	})
	x.Tx.Finish(at, a.Record(receiveSvDoneShape, model.ContractID(next.Number), coupons))
}

// addCoupon creates a coupon of round r. Those of a submission are counted once it has
// succeeded; see absorb.
func (x *Rounds) addCoupon(r *model.Round, t *model.Template, p model.Coupon) *model.Contract {
	c := x.Tx.Create(t, p)
	if x.Tx.Attempt == nil {
		r.Count(c)
	}
	return c
}
