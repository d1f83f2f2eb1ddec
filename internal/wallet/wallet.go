package wallet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Config says for whom a wallet acts, and through what. Zero values stand for the defaults.
type Config struct {
	Ledger Ledger       // required
	Reader Reader       // required
	Public Public       // required
	Log    *slog.Logger // required
	// Operator is the party of the validator. Required.
	Operator string
	// Wait is how long an action waits for the store to show what it did. Default 5s.
	Wait time.Duration
	// Timeout ends an action, however long its client waits. Default 1m.
	Timeout time.Duration
	// QueueSize is how many batches of one wallet may wait for those before them. Default 20.
	QueueSize int
	// PreapprovalLifetime is how long a new preapproval is good. Default 90 days.
	PreapprovalLifetime time.Duration
	// TransferCommands allows the transfers of external parties by transfer commands, which
	// the network is about to give up.
	TransferCommands bool
}

// Wallet does the actions of the users of one validator. It is safe for concurrent use.
type Wallet struct {
	cfg      Config
	treasury *treasury
	running  running
	recent   recent
}

// New returns a wallet.
func New(cfg Config) (*Wallet, error) {
	switch {
	case cfg.Ledger == nil || cfg.Reader == nil || cfg.Public == nil || cfg.Log == nil:
		return nil, errors.New("a wallet needs a ledger, a reader, public contracts and a logger")
	case cfg.Operator == "":
		return nil, errors.New("a wallet needs the party of its operator")
	case cfg.Wait < 0 || cfg.Timeout < 0 || cfg.QueueSize < 0 || cfg.PreapprovalLifetime < 0:
		return nil, errors.New("limits of a wallet must not be negative")
	}
	cfg.Wait = cmp.Or(cfg.Wait, 5*time.Second)
	cfg.Timeout = cmp.Or(cfg.Timeout, time.Minute)
	cfg.QueueSize = cmp.Or(cfg.QueueSize, 20)
	cfg.PreapprovalLifetime = cmp.Or(cfg.PreapprovalLifetime, 90*24*time.Hour)
	return &Wallet{cfg: cfg, treasury: newTreasury(cfg.QueueSize)}, nil
}

// Operator is the party of the validator.
func (w *Wallet) Operator() string { return w.cfg.Operator }

// detached gives an action its own time: a client that goes away must not leave a command
// behind of which nobody knows what became.
func (w *Wallet) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.cfg.Timeout)
}

// asBoth are the parties that act where the operator acts for a user.
func (w *Wallet) asBoth(party string) []string {
	both := []string{w.cfg.Operator, party}
	slices.Sort(both)
	return slices.Compact(both)
}

// submit executes commands and waits for the store to show them.
func (w *Wallet) submit(ctx context.Context, s node.Submission) (*node.Transaction, Done, error) {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	tx, err := w.cfg.Ledger.Submit(ctx, s)
	if err != nil {
		return nil, Done{}, translate(err)
	}
	return tx, w.landed(ctx, tx), nil
}

// landed waits for the store to show a transaction.
func (w *Wallet) landed(ctx context.Context, tx *node.Transaction) Done {
	done := Done{UpdateID: tx.UpdateID, Offset: tx.Offset}
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Wait)
	defer cancel()
	if err := w.cfg.Reader.WaitFor(ctx, tx.Offset); err != nil {
		w.cfg.Log.WarnContext(ctx, "the store does not show a command yet", "update", tx.UpdateID, "offset", tx.Offset, "waited", w.cfg.Wait, "err", err)
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
func (w *Wallet) install(ctx context.Context, actor Actor) (string, error) {
	if actor.Install != "" {
		return actor.Install, nil
	}
	installs, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.WalletAppInstall}, Key: actor.User, Limit: 10})
	if err != nil {
		return "", fmt.Errorf("looking for the wallet of user %s: %w", actor.User, err)
	}
	for i := range installs {
		var payload installPayload
		if err := installs[i].decode(&payload); err != nil {
			return "", err
		}
		if payload.User == actor.User && payload.Party == actor.Party && payload.Validator == w.cfg.Operator {
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
func (w *Wallet) visible(ctx context.Context, party, contractID, name string, payload any) error {
	c, err := w.cfg.Reader.Contract(ctx, party, contractID)
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
