package devnet

// round is one mining round through all its states. What a contract of the round
// shows is set before that contract is created and never changed afterwards.
type round struct {
	number          int64
	price           decimal // USD per coin
	opensAt         int64   // µs
	closesAt        int64
	issuesAt        int64
	issuingClosesAt int64

	// contract is the one that stands for the round's present state.
	contract *contract

	// coupons of the round in order of creation, and their totals by kind.
	coupons                                []*contract
	featuredTotal, unfeaturedTotal         decimal
	validatorTotal                         decimal
	svWeightTotal, livenessTotal           int64
	perFeaturedApp, perUnfeaturedApp       decimal
	perValidator, perSvWeight, perLiveness decimal
	unclaimed, fund                        decimal // of the pools, when issuing starts
}
