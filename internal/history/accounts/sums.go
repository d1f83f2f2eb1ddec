package accounts

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var (
	//go:embed sql/counterparties.sql
	counterpartiesQuery string
	//go:embed sql/rewards.sql
	rewardsQuery string
	//go:embed sql/reward_totals.sql
	rewardTotalsQuery string
	//go:embed sql/top_minters.sql
	topMintersQuery string
)

// Counterparty is whom a party exchanges an instrument with.
type Counterparty struct {
	Party    string          `column:"other,low"`
	Received decimal.Decimal `column:"received"`
	Paid     decimal.Decimal `column:"paid"`
	Updates  int64           `column:"updates"`
	Last     schemas.Micros  `column:"last"`
}

// Volume is what went to and fro.
func (c Counterparty) Volume() decimal.Decimal { return c.Received.Plus(c.Paid) }

// Counterparties returns those with whom an account exchanged most, behind one of an earlier page, nil for the first.
func (r *Reader) Counterparties(ctx context.Context, a Account, after *Counterparty, limit int) ([]Counterparty, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return nil, err
	}
	params["after"], params["after_volume"], params["limit"] = "", "0", store.Int(int64(limit))
	if after != nil {
		params["after"], params["after_volume"] = store.Text(after.Party), store.Text(after.Volume().String())
	}
	list, err := store.SelectAll(ctx, r.db, counterpartiesQuery, params, store.NewRecords[Counterparty]())
	if err != nil {
		return nil, fmt.Errorf("reading the counterparties of party %.80q: %w", a.Party, err)
	}
	return list, nil
}

// Minted is what a party minted by a class, in a round or altogether.
type Minted struct {
	Round  int64           `column:"round"`
	Class  string          `column:"class,low"`
	Amount decimal.Decimal `column:"minted"`
	Times  int64           `column:"times"`
}

// EndRound is behind the last round.
const EndRound = math.MaxInt64

// Rewards returns what an account minted by class in rounds before one, the latest first: at most limit rows, so
// that the last round may lack some.
func (r *Reader) Rewards(ctx context.Context, a Account, before int64, limit int) ([]Minted, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return nil, err
	}
	params["before_round"], params["limit"] = store.Int(before), store.Int(int64(limit))
	list, err := store.SelectAll(ctx, r.db, rewardsQuery, params, store.NewRecords[Minted]())
	if err != nil {
		return nil, fmt.Errorf("reading the rewards of party %.80q: %w", a.Party, err)
	}
	return list, nil
}

// mintedByClass is a row of rewardTotalsQuery.
type mintedByClass struct {
	Class  string          `column:"class,low"`
	Amount decimal.Decimal `column:"minted"`
	Times  int64           `column:"times"`
}

// RewardTotals returns what an account minted by class, the most first.
func (r *Reader) RewardTotals(ctx context.Context, a Account) ([]Minted, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return nil, err
	}
	rows, err := store.SelectAll(ctx, r.db, rewardTotalsQuery, params, store.NewRecords[mintedByClass]())
	if err != nil {
		return nil, fmt.Errorf("adding up the rewards of party %.80q: %w", a.Party, err)
	}
	list := make([]Minted, len(rows))
	for i, row := range rows {
		list[i] = Minted{Round: -1, Class: row.Class, Amount: row.Amount, Times: row.Times}
	}
	return list, nil
}

// Minter is a party with what it minted.
type Minter struct {
	Party  string          `column:"party,low"`
	Amount decimal.Decimal `column:"minted"`
	Times  int64           `column:"times"`
}

// TopMinters returns who minted most by some classes after one instant and up to another one.
func (r *Reader) TopMinters(ctx context.Context, classes []string, after, at schemas.Micros, limit int) ([]Minter, error) {
	params, err := r.through(ctx, at)
	if err != nil {
		return nil, err
	}
	params["from"], params["classes"], params["limit"] = store.Time(store.Clamp(after)), store.Texts(classes), store.Int(int64(limit))
	list, err := store.SelectAll(ctx, r.db, topMintersQuery, params, store.NewRecords[Minter]())
	if err != nil {
		return nil, fmt.Errorf("reading who minted most as %v: %w", classes, err)
	}
	return list, nil
}
