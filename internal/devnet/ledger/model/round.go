package model

// Round is one mining round through all its states. What a contract of the round
// shows is set before that contract is created and never changed afterwards.
type Round struct {
	Number          int64
	Price           Decimal // USD per coin
	OpensAt         int64   // µs
	ClosesAt        int64
	IssuesAt        int64
	IssuingClosesAt int64

	// contract is the one that stands for the round's present state.
	Contract *Contract

	// coupons of the round in order of creation, and their totals by kind.
	Coupons                                []*Contract
	FeaturedTotal, UnfeaturedTotal         Decimal
	ValidatorTotal                         Decimal
	SvWeightTotal, LivenessTotal           int64
	PerFeaturedApp, PerUnfeaturedApp       Decimal
	PerValidator, PerSvWeight, PerLiveness Decimal
	Unclaimed, Fund                        Decimal // of the pools, when issuing starts
}

// Count adds a coupon to those of the round.
func (r *Round) Count(c *Contract) {
	r.Coupons = append(r.Coupons, c)
	switch p := c.Payload.(type) {
	case AppReward:
		if p.Featured {
			r.FeaturedTotal += p.Amount
		} else {
			r.UnfeaturedTotal += p.Amount
		}
	case ValidatorReward:
		r.ValidatorTotal += p.Amount
	case SvReward:
		r.SvWeightTotal += p.Weight
	case Liveness:
		r.LivenessTotal++
	}
}
