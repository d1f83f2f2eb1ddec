package history

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/wallet_largest.sql
var walletLargestQuery string

// LargestCoins returns the unlocked coins of which a party is the owner, largest first, at
// most limit.
func (w *Wallet) LargestCoins(ctx context.Context, party string, limit int) ([]WalletContract, error) {
	at, err := w.End(ctx)
	if err != nil || at == 0 {
		return nil, err
	}
	params := store.Params{
		"stream": store.Text(w.stream), "at": store.Int(at), "party": store.Text(party), "coin": store.Text(CoinTemplate), "limit": store.Int(int64(limit)),
	}
	coins, err := w.selectContracts(ctx, walletLargestQuery, params)
	if err != nil {
		return nil, fmt.Errorf("reading the largest coins of %s: %w", party, err)
	}
	return coins, nil
}
