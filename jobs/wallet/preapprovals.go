package wallet

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// planProposals accepts proposals of preapprovals of parties that the validator hosts.
func (a *Automations) planProposals(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	proposals, err := w.Preapprovals.Proposals(ctx)
	if err != nil || len(proposals) == 0 {
		return nil, err
	}
	all, err := a.readWallets(ctx)
	if err != nil {
		return nil, err
	}
	have, err := w.Preapprovals.List(ctx)
	if err != nil {
		return nil, err
	}
	hosted := map[string]bool{}
	for _, actor := range all.actors {
		hosted[actor.Party] = true
	}
	for _, p := range proposals {
		if _, known := hosted[p.Receiver]; known {
			continue
		}
		if hosted[p.Receiver], err = w.Preapprovals.Hosts(ctx, p.Receiver); err != nil {
			return nil, err
		}
	}
	return runs(proposalSteps(proposals, have, hosted, all.at), func(ctx context.Context, id string) error {
		_, err := w.Preapprovals.Accept(ctx, id)
		return ignoreGone(err)
	}), nil
}

// proposalSteps says which proposals are accepted: one per hosted receiver.
func proposalSteps(proposals, have []wallet.Preapproval, hosted map[string]bool, at time.Time) (steps []contractStep) {
	taken := map[string]bool{}
	for _, p := range have {
		taken[p.Receiver] = taken[p.Receiver] || p.ExpiresAt.After(at)
	}
	for _, p := range proposals {
		step := contractStep{Step{What: "accept the preapproval proposal of " + p.Receiver}, p.ID}
		switch {
		case !hosted[p.Receiver]:
			step.Why = "this validator does not host its receiver"
		case taken[p.Receiver]:
			step.Why = "its receiver has a preapproval, or another proposal comes first"
		default:
			step.Do, step.Why = true, "this validator hosts its receiver"
			taken[p.Receiver] = true
		}
		steps = append(steps, step)
	}
	return steps
}

// planRenewals renews the preapprovals of which the operator is the provider.
func (a *Automations) planRenewals(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	have, err := w.Preapprovals.List(ctx)
	if err != nil || len(have) == 0 {
		return nil, err
	}
	at, err := w.Network.Now(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, p := range have {
		step := renewalStep(p, at, a.cfg.RenewBefore, a.cfg.PreapprovalLifetime)
		step.run = func(ctx context.Context) error {
			_, err := w.Preapprovals.Renew(ctx, p.ID, p.ExpiresAt.Add(a.cfg.PreapprovalLifetime))
			return ignoreGone(err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// renewalStep says whether a preapproval is renewed.
func renewalStep(p wallet.Preapproval, at time.Time, before, lifetime time.Duration) Step {
	step := Step{What: fmt.Sprintf("renew the preapproval of %s until %s", p.Receiver, p.ExpiresAt.Add(lifetime).Format(time.RFC3339))}
	switch {
	case !p.ExpiresAt.After(at):
		step.Why = "it has expired"
	case p.ExpiresAt.Sub(at) > before:
		step.Why = fmt.Sprintf("it is valid until %s", p.ExpiresAt.Format(time.RFC3339))
	default:
		step.Do, step.Why = true, fmt.Sprintf("it expires at %s", p.ExpiresAt.Format(time.RFC3339))
	}
	return step
}
