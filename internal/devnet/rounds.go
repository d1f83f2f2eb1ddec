package devnet

import "time"

// rounds are the mining rounds that are not archived.
type rounds struct {
	core
	bank    *bank
	rewards *trafficRewards
	apps    *apps
	fund    *fund

	priced  *round   // whose price applies in place of the open round's
	open    []*round // three, oldest first
	issuing []*round // oldest first
	// collections are the coupons that can be collected, by owner, of issuing rounds.
	collections []collection
	// markers wait to be converted to app rewards.
	markers []*contract
	// dust holds coins by the round in which holding fees have used them up.
	dust map[int64][]*contract
	// unclaimed rewards wait to be merged.
	unclaimed []*contract
}

// collection is the coupons of one owner and round.
type collection struct {
	round   *round
	owner   party
	coupons []*contract
}

// openRound is the newest round that is open now.
func (x *rounds) openRound() *round {
	if x.priced != nil {
		return x.priced
	}
	for i := len(x.open) - 1; i > 0; i-- {
		if r := x.open[i]; r.opensAt <= x.clock.recordTime {
			return r
		}
	}
	return x.open[0]
}

// roundValue is the open round as it appears in results.
func (x *rounds) roundValue() value { return roundValue(x.tx.arena(), x.openRound().number) }

func (x *rounds) newRound(number int64, price decimal, opensAt int64) *round {
	r := &round{number: number, price: price, opensAt: opensAt, closesAt: opensAt + 2*x.clock.tick}
	r.contract = x.tx.create(openRoundTemplate, openRound{x.payloadOf(r)})
	x.open = append(x.open, r)
	x.rewards.byRound = append(x.rewards.byRound, roundRewards{price: price, rewarded: x.tx.version() > 0})
	return r
}

// roundsOpened is the number of rounds so far, 0 before the network is founded.
func (x *rounds) roundsOpened() int64 {
	if len(x.open) == 0 {
		return 0
	}
	return x.open[len(x.open)-1].number + 1
}

func (x *rounds) payloadOf(r *round) roundPayload {
	return roundPayload{r, time.Duration(x.clock.tick) * time.Microsecond, x.config.TrafficRewards}
}

// scheduleRounds queues the round automation when a tick has passed.
func (x *rounds) scheduleRounds() {
	if x.clock.nextTick == 0 || x.clock.recordTime < x.clock.nextTick {
		return
	}
	x.clock.nextTick += x.clock.tick * (1 + (x.clock.recordTime-x.clock.nextTick)/x.clock.tick)
	x.clock.tasks = append(x.clock.tasks, x.advanceRounds, x.startIssuing, x.rewardSuperValidator)
	for _, r := range x.issuing {
		if r.issuingClosesAt <= x.clock.recordTime {
			x.clock.tasks = append(x.clock.tasks, x.closeRound)
		}
	}
	if newest := x.openRound().number; newest%roundsPerReview == 0 {
		app := x.names.providers.of(x.random)
		x.clock.tasks = append(x.clock.tasks, func() { x.apps.endApp(app, newest/roundsPerReview) })
	}
	for n := len(x.unclaimed); n > unclaimedBeforeMerge; n -= rewardsPerMerge {
		x.clock.tasks = append(x.clock.tasks, x.mergeUnclaimed)
	}
}

const (
	rewardsPerMerge = 12
	// roundsPerReview is how often an app loses its right for a while.
	roundsPerReview = 9
)

var (
	advanceShape      = newShape("amuletPrice", "roundToArchiveCid", "middleRoundCid", "latestRoundCid")
	advanceDoneShape  = newShape("summarizingRoundCid", "openRoundCid")
	startIssuingShape = newShape("miningRoundCid", "summary")
	roundSummaryShape = newShape("totalValidatorRewardCoupons", "totalFeaturedAppRewardCoupons", "totalUnfeaturedAppRewardCoupons", "totalSvRewardWeight", "optTotalValidatorFaucetCoupons")
	issuingDoneShape  = newShape("issuingRoundCid", "unclaimedDevelopmentFundCouponCid")
	closeRoundShape   = newShape("issuingRoundCid")
	closeDoneShape    = newShape("closedRoundCid")
	archiveRoundShape = newShape("closedRoundCid")
	claimShape        = newShape("closedRoundCid", "validatorRewardCouponCids", "appCouponCids", "svRewardCouponCids", "optValidatorFaucetCouponCids", "optValidatorLivenessActivityRecordCids")
	claimDoneShape    = newShape("unclaimedRewardCid")
	expireCouponShape = newShape("closedRoundCid")
	mergeRewardsShape = newShape("unclaimedRewardCids")
)

// advanceRounds closes the oldest open round and opens the next.
func (x *rounds) advanceRounds() {
	a, open := x.tx.arena(), x.open
	oldest, latest := open[0], open[len(open)-1]
	price := max(one/20, latest.price+x.random.decimalBetween(0, one/50)-one/100)
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_AdvanceOpenMiningRounds", a.record(advanceShape, numeric(price),
		contractID(oldest.contract.number), contractID(open[1].contract.number), contractID(latest.contract.number)), dso)
	x.tx.archive(oldest.contract)
	oldest.contract = x.tx.create(summarizingRoundTemplate, summarizingRound{x.payloadOf(oldest)})
	x.open = open[1:]
	next := x.newRound(latest.number+1, price, max(x.clock.effectiveAt, latest.opensAt)+x.clock.tick)
	x.rewards.calculateRewards(oldest.number)
	x.tx.finish(at, a.record(advanceDoneShape, contractID(oldest.contract.number), contractID(next.contract.number)))
	x.issuing = append(x.issuing, oldest)
	x.bank.expireDust(next.number)
}

// startIssuing fixes the rewards of the round that was summarized last.
func (x *rounds) startIssuing() {
	a, r := x.tx.arena(), x.issuing[len(x.issuing)-1]
	x.setIssuance(r)
	summary := a.record(roundSummaryShape, numeric(r.validatorTotal), numeric(r.featuredTotal),
		numeric(r.unfeaturedTotal), int64Value(r.svWeightTotal), a.some(int64Value(r.livenessTotal)))
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MiningRound_StartIssuing",
		a.record(startIssuingShape, contractID(r.contract.number), summary), dso)
	x.tx.archive(r.contract)
	r.issuesAt = x.clock.effectiveAt + x.clock.tick
	r.issuingClosesAt = r.issuesAt + 2*x.clock.tick
	r.contract = x.tx.create(issuingRoundTemplate, issuingRound{x.payloadOf(r)})
	x.addUnclaimed(r.unclaimed)
	done := []value{contractID(r.contract.number)}
	if x.tx.version() > 0 {
		c := x.fund.addToFund(r.fund)
		done = append(done, optional(a, c != nil, idOf(c)))
	}
	x.tx.finish(at, a.record(issuingDoneShape, done...))
	x.groupCoupons(r)
}

// setIssuance divides what the round issues among its coupons, up to the caps.
func (x *rounds) setIssuance(r *round) {
	const year = int64(365 * 24 * time.Hour / time.Microsecond)
	pool := issuancePerYear.times(decimal(x.clock.tick)).over(decimal(year))
	if r.fund = 0; x.tx.version() > 0 {
		r.fund = pool.times(fundShare)
		pool -= r.fund
	}
	validators, apps := pool.times(validatorShare), pool.times(appShare)
	svs := pool - validators - apps

	var usedFeatured, usedUnfeatured, usedLiveness, usedValidator decimal
	r.perFeaturedApp, usedFeatured = rate(apps, r.featuredTotal, featuredAppCap)
	if x.rewards.rewardsByTraffic() && x.rewards.byRound[r.number].rewarded {
		usedFeatured = min(apps, usedFeatured+x.rewards.rewardsOf(r.number).minting)
	}
	r.perUnfeaturedApp, usedUnfeatured = rate(apps-usedFeatured, r.unfeaturedTotal, unfeaturedAppCap)
	r.perLiveness, usedLiveness = rate(validators, coins(int(r.livenessTotal)), livenessCapUSD.over(r.price))
	r.perValidator, usedValidator = rate(validators-usedLiveness, r.validatorTotal, validatorCap)
	var usedSv decimal
	r.perSvWeight, usedSv = rate(svs, coins(int(r.svWeightTotal)), one)
	r.unclaimed = pool - usedFeatured - usedUnfeatured - usedLiveness - usedValidator - usedSv
}

// rate returns the issuance per unit of total, at most limit, and what of the pool
// that uses. Rounding down keeps the use within the pool.
func rate(pool, total, limit decimal) (per, used decimal) {
	per = limit
	if total > 0 && total.times(limit) > pool {
		per = max(0, pool.over(total)-1)
	}
	return per, min(pool, total.times(per))
}

// groupCoupons makes the coupons of r collectable by their owners.
func (x *rounds) groupCoupons(r *round) {
	at := map[party]int{}
	first := len(x.collections)
	for _, c := range r.coupons {
		owner := c.payload.(coupon).owner()
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
		j := x.random.below(i + 1)
		fresh[i], fresh[j] = fresh[j], fresh[i]
	}
}

// closeRound ends the issuing of the oldest issuing round, then sweeps its coupons.
func (x *rounds) closeRound() {
	a, r := x.tx.arena(), x.issuing[0]
	x.issuing = x.issuing[1:]
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MiningRound_Close",
		a.record(closeRoundShape, contractID(r.contract.number)), dso)
	x.tx.archive(r.contract)
	r.contract = x.tx.create(closedRoundTemplate, closedRound{x.payloadOf(r)})
	x.tx.finish(at, a.record(closeDoneShape, contractID(r.contract.number)))

	kept := x.collections[:0]
	for _, c := range x.collections {
		if c.round != r {
			kept = append(kept, c)
		}
	}
	clear(x.collections[len(kept):])
	x.collections = kept
	x.queueClaims(r)
}

// queueClaims queues the sweep of the coupons that nobody collected, in portions,
// and the archival of the round some time after it.
func (x *rounds) queueClaims(r *round) {
	var left []*contract
	for _, c := range r.coupons {
		if c.active() {
			left = append(left, c)
		}
	}
	r.coupons = nil
	for len(left) > 0 {
		n := min(couponsPerClaim, len(left))
		portion := left[:n:n]
		left = left[n:]
		x.clock.tasks = append(x.clock.tasks, func() { x.claimExpired(r, portion) })
	}
	x.clock.expireAt(x.clock.recordTime+closedRoundTicks*x.clock.tick, func() { x.archiveRound(r) })
}

const (
	couponsPerClaim = 12
	// closedRoundTicks is how long a closed round stays.
	closedRoundTicks = 2
)

// claimExpired turns uncollected coupons into an unclaimed reward.
func (x *rounds) claimExpired(r *round, coupons []*contract) {
	a := x.tx.arena()
	byTemplate := func(t *template) value {
		var ids []value
		for _, c := range coupons {
			if c.template == t {
				ids = append(ids, contractID(c.number))
			}
		}
		return a.list(ids...)
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_ClaimExpiredRewards", a.record(claimShape,
		contractID(r.contract.number), byTemplate(validatorRewardTemplate), byTemplate(appRewardTemplate),
		byTemplate(svRewardTemplate), none(), a.some(byTemplate(livenessTemplate))), dso)
	var worth decimal
	for _, c := range coupons {
		worth += c.payload.(coupon).worth(r)
		x.tx.finish(x.tx.consume(c, c.template.entity()+"_DsoExpire",
			a.record(expireCouponShape, contractID(r.contract.number)), dso), c.payload.(coupon).expiry(a))
	}
	reward := x.addUnclaimed(worth)
	x.tx.finish(at, a.record(claimDoneShape, optional(a, reward != nil, idOf(reward))))
}

// idOf is the contract id of c, or an arbitrary value if c is nil.
func idOf(c *contract) value {
	if c == nil {
		return unit()
	}
	return contractID(c.number)
}

// addUnclaimed creates an unclaimed reward unless amount is 0.
func (x *rounds) addUnclaimed(amount decimal) *contract {
	if amount <= 0 {
		return nil
	}
	c := x.tx.create(unclaimedRewardTemplate, unclaimedReward{amount})
	x.unclaimed = append(x.unclaimed, c)
	return c
}

func (x *rounds) archiveRound(r *round) {
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MiningRound_Archive",
		x.tx.arena().record(archiveRoundShape, contractID(r.contract.number)), dso)
	x.tx.archive(r.contract)
	x.tx.finish(at, enum("AmuletRules_MiningRound_ArchiveResult"))
}

// mergeUnclaimed turns the oldest unclaimed rewards into one.
func (x *rounds) mergeUnclaimed() {
	a := x.tx.arena()
	n := min(rewardsPerMerge, len(x.unclaimed))
	rewards := x.unclaimed[:n:n]
	x.unclaimed = x.unclaimed[n:]
	var ids []value
	var total decimal
	for _, c := range rewards {
		ids = append(ids, contractID(c.number))
		total += c.payload.(unclaimedReward).amount
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_MergeUnclaimedRewards",
		a.record(mergeRewardsShape, a.list(ids...)), dso)
	for _, c := range rewards {
		x.tx.archive(c)
	}
	merged := x.addUnclaimed(total)
	x.tx.finish(at, a.record(claimDoneShape, idOf(merged)))
}

var (
	receiveSvShape     = newShape("sv", "openRoundCid", "rewardStateCid", "beneficiaries")
	receiveSvDoneShape = newShape("svRewardState", "svRewardCoupons")
)

// rewardSuperValidator gives one of the super-validators, in turn, its coupon for
// the open round.
func (x *rounds) rewardSuperValidator() {
	a, r := x.tx.arena(), x.openRound()
	turn := int(r.number) % x.names.superValidators.len()
	sv, state := x.names.superValidators.at(turn), x.rules.rewardStates[turn]
	shares := []svReward{{sv: sv, beneficiary: sv, round: r.number, weight: svRewardWeight}}
	if r.number%3 == 0 { // a part goes to somebody else
		shares[0].weight -= 2500
		shares = append(shares, svReward{sv, x.names.validators.at(0), r.number, 2500})
	}
	beneficiaries, ids := make([]value, len(shares)), make([]value, len(shares))
	for i, s := range shares {
		beneficiaries[i] = a.record(tupleShape, partyValue(s.beneficiary), int64Value(s.weight))
	}
	at := x.tx.exercise(x.rules.dso, "DsoRules_ReceiveSvRewardCoupon", a.record(receiveSvShape,
		partyValue(sv), contractID(r.contract.number), contractID(state.number), a.list(beneficiaries...)), sv)
	x.tx.archive(state)
	next := x.tx.create(rewardStateTemplate, state.payload.(svRewardState).rewardedIn(r.number, int64(len(shares))))
	x.rules.rewardStates[turn] = next
	for i, s := range shares {
		ids[i] = contractID(x.addCoupon(r, svRewardTemplate, s).number)
		r.svWeightTotal += s.weight
	}
	x.tx.finish(at, a.record(receiveSvDoneShape, contractID(next.number), a.list(ids...)))
}

// addCoupon creates a coupon of round r.
func (x *rounds) addCoupon(r *round, t *template, p coupon) *contract {
	c := x.tx.create(t, p)
	r.coupons = append(r.coupons, c)
	return c
}
