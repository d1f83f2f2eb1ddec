package history

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var (
	//go:embed sql/round_sums.sql
	roundSumsQuery string
	//go:embed sql/round_party_sums.sql
	roundPartySumsQuery string
	//go:embed sql/round_leaders.sql
	roundLeadersQuery string
)

// Limits of a query for rounds: it goes through all of them from the first.
const (
	roundsTime   = 10 * time.Second
	roundsMemory = 1 << 30
)

// ErrRoundsTooExpensive says that a request must be for less.
var ErrRoundsTooExpensive = errors.New("the rounds take too long to sum up")

// RoundSum is what one party, or all, have in a mining round or several.
type RoundSum struct {
	Round            int64           `column:"of_round"`
	Party            string          `column:"of_party,low"`
	AppRewards       decimal.Decimal `column:"app"`
	ValidatorRewards decimal.Decimal `column:"validator"`
	TrafficBytes     int64           `column:"bytes"`
	TrafficPurchases int64           `column:"purchases"`
	TrafficSpent     decimal.Decimal `column:"spent"`
	// Initial is the change of coins as of round 0, Rate that of their fees for a round: see table round_entries.
	Initial decimal.Decimal `column:"initial"`
	Rate    decimal.Decimal `column:"rate"`
	// LastPurchase is the last round in which traffic was bought; of RoundLeaders alone.
	LastPurchase int64 `column:"last_purchase"`
}

// Plus adds up what is in both; the round and the party are those of other.
func (s RoundSum) Plus(other RoundSum) RoundSum {
	other.AppRewards, other.ValidatorRewards = s.AppRewards.Plus(other.AppRewards), s.ValidatorRewards.Plus(other.ValidatorRewards)
	other.TrafficBytes, other.TrafficPurchases = s.TrafficBytes+other.TrafficBytes, s.TrafficPurchases+other.TrafficPurchases
	other.TrafficSpent = s.TrafficSpent.Plus(other.TrafficSpent)
	other.Initial, other.Rate = s.Initial.Plus(other.Initial), s.Rate.Plus(other.Rate)
	return other
}

// Balance is what coins are worth at the end of a round, if the sum is of all rounds up to it: their fees for each
// round are taken off.
func (s RoundSum) Balance(round int64) decimal.Decimal {
	balance := s.Initial.Minus(s.Rate.TimesInt(round + 1))
	if balance.Sign() < 0 {
		return decimal.Decimal{}
	}
	return balance
}

// Rounds reads what parties have in mining rounds, of one stream. A position is MovementsWatermark at most: nothing
// behind it counts. It is safe for concurrent use.
type Rounds struct {
	db     *store.DB
	stream string
}

// Rounds returns a reader of what parties have in mining rounds, which is derived with movements.
func (r *Movements) Rounds() *Rounds { return &Rounds{r.db, r.stream} }

// RoundSums returns what all parties have, or the one that is named, by round, ascending: from first to last, both
// inclusive, and before those of all earlier ones together, under the number first-1. Rounds in which there is nothing are
// left out.
func (r *Rounds) RoundSums(ctx context.Context, through schemas.Position, party string, first, last int64) ([]RoundSum, error) {
	return r.sums(ctx, roundSumsQuery, through, store.Params{"first": store.Int(first), "last": store.Int(last), "party": store.Text(party)})
}

// RoundPartySums is RoundSums for each party that has something in a round from first to last, ascending by party and
// round; at most limit rows.
func (r *Rounds) RoundPartySums(ctx context.Context, through schemas.Position, first, last int64, limit int) ([]RoundSum, error) {
	return r.sums(ctx, roundPartySumsQuery, through, store.Params{"first": store.Int(first), "last": store.Int(last), "limit": store.Int(int64(limit))})
}

// What RoundLeaders compares.
const (
	ByAppRewards       = "app_rewards"
	ByValidatorRewards = "validator_rewards"
	ByTraffic          = "traffic"
)

// RoundLeaders returns the parties with most of something up to a round, which is more than nothing, descending by that
// and then by party.
func (r *Rounds) RoundLeaders(ctx context.Context, through schemas.Position, by string, round int64, limit int) ([]RoundSum, error) {
	return r.sums(ctx, roundLeadersQuery, through, store.Params{"by": store.Text(by), "last": store.Int(round), "limit": store.Int(int64(limit))})
}

func (r *Rounds) sums(ctx context.Context, query string, through schemas.Position, params store.Params) (list []RoundSum, err error) {
	params["stream"], params["migration"], params["time"] = store.Text(r.stream), store.Int(through.MigrationID), store.Time(store.Clamp(through.RecordTime))
	block := store.NewRecords[RoundSum]()
	err = r.db.SelectWithin(ctx, query, params, roundsTime, roundsMemory, block, func() error {
		list = block.AppendTo(list)
		return nil
	})
	switch {
	case store.IsOverBudget(err):
		return nil, fmt.Errorf("%w: %w", ErrRoundsTooExpensive, err)
	case err != nil:
		return nil, fmt.Errorf("summing up mining rounds: %w", err)
	}
	return list, nil
}
