package verify

import (
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/rewards"
)

// One megabyte is one coin in this round, and Zoe comes before adam in byte order alone.
func TestCompareRewards(t *testing.T) {
	one := decimal.FromInt(1)
	cfg := &rewards.Config{IssuedPerYear: decimal.FromInt(1_000_000_000), AppShare: one, Cap: one, TickMicros: 3600e6, CoinPrice: one, TrafficPrice: one, BatchSize: 2}
	weights := map[string]int64{"Zoe": 3_000_000, "adam": 1_000_000, "eve": 2_000_000}
	honest := []rewards.Allowance{{Provider: "Zoe", Amount: decimal.FromInt(3)}, {Provider: "adam", Amount: one}, {Provider: "eve", Amount: decimal.FromInt(2)}}
	byWords := []rewards.Allowance{honest[1], honest[2], honest[0]}
	less := slices.Clone(honest)
	less[2].Amount = one
	for _, c := range []struct {
		name       string
		root       []rewards.Allowance
		shown      []rewards.Allowance
		partly     bool
		dictionary int64
		want       []string
	}{
		{name: "all as computed", root: honest, shown: honest},
		{name: "in the order of a dictionary", root: byWords, shown: byWords, dictionary: 1},
		{name: "batches are still to come", root: honest, shown: honest[:1], partly: true},
		{name: "a batch is missing", root: honest, shown: honest[:2], want: []string{"round 7, party eve: reward of an app: expected 2.0000000000, found none"}},
		{name: "one gets less", root: honest, shown: less, want: []string{"round 7, party eve: reward of an app: expected 2.0000000000, found 1.0000000000"}},
		{name: "one is rewarded for nothing", root: honest, shown: append(honest[:3:3], rewards.Allowance{Provider: "mallory", Amount: one}),
			want: []string{"round 7, party mallory: reward of an app: expected none, found 1.0000000000"}},
		{name: "one is rewarded twice", root: honest, shown: append(honest[:3:3], honest[0]), want: []string{"round 7, party Zoe: a party is rewarded twice"}},
		{name: "another root", root: less, shown: honest, want: []string{"round 7: root of rewards: expected " + rewards.Root(honest, 2) + ", found " + rewards.Root(less, 2)}},
	} {
		r := &rewardCheck{check: NewCheck(Rewards, 0)}
		r.compare(&rewardTree{treeKey: treeKey{round: 7}, root: rewards.Root(c.root, 2)}, cfg, weights, c.shown, !c.partly)
		var got []string
		for _, f := range r.check.Findings {
			got = append(got, f.String())
		}
		if !slices.Equal(got, c.want) || r.check.Checked["rounds_in_dictionary_order"] != c.dictionary {
			t.Errorf("%s: %v, %v; want %v", c.name, got, r.check.Checked, c.want)
		}
	}
}
