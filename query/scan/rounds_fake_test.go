package scan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func (m *memory) MovementsWatermark(context.Context) (schemas.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark, m.fail
}

// sums adds up what is in rounds up to the last one, by a key.
func (m *memory) sums(through schemas.Position, last int64, key func(*history.RoundSum) (round int64, party string, ok bool)) ([]history.RoundSum, error) {
	defer m.mu.Unlock()
	if err := m.begin("rounds", through, 1); err != nil {
		return nil, err
	}
	var list []history.RoundSum
	for i := range m.inRounds {
		one := m.inRounds[i]
		round, party, ok := key(&one)
		if !ok || one.Round > last {
			continue
		}
		at := slices.IndexFunc(list, func(s history.RoundSum) bool { return s.Round == round && s.Party == party })
		if at < 0 {
			at, list = len(list), append(list, history.RoundSum{})
		}
		bought := list[at].LastPurchase
		if one.TrafficPurchases > 0 {
			bought = one.Round
		}
		list[at] = list[at].Plus(one)
		list[at].Round, list[at].Party, list[at].LastPurchase = round, party, bought
	}
	return list, nil
}

func (m *memory) RoundSums(_ context.Context, through schemas.Position, party string, first, last int64) ([]history.RoundSum, error) {
	list, err := m.sums(through, last, func(s *history.RoundSum) (int64, string, bool) {
		return max(s.Round, first-1), "", party == "" || s.Party == party
	})
	slices.SortFunc(list, func(a, b history.RoundSum) int { return cmp.Compare(a.Round, b.Round) })
	return list, err
}

func (m *memory) RoundPartySums(_ context.Context, through schemas.Position, first, last int64, limit int) ([]history.RoundSum, error) {
	list, err := m.sums(through, last, func(s *history.RoundSum) (int64, string, bool) {
		return max(s.Round, first-1), s.Party, slices.ContainsFunc(m.inRounds, func(o history.RoundSum) bool { return o.Party == s.Party && o.Round >= first && o.Round <= last })
	})
	slices.SortFunc(list, func(a, b history.RoundSum) int {
		return cmp.Or(strings.Compare(a.Party, b.Party), cmp.Compare(a.Round, b.Round))
	})
	return list[:min(limit, len(list))], err
}

func (m *memory) RoundLeaders(_ context.Context, through schemas.Position, by string, round int64, limit int) ([]history.RoundSum, error) {
	list, err := m.sums(through, round, func(s *history.RoundSum) (int64, string, bool) { return round, s.Party, true })
	compare := map[string]func(a, b *history.RoundSum) int{
		history.ByAppRewards:       func(a, b *history.RoundSum) int { return a.AppRewards.Cmp(b.AppRewards) },
		history.ByValidatorRewards: func(a, b *history.RoundSum) int { return a.ValidatorRewards.Cmp(b.ValidatorRewards) },
		history.ByTraffic:          func(a, b *history.RoundSum) int { return cmp.Compare(a.TrafficBytes, b.TrafficBytes) },
	}[by]
	list = slices.DeleteFunc(list, func(s history.RoundSum) bool { return compare(&s, new(history.RoundSum)) <= 0 })
	slices.SortFunc(list, func(a, b history.RoundSum) int { return cmp.Or(-compare(&a, &b), -strings.Compare(a.Party, b.Party)) })
	return list[:min(limit, len(list))], err
}
