package scanapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// roundTTL is how long clients may keep rounds, µs.
const roundTTL = 30e6

type roundsRequest struct {
	Open    []string `json:"cached_open_mining_round_contract_ids"`
	Issuing []string `json:"cached_issuing_round_contract_ids"`
}

func (s *stateServer) openAndIssuingRounds(_ *http.Request, q *roundsRequest) (any, error) {
	for name, ids := range map[string][]string{
		"cached_open_mining_round_contract_ids": q.Open, "cached_issuing_round_contract_ids": q.Issuing,
	} {
		if ids == nil {
			return nil, reply.BadRequest("%s is required", name)
		}
		if len(ids) > reply.MaxPage {
			return nil, reply.BadRequest("%s: at most %d, not %d", name, reply.MaxPage, len(ids))
		}
	}
	return map[string]any{
		"time_to_live_in_microseconds": int64(roundTTL),
		"open_mining_rounds":           s.rounds(model.OpenRoundTemplate, q.Open),
		"issuing_mining_rounds":        s.rounds(model.IssuingRoundTemplate, q.Issuing),
	}, nil
}

func (s *stateServer) rounds(t *model.Template, cached []string) map[string]PlacedContract {
	rounds := map[string]PlacedContract{}
	for _, c := range s.ledger.OfTemplate(t, nil) {
		rounds[ledger.ContractIDOf(s.ledger, c.Contract)] = placedUnlessCached(s.ledger, c, cached...)
	}
	return rounds
}

func (s *stateServer) closedRounds(_ *http.Request) (any, error) {
	closed := s.ledger.OfTemplate(model.ClosedRoundTemplate, nil)
	slices.SortFunc(closed, func(a, b ledger.ContractState) int {
		return cmp.Compare(a.Payload.(model.ClosedRound).Number, b.Payload.(model.ClosedRound).Number)
	})
	return map[string]any{"rounds": contractAnswers(s.ledger, closed)}, nil
}

// The four operations on rewards by activity.

func (s *stateServer) earliestRewards(_ *http.Request) (any, error) {
	s.ledger.Mu.Lock()
	round, ok := s.ledger.Executor.Rewards.EarliestRewards()
	s.ledger.Mu.Unlock()
	if !ok {
		return nil, reply.NotFound("No reward accounting data available yet")
	}
	return map[string]int64{"earliest_round": round}, nil
}

const (
	rewardsOK           = "Ok"
	rewardsUndetermined = "Undetermined"
	rewardsUnknown      = "CannotProvide"
)

// roundRewards returns the outcome of the round in the path, with a status other than
// Ok if there is none.
func (s *stateServer) roundRewards(r *http.Request) (round int64, status string, t sim.RewardTotals, err error) {
	round, err = strconv.ParseInt(r.PathValue("round"), 10, 64)
	if err != nil || round < 0 {
		return 0, "", t, reply.BadRequest("round_number: %q is not a round", r.PathValue("round"))
	}
	s.ledger.Mu.Lock()
	defer s.ledger.Mu.Unlock()
	x := s.ledger.Executor
	if !x.Rounds.RoundOver(round) {
		return round, rewardsUndetermined, t, nil
	}
	if earliest, ok := x.Rewards.EarliestRewards(); !ok || round < earliest || !x.Rewards.ByRound[round].Rewarded {
		return round, rewardsUnknown, t, nil
	}
	return round, rewardsOK, x.Rewards.RewardsOf(round), nil
}

func (s *stateServer) activityTotals(r *http.Request) (any, error) {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return nil, err
	}
	if status != rewardsOK {
		return map[string]string{"status": status}, nil
	}
	return map[string]any{
		"status": status, "round_number": round,
		"total_app_activity_weight": t.Weight, "activity_records_count": t.Records, "active_parties_count": t.Parties,
		"rewarded_app_provider_parties_count": len(t.Allowances),
		"total_app_reward_minting_allowance":  t.Minting.String(),
		"total_app_reward_thresholded":        t.Thresholded.String(),
		"total_app_reward_unclaimed":          t.Unclaimed.String(),
	}, nil
}

func (s *stateServer) rewardRoot(r *http.Request) (any, error) {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return nil, err
	}
	if status != rewardsOK {
		return map[string]string{"status": status}, nil
	}
	return map[string]any{"status": status, "round_number": round, "root_hash": sim.NewRewardTree(t.Allowances).Root}, nil
}

func (s *stateServer) rewardBatch(r *http.Request) (any, error) {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return nil, err
	}
	hash := r.PathValue("hash")
	var batch sim.RewardNode
	ok := status == rewardsOK
	if ok {
		batch, ok = sim.NewRewardTree(t.Allowances).Batches[hash]
	}
	if !ok {
		return nil, reply.NotFound("No batch %s in round %d", hash, round)
	}
	if batch.Children != nil {
		return map[string]any{"batch_type": "BatchOfBatches", "child_hashes": batch.Children}, nil
	}
	allowances := make([]map[string]string, len(batch.Allowances))
	for i, a := range batch.Allowances {
		allowances[i] = map[string]string{"provider": a.Provider, "amount": a.Amount.String()}
	}
	return map[string]any{"batch_type": "BatchOfMintingAllowances", "minting_allowances": allowances}, nil
}
