package wallet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Sweep moves what a wallet has too much of to another party.
type Sweep struct {
	// Sender is the party whose wallet is swept, Receiver the one that gets the rest.
	Sender, Receiver string
	// Above is the balance in dollars above which it is swept, down to Keep.
	Above, Keep decimal.Decimal
	// ByPreapproval transfers in one step; else the receiver gets an offer.
	ByPreapproval bool
}

func (s *Sweep) check() error {
	switch {
	case s.Sender == "" || s.Receiver == "" || s.Sender == s.Receiver:
		return errors.New("a sweep needs a sender and another receiver")
	case s.Keep.Sign() < 0 || s.Above.Less(s.Keep):
		return fmt.Errorf("a sweep of %s must keep at least 0 and at most what it sweeps above, %s, not %s", s.Sender, s.Above, s.Keep)
	}
	return nil
}

// offerLife is how long the offer of a sweep is good.
const offerLife = 10 * time.Minute

// planSweeps sweeps wallets.
func (a *Automations) planSweeps(ctx context.Context) ([]Step, error) {
	if len(a.cfg.Sweeps) == 0 {
		return nil, nil
	}
	m, err := a.cfg.Wallet.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, s := range a.cfg.Sweeps {
		actors, err := a.cfg.Wallet.Users.Actors(ctx, s.Sender)
		if err != nil {
			return nil, err
		}
		if len(actors) == 0 {
			steps = append(steps, Step{What: "sweep " + s.Sender, Why: "it has no wallet here"})
			continue
		}
		step, err := a.planSweep(ctx, m, actors[0], s)
		if err != nil {
			return nil, err
		}
		step.User = actors[0].User
		steps = append(steps, step)
	}
	return steps, nil
}

func (a *Automations) planSweep(ctx context.Context, m *wallet.Market, actor wallet.Actor, s Sweep) (Step, error) {
	funds, err := a.cfg.Wallet.Coins.Funds(ctx, actor.Party, m)
	if err != nil {
		return Step{}, err
	}
	outstanding := decimal.Decimal{}
	for _, accepted := range []bool{false, true} {
		offers, err := a.cfg.Wallet.Offers.List(ctx, accepted, actor.Party)
		if err != nil {
			return Step{}, err
		}
		for i := range offers {
			if o := &offers[i]; o.Sender == s.Sender && o.Receiver == s.Receiver && !s.ByPreapproval {
				outstanding = outstanding.Plus(o.Coins(m.Price).Times(m.Price))
			}
		}
	}
	step, amount := sweepStep(s, funds.CoinValue(), outstanding, m.Price)
	step.run = func(ctx context.Context) error { return a.sweep(ctx, actor, s, amount, m.At) }
	return step, nil
}

// sweepStep says how many coins are moved. outstanding is what is on its way to the receiver,
// in dollars.
func sweepStep(s Sweep, coins, outstanding, price decimal.Decimal) (Step, decimal.Decimal) {
	free := coins.Times(price).Minus(outstanding)
	if !s.Above.Less(free) {
		return Step{What: "sweep to " + s.Receiver, Why: fmt.Sprintf("%s USD are free, not more than %s", free, s.Above)}, decimal.Decimal{}
	}
	amount := free.Minus(s.Keep).Over(price)
	return Step{Do: true, What: fmt.Sprintf("send %s CC to %s", amount, s.Receiver), Why: fmt.Sprintf("%s USD are free, more than %s; %s are kept", free, s.Above, s.Keep)}, amount
}

func (a *Automations) sweep(ctx context.Context, actor wallet.Actor, s Sweep, amount decimal.Decimal, at time.Time) error {
	const description = "sweep to %s"
	if s.ByPreapproval {
		_, err := a.cfg.Wallet.Preapprovals.Send(ctx, actor, wallet.SendRequest{
			Receiver: s.Receiver, Amount: amount, Description: fmt.Sprintf(description, s.Receiver), DeduplicationID: rand.Text(),
		})
		return err
	}
	_, err := a.cfg.Wallet.Offers.Create(ctx, actor, wallet.OfferRequest{
		Receiver: s.Receiver, Amount: amount, Description: fmt.Sprintf(description, s.Receiver), ExpiresAt: at.Add(offerLife), TrackingID: rand.Text(),
	})
	return err
}
