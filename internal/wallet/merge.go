package wallet

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Merging merges the holdings of owners who have delegated it to the operator.
type Merging struct {
	*submitter
	network *Network
}

// MergeDelegation lets the operator merge the holdings of an owner, or is the proposal to.
type MergeDelegation struct{ ID, Owner string }

// mergePayload is MergeDelegation.
type mergePayload struct {
	Operator string `json:"operator"`
	Owner    string `json:"owner"`
}

// List are those of which the operator is the operator, oldest first.
func (w *Merging) List(ctx context.Context) ([]MergeDelegation, error) {
	return listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.MergeDelegation}}, func(c *Contract, p *mergePayload) (MergeDelegation, bool) {
		return MergeDelegation{c.ID, p.Owner}, p.Operator == w.operator
	})
}

// Proposals are the delegations that are proposed to the operator, oldest first.
func (w *Merging) Proposals(ctx context.Context) ([]MergeDelegation, error) {
	type payload struct {
		Delegation mergePayload `json:"delegation"`
	}
	return listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.MergeDelegationProposal}}, func(c *Contract, p *payload) (MergeDelegation, bool) {
		return MergeDelegation{c.ID, p.Delegation.Owner}, p.Delegation.Operator == w.operator
	})
}

// Accept makes a delegation of a proposal. The contract of the result is it.
func (w *Merging) Accept(ctx context.Context, contractID string) (Done, error) {
	const choice = "MergeDelegationProposal_Accept"
	return w.submitFor(ctx, exerciseAs(w.operator, template.MergeDelegationProposal, contractID, choice, noArgument), choice, "mergeDelegationCid")
}

// Holdings are coins of an owner that can be merged.
type Holdings struct {
	Delegation MergeDelegation
	IDs        []string
	Sum        decimal.Decimal
}

// Holdings returns the coins of the owner of a delegation, at most 100.
func (w *Merging) Holdings(ctx context.Context, d MergeDelegation) (Holdings, error) {
	h := Holdings{Delegation: d}
	coins, err := coinsOf(ctx, w.reader, d.Owner)
	for _, c := range coins {
		h.IDs, h.Sum = append(h.IDs, c.ContractID), h.Sum.Plus(c.Amount)
	}
	return h, err
}

// transferCall is TransferCall.
type transferCall struct {
	Factory  string         `json:"factoryCid"`
	Argument map[string]any `json:"choiceArg"`
}

// mergeCall is MergeDelegationCall.
type mergeCall struct {
	Delegation string `json:"delegationCid"`
	Argument   struct {
		Merge    transferCall `json:"optMergeTransfer"`
		Extra    *struct{}    `json:"optExtraTransfer"`
		Featured *struct{}    `json:"optFeaturedAppRight"`
	} `json:"choiceArg"`
}

// Merge merges the holdings of several owners, each into one, in one transaction.
func (w *Merging) Merge(ctx context.Context, list []Holdings) (Done, error) {
	m, err := w.network.Market(ctx)
	if err != nil {
		return Done{}, err
	}
	factory, err := w.network.single(ctx, template.ExternalPartyCoinRules, "rules for external parties")
	if err != nil {
		return Done{}, err
	}
	extra, err := w.network.extraArgs(ctx, m)
	if err != nil {
		return Done{}, err
	}
	utility, err := w.utility(ctx)
	if err != nil {
		return Done{}, err
	}
	calls := make([]mergeCall, len(list))
	var owners []string
	for i, h := range list {
		calls[i].Delegation = h.Delegation.ID
		calls[i].Argument.Merge = transferCall{factory.ID, w.selfTransfer(m, h, extra)}
		owners = append(owners, h.Delegation.Owner)
	}
	slices.Sort(owners)
	s := exerciseAs(w.operator, template.BatchMergeUtility, utility, "BatchMergeUtility_BatchMerge", map[string]any{"mergeCalls": calls})
	s.ReadAs, s.Disclosed = slices.Compact(owners), disclose(append(extra.disclosed, &factory)...)
	_, done, err := w.submit(ctx, s)
	return done, err
}

// selfTransfer is the argument of a transfer of all holdings to their owner.
func (w *Merging) selfTransfer(m *Market, h Holdings, extra *extraArgs) map[string]any {
	return map[string]any{"expectedAdmin": m.DSO, "extraArgs": extra, "transfer": map[string]any{
		"sender": h.Delegation.Owner, "receiver": h.Delegation.Owner, "amount": h.Sum, "instrumentId": map[string]string{"admin": m.DSO, "id": template.CoinInstrument},
		"requestedAt": timestamp(m.At.Add(-requestedBefore)), "executeBefore": timestamp(m.At.Add(mergeWithin)), "inputHoldingCids": h.IDs, "meta": metadataOf(nil),
	}}
}

// utility returns the operator's contract by which it merges, a new one if need be.
func (w *Merging) utility(ctx context.Context) (string, error) {
	type payload struct {
		Operator string `json:"operator"`
	}
	q := ContractQuery{Parties: []string{w.operator}, Templates: []string{template.BatchMergeUtility}}
	have, err := firstID(ctx, w.reader, q, func(p *payload) bool { return p.Operator == w.operator })
	if err != nil || have != "" {
		return have, err
	}
	return w.create(ctx, w.operator, template.BatchMergeUtility, payload{w.operator})
}
