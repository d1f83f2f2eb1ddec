package wallet

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// sameFor is how long an action with a deduplication id cannot be repeated.
const sameFor = 24 * time.Hour

// preapprovalPayload is TransferPreapproval, and of its proposal the parties.
type preapprovalPayload struct {
	Receiver  string    `json:"receiver"`
	Provider  string    `json:"provider"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// OperatorActor is the operator as a user of its own wallet; ErrUnavailable until it has one.
func (w *Wallet) OperatorActor(ctx context.Context) (Actor, error) {
	actors, err := w.Actors(ctx, w.cfg.Operator)
	if err != nil {
		return Actor{}, err
	}
	if len(actors) == 0 {
		return Actor{}, fail(ErrUnavailable, "the operator has no wallet yet")
	}
	return actors[0], nil
}

// Actors are the users of this validator whose wallets have a party, or all if that is "",
// oldest first.
func (w *Wallet) Actors(ctx context.Context, party string) ([]Actor, error) {
	stakeholder := party
	if stakeholder == "" {
		stakeholder = w.cfg.Operator
	}
	installs, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{stakeholder}, Templates: []string{template.WalletAppInstall}, Limit: maxActors})
	if err != nil {
		return nil, fmt.Errorf("reading wallets: %w", err)
	}
	var actors []Actor
	for i := range installs {
		var p installPayload
		if err := installs[i].decode(&p); err != nil {
			return nil, err
		}
		if p.Validator == w.cfg.Operator && (party == "" || p.Party == party) {
			actors = append(actors, Actor{User: p.User, Party: p.Party, Install: installs[i].ID})
		}
	}
	return actors, nil
}

// maxActors bounds the users of one validator: the network allows 200.
const maxActors = 1000

// RequestPreapproval proposes to the operator that transfers to the actor need no
// acceptance, and has the operator accept, who pays for it. The contract of the result is
// the TransferPreapproval. If there is one already the error is ErrConflict with its id; if
// the same is being requested it is ErrInFlight.
func (w *Wallet) RequestPreapproval(ctx context.Context, actor Actor) (done Done, err error) {
	at, err := w.cfg.Public.Now(ctx)
	if err != nil {
		return done, err
	}
	err = w.once(ctx, "preapproval", actor.Party, "", nil, func(attempt) error {
		have, err := w.preapproval(ctx, actor.Party, at)
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
		done, err = w.AcceptPreapprovalProposal(ctx, proposal)
		return err
	})
	return done, err
}

// preapproval returns the newest preapproval of a receiver that is good at a time, nil
// without one. Of a party of this node the store has more than public history has, and
// sooner.
func (w *Wallet) preapproval(ctx context.Context, receiver string, at time.Time) (*Contract, error) {
	own, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{receiver}, Templates: []string{template.TransferPreapproval}, Key: receiver, Limit: 10})
	if err != nil {
		return nil, fmt.Errorf("looking for the preapproval of %s: %w", receiver, err)
	}
	if found, err := goodPreapproval(own, receiver, at); err != nil || found != nil {
		return found, err
	}
	list, err := w.cfg.Public.Public(ctx, receiver, template.TransferPreapproval)
	if err != nil {
		return nil, fmt.Errorf("looking for the preapproval of %s: %w", receiver, err)
	}
	return goodPreapproval(list, receiver, at)
}

func goodPreapproval(list []Contract, receiver string, at time.Time) (*Contract, error) {
	for i := len(list) - 1; i >= 0; i-- {
		var p preapprovalPayload
		if err := list[i].decode(&p); err != nil {
			return nil, err
		}
		if p.Receiver == receiver && p.ExpiresAt.After(at) {
			return &list[i], nil
		}
	}
	return nil, nil
}

// proposal returns the actor's TransferPreapprovalProposal to the operator, a new one unless
// there is one.
func (w *Wallet) proposal(ctx context.Context, actor Actor) (string, error) {
	list, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.TransferPreapprovalProposal}, Key: actor.Party, Limit: 10})
	if err != nil {
		return "", fmt.Errorf("looking for preapproval proposals of %s: %w", actor.Party, err)
	}
	for i := range list {
		var p preapprovalPayload
		if err := list[i].decode(&p); err != nil {
			return "", err
		}
		if p.Receiver == actor.Party && p.Provider == w.cfg.Operator {
			return list[i].ID, nil
		}
	}
	rules, err := w.coinRules(ctx)
	if err != nil {
		return "", err
	}
	arguments := map[string]any{"receiver": actor.Party, "provider": w.cfg.Operator, "expectedDso": rules.DSO}
	tx, _, err := w.submit(ctx, node.Submission{ActAs: []string{actor.Party}, Commands: []node.Command{node.Create(command(template.TransferPreapprovalProposal), arguments)}})
	if err != nil {
		return "", err
	}
	created := tx.CreatedOf(node.Entity(template.TransferPreapprovalProposal))
	if created == nil {
		return "", fmt.Errorf("update %s has no preapproval proposal", tx.UpdateID)
	}
	return created.ContractID, nil
}

// coinRules reads the network's rules.
func (w *Wallet) coinRules(ctx context.Context) (RulesPayload, error) {
	var p RulesPayload
	c, err := w.rules(ctx)
	if err != nil {
		return p, err
	}
	return p, c.decode(&p)
}

// AcceptPreapprovalProposal has the operator accept a TransferPreapprovalProposal. The
// contract of the result is the TransferPreapproval.
func (w *Wallet) AcceptPreapprovalProposal(ctx context.Context, contractID string) (Done, error) {
	at, err := w.cfg.Public.Now(ctx)
	if err != nil {
		return Done{}, err
	}
	value := map[string]any{"preapprovalProposalCid": contractID, "expiresAt": timestamp(at.Add(w.cfg.PreapprovalLifetime))}
	return w.asOperator(ctx, operation{"CO_AcceptTransferPreapprovalProposal", value})
}

// RenewPreapproval has the operator renew a TransferPreapproval. The contract of the result
// is the new one.
func (w *Wallet) RenewPreapproval(ctx context.Context, contractID string, expiresAt time.Time) (Done, error) {
	value := map[string]any{"previousApprovalCid": contractID, "newExpiresAt": timestamp(expiresAt)}
	return w.asOperator(ctx, operation{"CO_RenewTransferPreapproval", value})
}

// asOperator runs an operation of the operator's wallet whose outcome is a contract.
func (w *Wallet) asOperator(ctx context.Context, o operation) (Done, error) {
	operator, err := w.OperatorActor(ctx)
	if err != nil {
		return Done{}, err
	}
	value, done, err := w.execute(ctx, operator, batch{operation: o})
	if err != nil {
		return done, err
	}
	done.ContractID, err = contractIn(value)
	return done, err
}

// SendRequest is a transfer in one step.
type SendRequest struct {
	Receiver    string // party with a preapproval
	Amount      decimal.Decimal
	Description string // "" for none
	// DeduplicationID lets one transfer of the actor succeed in 24 hours.
	DeduplicationID string
}

func (r *SendRequest) check() error {
	switch {
	case r.DeduplicationID == "":
		return invalid("deduplication_id must not be empty")
	case r.Amount.Sign() <= 0:
		return invalid("amount must be positive, it is %s", r.Amount)
	case !r.Amount.Storable():
		return invalid("amount must have at most 28 digits before the point")
	}
	return checkParty(r.Receiver)
}

// SendByPreapproval pays a receiver who has a preapproval; a receiver without is ErrInvalid.
// The contract of the result is the coin that the actor has left, "" if none.
func (w *Wallet) SendByPreapproval(ctx context.Context, actor Actor, r SendRequest) (done Done, err error) {
	if err := r.check(); err != nil {
		return done, err
	}
	at, err := w.cfg.Public.Now(ctx)
	if err != nil {
		return done, err
	}
	preapproval, err := w.preapproval(ctx, r.Receiver, at)
	if err != nil {
		return done, err
	}
	if preapproval == nil {
		return done, invalid("Receiver %s doesn't have a TransferPreapproval", r.Receiver)
	}
	featured, err := w.providersRight(ctx, preapproval)
	if err != nil {
		return done, err
	}
	value := map[string]any{
		"transferPreapprovalCid": preapproval.ID, "providerFeaturedAppRightCid": featured.orNull(),
		"amount": r.Amount, "description": optional(r.Description),
	}
	err = w.once(ctx, "preapproval-send", actor.Party, r.DeduplicationID, nil, func(a attempt) error {
		sent, d, err := w.execute(ctx, actor, batch{
			operation: operation{"CO_TransferPreapprovalSend", value}, once: a, within: sameFor, disclosed: []*Contract{preapproval, featured},
		})
		if err != nil {
			return err
		}
		done = d
		done.ContractID, err = coinIn(sent)
		return err
	})
	return done, err
}

// providersRight returns the featured app right of the provider of a preapproval, nil
// without one.
func (w *Wallet) providersRight(ctx context.Context, preapproval *Contract) (*Contract, error) {
	var p preapprovalPayload
	if err := preapproval.decode(&p); err != nil {
		return nil, err
	}
	list, err := w.cfg.Public.Public(ctx, p.Provider, template.FeaturedAppRight)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// orNull is the id of a contract that may be missing, in compact JSON.
func (c *Contract) orNull() *string {
	if c == nil {
		return nil
	}
	return &c.ID
}

// CancelPreapproval ends the preapproval of a receiver of which the operator is the
// provider; ErrNotFound without one.
func (w *Wallet) CancelPreapproval(ctx context.Context, receiver string) (Done, error) {
	list, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{w.cfg.Operator}, Templates: []string{template.TransferPreapproval}, Key: receiver, Limit: 10})
	if err != nil {
		return Done{}, err
	}
	s := node.Submission{ActAs: []string{w.cfg.Operator}}
	for i := range list {
		var p preapprovalPayload
		if err := list[i].decode(&p); err != nil {
			return Done{}, err
		}
		if p.Receiver == receiver && p.Provider == w.cfg.Operator {
			s.Commands = append(s.Commands, node.Exercise(command(template.TransferPreapproval), list[i].ID, "TransferPreapproval_Cancel", map[string]any{"p": w.cfg.Operator}))
		}
	}
	if len(s.Commands) == 0 {
		return Done{}, notFound("No TransferPreapproval found for party: %s", receiver)
	}
	_, done, err := w.submit(ctx, s)
	return done, err
}
