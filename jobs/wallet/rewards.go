package wallet

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// planRewards merges rewards and coins of each wallet into one coin.
func (a *Automations) planRewards(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	m, err := w.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	actors, err := w.Users.Actors(ctx, "")
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, actor := range actors {
		funds, err := w.Coins.Funds(ctx, actor.Party, m)
		if err != nil {
			return nil, err
		}
		cost := decimal.Decimal{}
		if actor.Party == w.Operator() && a.cfg.TopUp.Throughput > 0 {
			cost = m.TrafficCost(a.cfg.TopUp.purchase(m.Config().Synchronizer.Fees.MinTopUp, a.cfg.Poll).Bytes)
		}
		step, urgent := mergeStep(funds, cost)
		step.User = actor.User
		step.run = func(ctx context.Context) error { return a.mergeAll(ctx, actor, urgent) }
		steps = append(steps, step)
	}
	return steps, nil
}

// mergeStep says whether a wallet is to be merged. urgent is what a top-up that it cannot
// afford makes it.
func mergeStep(f *wallet.Funds, topUpCost decimal.Decimal) (step Step, urgent bool) {
	rewards := len(f.Rewards) + len(f.Records) + len(f.Grants)
	step.Do = f.WorthMerging()
	step.What = fmt.Sprintf("merge %d coins and %d rewards worth %s CC", len(f.Coins), rewards, f.RewardValue())
	switch {
	case f.RewardValue().Sign() > 0:
		step.Why = "there are rewards of rounds that are issuing, or without a round"
	case len(f.Coins) > 1:
		step.Why = "there are several coins"
	default:
		step.Why = "there are no rewards and at most one coin"
	}
	if urgent = step.Do && f.CoinValue().Less(topUpCost); urgent {
		step.Why += ", and the coins do not cover a top-up"
	}
	return step, urgent
}

// mostMerges bounds the batches of one run: what is left waits for the next.
const mostMerges = 20

// mergeAll merges until nothing is left to merge.
func (a *Automations) mergeAll(ctx context.Context, actor wallet.Actor, urgent bool) error {
	for n := range mostMerges {
		done, err := a.cfg.Wallet.Coins.Merge(ctx, actor, urgent)
		switch {
		case wallet.IsIdle(err) && n > 0:
			return nil
		case err != nil:
			return err
		case !done.Visible: // the store would have us spend the same coins again
			return nil
		}
	}
	return nil
}

// planLiveness records that the validator is alive, in the oldest open round in which it has
// not yet.
func (a *Automations) planLiveness(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	m, err := w.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	license, err := w.Rewards.License(ctx)
	if err != nil {
		return nil, err
	}
	step, round := livenessStep(m, license)
	if step.Do {
		step.run = func(ctx context.Context) error {
			_, err := w.Rewards.RecordLiveness(ctx, license.ID, round.Contract)
			return err
		}
	}
	return []Step{step}, nil
}

// livenessStep picks the round to record liveness in.
func livenessStep(m *wallet.Market, license *wallet.License) (Step, *wallet.OpenRound) {
	step := Step{What: "record liveness"}
	switch limit := m.Config().Issuance.Initial.FaucetCap; {
	case license == nil:
		step.Why = "the operator has no validator license"
		return step, nil
	case limit != nil && limit.Sign() == 0:
		step.Why = "the network pays nothing for it"
		return step, nil
	}
	rounds := m.OpenRounds()
	for i := range rounds {
		if rounds[i].Number > license.LastReceived {
			step.Do, step.What = true, fmt.Sprintf("record liveness in round %d", rounds[i].Number)
			step.Why = "it is the oldest open round without a record"
			if missed := rounds[i].Number - license.LastReceived - 1; license.LastReceived >= 0 && missed > 0 {
				step.Why += fmt.Sprintf("; %d rounds were missed", missed)
			}
			return step, &rounds[i]
		}
	}
	step.Why = "all open rounds have one"
	return step, nil
}
