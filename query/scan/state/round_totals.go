package state

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
)

// roundRange reads the rounds of a request for totals, which must all be aggregated.
func (a *aggregates) roundRange(ctx context.Context, r *query.Request, most int64) (rounds closedRounds, first, last int64, err error) {
	p := r.Body()
	first, last = p.Int64("start_round"), p.Int64("end_round")
	switch {
	case p.Err() != nil:
	case first < 0:
		p.Fail("start_round must not be negative.")
	case last < first:
		p.Fail("end_round must not be before start_round.")
	case last-first >= most:
		p.Fail("These are more than %d rounds.", most)
	}
	if err := p.Err(); err != nil {
		return rounds, first, last, err
	}
	rounds, ok, err := a.rounds.get(ctx)
	switch {
	case err != nil:
		return rounds, first, last, err
	case !ok:
		return rounds, first, last, errNoRounds()
	case first < rounds.first || last > rounds.last:
		return rounds, first, last, query.Errorf(query.Invalid, "Rounds %d to %d are aggregated.", rounds.first, rounds.last)
	}
	return rounds, first, last, nil
}

// totals serves what all parties have in rounds.
func (a *aggregates) totals(ctx context.Context, r *query.Request) error {
	rounds, first, last, err := a.roundRange(ctx, r, maxTotalRounds)
	if err != nil {
		return err
	}
	sums, err := a.source.RoundSums(ctx, rounds.through, "", first, last)
	if err != nil {
		return reading(err)
	}
	var sum history.RoundSum
	entries := make([]map[string]any, 0, last-first+1)
	for round := first - 1; round <= last; round++ {
		one := history.RoundSum{Round: round}
		if len(sums) > 0 && sums[0].Round == round {
			one, sums = sums[0], sums[1:]
		}
		if sum = sum.Plus(one); round < first {
			continue
		}
		entry := map[string]any{
			"closed_round": round, "closed_round_effective_at": shortTime(rounds.closed[round]),
			r.Naming(a.naming).Member("total_coin_balance"): sum.Balance(round),
		}
		addRewards(entry, "", &one)
		addRewards(entry, "cumulative_", &sum)
		addChanges(entry, "", &one)
		addChanges(entry, "cumulative_", &sum)
		entries = append(entries, entry)
	}
	return r.JSON(map[string]any{"entries": entries})
}

func addRewards(entry map[string]any, prefix string, s *history.RoundSum) {
	entry[prefix+"app_rewards"], entry[prefix+"validator_rewards"] = s.AppRewards, s.ValidatorRewards
}

func addChanges(entry map[string]any, prefix string, s *history.RoundSum) {
	entry[prefix+"change_to_initial_amount_as_of_round_zero"], entry[prefix+"change_to_holding_fees_rate"] = s.Initial, s.Rate
}

func addTraffic(entry map[string]any, prefix string, s *history.RoundSum) {
	entry[prefix+"traffic_purchased"], entry[prefix+"traffic_purchased_cc_spent"] = s.TrafficBytes, s.TrafficSpent
	entry[prefix+"traffic_num_purchases"] = s.TrafficPurchases
}

// partyTotals serves what each party has in rounds in which it has something.
func (a *aggregates) partyTotals(ctx context.Context, r *query.Request) error {
	rounds, first, last, err := a.roundRange(ctx, r, maxPartyRounds)
	if err != nil {
		return err
	}
	sums, err := a.source.RoundPartySums(ctx, rounds.through, first, last, maxPartyTotals+1)
	if err != nil {
		return reading(err)
	}
	if len(sums) > maxPartyTotals {
		return query.Errorf(query.Invalid, "These are more than %d entries: ask for fewer rounds.", maxPartyTotals)
	}
	type total struct{ one, sum history.RoundSum }
	list := make([]total, 0, len(sums))
	var sum history.RoundSum
	for _, one := range sums { // by party
		if one.Party != sum.Party {
			sum = history.RoundSum{}
		}
		if sum = sum.Plus(one); one.Round >= first {
			list = append(list, total{one, sum})
		}
	}
	slices.SortFunc(list, func(x, y total) int {
		return cmp.Or(cmp.Compare(x.one.Round, y.one.Round), strings.Compare(x.one.Party, y.one.Party))
	})
	entries := make([]map[string]any, len(list))
	for i := range list {
		t := &list[i]
		entries[i] = map[string]any{"closed_round": t.one.Round, "party": t.one.Party}
		addRewards(entries[i], "", &t.one)
		addRewards(entries[i], "cumulative_", &t.sum)
		addTraffic(entries[i], "", &t.one)
		addTraffic(entries[i], "cumulative_", &t.sum)
		addChanges(entries[i], "cumulative_", &t.sum)
	}
	return r.JSON(map[string]any{"entries": entries})
}
