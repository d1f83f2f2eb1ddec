package validator

import (
	"context"
	"slices"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

func (a *API) balanceOperations() []operation {
	return []operation{
		{method: "GET", path: "/v0/wallet/balance", name: "balance", handle: a.balance},
		{method: "GET", path: "/v0/wallet/coins", name: "coins", handle: a.coins},
		{method: "POST", path: "/v0/wallet/transactions", name: "transactions", handle: a.transactions},
	}
}

// openRounds are the rounds whose time has come, ascending. There is always one while the network
// lives; without one nothing can be said of coins, and the answer is 404.
func (a *API) openRounds(ctx context.Context) ([]Round, error) {
	rounds, err := a.cfg.Network.OpenRounds(ctx)
	if err != nil {
		return nil, err
	}
	now, err := a.cfg.Network.Time(ctx)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool { return r.OpensAt.After(now) })
	if len(open) == 0 {
		return nil, query.Errorf(query.NotFound, "No mining round is open.")
	}
	slices.SortFunc(open, func(a, b Round) int { return int(min(max(a.Number-b.Number, -1), 1)) })
	return open, nil
}

// latestRound is the number of the newest open round.
func (a *API) latestRound(ctx context.Context) (int64, error) {
	open, err := a.openRounds(ctx)
	if err != nil {
		return 0, err
	}
	return open[len(open)-1].Number, nil
}

// balance sums up the holdings of the caller. Fees are told and not subtracted, as the network
// does not charge them until a coin expires.
func (a *API) balance(ctx context.Context, c *caller) error {
	round, err := a.latestRound(ctx)
	if err != nil {
		return err
	}
	views, err := a.views(ctx)
	if err != nil {
		return err
	}
	b, err := views.Balance(ctx, c.party, round)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Round    int64           `json:"round"`
		Unlocked decimal.Decimal `json:"effective_unlocked_qty"`
		Locked   decimal.Decimal `json:"effective_locked_qty"`
		Fees     decimal.Decimal `json:"total_holding_fees"`
	}{round, b.Unlocked, b.Locked, b.UnlockedFees})
}

// position is a coin and what it is worth in a round.
type position struct {
	Contract withState       `json:"contract"`
	Round    int64           `json:"round"`
	Fee      decimal.Decimal `json:"accrued_holding_fee"`
	Amount   decimal.Decimal `json:"effective_amount"`
}

func (a *API) coins(ctx context.Context, c *caller) error {
	round, err := a.latestRound(ctx)
	if err != nil {
		return err
	}
	views, err := a.views(ctx)
	if err != nil {
		return err
	}
	h, err := views.Holdings(ctx, c.party)
	if err != nil {
		return err
	}
	return c.JSON(map[string][]position{
		a.cfg.Naming.Member("coins"): a.positions(h.Coins, round), a.cfg.Naming.Member("locked_coins"): a.positions(h.Locked, round),
	})
}

func (a *API) positions(rows []wallethistory.Contract, round int64) []position {
	list := make([]position, len(rows))
	for i := range rows {
		c := a.compacted(&rows[i])
		fee := wallethistory.HoldingFee(c.Amount, c.Rate, c.Round, round)
		list[i] = position{c.withState(), round, fee, c.Amount.Minus(fee)}
	}
	return list
}
