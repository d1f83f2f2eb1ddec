package state

import (
	"context"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

type roundsAnswer struct {
	Issuing map[string]query.ContractState `json:"issuing_mining_rounds"`
	Open    map[string]query.ContractState `json:"open_mining_rounds"`
	TTL     int64                          `json:"time_to_live_in_microseconds"`
}

// rounds serves mining rounds.
type rounds struct {
	sets   *contractSets
	naming query.Naming
}

// openAndIssuing serves the rounds in which coins can be used and minted, without
// those that the caller has. A cached id that the answer lacks is gone.
func (m *rounds) openAndIssuing(ctx context.Context, r *query.Request) error {
	p := r.Body()
	haveOpen, haveIssuing := p.RequiredTexts("cached_open_mining_round_contract_ids"), p.RequiredTexts("cached_issuing_round_contract_ids")
	if err := p.Err(); err != nil {
		return err
	}
	open, err := m.sets.get(ctx, template.OpenMiningRound)
	if err != nil {
		return err
	}
	issuing, err := m.sets.get(ctx, template.IssuingMiningRound)
	if err != nil {
		return err
	}
	ttl, err := timeToLive(open)
	if err != nil {
		return err
	}
	return r.JSON(roundsAnswer{Issuing: cachedRounds(issuing, haveIssuing), Open: cachedRounds(open, haveOpen), TTL: ttl})
}

func cachedRounds(rounds []contract, have []string) map[string]query.ContractState {
	answer := make(map[string]query.ContractState, len(rounds))
	for i := range rounds {
		id := rounds[i].Event.ContractID
		answer[id] = rounds[i].unlessCached(slices.Contains(have, id))
	}
	return answer
}

// longestTTL is the most time that rounds may be cached, in microseconds.
const longestTTL = 30 * 1e6

// timeToLive is how long the rounds may be cached, in microseconds: longestTTL, or the
// shortest tick of the open rounds if that is shorter, as rounds come and go by ticks.
func timeToLive(open []contract) (int64, error) {
	ttl := int64(longestTTL)
	for i := range open {
		var round struct {
			Tick struct {
				Microseconds string `json:"microseconds"`
			} `json:"tickDuration"`
		}
		if err := open[i].decode(&round); err != nil {
			return 0, err
		}
		tick, err := strconv.ParseInt(round.Tick.Microseconds, 10, 64)
		if err == nil && tick > 0 && tick < ttl {
			ttl = tick
		}
	}
	return ttl, nil
}

// roundNumber reads the round that a contract is of.
func (c *contract) roundNumber() (int64, error) {
	var payload struct {
		Round roundRef `json:"round"`
	}
	if err := c.decode(&payload); err != nil {
		return 0, err
	}
	return payload.Round.number()
}

// roundRef is a round in compact JSON.
type roundRef struct {
	Number string `json:"number"`
}

func (r roundRef) number() (int64, error) { return strconv.ParseInt(r.Number, 10, 64) }

// closed serves rounds that are over, by ascending number.
func (m *rounds) closed(ctx context.Context, r *query.Request) error {
	list, err := m.sets.get(ctx, template.ClosedMiningRound)
	if err != nil {
		return err
	}
	type numbered struct {
		number int64
		answer *query.ContractView
	}
	rounds := make([]numbered, len(list))
	for i := range list {
		number, err := list[i].roundNumber()
		if err != nil {
			return err
		}
		rounds[i] = numbered{number, list[i].answer()}
	}
	slices.SortStableFunc(rounds, func(a, b numbered) int { return int(min(max(a.number-b.number, -1), 1)) })
	answers := make([]*query.ContractView, len(rounds))
	for i := range rounds {
		answers[i] = rounds[i].answer
	}
	return r.JSON(map[string]any{"rounds": answers})
}

// over reports whether a round is no longer open: all that are have higher numbers.
func (m *rounds) over(ctx context.Context, number int64) (bool, error) {
	open, err := m.sets.get(ctx, template.OpenMiningRound)
	if err != nil || len(open) == 0 {
		return false, err
	}
	for i := range open {
		n, err := open[i].roundNumber()
		if err != nil || n <= number {
			return false, err
		}
	}
	return true, nil
}
