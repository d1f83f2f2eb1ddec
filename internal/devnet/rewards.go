package devnet

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// roundRewards counts the activity of apps in one round: a hundred bytes a round, of
// which there is one per so many updates.
type roundRewards struct {
	price decimal // USD per coin
	// rewarded says that the round has a configuration for rewards by activity.
	rewarded bool
	activity []partyActivity // by first appearance
}

type partyActivity struct {
	provider party
	weight   int64
	records  int64
}

const ()

// countActivity adds the activity of a transaction to its round.
func (x *trafficRewards) countActivity(v *verdict) {
	if len(v.activity) == 0 {
		return
	}
	r := &x.byRound[v.activityOf]
	for _, a := range v.activity {
		i := slices.IndexFunc(r.activity, func(p partyActivity) bool { return p.provider == a.provider })
		if i < 0 {
			i = len(r.activity)
			r.activity = append(r.activity, partyActivity{provider: a.provider})
		}
		r.activity[i].weight += a.weight
		r.activity[i].records++
	}
}

// earliestRewards is the first round all of whose activity is known; false if it is not
// over yet. The round in which recording began is not complete.
func (x *trafficRewards) earliestRewards() (int64, bool) {
	first := slices.IndexFunc(x.byRound, func(r roundRewards) bool { return len(r.activity) > 0 })
	if first < 0 {
		return 0, false
	}
	return int64(first + 1), x.rounds.roundOver(int64(first + 1))
}

// roundOver reports whether a round is not open any more.
func (x *rounds) roundOver(number int64) bool {
	return len(x.open) > 0 && number < x.open[0].number
}

// allowance is what an app may mint for a round.
type allowance struct {
	provider string
	amount   decimal
}

// rewardTotals is the outcome of a round.
type rewardTotals struct {
	weight, records, parties        int64
	allowances                      []allowance // by party
	minting, thresholded, unclaimed decimal
}

// rewardsOf computes what the apps may mint for a round:
//
//	issued     = issuance per year / rounds per year, less the share of the
//	             development fund, times the share of apps
//	per coupon = min(cap, issued / coupons), coupons = megabytes × price of traffic
//	of an app  = megabytes × price of traffic × per coupon, unless below the threshold
//
// with each operation rounded half even to ten digits, for which reason what stays
// below the threshold may come out a little below 0.
func (x *trafficRewards) rewardsOf(number int64) rewardTotals {
	r := &x.byRound[number]
	var t rewardTotals
	for _, a := range r.activity {
		t.weight, t.records, t.parties = t.weight+a.weight, t.records+a.records, t.parties+1
	}
	issued := appIssuance(x.clock.tick)
	perMegabyte := trafficPrice.over(r.price)
	coupons := megabytes(t.weight).times(perMegabyte)
	perCoupon := featuredAppCap
	if coupons > 0 {
		perCoupon = min(perCoupon, issued.over(coupons))
	}
	t.unclaimed = max(0, issued-perCoupon.times(coupons))
	rate, threshold := perMegabyte.times(perCoupon), rewardThreshold(x.clock.tick).over(r.price)
	for _, a := range r.activity {
		if amount := megabytes(a.weight).times(rate); amount >= threshold {
			t.allowances = append(t.allowances, allowance{x.names.name(a.provider), amount})
			t.minting += amount
		}
	}
	t.thresholded = issued - t.unclaimed - t.minting
	slices.SortFunc(t.allowances, func(a, b allowance) int { return strings.Compare(a.provider, b.provider) })
	return t
}

// megabytes converts bytes to units of 10^6.
func megabytes(bytes int64) decimal { return decimal(bytes) * (one / 1e6) }

// rewardTree is the Merkle tree over allowances. Batches are found by their hash.
type rewardTree struct {
	root    string
	batches map[string]rewardNode
}

// rewardNode is a batch: of batches if children is not nil, else of allowances.
type rewardNode struct {
	children   []string
	allowances []allowance
}

func newRewardTree(all []allowance) *rewardTree {
	t := &rewardTree{batches: map[string]rewardNode{}}
	level := []string{}
	for first := 0; first == 0 || first < len(all); first += rewardBatch {
		part := all[first:min(len(all), first+rewardBatch)]
		hashes := make([]string, len(part))
		for i, a := range part {
			hashes[i] = hashList(hashText(a.provider), hashText(a.amount.String()))
		}
		h := hashVariant("BatchOfMintingAllowances", hashList(hashes...))
		t.batches[h] = rewardNode{allowances: part}
		level = append(level, h)
	}
	for len(level) > 1 {
		var above []string
		for part := range slices.Chunk(level, rewardBatch) {
			h := hashVariant("BatchOfBatches", hashList(part...))
			t.batches[h] = rewardNode{children: part}
			above = append(above, h)
		}
		level = above
	}
	t.root = level[0]
	return t
}

// The contract code hashes texts as they are, and what consists of hashes as the text
// of its parts with bars in between.

func hashText(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func hashList(hashes ...string) string {
	return hashText(strings.Join(append([]string{strconv.Itoa(len(hashes))}, hashes...), "|"))
}

func hashVariant(tag string, fields ...string) string {
	return hashText(strings.Join(append([]string{tag, strconv.Itoa(len(fields))}, fields...), "|"))
}
