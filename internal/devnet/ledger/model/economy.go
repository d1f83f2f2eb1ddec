package model

const (
	TrafficPrice     = 60 * One // USD per 10^6 bytes
	MinTopUp         = 200_000  // bytes
	CreateFeeUSD     = 3 * One / 100
	HoldingFeeUSD    = Decimal(190259) // 0.0000190259
	FirstPrice       = 16 * One / 100  // USD per coin
	ExtraRewardUSD   = One
	IssuancePerYear  = 52_560_000 * One
	ValidatorShare   = One * 5 / 100
	AppShare         = One * 62 / 100
	FeaturedAppCap   = 100 * One
	UnfeaturedAppCap = 6 * One / 10
	ValidatorCap     = One / 5
	LivenessCapUSD   = 285 * One / 100
	SvRewardWeight   = 10_000
)

// FundShare is the part of what a round issues that goes to the development fund.
const FundShare = One / 20

const EntryFeeUSD = One

const PreapprovalFeeUSD = 274 * One / 100_000 // per day

// ConfigStatePeriod is the time between two of them, µs.
const ConfigStatePeriod = 24 * 3600e6

const MaxInputs = 100

const UnclaimedBeforeMerge = 10

// PurchasesBeforeMerge is how many purchases of a node pile up.
const PurchasesBeforeMerge = 4

// RewardBatch is the number of allowances, or of batches, in a batch. It is small
// enough for trees of several levels.
const RewardBatch = 2

const RewardCouponMicros = 36 * 3600e6

var rewardConfigShape = NewShape("mintingVersion", "dryRunVersion", "batchSize", "rewardCouponTimeToLive", "appRewardCouponThreshold")

// AppIssuance is what is issued to apps in a round, which takes tick (µs).
func AppIssuance(tick int64) Decimal {
	roundsPerYear := Coins(365 * 24 * 3600).Over(Decimal(tick) * (One / 1e6))
	issued := IssuancePerYear.Over(roundsPerYear)
	return (issued - issued.Times(FundShare)).Times(AppShare)
}

// RewardThreshold is the least that an app is rewarded with, in USD, which some apps reach and some do
// not: a share of the issuance, where that is what apps have to divide, or what most of the traffic of
// an app is worth, where rounds are so long that there is more than that.
func RewardThreshold(tick int64) Decimal { return min(AppIssuance(tick).Times(FirstPrice)/8, 180*One) }

// rewardConfig has rewards by activity computed, and paid only if byTraffic is true. There are no
// dry runs.
func rewardConfig(a *Arena, tick int64, byTraffic bool) Value {
	minting := Enum("RewardVersion_FeaturedAppMarkers")
	if byTraffic {
		minting = Enum("RewardVersion_TrafficBasedAppRewards")
	}
	return a.Record(rewardConfigShape, minting, None(), Int64Value(RewardBatch),
		relTime(a, RewardCouponMicros), Numeric(RewardThreshold(tick)))
}
