package devnet

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// roundTotals is the answer on the activity of a round.
type roundTotals struct {
	Status      string `json:"status"`
	Round       int64  `json:"round_number"`
	Weight      int64  `json:"total_app_activity_weight"`
	Parties     int64  `json:"active_parties_count"`
	Records     int64  `json:"activity_records_count"`
	Rewarded    int64  `json:"rewarded_app_provider_parties_count"`
	Minting     string `json:"total_app_reward_minting_allowance"`
	Thresholded string `json:"total_app_reward_thresholded"`
	Unclaimed   string `json:"total_app_reward_unclaimed"`
}

const rewardsPath = "/v0/internal/reward-accounting-process/rounds/"

// TestRewardsFollowFromActivity adds up what the events say about the activity of apps
// and walks the tree of allowances of every round from its root.
func TestRewardsFollowFromActivity(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 3000, Seed: 38, SkipCompact: true})
	weights, records := map[int64]map[string]int64{}, map[int64]int64{}
	for _, e := range c.allEvents("protobuf_json", 1000) {
		var a struct {
			Round   int64 `json:"round_number"`
			Records []struct {
				Party  string `json:"party"`
				Weight int64  `json:"weight"`
			} `json:"records"`
		}
		if e.AppActivity == nil {
			continue
		}
		if err := json.Unmarshal(e.AppActivity, &a); err != nil {
			t.Fatal(err)
		}
		if weights[a.Round] == nil {
			weights[a.Round] = map[string]int64{}
		}
		for _, r := range a.Records {
			weights[a.Round][r.Party] += r.Weight
			records[a.Round]++
		}
	}
	var earliest struct {
		Round int64 `json:"earliest_round"`
	}
	c.ask("GET", rewardsPath+"earliest-available", "", &earliest)
	var totals roundTotals
	c.ask("GET", rewardsPath+fmt.Sprint(earliest.Round-1)+"/activity-totals", "", &totals)
	if totals.Status != "CannotProvide" {
		t.Errorf("the round before the earliest is %s", totals.Status)
	}
	deepest, thresholded, rewarded, round := 0, 0, 0, earliest.Round
	for ; ; round++ {
		totals = roundTotals{}
		c.ask("GET", rewardsPath+fmt.Sprint(round)+"/activity-totals", "", &totals)
		if totals.Status == "Undetermined" {
			break
		}
		if totals.Status == "CannotProvide" && rewarded == 0 {
			continue // rewards by activity come later than records of it
		}
		rewarded++
		var weight int64
		for _, w := range weights[round] {
			weight += w
		}
		if totals.Status != "Ok" || totals.Round != round || totals.Weight != weight ||
			totals.Parties != int64(len(weights[round])) || totals.Records != records[round] {
			t.Fatalf("round %d is %+v, the events say %v in %d records", round, totals, weights[round], records[round])
		}
		var root struct {
			Hash string `json:"root_hash"`
		}
		c.ask("GET", rewardsPath+fmt.Sprint(round)+"/root-hash", "", &root)
		amounts, depth := map[string]string{}, 0
		walkRewards(t, c, round, root.Hash, amounts, 1, &depth)
		deepest = max(deepest, depth)
		if int64(len(amounts)) != totals.Rewarded {
			t.Errorf("round %d: the tree has %v, the totals are %+v", round, amounts, totals)
		}
		if totals.Rewarded < totals.Parties {
			thresholded++
		}
		compareAllowances(t, round, weights[round], amounts, totals)
	}
	if rewarded < 20 || deepest < 2 || thresholded == 0 {
		t.Errorf("%d rounds, trees of %d levels, %d rounds with apps below the threshold", rewarded, deepest, thresholded)
	}
}

// walkRewards collects the allowances below a batch and verifies its hash.
func walkRewards(t *testing.T, c client, round int64, hash string, amounts map[string]string, depth int, deepest *int) {
	t.Helper()
	*deepest = max(*deepest, depth)
	var batch struct {
		Type       string   `json:"batch_type"`
		Children   []string `json:"child_hashes"`
		Allowances []struct {
			Provider string `json:"provider"`
			Amount   string `json:"amount"`
		} `json:"minting_allowances"`
	}
	c.ask("GET", fmt.Sprintf("%s%d/batches/%s", rewardsPath, round, hash), "", &batch)
	parts := batch.Children
	for _, a := range batch.Allowances {
		amounts[a.Provider] = a.Amount
		parts = append(parts, sim.HashText("2|"+sim.HashText(a.Provider)+"|"+sim.HashText(mustDecimal(t, a.Amount).Short())))
	}
	list := sim.HashText(strings.Join(append([]string{fmt.Sprint(len(parts))}, parts...), "|"))
	if got := sim.HashText(batch.Type + "|1|" + list); got != hash {
		t.Errorf("batch %s of round %d hashes to %s", hash, round, got)
	}
	for _, child := range batch.Children {
		walkRewards(t, c, round, child, amounts, depth+1, deepest)
	}
}

// compareAllowances checks that all allowances follow from one rate per byte and that
// the sums of a round agree.
func compareAllowances(t *testing.T, round int64, weights map[string]int64, amounts map[string]string, totals roundTotals) {
	t.Helper()
	var sum, rate model.Decimal
	var of string
	for party, text := range amounts {
		amount := mustDecimal(t, text)
		sum += amount
		if of != "" {
			// amounts are to each other as the weights, but for the rounding of the
			// price of a megabyte and of the amount
			left := new(big.Int).Mul(big.NewInt(int64(amount)), big.NewInt(weights[of]))
			right := new(big.Int).Mul(big.NewInt(int64(rate)), big.NewInt(weights[party]))
			difference := new(big.Int).Sub(left, right)
			if difference.Abs(difference).Cmp(big.NewInt(weights[of]+weights[party])) > 0 {
				t.Errorf("round %d: %s gets %s for %d, %s gets %s for %d", round, party, text, weights[party], of, amounts[of], weights[of])
			}
		}
		of, rate = party, amount
	}
	if totals.Minting != sum.String() {
		t.Errorf("round %d: allowances add up to %s, the total is %s", round, sum, totals.Minting)
	}
	if mustDecimal(t, totals.Thresholded) < -100 || mustDecimal(t, totals.Unclaimed) < 0 {
		t.Errorf("round %d: totals are %+v", round, totals)
	}
}
