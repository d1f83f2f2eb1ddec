package devnet

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// roundTTL is how long clients may keep rounds, µs.
const roundTTL = 30e6

func (s *stateServer) openAndIssuingRounds(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Open    []string `json:"cached_open_mining_round_contract_ids"`
		Issuing []string `json:"cached_issuing_round_contract_ids"`
	}
	if err := decode(r, &q); err != nil {
		return err
	}
	for name, ids := range map[string][]string{
		"cached_open_mining_round_contract_ids": q.Open, "cached_issuing_round_contract_ids": q.Issuing,
	} {
		if ids == nil {
			return badRequest("%s is required", name)
		}
		if len(ids) > maxPage {
			return badRequest("%s: at most %d, not %d", name, maxPage, len(ids))
		}
	}
	return sendState(w, map[string]any{
		"time_to_live_in_microseconds": int64(roundTTL),
		"open_mining_rounds":           s.rounds(openRoundTemplate, q.Open),
		"issuing_mining_rounds":        s.rounds(issuingRoundTemplate, q.Issuing),
	})
}

func (s *stateServer) rounds(t *template, cached []string) map[string]placedContract {
	rounds := map[string]placedContract{}
	for _, c := range s.ledger.ofTemplate(t, nil) {
		rounds[contractIDOf(s.ledger, c.contract)] = placedUnlessCached(s.ledger, c, cached...)
	}
	return rounds
}

func (s *stateServer) closedRounds(w http.ResponseWriter, _ *http.Request) error {
	closed := s.ledger.ofTemplate(closedRoundTemplate, nil)
	slices.SortFunc(closed, func(a, b contractState) int {
		return cmp.Compare(a.payload.(closedRound).number, b.payload.(closedRound).number)
	})
	return sendState(w, map[string]any{"rounds": contractAnswers(s.ledger, closed)})
}

// The four operations on rewards by activity.

func (s *stateServer) earliestRewards(w http.ResponseWriter, _ *http.Request) error {
	s.ledger.mu.Lock()
	round, ok := s.ledger.executor.rewards.earliestRewards()
	s.ledger.mu.Unlock()
	if !ok {
		return notFound("No reward accounting data available yet")
	}
	return sendState(w, map[string]int64{"earliest_round": round})
}

const (
	rewardsOK           = "Ok"
	rewardsUndetermined = "Undetermined"
	rewardsUnknown      = "CannotProvide"
)

// roundRewards returns the outcome of the round in the path, with a status other than
// Ok if there is none.
func (s *stateServer) roundRewards(r *http.Request) (round int64, status string, t rewardTotals, err error) {
	round, err = strconv.ParseInt(r.PathValue("round"), 10, 64)
	if err != nil || round < 0 {
		return 0, "", t, badRequest("round_number: %q is not a round", r.PathValue("round"))
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	x := s.ledger.executor
	if !x.rounds.roundOver(round) {
		return round, rewardsUndetermined, t, nil
	}
	if earliest, ok := x.rewards.earliestRewards(); !ok || round < earliest || !x.rewards.byRound[round].rewarded {
		return round, rewardsUnknown, t, nil
	}
	return round, rewardsOK, x.rewards.rewardsOf(round), nil
}

func (s *stateServer) activityTotals(w http.ResponseWriter, r *http.Request) error {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return err
	}
	if status != rewardsOK {
		return sendState(w, map[string]string{"status": status})
	}
	return sendState(w, map[string]any{
		"status": status, "round_number": round,
		"total_app_activity_weight": t.weight, "activity_records_count": t.records, "active_parties_count": t.parties,
		"rewarded_app_provider_parties_count": len(t.allowances),
		"total_app_reward_minting_allowance":  t.minting.String(),
		"total_app_reward_thresholded":        t.thresholded.String(),
		"total_app_reward_unclaimed":          t.unclaimed.String(),
	})
}

func (s *stateServer) rewardRoot(w http.ResponseWriter, r *http.Request) error {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return err
	}
	if status != rewardsOK {
		return sendState(w, map[string]string{"status": status})
	}
	return sendState(w, map[string]any{"status": status, "round_number": round, "root_hash": newRewardTree(t.allowances).root})
}

func (s *stateServer) rewardBatch(w http.ResponseWriter, r *http.Request) error {
	round, status, t, err := s.roundRewards(r)
	if err != nil {
		return err
	}
	hash := r.PathValue("hash")
	var batch rewardNode
	ok := status == rewardsOK
	if ok {
		batch, ok = newRewardTree(t.allowances).batches[hash]
	}
	if !ok {
		return notFound("No batch %s in round %d", hash, round)
	}
	if batch.children != nil {
		return sendState(w, map[string]any{"batch_type": "BatchOfBatches", "child_hashes": batch.children})
	}
	allowances := make([]map[string]string, len(batch.allowances))
	for i, a := range batch.allowances {
		allowances[i] = map[string]string{"provider": a.provider, "amount": a.amount.String()}
	}
	return sendState(w, map[string]any{"batch_type": "BatchOfMintingAllowances", "minting_allowances": allowances})
}
