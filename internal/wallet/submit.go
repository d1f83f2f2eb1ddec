package wallet

import (
	"context"
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

// actorArgument is the argument of choices that any party of a contract may exercise.
type actorArgument struct {
	Actor string `json:"actor"`
}

// catchUp waits a while for the store to show more.
func (w *submitter) catchUp(ctx context.Context) error {
	end, err := w.reader.End(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = w.reader.WaitFor(ctx, end+1) // what it is not shown yet is refused again
	return nil
}

// maxListed bounds the contracts of a kind that automations look at in one go; the rest
// waits for the next.
const maxListed = 1000

// listed reads contracts and keeps what take makes of them.
func listed[P, T any](ctx context.Context, reader Reader, q ContractQuery, take func(*Contract, *P) (T, bool)) ([]T, error) {
	q.Limit = maxListed
	contracts, err := reader.Contracts(ctx, q)
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

func checkParty(party string) error {
	if !validParty(party) {
		return invalid("%.80q is not a party", party)
	}
	return nil
}

// timestamp is an instant in compact JSON.
func timestamp(at time.Time) string {
	return at.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// onInstall is the submission of a choice of a user's WalletAppInstall.
func (w *submitter) onInstall(actor Actor, install string, a attempt, choice string, argument any) node.Submission {
	return node.Submission{
		CommandID: a.commandID, DeduplicateAfter: a.after, ActAs: w.asBoth(actor.Party),
		Commands: []node.Command{node.Exercise(command(template.WalletAppInstall), install, choice, argument)},
	}
}

// noArgument is the argument of choices without fields.
var noArgument = struct{}{}

// reasonArgument is the argument of choices that end something for a reason.
type reasonArgument struct {
	Reason string `json:"reason"`
}

// exerciseAs is the submission of one choice by one party.
func exerciseAs(party, name, contractID, choice string, argument any) node.Submission {
	return node.Submission{ActAs: []string{party}, Commands: []node.Command{node.Exercise(command(name), contractID, choice, argument)}}
}

// grantOwn gives rights to the user who submits, if that is a user of the node: without
// authorization it may be none.
func (w *submitter) grantOwn(ctx context.Context, own string, rights []node.Right) error {
	_, known, err := w.ledger.User(ctx, own)
	if err != nil || !known {
		return translate(err)
	}
	return translate(w.ledger.GrantRights(ctx, own, rights...))
}

// optional is a text in compact JSON, null for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// detached gives an action its own time: a client that goes away must not leave a command
// behind of which nobody knows what became.
func (w *submitter) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
}

// asBoth are the parties that act where the operator acts for a user.
func (w *submitter) asBoth(party string) []string {
	both := []string{w.operator, party}
	slices.Sort(both)
	return slices.Compact(both)
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

// disclose lists contracts that the submitting parties do not see, of those whose blobs are
// known.
func disclose(contracts ...*Contract) []node.Disclosed {
	var list []node.Disclosed
	for _, c := range contracts {
		if c != nil && c.Blob != "" {
			list = append(list, node.Disclosed{TemplateID: c.TemplateID, ContractID: c.ID, Blob: c.Blob, SynchronizerID: c.SynchronizerID})
		}
	}
	return list
}

// install returns the contract that lets the operator act for a user.
func (w *submitter) install(ctx context.Context, actor Actor) (string, error) {
	if actor.Install != "" {
		return actor.Install, nil
	}
	installs, err := w.reader.Contracts(ctx, ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.WalletAppInstall}, Key: actor.User, Limit: 10})
	if err != nil {
		return "", fmt.Errorf("looking for the wallet of user %s: %w", actor.User, err)
	}
	for i := range installs {
		var payload installPayload
		if err := installs[i].decode(&payload); err != nil {
			return "", err
		}
		if payload.User == actor.User && payload.Party == actor.Party && payload.Validator == w.operator {
			return installs[i].ID, nil
		}
	}
	return "", notFound("No wallet found for user %s", actor.User)
}

// installPayload is WalletAppInstall.
type installPayload struct {
	DSO       string `json:"dsoParty"`
	Validator string `json:"validatorParty"`
	User      string `json:"endUserName"`
	Party     string `json:"endUserParty"`
}

// visible returns a contract of a template that the actor's party sees.
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

// ofTemplate reports whether a template id, "package-id:Module:Entity", names a template,
// "package-name:Module:Entity", by module and entity.
func ofTemplate(id, name string) bool { return template.Entity(id) == template.Entity(name) }

// command is how a command names a template or an interface.
func command(name string) string { return "#" + name }
