package wallet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// wallets are the wallets of a validator, and the time that their contracts are judged by.
type wallets struct {
	actors []wallet.Actor
	at     time.Time
}

// readWallets returns the wallets of the validator.
func (a *Automations) readWallets(ctx context.Context) (*wallets, error) {
	at, err := a.cfg.Wallet.Network.Now(ctx)
	if err != nil {
		return nil, err
	}
	actors, err := a.cfg.Wallet.Users.Actors(ctx, "")
	return &wallets{actors, at}, err
}

// parties are those of the wallets, each once.
func (w *wallets) parties() []string {
	var list []string
	for _, actor := range w.actors {
		list = append(list, actor.Party)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// ofEach plans for each wallet.
func (w *wallets) ofEach(plan func(wallet.Actor) []Step) (all []Step) {
	for _, actor := range w.actors {
		steps := plan(actor)
		for i := range steps {
			steps[i].User = actor.User
		}
		all = append(all, steps...)
	}
	return all
}

// planAccepting accepts offers of senders who are trusted.
func (a *Automations) planAccepting(ctx context.Context) ([]Step, error) {
	if len(a.cfg.AcceptFrom) == 0 {
		return nil, nil
	}
	w, err := a.readWallets(ctx)
	if err != nil || len(w.actors) == 0 {
		return nil, err
	}
	offers, err := a.cfg.Wallet.Offers.List(ctx, false, w.parties()...)
	if err != nil {
		return nil, err
	}
	return w.ofEach(func(actor wallet.Actor) []Step {
		from := a.cfg.AcceptFrom[actor.Party]
		if len(from) == 0 {
			return nil
		}
		return runs(acceptSteps(offers, actor.Party, from, w.at), func(ctx context.Context, id string) error {
			_, err := a.cfg.Wallet.Offers.Accept(ctx, actor, id)
			return ignoreGone(err)
		})
	}), nil
}

// contractStep is a step about a contract.
type contractStep struct {
	Step
	id string
}

// runs are the steps with what each does.
func runs(steps []contractStep, do func(ctx context.Context, id string) error) []Step {
	list := make([]Step, len(steps))
	for i, s := range steps {
		list[i] = s.Step
		list[i].run = func(ctx context.Context) error { return do(ctx, s.id) }
	}
	return list
}

// acceptSteps says which offers to a receiver are accepted.
func acceptSteps(offers []wallet.Offer, receiver string, from []string, at time.Time) (steps []contractStep) {
	for _, o := range offers {
		if o.Receiver != receiver {
			continue
		}
		step := contractStep{Step{What: fmt.Sprintf("accept offer %s of %s from %s", o.TrackingID, o.Amount, o.Sender)}, o.ID}
		switch {
		case !o.ExpiresAt.After(at):
			step.Why = "it has expired"
		case !slices.Contains(from, o.Sender):
			step.Why = "offers of its sender are not accepted automatically"
		default:
			step.Do, step.Why = true, "offers of its sender are accepted automatically"
		}
		steps = append(steps, step)
	}
	return steps
}

// errGone means that somebody else has acted upon a contract meanwhile.
var errGone = errors.New("the contract is gone")

// ignoreGone makes errGone of an error for a contract that is not there any more.
func ignoreGone(err error) error {
	if errors.Is(err, wallet.ErrNotFound) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return err
}

// planCompleting pays offers that were accepted.
func (a *Automations) planCompleting(ctx context.Context) ([]Step, error) {
	w, err := a.readWallets(ctx)
	if err != nil || len(w.actors) == 0 {
		return nil, err
	}
	offers, err := a.cfg.Wallet.Offers.List(ctx, true, w.parties()...)
	if err != nil {
		return nil, err
	}
	return w.ofEach(func(actor wallet.Actor) []Step {
		return runs(completeSteps(offers, actor.Party, w.at), func(ctx context.Context, id string) error { return a.complete(ctx, actor, id) })
	}), nil
}

// completeSteps says which accepted offers of a sender are paid.
func completeSteps(offers []wallet.Offer, sender string, at time.Time) (steps []contractStep) {
	for _, o := range offers {
		if o.Sender != sender {
			continue
		}
		step := contractStep{Step{Do: true, What: fmt.Sprintf("pay accepted offer %s of %s to %s", o.TrackingID, o.Amount, o.Receiver), Why: "its receiver has accepted it"}, o.ID}
		if !o.ExpiresAt.After(at) {
			step.Do, step.Why = false, "it has expired"
		}
		steps = append(steps, step)
	}
	return steps
}

// complete pays an accepted offer, or ends it if that takes more than there is.
func (a *Automations) complete(ctx context.Context, actor wallet.Actor, id string) error {
	_, err := a.cfg.Wallet.Offers.Complete(ctx, actor, id)
	if errors.Is(err, wallet.ErrFunds) {
		_, err = a.cfg.Wallet.Offers.Abort(ctx, actor, id, err.Error())
	}
	return ignoreGone(err)
}
