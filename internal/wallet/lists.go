package wallet

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// maxListed bounds the contracts of a kind that automations look at in one go; the rest
// waits for the next.
const maxListed = 1000

// Offer is a TransferOffer or an AcceptedTransferOffer.
type Offer struct {
	ID, Sender, Receiver string
	Amount               decimal.Decimal
	// Unit is AmuletUnit or USDUnit.
	Unit       string
	ExpiresAt  time.Time
	TrackingID string
}

// Coins is what the offer is about in coins of a price in dollars.
func (o *Offer) Coins(price decimal.Decimal) decimal.Decimal {
	if o.Unit == "USDUnit" {
		return o.Amount.Over(price)
	}
	return o.Amount
}

// Now is the time of the network.
func (w *Wallet) Now(ctx context.Context) (time.Time, error) { return w.cfg.Public.Now(ctx) }

// Offers are those of which one of some parties is sender or receiver, oldest first; accepted
// ones or those that are not.
func (w *Wallet) Offers(ctx context.Context, accepted bool, parties ...string) ([]Offer, error) {
	name := template.TransferOffer
	if accepted {
		name = template.AcceptedTransferOffer
	}
	return listed(ctx, w, ContractQuery{Parties: parties, Templates: []string{name}}, func(c *Contract, p *offerPayload) (Offer, bool) {
		return Offer{ID: c.ID, Sender: p.Sender, Receiver: p.Receiver, Amount: p.Amount.Amount, Unit: p.Amount.Unit, ExpiresAt: p.ExpiresAt, TrackingID: p.TrackingID}, true
	})
}

// OpenTrafficRequest is a BuyTrafficRequest.
type OpenTrafficRequest struct {
	ID, User, TrackingID string
	ExpiresAt            time.Time
}

// TrafficRequests are those of some parties, oldest first.
func (w *Wallet) TrafficRequests(ctx context.Context, parties ...string) ([]OpenTrafficRequest, error) {
	return listed(ctx, w, ContractQuery{Parties: parties, Templates: []string{template.BuyTrafficRequest}}, func(c *Contract, p *trafficRequestPayload) (OpenTrafficRequest, bool) {
		return OpenTrafficRequest{ID: c.ID, User: p.User, TrackingID: p.TrackingID, ExpiresAt: p.ExpiresAt}, true
	})
}

// Preapproval is a TransferPreapproval, or a proposal of one, which has no expiry.
type Preapproval struct {
	ID, Receiver, Provider string
	ExpiresAt              time.Time
}

// Preapprovals are those of which the operator is the provider, oldest first; PreapprovalProposals
// are what is proposed to it.
func (w *Wallet) Preapprovals(ctx context.Context) ([]Preapproval, error) {
	return w.preapprovalsOf(ctx, template.TransferPreapproval)
}

// PreapprovalProposals are the proposals to the operator, oldest first.
func (w *Wallet) PreapprovalProposals(ctx context.Context) ([]Preapproval, error) {
	return w.preapprovalsOf(ctx, template.TransferPreapprovalProposal)
}

func (w *Wallet) preapprovalsOf(ctx context.Context, name string) ([]Preapproval, error) {
	return listed(ctx, w, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{name}}, func(c *Contract, p *preapprovalPayload) (Preapproval, bool) {
		return Preapproval{ID: c.ID, Receiver: p.Receiver, Provider: p.Provider, ExpiresAt: p.ExpiresAt}, p.Provider == w.cfg.Operator
	})
}

// PreapprovalOf returns the preapproval of any receiver that is good at a time; nil without
// one.
func (w *Wallet) PreapprovalOf(ctx context.Context, receiver string, at time.Time) (*Contract, error) {
	return w.preapproval(ctx, receiver, at)
}

// License is the operator's ValidatorLicense.
type License struct {
	ID string
	// LastReceived is the last round in which it recorded that it is alive, -1 if none.
	LastReceived int64
}

// License returns the operator's license; nil without one.
func (w *Wallet) License(ctx context.Context) (*License, error) {
	type payload struct {
		Validator string `json:"validator"`
		Faucet    *struct {
			Last struct {
				Number int64 `json:"number,string"`
			} `json:"lastReceivedFor"`
		} `json:"faucetState"`
	}
	list, err := listed(ctx, w, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{template.ValidatorLicense}}, func(c *Contract, p *payload) (License, bool) {
		l := License{ID: c.ID, LastReceived: -1}
		if p.Faucet != nil {
			l.LastReceived = p.Faucet.Last.Number
		}
		return l, p.Validator == w.cfg.Operator
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// TopUpState is a ValidatorTopUpState of the operator.
type TopUpState struct {
	ID            string
	LastPurchased time.Time
}

// TopUpState returns when traffic for a member was last bought; nil if never.
func (w *Wallet) TopUpState(ctx context.Context, member, synchronizer string) (*TopUpState, error) {
	type payload struct {
		Validator     string    `json:"validator"`
		Member        string    `json:"memberId"`
		Synchronizer  string    `json:"synchronizerId"`
		LastPurchased time.Time `json:"lastPurchasedAt"`
	}
	list, err := listed(ctx, w, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{template.ValidatorTopUpState}, Key: member}, func(c *Contract, p *payload) (TopUpState, bool) {
		return TopUpState{c.ID, p.LastPurchased}, p.Validator == w.cfg.Operator && p.Member == member && p.Synchronizer == synchronizer
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// Delegation is a MintingDelegation or its proposal.
type Delegation struct {
	ID, Template, Beneficiary string
	ExpiresAt                 time.Time
	MergeLimit                int64
}

// Delegations are those of which the operator is the delegate, and those proposed to it.
func (w *Wallet) Delegations(ctx context.Context) ([]Delegation, error) {
	of := func(c *Contract, name string, p *mintingPayload) (Delegation, bool) {
		return Delegation{c.ID, name, p.Beneficiary, p.ExpiresAt, p.MergeLimit}, p.Delegate == w.cfg.Operator
	}
	active, err := listed(ctx, w, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{template.MintingDelegation}}, func(c *Contract, p *mintingPayload) (Delegation, bool) {
		return of(c, template.MintingDelegation, p)
	})
	if err != nil {
		return nil, err
	}
	proposed, err := listed(ctx, w, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{template.MintingDelegationProposal}}, func(c *Contract, p *mintingProposalPayload) (Delegation, bool) {
		return of(c, template.MintingDelegationProposal, &p.Delegation)
	})
	return append(active, proposed...), err
}

// listed reads contracts and keeps what take makes of them.
func listed[P, T any](ctx context.Context, w *Wallet, q ContractQuery, take func(*Contract, *P) (T, bool)) ([]T, error) {
	q.Limit = maxListed
	contracts, err := w.cfg.Reader.Contracts(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("reading contracts of %q: %w", q.Templates, err)
	}
	var list []T
	for i := range contracts {
		var p P
		if err := contracts[i].decode(&p); err != nil {
			return nil, err
		}
		if item, ok := take(&contracts[i], &p); ok {
			list = append(list, item)
		}
	}
	return list, nil
}
