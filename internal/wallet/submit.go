package wallet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// submitter executes commands on the node, waits for the store to show what they did, and reads
// what the operator and the users see.
type submitter struct {
	ledger        Ledger
	reader        Reader
	log           *slog.Logger
	operator      string
	wait, timeout time.Duration
}

// detached gives an action its own time: a client that goes away must not leave a command
// behind whose outcome nobody knows.
func (w *submitter) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
}

// submit executes commands and waits for the store to show them.
func (w *submitter) submit(ctx context.Context, s node.Submission) (*node.Transaction, Done, error) {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	tx, err := w.ledger.Submit(ctx, s)
	if err != nil {
		return nil, Done{}, translate(err)
	}
	return tx, w.landed(ctx, tx), nil
}

// submitFor is submit for a choice. The contract of the result is the one that a member of the
// choice's result names.
func (w *submitter) submitFor(ctx context.Context, s node.Submission, choice, member string) (Done, error) {
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return Done{}, err
	}
	var result map[string]json.RawMessage
	if err := tx.Result(choice, &result); err != nil {
		return done, err
	}
	if raw, ok := result[member]; ok {
		err = json.Unmarshal(raw, &done.ContractID)
	}
	if err != nil {
		err = fmt.Errorf("reading %s in the result of %s in update %s: %w", member, choice, tx.UpdateID, err)
	}
	return done, err
}

// exercise has one party exercise one choice.
func (w *submitter) exercise(ctx context.Context, party, name, contractID, choice string, argument any) (Done, error) {
	_, done, err := w.submit(ctx, exerciseAs(party, name, contractID, choice, argument))
	return done, err
}

// create has one party create a contract and returns its id.
func (w *submitter) create(ctx context.Context, party, name string, argument any) (string, error) {
	tx, _, err := w.submit(ctx, node.Submission{ActAs: []string{party}, Commands: []node.Command{node.Create(command(name), argument)}})
	if err != nil {
		return "", err
	}
	return createdOf(tx, name)
}

// createdOf returns the id of the contract of a template that a transaction creates.
func createdOf(tx *node.Transaction, name string) (string, error) {
	created := tx.CreatedOf(node.Entity(name))
	if created == nil {
		return "", fmt.Errorf("update %s has no new %s", tx.UpdateID, node.Entity(name))
	}
	return created.ContractID, nil
}

// landed waits for the store to show a transaction.
func (w *submitter) landed(ctx context.Context, tx *node.Transaction) Done {
	done := Done{UpdateID: tx.UpdateID, Offset: tx.Offset}
	ctx, cancel := context.WithTimeout(ctx, w.wait)
	defer cancel()
	if err := w.reader.WaitFor(ctx, tx.Offset); err != nil {
		w.log.WarnContext(ctx, "the store does not show a command yet", "update", tx.UpdateID, "offset", tx.Offset, "waited", w.wait, "err", err)
		return done
	}
	done.Visible = true
	return done
}

// catchUp waits a while for the store to show more.
func (w *submitter) catchUp(ctx context.Context) error {
	end, err := w.reader.End(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = w.reader.WaitFor(ctx, end+1) // what is not shown yet is refused again
	return nil
}

// asBoth are the parties that act where the operator acts for a user.
func (w *submitter) asBoth(party string) []string {
	both := []string{w.operator, party}
	slices.Sort(both)
	return slices.Compact(both)
}

// onInstall is the submission of a choice of a user's WalletAppInstall.
func (w *submitter) onInstall(actor Actor, install string, a attempt, choice string, argument any) node.Submission {
	return node.Submission{
		CommandID: a.commandID, DeduplicateAfter: a.after, ActAs: w.asBoth(actor.Party),
		Commands: []node.Command{node.Exercise(command(template.WalletAppInstall), install, choice, argument)},
	}
}

// grantOwn gives rights to the user who submits, if the node knows it: without authorization
// there may be no such user.
func (w *submitter) grantOwn(ctx context.Context, own string, rights []node.Right) error {
	_, known, err := w.ledger.User(ctx, own)
	if err != nil || !known {
		return translate(err)
	}
	return translate(w.ledger.GrantRights(ctx, own, rights...))
}

// installPayload is WalletAppInstall.
type installPayload struct {
	DSO       string `json:"dsoParty"`
	Validator string `json:"validatorParty"`
	User      string `json:"endUserName"`
	Party     string `json:"endUserParty"`
}

// install returns the contract that lets the operator act for a user.
func (w *submitter) install(ctx context.Context, actor Actor) (string, error) {
	if actor.Install != "" {
		return actor.Install, nil
	}
	q := ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.WalletAppInstall}, Key: actor.User, Limit: 10}
	id, err := firstID(ctx, w.reader, q, func(p *installPayload) bool {
		return p.User == actor.User && p.Party == actor.Party && p.Validator == w.operator
	})
	if err == nil && id == "" {
		err = notFound("No wallet found for user %s", actor.User)
	}
	return id, err
}

// visible reads the payload of a contract of a template that a party sees.
func (w *submitter) visible(ctx context.Context, party, contractID, name string, payload any) error {
	c, err := w.reader.Contract(ctx, party, contractID)
	if err != nil {
		return err
	}
	if !ofTemplate(c.TemplateID, name) {
		return notFound("Contract %.80s is not of template %s", contractID, node.Entity(name))
	}
	return c.decode(payload)
}
