package devnet

// apps are the featured apps.
type apps struct {
	core
	users   *users
	rounds  *rounds
	rewards *trafficRewards

	providers span
	rights    []*contract // by provider, nil if not featured
	// others are the rights of parties that are no providers from the start.
	others map[party]*contract
}

func newApps(k core) *apps {
	return &apps{core: k, providers: k.names.providers, rights: make([]*contract, k.names.providers.len())}
}

// right is the featured app right of p, or nil.
func (s *apps) right(p party) *contract {
	if !s.providers.has(p) {
		return s.others[p]
	}
	return s.rights[s.providers.index(p)]
}

// grant sets the right of p, or takes it if c is nil.
func (s *apps) grant(p party, c *contract) {
	switch {
	case s.providers.has(p):
		s.rights[s.providers.index(p)] = c
	case c == nil:
		delete(s.others, p)
	default:
		if s.others == nil {
			s.others = map[party]*contract{}
		}
		s.others[p] = c
	}
}

var (
	featureShape      = newShape("provider")
	featureDoneShape  = newShape("featuredAppRightCid")
	markShape         = newShape("beneficiaries")
	markDoneShape     = newShape("activityMarkerCids")
	convertShape      = newShape("markerCids", "openMiningRoundCid")
	convertDoneShape  = newShape("appRewardCouponCids")
	withdrawAppShape  = newShape("reason")
	convertAtMost     = 7
	markersPerConvert = 6
)

// featureApp makes p a featured app.
func (x *apps) featureApp(p party) {
	if x.right(p) != nil { // a command was faster
		return
	}
	a := x.tx.arena()
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_DevNet_FeatureApp", a.record(featureShape, partyValue(p)), p)
	right := featuredAppRight{provider: p}
	if x.tx.version() > 0 {
		right.weight = one
	}
	c := x.tx.create(featuredAppRightTemplate, right)
	x.grant(p, c)
	x.tx.finish(at, a.record(featureDoneShape, contractID(c.number)))
}

// endApp ends the right of p: the governance party withdraws it, or the app gives it up.
// Some time later the app is featured again, but for the last one that ever was.
func (x *apps) endApp(p party, review int64) {
	c := x.right(p)
	if c == nil {
		return
	}
	x.rights[x.providers.index(p)] = nil
	if review%2 == 0 {
		at := x.tx.consume(c, "FeaturedAppRight_Withdraw", x.tx.arena().record(withdrawAppShape, text("under review")), dso)
		x.tx.finish(at, enum("FeaturedAppRight_WithdrawResult"))
	} else {
		at := x.tx.consume(c, "FeaturedAppRight_Cancel", x.tx.arena().record(emptyRecordShape), p)
		x.tx.finish(at, enum("FeaturedAppRight_CancelResult"))
	}
	if p != x.names.providers.at(x.names.providers.len()-2) {
		x.clock.expireAt(x.clock.recordTime+5*x.clock.tick, func() { x.featureApp(p) })
	}
}

// markActivity has a featured app record activity that was no coin transfer.
func (x *apps) markActivity() bool {
	p := x.names.providers.of(x.random)
	right := x.right(p)
	if right == nil || x.users.isManaged(p) {
		return false
	}
	a := x.tx.arena()
	markers := []activityMarker{{p, p, one}}
	if x.random.percent(30) {
		markers[0].weight = one * 6 / 10
		markers = append(markers, activityMarker{p, x.names.validators.of(x.random), one * 4 / 10})
	}
	beneficiaries, ids := make([]value, len(markers)), make([]value, len(markers))
	for i, m := range markers {
		beneficiaries[i] = a.record(appBeneficiaryShape, partyValue(m.beneficiary), numeric(m.weight))
	}
	at := x.tx.exercise(right, "FeaturedAppRight_CreateActivityMarker", a.record(markShape, a.list(beneficiaries...)), p)
	x.tx.through(at, featuredAppRightInterface)
	for i, m := range markers {
		c := x.tx.create(activityMarkerTemplate, m)
		x.rounds.markers = append(x.rounds.markers, c)
		ids[i] = contractID(c.number)
	}
	x.tx.finish(at, a.record(markDoneShape, a.list(ids...)))
	x.tx.provider = p
	return true
}

// convertMarkers turns markers into app reward coupons of the open round.
func (x *apps) convertMarkers() bool {
	if len(x.rounds.markers) < markersPerConvert || x.rewards.rewardsByTraffic() {
		return false
	}
	a, r := x.tx.arena(), x.rounds.openRound()
	n := min(convertAtMost, len(x.rounds.markers))
	markers := x.rounds.markers[:n:n]
	x.rounds.markers = x.rounds.markers[n:]
	ids, couponIDs := make([]value, n), make([]value, n)
	for i, m := range markers {
		ids[i] = contractID(m.number)
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_ConvertFeaturedAppActivityMarkers",
		a.record(convertShape, a.list(ids...), contractID(r.contract.number)), dso)
	for i, m := range markers {
		p := m.payload.(activityMarker)
		x.tx.archive(m)
		amount := extraRewardUSD.over(r.price).times(p.weight)
		couponIDs[i] = contractID(x.rounds.addCoupon(r, appRewardTemplate,
			appReward{p.provider, true, amount, r.number, p.beneficiary}).number)
		r.featuredTotal += amount
	}
	x.tx.finish(at, a.record(convertDoneShape, a.list(couponIDs...)))
	return true
}
