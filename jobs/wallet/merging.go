package wallet

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

const (
	// fewHoldings is how many holdings a wallet may have without being merged.
	fewHoldings = 10
	// mergesInBatch bounds the owners whose holdings are merged in one transaction.
	mergesInBatch = 100
)

// planMergeProposals accepts the delegations to merge that users propose.
func (a *Automations) planMergeProposals(ctx context.Context) ([]Step, error) {
	w := a.cfg.Wallet
	proposals, err := w.Merging.Proposals(ctx)
	if err != nil || len(proposals) == 0 {
		return nil, err
	}
	have, err := w.Merging.List(ctx)
	if err != nil {
		return nil, err
	}
	return runs(mergeProposalSteps(proposals, have), func(ctx context.Context, id string) error {
		_, err := w.Merging.Accept(ctx, id)
		return ignoreGone(err)
	}), nil
}

// mergeProposalSteps says which proposals are accepted: one per owner.
func mergeProposalSteps(proposals, have []wallet.MergeDelegation) (steps []contractStep) {
	for _, p := range proposals {
		step := contractStep{Step{Do: true, What: "accept the delegation to merge the holdings of " + p.Owner, Why: "the owner has proposed it"}, p.ID}
		if slices.ContainsFunc(have, func(d wallet.MergeDelegation) bool { return d.Owner == p.Owner }) {
			step.Do, step.Why = false, "the owner has a delegation, or another proposal comes first"
		}
		have = append(have, p)
		steps = append(steps, step)
	}
	return steps
}

// planMerging merges the holdings of owners who have delegated it and have many.
func (a *Automations) planMerging(ctx context.Context) ([]Step, error) {
	delegations, err := a.cfg.Wallet.Merging.List(ctx)
	if err != nil {
		return nil, err
	}
	var steps []Step
	var many []wallet.Holdings
	for _, d := range delegations {
		h, err := a.cfg.Wallet.Merging.Holdings(ctx, d)
		if err != nil {
			return nil, err
		}
		if len(h.IDs) > fewHoldings {
			many = append(many, h)
			continue
		}
		steps = append(steps, Step{What: "merge the holdings of " + d.Owner, Why: fmt.Sprintf("there are %d, not more than %d", len(h.IDs), fewHoldings)})
	}
	for batch := range slices.Chunk(many, mergesInBatch) {
		step := mergingStep(batch)
		step.run = func(ctx context.Context) error {
			_, err := a.cfg.Wallet.Merging.Merge(ctx, batch)
			return err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// mergingStep describes a batch.
func mergingStep(batch []wallet.Holdings) Step {
	holdings := 0
	for _, h := range batch {
		holdings += len(h.IDs)
	}
	return Step{Do: true, What: fmt.Sprintf("merge %d holdings of %d owners", holdings, len(batch)), Why: fmt.Sprintf("each has more than %d", fewHoldings)}
}
