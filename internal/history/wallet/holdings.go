package wallet

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

var (
	//go:embed sql/holdings.sql
	holdingsQuery string
	//go:embed sql/amounts.sql
	amountsQuery string
)

// Holdings are the coins of a party, each list ascending by creation time and contract id.
type Holdings struct {
	Coins, Locked []Contract
}

// Balance sums up the holdings of a party as of a round. Amounts are those at creation.
type Balance struct {
	Unlocked, Locked decimal.Decimal
	// UnlockedFees and LockedFees are the holding fees that have accrued: of each coin as much
	// as the coin has at most. They have not been taken from the amounts.
	UnlockedFees, LockedFees decimal.Decimal
	// Coins and LockedCoins count the contracts.
	Coins, LockedCoins int
}

// Holdings returns all coins of which a party is the owner.
func (r *Reader) Holdings(ctx context.Context, party string) (h Holdings, err error) {
	at, err := r.End(ctx)
	if err != nil || at == 0 {
		return h, err
	}
	contracts, err := store.SelectAll(ctx, r.db, holdingsQuery, r.holdingParams(party, at), store.NewActiveWalletContracts())
	if err != nil {
		return h, fmt.Errorf("reading the holdings of %s: %w", party, err)
	}
	for _, c := range contracts {
		if c.Template == template.Coin {
			h.Coins = append(h.Coins, c)
		} else {
			h.Locked = append(h.Locked, c)
		}
	}
	return h, nil
}

// Balance sums up the holdings of which a party is the owner, with fees up to a round.
func (r *Reader) Balance(ctx context.Context, party string, round int64) (b Balance, err error) {
	at, err := r.End(ctx)
	if err != nil || at == 0 {
		return b, err
	}
	block := store.NewWalletHoldings()
	err = r.db.Select(ctx, amountsQuery, r.holdingParams(party, at), block, func() error {
		block.Each(func(h store.WalletHolding) { b.add(h, round) })
		return nil
	})
	if err != nil {
		return b, fmt.Errorf("adding up the holdings of %s: %w", party, err)
	}
	return b, nil
}

func (r *Reader) holdingParams(party string, at int64) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "at": store.Int(at), "party": store.Text(party),
		"coin": store.Text(template.Coin), "locked": store.Text(template.LockedCoin),
	}
}

func (b *Balance) add(h store.WalletHolding, round int64) {
	fee := HoldingFee(h.Amount, h.Rate, h.Round, round)
	if h.Template == template.Coin {
		b.Unlocked, b.UnlockedFees, b.Coins = b.Unlocked.Plus(h.Amount), b.UnlockedFees.Plus(fee), b.Coins+1
		return
	}
	b.Locked, b.LockedFees, b.LockedCoins = b.Locked.Plus(h.Amount), b.LockedFees.Plus(fee), b.LockedCoins+1
}

// HoldingFee is what a coin of some amount, created in a round, owes in another one: the rate
// for each round since, and not more than the amount.
func HoldingFee(amount, rate decimal.Decimal, created, round int64) decimal.Decimal {
	fee := rate.TimesInt(max(0, round-created))
	if amount.Less(fee) {
		return amount
	}
	return fee
}
