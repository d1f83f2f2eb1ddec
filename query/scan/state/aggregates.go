package state

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// aggregates serve what parties have in mining rounds, over all history.
type aggregates struct {
	rounds     *aggregatedRounds
	source     Source
	validators *validators
	naming     query.Naming
	maxPage    int
}

const (
	// maxTotalRounds and maxPartyRounds are the most rounds of a request, maxPartyTotals the most rows of an answer.
	maxTotalRounds = 200
	maxPartyRounds = 50
	maxPartyTotals = 100_000
)

// errRound answers for a round of which nothing is known yet.
func errRound(round int64) error {
	return query.Errorf(query.NotFound, "Data for round %d not yet computed", round)
}

// aggregated returns the rounds, of which a request names one.
func (a *aggregates) aggregated(ctx context.Context, round int64) (closedRounds, error) {
	rounds, ok, err := a.rounds.get(ctx)
	switch {
	case err != nil:
		return rounds, err
	case !ok:
		return rounds, errNoRounds()
	case round < rounds.first || round > rounds.last:
		return rounds, errRound(round)
	}
	return rounds, nil
}

// roundNumberParam reads a round of a query string.
func roundNumberParam(p *query.Params, name string) int64 {
	round := p.Int64(name)
	if round < 0 && p.Err() == nil {
		p.Fail("Query parameter %s must not be negative.", name)
	}
	return round
}

// reading maps errors of what is read of rounds.
func reading(err error) error {
	if errors.Is(err, history.ErrRoundsTooExpensive) {
		return &query.Error{Code: query.Unavailable, Msg: "The rounds take too long to sum up now.", Err: err}
	}
	return err
}

// span serves the first and the last aggregated round.
func (a *aggregates) span(ctx context.Context, r *query.Request) error {
	rounds, ok, err := a.rounds.get(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRounds()
	}
	return r.JSON(map[string]int64{"start": rounds.first, "end": rounds.last})
}

// latest serves the last aggregated round and when it was closed.
func (a *aggregates) latest(ctx context.Context, r *query.Request) error {
	rounds, ok, err := a.rounds.get(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRounds()
	}
	return r.JSON(map[string]any{"round": rounds.last, "effectiveAt": shortTime(rounds.closed[rounds.last])})
}

func shortTime(t schemas.Micros) string { return string(schemas.AppendShortTime(nil, t)) }

// collected serves the rewards of apps and validators of a round, or of all aggregated ones.
func (a *aggregates) collected(ctx context.Context, r *query.Request) error {
	p := r.Query()
	one, all := int64(0), !p.Has("round")
	if !all {
		one = roundNumberParam(p, "round")
	}
	if err := p.Err(); err != nil {
		return err
	}
	rounds, ok, err := a.rounds.get(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		return errNoRounds()
	case all:
		one = rounds.last
	case one < rounds.first || one > rounds.last:
		return errRound(one)
	}
	sums, err := a.source.RoundSums(ctx, rounds.through, "", one, one)
	if err != nil {
		return reading(err)
	}
	var amount decimal.Decimal
	for _, s := range sums {
		if all || s.Round == one {
			amount = amount.Plus(s.AppRewards).Plus(s.ValidatorRewards)
		}
	}
	return r.JSON(map[string]decimal.Decimal{"amount": amount})
}

// balance serves what coins are worth at the end of a round: those of the party that a parameter names, or of all.
func (a *aggregates) balance(party, member string) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Query()
		round, of := roundNumberParam(p, "asOfEndOfRound"), ""
		if party != "" {
			if of = p.Text(party); of == "" && p.Err() == nil {
				p.Fail("Query parameter %s must not be empty.", party)
			}
		}
		if err := p.Err(); err != nil {
			return err
		}
		rounds, err := a.aggregated(ctx, round)
		if err != nil {
			return err
		}
		sums, err := a.source.RoundSums(ctx, rounds.through, of, round+1, round)
		if err != nil {
			return reading(err)
		}
		return r.JSON(map[string]decimal.Decimal{member: sumOf(sums).Balance(round)})
	}
}

func sumOf(sums []history.RoundSum) (sum history.RoundSum) {
	for _, s := range sums {
		sum = sum.Plus(s)
	}
	return sum
}

// leaders serves the parties with most of something up to a round.
func (a *aggregates) leaders(by, member string, row func(*history.RoundSum) map[string]any) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Query()
		round, limit := roundNumberParam(p, "round"), p.Limit("limit", a.maxPage)
		if err := p.Err(); err != nil {
			return err
		}
		rounds, err := a.aggregated(ctx, round)
		if err != nil {
			return err
		}
		sums, err := a.source.RoundLeaders(ctx, rounds.through, by, round, limit)
		if err != nil {
			return reading(err)
		}
		list := make([]map[string]any, len(sums))
		for i := range sums {
			list[i] = row(&sums[i])
		}
		return r.JSON(map[string]any{member: list})
	}
}

// byApps, byValidators and byTraffic are the rows of leaders.
func byApps(s *history.RoundSum) map[string]any {
	return map[string]any{"provider": s.Party, "rewards": s.AppRewards}
}

func byValidators(s *history.RoundSum) map[string]any {
	return map[string]any{"provider": s.Party, "rewards": s.ValidatorRewards}
}

func byTraffic(s *history.RoundSum) map[string]any {
	return map[string]any{
		"validator": s.Party, "numPurchases": s.TrafficPurchases, "totalTrafficPurchased": s.TrafficBytes,
		"totalCcSpent": s.TrafficSpent, "lastPurchasedInRound": s.LastPurchase,
	}
}

// byFaucets serves the validators that collected in most rounds, by their present licenses.
func (a *aggregates) byFaucets(ctx context.Context, r *query.Request) error {
	p := r.Query()
	limit := p.Limit("limit", a.maxPage)
	if err := p.Err(); err != nil {
		return err
	}
	list, err := a.validators.allFaucets(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(x, y receivedFaucets) int {
		return cmp.Or(cmp.Compare(y.Collected, x.Collected), strings.Compare(y.Validator, x.Validator))
	})
	return r.JSON(map[string]any{"validatorsByReceivedFaucets": list[:min(limit, len(list))]})
}

// maxLicenses bounds the licenses that are read for a list; the network has hundreds.
const maxLicenses = 100_000

// allFaucets are of all validators that have collected; of several licenses of one the newest counts.
func (v *validators) allFaucets(ctx context.Context) ([]receivedFaucets, error) {
	q, _, err := v.contracts.of(ctx, template.ValidatorLicense)
	if err != nil {
		return nil, err
	}
	newest := make(map[string]receivedFaucets)
	q.Limit = v.maxPageSize
	for read := 0; ; {
		licenses, err := v.contracts.read(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range licenses {
			f, ok, err := licenses[i].faucets()
			if err != nil {
				return nil, err
			}
			if ok {
				newest[f.Validator] = f
			}
		}
		if read += len(licenses); len(licenses) < q.Limit {
			break
		}
		if read > maxLicenses {
			return nil, query.Errorf(query.Unavailable, "There are more licenses than are read for a list.")
		}
		last := &licenses[len(licenses)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
	list := make([]receivedFaucets, 0, len(newest))
	for _, f := range newest {
		list = append(list, f)
	}
	return list, nil
}
