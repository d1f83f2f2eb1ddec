package wallet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// planTraffic buys the traffic that users have asked for.
func (a *Automations) planTraffic(ctx context.Context) ([]Step, error) {
	w, err := a.readWallets(ctx)
	if err != nil || len(w.actors) == 0 {
		return nil, err
	}
	requests, err := a.cfg.Wallet.Traffic.Requests(ctx, w.parties()...)
	if err != nil {
		return nil, err
	}
	return w.ofEach(func(actor wallet.Actor) []Step {
		return runs(trafficSteps(requests, actor.Party, w.at), func(ctx context.Context, id string) error {
			i := slices.IndexFunc(requests, func(r wallet.OpenTrafficRequest) bool { return r.ID == id })
			return a.buy(ctx, actor, requests[i])
		})
	}), nil
}

// trafficSteps says which requests of a user are met.
func trafficSteps(requests []wallet.OpenTrafficRequest, user string, at time.Time) (steps []contractStep) {
	for _, r := range requests {
		if r.User != user {
			continue
		}
		step := contractStep{Step{Do: true, What: "buy the traffic of request " + r.TrackingID, Why: "a user requested it"}, r.ID}
		if !r.ExpiresAt.After(at) {
			step.Do, step.Why = false, "the request has expired"
		}
		steps = append(steps, step)
	}
	return steps
}

// buy meets a request, or ends it if it cannot be met: too little money, an amount that the network
// does not sell, or what is no member of a synchronizer.
func (a *Automations) buy(ctx context.Context, actor wallet.Actor, r wallet.OpenTrafficRequest) error {
	_, err := a.cfg.Wallet.Traffic.Complete(ctx, actor, r)
	if errors.Is(err, wallet.ErrInvalid) {
		_, err = a.cfg.Wallet.Traffic.Cancel(ctx, actor, r.ID, err.Error())
	}
	return ignoreGone(err)
}

// planExpiry ends what has expired.
func (a *Automations) planExpiry(ctx context.Context) ([]Step, error) {
	w, err := a.readWallets(ctx)
	if err != nil || len(w.actors) == 0 {
		return nil, err
	}
	var open, accepted []wallet.Offer
	if open, err = a.cfg.Wallet.Offers.List(ctx, false, w.parties()...); err != nil {
		return nil, err
	}
	if accepted, err = a.cfg.Wallet.Offers.List(ctx, true, w.parties()...); err != nil {
		return nil, err
	}
	requests, err := a.cfg.Wallet.Traffic.Requests(ctx, w.parties()...)
	if err != nil {
		return nil, err
	}
	steps := w.ofEach(func(actor wallet.Actor) []Step {
		own := a.expiredOffers(actor, open, w.at, a.cfg.Wallet.Offers.Expire)
		own = append(own, a.expiredOffers(actor, accepted, w.at, a.cfg.Wallet.Offers.ExpireAccepted)...)
		for _, r := range requests {
			if r.User == actor.Party && !r.ExpiresAt.After(w.at) {
				own = append(own, expiryStep("traffic request "+r.TrackingID, r.ExpiresAt, func(ctx context.Context) (wallet.Done, error) {
					return a.cfg.Wallet.Traffic.Expire(ctx, actor, r.ID)
				}))
			}
		}
		return own
	})
	delegations, err := a.expiredDelegations(ctx, w.at)
	return append(steps, delegations...), err
}

// expiredOffers ends offers that an actor has made.
func (a *Automations) expiredOffers(actor wallet.Actor, offers []wallet.Offer, at time.Time,
	expire func(context.Context, wallet.Actor, string) (wallet.Done, error),
) (steps []Step) {
	for _, o := range offers {
		if o.Sender == actor.Party && !o.ExpiresAt.After(at) {
			steps = append(steps, expiryStep("offer "+o.TrackingID, o.ExpiresAt, func(ctx context.Context) (wallet.Done, error) { return expire(ctx, actor, o.ID) }))
		}
	}
	return steps
}

func expiryStep(what string, expired time.Time, run func(context.Context) (wallet.Done, error)) Step {
	return Step{Do: true, What: "end " + what, Why: fmt.Sprintf("it expired at %s", expired.Format(time.RFC3339)), run: func(ctx context.Context) error {
		_, err := run(ctx)
		return ignoreGone(err)
	}}
}

// expiredDelegations ends minting delegations to the operator, and proposals of them.
func (a *Automations) expiredDelegations(ctx context.Context, at time.Time) ([]Step, error) {
	delegations, err := a.cfg.Wallet.Minting.List(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, d := range delegations {
		if !d.ExpiresAt.After(at) {
			steps = append(steps, expiryStep("minting delegation of "+d.Beneficiary, d.ExpiresAt, func(ctx context.Context) (wallet.Done, error) {
				return a.cfg.Wallet.Minting.End(ctx, d.Template, d.ID)
			}))
		}
	}
	return steps, nil
}
