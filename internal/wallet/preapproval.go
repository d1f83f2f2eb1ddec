package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Preapprovals makes, renews, ends and uses preapprovals of transfers.
type Preapprovals struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
	lifetime time.Duration // of a new preapproval
}

// Preapproval is a TransferPreapproval, or a proposal of one, which has no expiry.
type Preapproval struct {
	ID, Receiver, Provider string
	ExpiresAt              time.Time
}

// List are those of which the operator is the provider, oldest first.
func (w *Preapprovals) List(ctx context.Context) ([]Preapproval, error) {
	return w.list(ctx, template.TransferPreapproval)
}

// Proposals are the proposals to the operator, oldest first.
func (w *Preapprovals) Proposals(ctx context.Context) ([]Preapproval, error) {
	return w.list(ctx, template.TransferPreapprovalProposal)
}

// Hosts reports whether the operator's node hosts a party.
func (w *Preapprovals) Hosts(ctx context.Context, party string) (bool, error) {
	p, ok, err := w.ledger.Party(ctx, party)
	return ok && p.Local, err
}

func (w *Preapprovals) list(ctx context.Context, name string) ([]Preapproval, error) {
	return listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{name}}, func(c *Contract, p *preapprovalPayload) (Preapproval, bool) {
		return Preapproval{ID: c.ID, Receiver: p.Receiver, Provider: p.Provider, ExpiresAt: p.ExpiresAt}, p.Provider == w.operator
	})
}

// sameFor is how long an action with a deduplication id cannot be repeated.
const sameFor = 24 * time.Hour

// preapprovalPayload is TransferPreapproval, and of its proposal the parties.
type preapprovalPayload struct {
	Receiver  string    `json:"receiver"`
	Provider  string    `json:"provider"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Request proposes to the operator that transfers to the actor need no
// acceptance, and has the operator accept, who pays for it. The contract of the result is
// the TransferPreapproval. If there is one already the error is ErrConflict with its id; if
// the same is being requested it is ErrInFlight.
func (w *Preapprovals) Request(ctx context.Context, actor Actor) (done Done, err error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return done, err
	}
	err = w.tracking.once(ctx, "preapproval", actor.Party, "", nil, func(attempt) error {
		have, err := w.network.preapproval(ctx, actor.Party, at)
		if err != nil {
			return err
		}
		if have != nil {
			return &Error{Kind: ErrConflict, Message: "there is a transfer preapproval already", ContractID: have.ID}
		}
		proposal, err := w.proposal(ctx, actor)
		if err != nil {
			return err
		}
		done, err = w.Accept(ctx, proposal)
		return err
	})
	return done, err
}

// proposal returns the actor's TransferPreapprovalProposal to the operator, a new one unless
// there is one.
func (w *Preapprovals) proposal(ctx context.Context, actor Actor) (string, error) {
	q := ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.TransferPreapprovalProposal}, Key: actor.Party, Limit: 10}
	have, err := firstID(ctx, w.reader, q, func(p *preapprovalPayload) bool { return p.Receiver == actor.Party && p.Provider == w.operator })
	if err != nil || have != "" {
		return have, err
	}
	rules, err := w.network.coinRules(ctx)
	if err != nil {
		return "", err
	}
	arguments := map[string]any{"receiver": actor.Party, "provider": w.operator, "expectedDso": rules.DSO}
	return w.create(ctx, actor.Party, template.TransferPreapprovalProposal, arguments)
}

// Accept has the operator accept a TransferPreapprovalProposal. The
// contract of the result is the TransferPreapproval.
func (w *Preapprovals) Accept(ctx context.Context, contractID string) (Done, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return Done{}, err
	}
	value := map[string]any{"preapprovalProposalCid": contractID, "expiresAt": timestamp(at.Add(w.lifetime))}
	return w.coins.asOperator(ctx, operation{"CO_AcceptTransferPreapprovalProposal", value})
}

// Renew has the operator renew a TransferPreapproval. The contract of the result
// is the new one.
func (w *Preapprovals) Renew(ctx context.Context, contractID string, expiresAt time.Time) (Done, error) {
	value := map[string]any{"previousApprovalCid": contractID, "newExpiresAt": timestamp(expiresAt)}
	return w.coins.asOperator(ctx, operation{"CO_RenewTransferPreapproval", value})
}

// SendRequest is a transfer in one step.
type SendRequest struct {
	Receiver    string // party with a preapproval
	Amount      decimal.Decimal
	Description string // "" for none
	// DeduplicationID lets one transfer of the actor succeed in 24 hours: others have its result.
	DeduplicationID string
}

func (r *SendRequest) check() error {
	if r.DeduplicationID == "" {
		return invalid("deduplication_id must not be empty")
	}
	if err := checkAmount(r.Amount); err != nil {
		return err
	}
	return checkParty(r.Receiver)
}

// Send pays a receiver who has a preapproval; a receiver without is ErrInvalid.
// The contract of the result is the coin that the actor has left, "" if none.
func (w *Preapprovals) Send(ctx context.Context, actor Actor, r SendRequest) (Done, error) {
	if err := r.check(); err != nil {
		return Done{}, err
	}
	return repeatable(ctx, w.tracking, "preapproval-send", actor.Party, r.DeduplicationID, func(a attempt) (Done, error) {
		return w.send(ctx, actor, r, a)
	})
}

func (w *Preapprovals) send(ctx context.Context, actor Actor, r SendRequest, a attempt) (Done, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return Done{}, err
	}
	preapproval, err := w.network.preapproval(ctx, r.Receiver, at)
	if err != nil {
		return Done{}, err
	}
	if preapproval == nil {
		return Done{}, invalid("Receiver %s doesn't have a TransferPreapproval", r.Receiver)
	}
	featured, err := w.network.providersRight(ctx, preapproval)
	if err != nil {
		return Done{}, err
	}
	value := map[string]any{
		"transferPreapprovalCid": preapproval.ID, "providerFeaturedAppRightCid": featured.orNull(),
		"amount": r.Amount, "description": optional(r.Description),
	}
	return w.coins.executeFor(ctx, actor, batch{
		operation: operation{"CO_TransferPreapprovalSend", value}, commandID: a.commandID, disclosed: []*Contract{preapproval, featured},
	})
}

// orNull is the id of a contract that may be missing, in compact JSON.
func (c *Contract) orNull() *string {
	if c == nil {
		return nil
	}
	return &c.ID
}

// Cancel ends the preapproval of a receiver of which the operator is the
// provider; ErrNotFound without one.
func (w *Preapprovals) Cancel(ctx context.Context, receiver string) (Done, error) {
	q := ContractQuery{Parties: []string{w.operator}, Templates: []string{template.TransferPreapproval}, Key: receiver, Limit: 10}
	list, err := matching(ctx, w.reader, q, func(p *preapprovalPayload) bool { return p.Receiver == receiver && p.Provider == w.operator })
	if err != nil {
		return Done{}, err
	}
	s := node.Submission{ActAs: []string{w.operator}}
	for _, id := range list {
		s.Commands = append(s.Commands, node.Exercise(command(template.TransferPreapproval), id, "TransferPreapproval_Cancel", map[string]any{"p": w.operator}))
	}
	if len(s.Commands) == 0 {
		return Done{}, notFound("No TransferPreapproval found for party: %s", receiver)
	}
	_, done, err := w.submit(ctx, s)
	return done, err
}
