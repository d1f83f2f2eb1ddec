package sim

import (
	"cmp"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Apps are the featured apps.
type Apps struct {
	Core
	users   *users
	rounds  *Rounds
	rewards *TrafficRewards

	providers model.Span
	rights    []*model.Contract // by provider, nil if not featured
	// others are the rights of parties that are no providers from the start.
	others map[model.Party]*model.Contract
	// granted are all rights that there ever were, by provider.
	granted map[model.Party][]grantedRight
}

// grantedRight is a right that is active at record times from <= t < until, µs.
type grantedRight struct {
	contract    *model.Contract
	from, until int64
}

func newApps(k Core) *Apps {
	return &Apps{Core: k, providers: k.Names.Providers, rights: make([]*model.Contract, k.Names.Providers.Len()),
		others: map[model.Party]*model.Contract{}, granted: map[model.Party][]grantedRight{}}
}

// Right is the featured app right of p, or nil.
func (s *Apps) Right(p model.Party) *model.Contract {
	if !s.providers.Has(p) {
		return s.others[p]
	}
	return s.rights[s.providers.Index(p)]
}

// grant gives p the right that c is.
func (s *Apps) grant(p model.Party, c *model.Contract) {
	s.granted[p] = append(s.granted[p], grantedRight{c, s.Clock.RecordTime, math.MaxInt64})
	s.set(p, c)
}

// revoke takes the right that c is from p. It may have another one.
func (s *Apps) revoke(p model.Party, c *model.Contract) {
	s.set(p, nil)
	for i := range s.granted[p] {
		switch g := &s.granted[p][i]; {
		case g.contract == c:
			g.until = s.Clock.RecordTime
		case g.until == math.MaxInt64:
			s.set(p, g.contract)
		}
	}
}

// set sets what Right returns.
func (s *Apps) set(p model.Party, c *model.Contract) {
	switch {
	case s.providers.Has(p):
		s.rights[s.providers.Index(p)] = c
	case c == nil:
		delete(s.others, p)
	default:
		s.others[p] = c
	}
}

// weightAt is how much the activity of p counted at a record time, 0 if p was no featured app: of
// several rights the largest weight, which is 1 where the right names none.
func (s *Apps) weightAt(p model.Party, t int64) (weight model.Decimal) {
	for _, g := range s.granted[p] {
		if g.from <= t && t < g.until {
			weight = max(weight, cmp.Or(g.contract.Payload.(model.FeaturedAppRight).Weight, model.One))
		}
	}
	return weight
}

var (
	FeatureShape      = model.NewShape("provider")
	FeatureDoneShape  = model.NewShape("featuredAppRightCid")
	MarkShape         = model.NewShape("beneficiaries")
	MarkDoneShape     = model.NewShape("activityMarkerCids")
	convertShape      = model.NewShape("markerCids", "openMiningRoundCid")
	convertDoneShape  = model.NewShape("appRewardCouponCids")
	withdrawAppShape  = model.NewShape("reason")
	convertAtMost     = 7
	markersPerConvert = 6
)

// featureApp makes p a featured app.
func (x *Apps) featureApp(p model.Party) {
	if x.Right(p) != nil { // a command was faster
		return
	}
	a := x.Tx.Arena()
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_DevNet_FeatureApp", a.Record(FeatureShape, model.PartyValue(p)), p)
	c := x.NewRight(p)
	x.grant(p, c)
	x.Tx.Finish(at, a.Record(FeatureDoneShape, model.ContractID(c.Number)))
}

// NewRight creates a featured app right of p.
func (x *Apps) NewRight(p model.Party) *model.Contract {
	right := model.FeaturedAppRight{Provider: p}
	if x.Tx.Version() > 0 {
		right.Weight = model.One
	}
	return x.Tx.Create(model.FeaturedAppRightTemplate, right)
}

// endApp ends the right of p: the governance party withdraws it, or the app gives it up.
// Some time later the app is featured again, but for the last one that ever was.
func (x *Apps) endApp(p model.Party, review int64) {
	c := x.Right(p)
	if c == nil {
		return
	}
	x.revoke(p, c)
	if review%2 == 0 {
		at := x.Tx.Consume(c, "FeaturedAppRight_Withdraw", x.Tx.Arena().Record(withdrawAppShape, model.Text("under review")), model.Dso)
		x.Tx.Finish(at, model.Enum("FeaturedAppRight_WithdrawResult"))
	} else {
		at := x.Tx.Consume(c, "FeaturedAppRight_Cancel", x.Tx.Arena().Record(model.EmptyRecordShape), p)
		x.Tx.Finish(at, model.Enum("FeaturedAppRight_CancelResult"))
	}
	if p != x.Names.Providers.At(x.Names.Providers.Len()-2) {
		x.Clock.expireAt(x.Clock.RecordTime+5*x.Clock.tick, func() { x.featureApp(p) })
	}
}

// markActivity has a featured app record activity that was no coin transfer.
func (x *Apps) markActivity() bool {
	p := x.Names.Providers.Of(x.Random)
	right := x.Right(p)
	if right == nil || x.users.isManaged(p) {
		return false
	}
	a := x.Tx.Arena()
	markers := []model.ActivityMarker{{Provider: p, Beneficiary: p, Weight: model.One}}
	if x.Random.Percent(30) {
		markers[0].Weight = model.One * 6 / 10
		markers = append(markers, model.ActivityMarker{Provider: p, Beneficiary: x.Names.Validators.Of(x.Random), Weight: model.One * 4 / 10})
	}
	beneficiaries := model.ListOf(a, markers, func(m model.ActivityMarker) model.Value {
		return a.Record(appBeneficiaryShape, model.PartyValue(m.Beneficiary), model.Numeric(m.Weight))
	})
	at := x.Tx.Exercise(right, "FeaturedAppRight_CreateActivityMarker", a.Record(MarkShape, beneficiaries), p)
	x.Tx.Through(at, model.FeaturedAppRightInterface)
	for _, m := range markers {
		x.rounds.markers = append(x.rounds.markers, x.Tx.Create(model.ActivityMarkerTemplate, m))
	}
	x.Tx.Finish(at, a.Record(MarkDoneShape, x.Tx.IDs(x.rounds.markers[len(x.rounds.markers)-len(markers):]...)))
	x.Tx.Provider = p
	return true
}

// convertMarkers turns markers into app reward coupons of the open round.
func (x *Apps) convertMarkers() bool {
	if len(x.rounds.markers) < markersPerConvert || x.rewards.RewardsByTraffic() {
		return false
	}
	a, r := x.Tx.Arena(), x.rounds.OpenRound()
	n := min(convertAtMost, len(x.rounds.markers))
	markers := x.rounds.markers[:n:n]
	x.rounds.markers = x.rounds.markers[n:]
	coupons := make([]*model.Contract, n)
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_ConvertFeaturedAppActivityMarkers",
		a.Record(convertShape, x.Tx.IDs(markers...), model.ContractID(r.Contract.Number)), model.Dso)
	for i, m := range markers {
		p := m.Payload.(model.ActivityMarker)
		x.Tx.Archive(m)
		amount := model.ExtraRewardUSD.Over(r.Price).Times(p.Weight)
		coupons[i] = x.rounds.addCoupon(r, model.AppRewardTemplate,
			model.AppReward{Provider: p.Provider, Featured: true, Amount: amount, Round: r.Number, Beneficiary: p.Beneficiary})
	}
	x.Tx.Finish(at, a.Record(convertDoneShape, x.Tx.IDs(coupons...)))
	return true
}
