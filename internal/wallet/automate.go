package wallet

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// IsIdle reports whether an action was left because it would change nothing.
func IsIdle(err error) bool { return errors.Is(err, errIdle) }

// Merge turns the rewards and coins of a wallet into one coin. It is an error for which
// IsIdle holds if that would change nothing. urgent goes before others that wait.
func (w *Wallet) Merge(ctx context.Context, actor Actor, urgent bool) (Done, error) {
	value, done, err := w.execute(ctx, actor, batch{
		operation: operation{"CO_MergeTransferInputs", noArgument}, urgent: urgent, worth: (*Funds).WorthMerging,
	})
	if err != nil {
		return done, err
	}
	done.ContractID, err = coinIn(value)
	return done, err
}

// CompleteAcceptedOffer pays an AcceptedTransferOffer of the actor. ErrFunds means that the
// wallet has too little.
func (w *Wallet) CompleteAcceptedOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.offerOf(ctx, actor, contractID, template.AcceptedTransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	_, done, err := w.execute(ctx, actor, batch{operation: operation{template.OperationCompleteAcceptedTransfer, contractID}})
	return done, err
}

// AbortAcceptedOffer ends an AcceptedTransferOffer of the actor, who cannot pay it.
func (w *Wallet) AbortAcceptedOffer(ctx context.Context, actor Actor, contractID, reason string) (Done, error) {
	if err := w.offerOf(ctx, actor, contractID, template.AcceptedTransferOffer, senderOf); err != nil {
		return Done{}, err
	}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.AcceptedTransferOffer, contractID, template.AcceptedTransferOfferAbort, reasonArgument{reason}))
	return done, err
}

// actorArgument is the argument of choices that any party of a contract may exercise.
type actorArgument struct {
	Actor string `json:"actor"`
}

// ExpireOffer ends a TransferOffer of the actor that has expired.
func (w *Wallet) ExpireOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.TransferOffer, contractID, template.TransferOfferExpire, actorArgument{actor.Party}))
	return done, err
}

// ExpireAcceptedOffer ends an AcceptedTransferOffer of the actor that has expired.
func (w *Wallet) ExpireAcceptedOffer(ctx context.Context, actor Actor, contractID string) (Done, error) {
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, template.AcceptedTransferOffer, contractID, template.AcceptedTransferOfferExpire, actorArgument{actor.Party}))
	return done, err
}

// RecordLiveness has the operator record in a round that it is alive. license is its
// ValidatorLicense. The contract of the result is the record.
func (w *Wallet) RecordLiveness(ctx context.Context, license string, round Contract) (Done, error) {
	const choice = "ValidatorLicense_RecordValidatorLivenessActivity"
	s := exerciseAs(w.cfg.Operator, template.ValidatorLicense, license, choice, map[string]any{"openRoundCid": round.ID})
	s.Disclosed = disclose(&round)
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return Done{}, err
	}
	var result struct {
		Coupon string `json:"couponCid"`
	}
	err = tx.Result(choice, &result)
	done.ContractID = result.Coupon
	return done, err
}

// MintDelegated mints for the beneficiary of a MintingDelegation, of which the operator is
// the delegate, from some inputs.
func (w *Wallet) MintDelegated(ctx context.Context, d Delegation, m *Market, f *Funds, inputs []Input) (Done, error) {
	argument := map[string]any{"inputs": inputs, "context": m.context(f)}
	s := exerciseAs(w.cfg.Operator, template.MintingDelegation, d.ID, "MintingDelegation_Mint", argument)
	s.ReadAs = []string{d.Beneficiary} // the operator does not see the coins
	s.Disclosed = disclose(append(m.disclosed(), f.featured)...)
	_, done, err := w.submit(ctx, s)
	return done, err
}

// EndMinting archives a MintingDelegation or its proposal, which has expired.
func (w *Wallet) EndMinting(ctx context.Context, name, contractID string) (Done, error) {
	choice := "MintingDelegation_Reject"
	if name == template.MintingDelegationProposal {
		choice = "MintingDelegationProposal_Reject"
	}
	_, done, err := w.submit(ctx, exerciseAs(w.cfg.Operator, name, contractID, choice, noArgument))
	return done, err
}
