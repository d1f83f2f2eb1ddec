package wallet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// planCommands carries out the transfer commands of external parties.
func (a *Automations) planCommands(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	commands, err := w.External.TransferCommands(ctx)
	if err != nil || len(commands) == 0 {
		return nil, err
	}
	at, err := w.Network.Now(ctx)
	if err != nil {
		return nil, err
	}
	counters := map[string]*wallet.CommandCounter{}
	var steps []Step
	for _, c := range commands {
		counter, known := counters[c.Sender]
		if !known {
			if counter, err = w.External.CommandCounter(ctx, c.Sender); err != nil {
				return nil, err
			}
			counters[c.Sender] = counter
		}
		step := commandStep(c, counter, at)
		step.run = func(ctx context.Context) error { return a.send(ctx, c, counter) }
		steps = append(steps, step)
	}
	return steps, nil
}

// commandStep says whether a transfer command is carried out now. One whose nonce was used is,
// too: it fails and is gone.
func commandStep(c wallet.TransferCommand, counter *wallet.CommandCounter, at time.Time) Step {
	step := Step{What: fmt.Sprintf("send %s from %s to %s with nonce %d", c.Amount, c.Sender, c.Receiver, c.Nonce)}
	switch {
	case !c.ExpiresAt.After(at):
		step.Why = "the order has expired"
	case counter == nil:
		step.Why = "its sender has no nonce counter yet"
	case counter.Next < c.Nonce:
		step.Why = fmt.Sprintf("nonce %d must be executed first", counter.Next)
	case counter.Next > c.Nonce:
		step.Do, step.Why = true, fmt.Sprintf("its nonce was used, the next is %d: it can only fail", counter.Next)
	default:
		step.Do, step.Why = true, "it is the sender's next"
	}
	return step
}

// send carries a command out. One whose transfer fails is done with, as its sender can see.
func (a *Automations) send(ctx context.Context, c wallet.TransferCommand, counter *wallet.CommandCounter) error {
	_, err := a.cfg.Wallet.External.SendCommand(ctx, c, counter)
	if errors.Is(err, wallet.ErrNotSent) {
		a.cfg.Log.WarnContext(ctx, "a transfer command has failed", "sender", c.Sender, "nonce", c.Nonce, "err", err)
		return nil
	}
	return ignoreGone(err)
}
