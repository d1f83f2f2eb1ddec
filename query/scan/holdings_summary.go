package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// openRounds is the template of open mining rounds, in one of its spellings.

// summaryPiece is how many contracts are read at once to be summed up.
const summaryPiece = 5000

// holdingsTotals sums up what a party owns.
type holdingsTotals struct {
	PartyID  string          `json:"party_id"`
	Unlocked decimal.Decimal `json:"total_unlocked_coin"`
	Locked   decimal.Decimal `json:"total_locked_coin"`
	Total    decimal.Decimal `json:"total_coin_holdings"`
	*feesTotals
}

// feesTotals is what only v0 tells.
type feesTotals struct {
	Unlocked  decimal.Decimal `json:"accumulated_holding_fees_unlocked"`
	Locked    decimal.Decimal `json:"accumulated_holding_fees_locked"`
	Total     decimal.Decimal `json:"accumulated_holding_fees_total"`
	Available decimal.Decimal `json:"total_available_coin"`
}

// add takes in a holding; fees are those up to the round asked for.
func (t *holdingsTotals) add(h *holding, fees decimal.Decimal) {
	t.Total = t.Total.Plus(h.initialAmount)
	if h.locked {
		t.Locked = t.Locked.Plus(h.initialAmount)
	} else {
		t.Unlocked = t.Unlocked.Plus(h.initialAmount)
	}
	if t.feesTotals == nil {
		return
	}
	f := t.feesTotals
	f.Total = f.Total.Plus(fees)
	if h.locked {
		f.Locked = f.Locked.Plus(fees)
	} else {
		f.Unlocked = f.Unlocked.Plus(fees)
	}
	f.Available = t.Unlocked.Minus(f.Unlocked)
}

type summaryAnswer struct {
	RecordTime  string            `json:"record_time"`
	MigrationID int64             `json:"migration_id"`
	AsOfRound   *int64            `json:"computed_as_of_round,omitempty"`
	Summaries   []*holdingsTotals `json:"summaries"`
}

// holdingsSummary serves sums over the coins that some parties own, by party; those without
// any are left out. withFees is the form of v0, which also tells the holding fees up to a
// round, by default the earliest one that is open.
func (a *activeSets) holdingsSummary(withFees bool) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		req := holdingsOf(p)
		answer := summaryAnswer{MigrationID: req.MigrationID, Summaries: []*holdingsTotals{}}
		round, given := int64(0), false
		if withFees {
			round, given = p.OptionalInt64("as_of_round")
			answer.AsOfRound = &round
		}
		if err := p.Err(); err != nil {
			return err
		}
		at, err := a.instantOf(ctx, &req)
		if err != nil {
			return err
		}
		if withFees && !given {
			if round, err = a.earliestOpenRound(ctx, req.MigrationID, at); err != nil {
				return err
			}
		}
		if ctx, err = r.Reserve(ctx, pages.RowsFactor*a.sizes.Of(summaryPiece)); err != nil {
			return err
		}
		totals, err := a.sumHoldings(ctx, &req, at, answer.AsOfRound)
		if err != nil {
			return err
		}
		for _, party := range slices.Sorted(maps.Keys(totals)) {
			answer.Summaries = append(answer.Summaries, totals[party])
		}
		answer.RecordTime = at.String()
		if req.Match != matchAtOrBefore {
			r.Immutable()
		}
		return r.JSON(answer)
	}
}

// sumHoldings reads all holdings of the request's owners, piece by piece; round is nil if
// fees are not asked for.
func (a *activeSets) sumHoldings(ctx context.Context, req *acsRequest, at schemas.Micros, round *int64) (map[string]*holdingsTotals, error) {
	totals := make(map[string]*holdingsTotals)
	err := a.eachActive(ctx, req.query(at), func(c *history.ActiveContract) error {
		h, err := a.holding(c)
		if _, wanted := slices.BinarySearch(req.Owners, h.owner); err != nil || !wanted {
			return err
		}
		t := totals[h.owner]
		if t == nil {
			t = &holdingsTotals{PartyID: h.owner}
			totals[h.owner] = t
		}
		if round == nil {
			t.add(&h, decimal.Decimal{})
			return nil
		}
		if t.feesTotals == nil {
			t.feesTotals = new(feesTotals)
		}
		t.add(&h, h.feesAt(*round))
		return nil
	})
	return totals, err
}

// eachActive calls visit for each contract that q selects, in order; q.Limit counts nothing.
func (a *activeSets) eachActive(ctx context.Context, q history.ActiveQuery, visit func(*history.ActiveContract) error) error {
	q.Limit = summaryPiece
	for {
		contracts, err := a.source.ActiveContracts(ctx, q)
		if err != nil {
			return err
		}
		for i := range contracts {
			if err := visit(&contracts[i]); err != nil {
				return err
			}
		}
		if len(contracts) < q.Limit {
			return nil
		}
		last := &contracts[len(contracts)-1].Event
		q = q.From(last.CreatedAt, last.ContractID, q.Limit)
	}
}

// earliestOpenRound returns the lowest number of the mining rounds open at an instant.
func (a *activeSets) earliestOpenRound(ctx context.Context, migrationID int64, at schemas.Micros) (int64, error) {
	earliest, found := int64(0), false
	q := history.ActiveQuery{MigrationID: migrationID, At: at, Templates: values.Spellings(template.OpenMiningRound)}
	err := a.eachActive(ctx, q, func(c *history.ActiveContract) error {
		var payload struct {
			Round struct {
				Number int64 `json:"number,string"`
			} `json:"round"`
		}
		text, err := a.compactArguments(c)
		if err == nil {
			err = json.Unmarshal(text, &payload)
		}
		if err != nil {
			return fmt.Errorf("reading open mining round %s: %w", c.Event.ContractID, err)
		}
		if n := payload.Round.Number; !found || n < earliest {
			earliest, found = n, true
		}
		return nil
	})
	if err == nil && !found {
		err = query.Errorf(query.NotFound, "No mining round is open at %s; name one as as_of_round.", at)
	}
	return earliest, err
}
