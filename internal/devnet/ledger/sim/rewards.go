package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// roundRewards counts the activity of apps in one round: a hundred bytes a round, of
// which there is one per so many updates.
type roundRewards struct {
	price model.Decimal // USD per coin
	// rewarded says that the round has a configuration for rewards by activity.
	Rewarded bool
	activity []partyActivity // by first appearance
}

type partyActivity struct {
	provider model.Party
	weight   int64
	records  int64
}

// countActivity adds the activity of a transaction to its round.
func (x *TrafficRewards) countActivity(v *Verdict) {
	if len(v.Activity) == 0 {
		return
	}
	r := &x.ByRound[v.ActivityOf]
	for _, a := range v.Activity {
		i := slices.IndexFunc(r.activity, func(p partyActivity) bool { return p.provider == a.Provider })
		if i < 0 {
			i = len(r.activity)
			r.activity = append(r.activity, partyActivity{provider: a.Provider})
		}
		r.activity[i].weight += a.Weight
		r.activity[i].records++
	}
}

// EarliestRewards is the first round all of whose activity is known; false if it is not
// over yet. The round in which recording began is not complete.
func (x *TrafficRewards) EarliestRewards() (int64, bool) {
	first := slices.IndexFunc(x.ByRound, func(r roundRewards) bool { return len(r.activity) > 0 })
	if first < 0 {
		return 0, false
	}
	return int64(first + 1), x.rounds.RoundOver(int64(first + 1))
}

// RoundOver reports whether a round is not open any more.
func (x *Rounds) RoundOver(number int64) bool {
	return len(x.open) > 0 && number < x.open[0].Number
}

// allowance is what an app may mint for a round.
type allowance struct {
	Provider string
	Amount   model.Decimal
}

// RewardTotals is the outcome of a round.
type RewardTotals struct {
	Weight, Records, Parties        int64
	Allowances                      []allowance // by party
	Minting, Thresholded, Unclaimed model.Decimal
}

// RewardsOf computes what the apps may mint for a round:
//
//	issued     = issuance per year / rounds per year, less the share of the
//	             development fund, times the share of apps
//	per coupon = min(issued, cap × coupons) × cap / (cap × coupons),
//	             coupons = megabytes × price of traffic
//	of an app  = megabytes × price of traffic × per coupon, unless below the threshold
//
// with each operation rounded half even to ten digits, for which reason what stays
// below the threshold may come out a little below 0. Only the last product is compared with the
// threshold as it is, and then rounded to the nearest, from the middle up.
func (x *TrafficRewards) RewardsOf(number int64) RewardTotals {
	r := &x.ByRound[number]
	var t RewardTotals
	for _, a := range r.activity {
		t.Weight, t.Records, t.Parties = t.Weight+a.weight, t.Records+a.records, t.Parties+1
	}
	issued := model.AppIssuance(x.Clock.tick)
	perMegabyte := model.TrafficPrice.Over(r.price)
	coupons := megabytes(t.Weight).Times(perMegabyte)
	perCoupon := model.FeaturedAppCap
	if most := perCoupon.Times(coupons); most > 0 {
		perCoupon = min(issued, most).Times(perCoupon).Over(most)
	}
	t.Unclaimed = max(0, issued-perCoupon.Times(coupons))
	rate, threshold := perMegabyte.Times(perCoupon), model.RewardThreshold(x.Clock.tick).Over(r.price)
	for _, a := range r.activity {
		if amount, ok := worth(a.weight, rate, threshold); ok {
			t.Allowances = append(t.Allowances, allowance{x.Names.Name(a.provider), amount})
			t.Minting += amount
		}
	}
	t.Thresholded = issued - t.Unclaimed - t.Minting
	slices.SortFunc(t.Allowances, func(a, b allowance) int { return strings.Compare(a.Provider, b.Provider) })
	return t
}

// worth is what so many bytes are worth at a rate per megabyte; ok is false below the threshold.
func worth(bytes int64, rate, threshold model.Decimal) (amount model.Decimal, ok bool) {
	const megabyte = 1_000_000
	exact := new(big.Int).Mul(big.NewInt(bytes), big.NewInt(int64(rate)))
	if exact.Cmp(new(big.Int).Mul(big.NewInt(int64(threshold)), big.NewInt(megabyte))) < 0 {
		return 0, false
	}
	exact.Add(exact, big.NewInt(megabyte/2))
	return model.Decimal(exact.Div(exact, big.NewInt(megabyte)).Int64()), true
}

// megabytes converts bytes to units of 10^6.
func megabytes(bytes int64) model.Decimal { return model.Decimal(bytes) * (model.One / 1e6) }

// rewardTree is the Merkle tree over allowances. Batches are found by their hash.
type rewardTree struct {
	Root    string
	Batches map[string]RewardNode
}

// RewardNode is a batch: of batches if children is not nil, else of allowances.
type RewardNode struct {
	Children   []string
	Allowances []allowance
}

// NewRewardTree builds the tree over the allowances, which are ordered by party.
func NewRewardTree(all []allowance) *rewardTree {
	t := &rewardTree{Batches: map[string]RewardNode{}}
	level := []string{}
	for first := 0; first == 0 || first < len(all); first += model.RewardBatch {
		part := all[first:min(len(all), first+model.RewardBatch)]
		hashes := make([]string, len(part))
		for i, a := range part {
			hashes[i] = hashList(HashText(a.Provider), HashText(a.Amount.Short()))
		}
		h := hashVariant("BatchOfMintingAllowances", hashList(hashes...))
		t.Batches[h] = RewardNode{Allowances: part}
		level = append(level, h)
	}
	for len(level) > 1 {
		var above []string
		for part := range slices.Chunk(level, model.RewardBatch) {
			h := hashVariant("BatchOfBatches", hashList(part...))
			t.Batches[h] = RewardNode{Children: part}
			above = append(above, h)
		}
		level = above
	}
	t.Root = level[0]
	return t
}

// The contract code hashes texts as they are, and what consists of hashes as the text
// of its parts with bars in between.

// HashText is the SHA-256 of a text, in hex.
func HashText(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func hashList(hashes ...string) string {
	return HashText(strings.Join(append([]string{strconv.Itoa(len(hashes))}, hashes...), "|"))
}

func hashVariant(tag string, fields ...string) string {
	return HashText(strings.Join(append([]string{tag, strconv.Itoa(len(fields))}, fields...), "|"))
}

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
		content = a.Variant("BatchOfBatches", model.ListOf(a, batch.Children, func(h string) model.Value {
			return a.Record(model.RewardHashShape, model.Text(h))
		}))
	} else {
		content = a.Variant("BatchOfMintingAllowances", model.ListOf(a, batch.Allowances, func(m allowance) model.Value {
			return a.Record(model.MintingAllowanceShape, model.PartyValue(x.providerOf(m)), model.Numeric(m.Amount))
		}))
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
		x.Tx.fail(fmt.Errorf("%s may mint %s but is not a party", m.Provider, m.Amount))
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
	left := slices.DeleteFunc(coupons, func(c *model.Contract) bool { return !c.Active() })
	if len(left) == 0 {
		return
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_ClaimExpiredRewardsV2", a.Record(model.ClaimExpiredV2Shape, x.Tx.IDs(left...), a.List()), model.Dso)
	var worth model.Decimal
	for _, c := range left {
		worth += c.Payload.(model.CouponV2).Amount
		x.Tx.Archive(c)
	}
	x.rounds.addUnclaimed(worth)
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}
