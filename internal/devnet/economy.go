package devnet

const (
	trafficPrice     = 60 * one // USD per 10^6 bytes
	minTopUp         = 200_000  // bytes
	createFeeUSD     = 3 * one / 100
	holdingFeeUSD    = decimal(190259) // 0.0000190259
	firstPrice       = 16 * one / 100  // USD per coin
	extraRewardUSD   = one
	issuancePerYear  = 52_560_000 * one
	validatorShare   = one * 5 / 100
	appShare         = one * 62 / 100
	featuredAppCap   = 100 * one
	unfeaturedAppCap = 6 * one / 10
	validatorCap     = one / 5
	livenessCapUSD   = 285 * one / 100
	svRewardWeight   = 10_000
)

// fundShare is the part of what a round issues that goes to the development fund.
const fundShare = one / 20

const entryFeeUSD = one

const preapprovalFeeUSD = 274 * one / 100_000 // per day

// configStatePeriod is the time between two of them, µs.
const configStatePeriod = 24 * 3600e6

const maxInputs = 100

const unclaimedBeforeMerge = 10

// purchasesBeforeMerge is how many purchases of a node pile up.
const purchasesBeforeMerge = 4

// rewardBatch is the number of allowances, or of batches, in a batch. It is small
// enough for trees of several levels.
const rewardBatch = 2

const rewardCouponMicros = 36 * 3600e6

var rewardConfigShape = newShape("mintingVersion", "dryRunVersion", "batchSize", "rewardCouponTimeToLive", "appRewardCouponThreshold")

// appIssuance is what is issued to apps in a round, which takes tick (µs).
func appIssuance(tick int64) decimal {
	roundsPerYear := coins(365 * 24 * 3600).over(decimal(tick) * (one / 1e6))
	issued := issuancePerYear.over(roundsPerYear)
	return (issued - issued.times(fundShare)).times(appShare)
}

// rewardThreshold is the least that an app is rewarded with, in USD: a share of the
// issuance that some apps reach and some do not.
func rewardThreshold(tick int64) decimal { return appIssuance(tick).times(firstPrice) / 8 }

// rewardConfig has rewards by activity computed, and paid only if byTraffic is true.
func rewardConfig(a *arena, tick int64, byTraffic bool) value {
	minting, dryRun := enum("RewardVersion_FeaturedAppMarkers"), a.some(enum("RewardVersion_TrafficBasedAppRewards"))
	if byTraffic {
		minting, dryRun = enum("RewardVersion_TrafficBasedAppRewards"), none()
	}
	return a.record(rewardConfigShape, minting, dryRun, int64Value(rewardBatch),
		relTime(a, rewardCouponMicros), numeric(rewardThreshold(tick)))
}
