package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// mintingPayload is MintingDelegation.
type mintingPayload struct {
	Beneficiary string    `json:"beneficiary"`
	Delegate    string    `json:"delegate"`
	ExpiresAt   time.Time `json:"expiresAt"`
	MergeLimit  int64     `json:"amuletMergeLimit,string"`
}

// mintingProposalPayload is MintingDelegationProposal.
type mintingProposalPayload struct {
	Delegation mintingPayload `json:"delegation"`
}

// AcceptMintingProposal makes the actor the delegate who mints for a beneficiary. The
// contract of the result is the MintingDelegation; one with the same beneficiary is replaced.
func (w *Wallet) AcceptMintingProposal(ctx context.Context, actor Actor, contractID string) (Done, error) {
	proposal, err := w.mintingProposal(ctx, actor, contractID)
	if err != nil {
		return Done{}, err
	}
	existing, err := w.mintingDelegation(ctx, actor.Party, proposal.Beneficiary)
	if err != nil {
		return Done{}, err
	}
	const choice = "MintingDelegationProposal_Accept"
	tx, done, err := w.submit(ctx, exerciseAs(actor.Party, template.MintingDelegationProposal, contractID, choice, map[string]any{"existingDelegationCid": optional(existing)}))
	if err != nil {
		return Done{}, err
	}
	var result struct {
		Delegation string `json:"mintingDelegationCid"`
	}
	err = tx.Result(choice, &result)
	done.ContractID = result.Delegation
	return done, err
}

// mintingProposal returns what is proposed to the actor.
func (w *Wallet) mintingProposal(ctx context.Context, actor Actor, contractID string) (*mintingPayload, error) {
	var p mintingProposalPayload
	if err := w.visible(ctx, actor.Party, contractID, template.MintingDelegationProposal, &p); err != nil {
		return nil, err
	}
	if p.Delegation.Delegate != actor.Party {
		return nil, notFound("No such minting delegation proposal: %.80s", contractID)
	}
	return &p.Delegation, nil
}

// mintingDelegation returns the delegation of a beneficiary to a delegate, "" without one.
func (w *Wallet) mintingDelegation(ctx context.Context, delegate, beneficiary string) (string, error) {
	list, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{delegate}, Templates: []string{template.MintingDelegation}, Key: beneficiary, Limit: 10})
	if err != nil {
		return "", err
	}
	for i := range list {
		var p mintingPayload
		if err := list[i].decode(&p); err != nil {
			return "", err
		}
		if p.Delegate == delegate && p.Beneficiary == beneficiary {
			return list[i].ID, nil
		}
	}
	return "", nil
}

// RejectMintingProposal rejects a MintingDelegationProposal to the actor.
func (w *Wallet) RejectMintingProposal(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if _, err := w.mintingProposal(ctx, actor, contractID); err != nil {
		return Done{}, err
	}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.MintingDelegationProposal, contractID, "MintingDelegationProposal_Reject", noArgument))
	return done, err
}

// RejectMintingDelegation ends a MintingDelegation of which the actor is the delegate.
func (w *Wallet) RejectMintingDelegation(ctx context.Context, actor Actor, contractID string) (Done, error) {
	var p mintingPayload
	if err := w.visible(ctx, actor.Party, contractID, template.MintingDelegation, &p); err != nil {
		return Done{}, err
	}
	if p.Delegate != actor.Party {
		return Done{}, notFound("No such minting delegation: %.80s", contractID)
	}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.MintingDelegation, contractID, "MintingDelegation_Reject", noArgument))
	return done, err
}
