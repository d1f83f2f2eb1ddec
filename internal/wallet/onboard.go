package wallet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Users makes and ends the wallets of users.
type Users struct {
	*submitter
	tracking *tracker
	network  *Network
}

// OnboardRequest makes a ledger user a user of the wallet.
type OnboardRequest struct {
	User string
	// Party is the user's party; "" makes a new one with the user's name as hint.
	Party string
	// CreateParty makes the party if the node does not know it: one of the node's own
	// namespace, whose name begins as Party does.
	CreateParty bool
}

// Onboard makes a wallet for a user: its party, ledger user, rights and contracts
// (WalletAppInstall, ValidatorRight). What is there already is kept, so that it may be
// repeated; it returns the user's party. A party that must exist and does not is ErrInvalid.
func (w *Users) Onboard(ctx context.Context, r OnboardRequest) (party string, err error) {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	if r.User == "" {
		return "", invalid("the name of a user must not be empty")
	}
	err = w.tracking.once(ctx, "onboard", r.User, "", nil, func(attempt) error {
		user, known, err := w.ledger.User(ctx, r.User)
		if err != nil {
			return translate(err)
		}
		if party, err = w.partyFor(ctx, r, user); err != nil {
			return err
		}
		if err := w.userFor(ctx, r.User, user, known, party); err != nil {
			return err
		}
		return w.installFor(ctx, r.User, party)
	})
	return party, err
}

// partyFor returns the party of a user, a new one if need be.
func (w *Users) partyFor(ctx context.Context, r OnboardRequest, user node.User) (string, error) {
	switch {
	case r.Party == "" && user.PrimaryParty != "":
		return user.PrimaryParty, nil
	case r.Party == "":
		return w.newParty(ctx, hintOf(r.User))
	}
	_, known, err := w.ledger.Party(ctx, r.Party)
	switch {
	case err != nil:
		return "", translate(err)
	case known:
		return r.Party, nil
	case !r.CreateParty:
		return "", invalid("the node does not know party %s", r.Party)
	}
	hint, _, _ := strings.Cut(r.Party, "::")
	return w.allocate(ctx, hint)
}

// newParty makes a party for a user who names none. One that is there already may belong to
// somebody else: then the new one gets a name of its own.
func (w *Users) newParty(ctx context.Context, hint string) (string, error) {
	party, err := w.allocate(ctx, hint)
	if errors.Is(err, ErrInvalid) || isConflict(err) {
		return w.allocate(ctx, hint+"-"+strings.ToLower(rand.Text()[:8]))
	}
	return party, err
}

func (w *Users) allocate(ctx context.Context, hint string) (string, error) {
	party, err := w.ledger.AllocateParty(ctx, hint)
	return party, translate(err)
}

// maxHint leaves room for what makes a hint unique.
const maxHint = 100

// hintOf makes a party hint of a user's name: letters, digits and a few signs.
func hintOf(user string) string {
	user = user[:min(len(user), maxHint)]
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '_'
	}, user)
}

// userFor makes the ledger user, or gives it its party, and lets us act for the party.
func (w *Users) userFor(ctx context.Context, name string, user node.User, known bool, party string) error {
	rights := []node.Right{{Kind: node.CanActAs, Party: party}, {Kind: node.CanReadAs, Party: party}}
	var err error
	switch {
	case !known:
		err = w.ledger.CreateUser(ctx, node.User{ID: name, PrimaryParty: party}, rights)
	case user.PrimaryParty != party:
		if err = w.ledger.SetPrimaryParty(ctx, name, party); err == nil {
			err = w.ledger.GrantRights(ctx, name, rights...)
		}
	default:
		err = w.ledger.GrantRights(ctx, name, rights...)
	}
	if err != nil && !node.UserExists(err) {
		return translate(err)
	}
	own, err := w.ledger.SubmittingUser(ctx)
	if err != nil {
		return translate(err)
	}
	if own == name {
		return nil
	}
	return w.grantOwn(ctx, own, rights)
}

// installFor makes the contracts of a wallet, unless they are there.
func (w *Users) installFor(ctx context.Context, user, party string) error {
	_, err := w.install(ctx, Actor{User: user, Party: party})
	if err == nil || !isNotFound(err) {
		return err
	}
	rules, err := w.network.coinRules(ctx)
	if err != nil {
		return err
	}
	s := node.Submission{
		// Two requests at a time, maybe of two processes, must not make two wallets.
		CommandID: commandID("install", user, party), ActAs: w.asBoth(party),
		Commands: []node.Command{node.Create(command(template.WalletAppInstall), installPayload{DSO: rules.DSO, Validator: w.operator, User: user, Party: party})},
	}
	have, err := w.hasRight(ctx, party)
	if err != nil {
		return err
	}
	if !have {
		s.Commands = append(s.Commands, node.Create(command(template.ValidatorRight), map[string]any{"dso": rules.DSO, "user": party, "validator": w.operator}))
	}
	if s.DeduplicateAfter, err = w.reader.End(ctx); err != nil {
		return err
	}
	if _, _, err = w.submit(ctx, s); isConflict(err) {
		return nil
	}
	return err
}

// hasRight reports whether the operator has the ValidatorRight of a party.
func (w *Users) hasRight(ctx context.Context, party string) (bool, error) {
	q := ContractQuery{Parties: []string{party}, Templates: []string{template.ValidatorRight}, Key: party, Limit: 10}
	id, err := firstID(ctx, w.reader, q, func(p *couponPayload) bool { return p.User == party && p.Validator == w.operator })
	return id != "", err
}

// Offboard ends a user's wallet: its contract and the user's rights. The party, its coins
// and its ValidatorRight stay, so that what it has earned is still minted if it comes back.
// An unknown user, or one without wallet, is ErrNotFound.
func (w *Users) Offboard(ctx context.Context, user string) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	return w.tracking.once(ctx, "onboard", user, "", nil, func(attempt) error {
		u, known, err := w.ledger.User(ctx, user)
		if err != nil {
			return translate(err)
		}
		if !known {
			return notFound("User %s not found", user)
		}
		install, err := w.install(ctx, Actor{User: user, Party: u.PrimaryParty})
		if err != nil {
			return err
		}
		// The rights first: whoever fails in between can be offboarded again.
		rights := []node.Right{{Kind: node.CanActAs, Party: u.PrimaryParty}, {Kind: node.CanReadAs, Party: u.PrimaryParty}}
		if err := w.ledger.RevokeRights(ctx, user, rights...); err != nil {
			return fmt.Errorf("revoking the rights of user %s: %w", user, translate(err))
		}
		archive := node.Exercise(command(template.WalletAppInstall), install, "Archive", noArgument)
		_, _, err = w.submit(ctx, node.Submission{ActAs: w.asBoth(u.PrimaryParty), Commands: []node.Command{archive}})
		return err
	})
}

// Operator is the operator as a user of its own wallet; ErrUnavailable until it has one.
func (w *Users) Operator(ctx context.Context) (Actor, error) {
	actors, err := w.Actors(ctx, w.operator)
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
func (w *Users) Actors(ctx context.Context, party string) ([]Actor, error) {
	stakeholder := party
	if stakeholder == "" {
		stakeholder = w.operator
	}
	q := ContractQuery{Parties: []string{stakeholder}, Templates: []string{template.WalletAppInstall}, Limit: maxActors}
	return listed(ctx, w.reader, q, func(c *Contract, p *installPayload) (Actor, bool) {
		return Actor{User: p.User, Party: p.Party, Install: c.ID}, p.Validator == w.operator && (party == "" || p.Party == party)
	})
}

// maxActors bounds the users of one validator: the network allows 200.
const maxActors = 1000
