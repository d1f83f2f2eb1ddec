package wallet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// planSubscriptions makes the payments of subscriptions, such as those of names, that can be made.
func (a *Automations) planSubscriptions(ctx context.Context) ([]Step, error) {
	w, err := a.readWallets(ctx)
	if err != nil || len(w.actors) == 0 {
		return nil, err
	}
	all, err := a.cfg.Wallet.Subscriptions.List(ctx, w.parties()...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	m, err := a.cfg.Wallet.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	steps := w.ofEach(func(actor wallet.Actor) []Step {
		own := slices.DeleteFunc(slices.Clone(all), func(s wallet.Subscription) bool { return s.Sender != actor.Party })
		if len(own) == 0 || failed != nil {
			return nil
		}
		var funds *wallet.Funds
		if funds, failed = a.cfg.Wallet.Coins.Funds(ctx, actor.Party, m); failed != nil {
			return nil
		}
		return runs(subscriptionSteps(own, funds.CoinValue().Plus(funds.RewardValue()), m.Price, w.at), func(ctx context.Context, id string) error {
			_, err := a.cfg.Wallet.Subscriptions.Pay(ctx, actor, id)
			return ignoreGone(err)
		})
	})
	return steps, failed
}

// subscriptionSteps says which of a user's subscriptions are paid for with what there is, in
// coins. What cannot be paid is left: a payment that fails is a transaction all the same.
func subscriptionSteps(own []wallet.Subscription, there, price decimal.Decimal, at time.Time) (steps []contractStep) {
	for i := range own {
		s := &own[i]
		cost := s.Coins(price)
		step := contractStep{Step{What: fmt.Sprintf("pay %s CC for %s", cost, s.Description)}, s.ID}
		switch {
		case at.Before(s.Open):
			step.Why = "it can be paid from " + s.Open.Format(time.RFC3339) + " on"
		case there.Less(cost):
			step.Why = fmt.Sprintf("there are only %s CC", there)
		default:
			step.Do, step.Why, there = true, "it is due at "+s.Due.Format(time.RFC3339), there.Minus(cost)
		}
		steps = append(steps, step)
	}
	return steps
}
