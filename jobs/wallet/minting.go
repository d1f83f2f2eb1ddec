package wallet

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// planMinting mints for the beneficiaries of minting delegations to the operator.
func (a *Automations) planMinting(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	delegations, err := w.Minting.List(ctx)
	if err != nil || len(delegations) == 0 {
		return nil, err
	}
	m, err := w.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, d := range delegations {
		if d.Template != template.MintingDelegation || !d.ExpiresAt.After(m.At) {
			continue
		}
		funds, err := w.Coins.Funds(ctx, d.Beneficiary, m)
		if err != nil {
			return nil, err
		}
		step, inputs := mintingStep(d, funds, int(m.Config().Transfer.MaxInputs))
		step.run = func(ctx context.Context) error {
			_, err := w.Minting.Mint(ctx, d, m, funds, inputs)
			return ignoreGone(err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// mintingStep picks what is minted: all rewards and, if there are very many coins, the
// smallest of them.
func mintingStep(d wallet.Delegation, f *wallet.Funds, limit int) (Step, []wallet.Input) {
	inputs := slices.Concat(f.Rewards, f.Records, f.Grants)
	merged := 0
	if n := int64(len(f.Coins)); n >= 2*d.MergeLimit && n > 1 {
		merged = int(min(n, n-d.MergeLimit+1))
		smallest := slices.Clone(f.Coins[len(f.Coins)-merged:])
		slices.Reverse(smallest)
		inputs = append(inputs, smallest...)
	}
	if limit > 0 {
		inputs = inputs[:min(len(inputs), limit)]
	}
	rewards := len(f.Rewards) + len(f.Records) + len(f.Grants)
	step := Step{Do: len(inputs) > 0, What: fmt.Sprintf("mint %d rewards worth %s CC and merge %d coins for %s", rewards, f.RewardValue(), merged, d.Beneficiary)}
	switch {
	case rewards > 0:
		step.Why = "the beneficiary has rewards"
	case merged > 0:
		step.Why = fmt.Sprintf("the beneficiary has %d coins, twice the limit of %d", len(f.Coins), d.MergeLimit)
	default:
		step.Why = "there are no rewards, and few coins"
	}
	return step, inputs
}
