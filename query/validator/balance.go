package validator

import (
	"context"
	"slices"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// balances serves what a wallet has and had.
type balances struct {
	reader      *reader
	rounds      rounds
	naming      query.Naming
	maxPageSize int
}

func (b *balances) operations() []operation {
	return []operation{
		{method: "GET", path: "/v0/wallet/balance", name: "balance", handle: b.balance},
		{method: "GET", path: "/v0/wallet/coins", name: "coins", handle: b.coins},
		{method: "POST", path: "/v0/wallet/transactions", name: "transactions", handle: b.transactions},
	}
}

// rounds tells the mining rounds.
type rounds struct{ network Network }

// open are the rounds whose time has come, ascending. There is always one while the network
// lives; without one nothing can be said of coins, and the answer is 404.
func (r rounds) open(ctx context.Context) ([]Round, error) {
	all, err := r.network.OpenRounds(ctx)
	if err != nil {
		return nil, err
	}
	now, err := r.network.Time(ctx)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(all), func(r Round) bool { return r.OpensAt.After(now) })
	if len(open) == 0 {
		return nil, query.Errorf(query.NotFound, "No mining round is open.")
	}
	slices.SortFunc(open, func(a, b Round) int { return int(min(max(a.Number-b.Number, -1), 1)) })
	return open, nil
}

// latest is the number of the newest open round.
func (r rounds) latest(ctx context.Context) (int64, error) {
	open, err := r.open(ctx)
	if err != nil {
		return 0, err
	}
	return open[len(open)-1].Number, nil
}

// balance sums up the holdings of the caller. Fees are told and not subtracted, as the network
// does not charge them until a coin expires.
func (b *balances) balance(ctx context.Context, c *caller) error {
	round, err := b.rounds.latest(ctx)
	if err != nil {
		return err
	}
	views, err := b.reader.views(ctx)
	if err != nil {
		return err
	}
	sum, err := views.Balance(ctx, c.party, round)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Round    int64           `json:"round"`
		Unlocked decimal.Decimal `json:"effective_unlocked_qty"`
		Locked   decimal.Decimal `json:"effective_locked_qty"`
		Fees     decimal.Decimal `json:"total_holding_fees"`
	}{round, sum.Unlocked, sum.Locked, sum.UnlockedFees})
}

// position is a coin and what it is worth in a round.
type position struct {
	Contract query.ContractState `json:"contract"`
	Round    int64               `json:"round"`
	Fee      decimal.Decimal     `json:"accrued_holding_fee"`
	Amount   decimal.Decimal     `json:"effective_amount"`
}

func (b *balances) coins(ctx context.Context, c *caller) error {
	round, err := b.rounds.latest(ctx)
	if err != nil {
		return err
	}
	views, err := b.reader.views(ctx)
	if err != nil {
		return err
	}
	h, err := views.Holdings(ctx, c.party)
	if err != nil {
		return err
	}
	naming := c.Naming(b.naming)
	return c.JSON(map[string][]position{
		naming.Member("coins"): b.positions(h.Coins, round), naming.Member("locked_coins"): b.positions(h.Locked, round),
	})
}

func (b *balances) positions(rows []wallethistory.Contract, round int64) []position {
	list := make([]position, len(rows))
	for i := range rows {
		c := b.reader.compacted(&rows[i])
		fee := wallethistory.HoldingFee(c.Amount, c.Rate, c.Round, round)
		list[i] = position{c.withState(), round, fee, c.Amount.Minus(fee)}
	}
	return list
}
