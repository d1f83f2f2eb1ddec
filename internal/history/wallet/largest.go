package wallet

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

//go:embed sql/largest.sql
var largestQuery string

// LargestCoins returns the unlocked coins of which a party is the owner, largest first, at
// most limit.
func (r *Reader) LargestCoins(ctx context.Context, party string, limit int) ([]Contract, error) {
	at, err := r.End(ctx)
	if err != nil || at == 0 {
		return nil, err
	}
	params := store.Params{
		"stream": store.Text(r.stream), "at": store.Int(at), "party": store.Text(party), "coin": store.Text(template.Coin), "limit": store.Int(int64(limit)),
	}
	coins, err := store.SelectAll(ctx, r.db, largestQuery, params, store.NewWalletContracts())
	if err != nil {
		return nil, fmt.Errorf("reading the largest coins of %s: %w", party, err)
	}
	return coins, nil
}
