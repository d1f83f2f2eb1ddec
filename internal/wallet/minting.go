package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Minting answers and uses minting delegations.
type Minting struct{ *submitter }

// Mint mints for the beneficiary of a MintingDelegation, of which the operator is
// the delegate, from some inputs.
func (w *Minting) Mint(ctx context.Context, d Delegation, m *Market, f *Funds, inputs []Input) (Done, error) {
	argument := map[string]any{"inputs": inputs, "context": m.context(f)}
	s := exerciseAs(w.operator, template.MintingDelegation, d.ID, "MintingDelegation_Mint", argument)
	s.ReadAs = []string{d.Beneficiary} // the operator does not see the coins
	s.Disclosed = disclose(append(m.disclosed(), f.featured)...)
	_, done, err := w.submit(ctx, s)
	return done, err
}

// End archives a MintingDelegation or its proposal, which has expired.
func (w *Minting) End(ctx context.Context, name, contractID string) (Done, error) {
	choice := "MintingDelegation_Reject"
	if name == template.MintingDelegationProposal {
		choice = "MintingDelegationProposal_Reject"
	}
	return w.exercise(ctx, w.operator, name, contractID, choice, noArgument)
}

// Delegation is a MintingDelegation or its proposal.
type Delegation struct {
	ID, Template, Beneficiary string
	ExpiresAt                 time.Time
	MergeLimit                int64
}

// List are those of which the operator is the delegate, and those proposed to it.
func (w *Minting) List(ctx context.Context) ([]Delegation, error) {
	of := func(c *Contract, name string, p *mintingPayload) (Delegation, bool) {
		return Delegation{c.ID, name, p.Beneficiary, p.ExpiresAt, p.MergeLimit}, p.Delegate == w.operator
	}
	active, err := listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.MintingDelegation}}, func(c *Contract, p *mintingPayload) (Delegation, bool) {
		return of(c, template.MintingDelegation, p)
	})
	if err != nil {
		return nil, err
	}
	proposed, err := listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.MintingDelegationProposal}}, func(c *Contract, p *mintingProposalPayload) (Delegation, bool) {
		return of(c, template.MintingDelegationProposal, &p.Delegation)
	})
	return append(active, proposed...), err
}

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

// Accept makes the actor the delegate who mints for a beneficiary. The
// contract of the result is the MintingDelegation; one with the same beneficiary is replaced.
func (w *Minting) Accept(ctx context.Context, actor Actor, contractID string) (Done, error) {
	proposal, err := w.proposal(ctx, actor, contractID)
	if err != nil {
		return Done{}, err
	}
	existing, err := w.delegation(ctx, actor.Party, proposal.Beneficiary)
	if err != nil {
		return Done{}, err
	}
	const choice = "MintingDelegationProposal_Accept"
	s := exerciseAs(actor.Party, template.MintingDelegationProposal, contractID, choice, map[string]any{"existingDelegationCid": optional(existing)})
	return w.submitFor(ctx, s, choice, "mintingDelegationCid")
}

// proposal returns what is proposed to the actor.
func (w *Minting) proposal(ctx context.Context, actor Actor, contractID string) (*mintingPayload, error) {
	var p mintingProposalPayload
	if err := w.visible(ctx, actor.Party, contractID, template.MintingDelegationProposal, &p); err != nil {
		return nil, err
	}
	if p.Delegation.Delegate != actor.Party {
		return nil, notFound("No such minting delegation proposal: %.80s", contractID)
	}
	return &p.Delegation, nil
}

// delegation returns the delegation of a beneficiary to a delegate, "" without one.
func (w *Minting) delegation(ctx context.Context, delegate, beneficiary string) (string, error) {
	q := ContractQuery{Parties: []string{delegate}, Templates: []string{template.MintingDelegation}, Key: beneficiary, Limit: 10}
	return firstID(ctx, w.reader, q, func(p *mintingPayload) bool { return p.Delegate == delegate && p.Beneficiary == beneficiary })
}

// RejectProposal rejects a MintingDelegationProposal to the actor.
func (w *Minting) RejectProposal(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if _, err := w.proposal(ctx, actor, contractID); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.MintingDelegationProposal, contractID, "MintingDelegationProposal_Reject", noArgument)
}

// Reject ends a MintingDelegation of which the actor is the delegate.
func (w *Minting) Reject(ctx context.Context, actor Actor, contractID string) (Done, error) {
	var p mintingPayload
	if err := w.visible(ctx, actor.Party, contractID, template.MintingDelegation, &p); err != nil {
		return Done{}, err
	}
	if p.Delegate != actor.Party {
		return Done{}, notFound("No such minting delegation: %.80s", contractID)
	}
	return w.exercise(ctx, actor.Party, template.MintingDelegation, contractID, "MintingDelegation_Reject", noArgument)
}
