package validator

import (
	"context"
	"time"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// installed is a wallet.
type installed struct {
	User  string `json:"endUserName"`
	Party string `json:"endUserParty"`
}

// accounts knows the operator, who has a wallet, and what users may do.
type accounts struct {
	reader   *reader
	users    Users
	now      func() time.Time
	operator memo.Value[Operator]
	seen     *memo.Recent[installed, struct{}] // wallets that were found
}

func newAccounts(cfg *Config, r *reader) *accounts {
	return &accounts{
		reader: r, users: cfg.Users, now: cfg.Now,
		operator: memo.Value[Operator]{Load: cfg.Operator, TTL: cfg.OperatorTTL, Now: cfg.Now},
		seen:     memo.NewRecent[installed, struct{}](maxSeen, seenFor, cfg.Now),
	}
}

// all are all wallets of the operator, in the order of their installation.
func (a *accounts) all(ctx context.Context) ([]installed, error) {
	return a.of(ctx, "")
}

// of are those of a user, or all if user is "".
func (a *accounts) of(ctx context.Context, user string) ([]installed, error) {
	operator, err := a.operator.Get(ctx)
	if err != nil {
		return nil, err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{template.WalletAppInstall}, Key: user}
	list, err := a.reader.contracts(ctx, q, maxListed, has(operator.Party, "validatorParty"))
	if err != nil {
		return nil, err
	}
	wallets := make([]installed, len(list))
	for i := range list {
		if err := list[i].decode(&wallets[i]); err != nil {
			return nil, err
		}
	}
	return wallets, nil
}

// partyOf returns the party of the wallet of a user, "" without one.
func (a *accounts) partyOf(ctx context.Context, user string) (string, error) {
	wallets, err := a.of(ctx, user)
	if err != nil {
		return "", err
	}
	for _, w := range wallets {
		if w.User == user {
			return w.Party, nil
		}
	}
	return "", nil
}

// has reports whether a party has a wallet of which a user is the user.
func (a *accounts) has(ctx context.Context, party, user string) (bool, error) {
	if _, ok := a.seen.Get(installed{user, party}); ok {
		return true, nil
	}
	q := wallethistory.Query{Parties: []string{party}, Templates: []string{template.WalletAppInstall}, Key: user}
	list, err := a.reader.contracts(ctx, q, 1, func(c *contract) (bool, error) {
		var w installed
		err := c.decode(&w)
		return w == installed{user, party}, err
	})
	if err != nil || len(list) == 0 {
		return false, err
	}
	a.seen.Put(installed{user, party}, struct{}{}, a.now())
	return true, nil
}

const (
	// seenFor is how long a wallet is remembered once it was found: operations of a user come
	// together, and wallets are seldom removed.
	seenFor = 2 * time.Second
	maxSeen = 10_000
)

// isFeatured reports whether a party has the right of a featured app.
func (a *accounts) isFeatured(ctx context.Context, party string) (bool, error) {
	q := wallethistory.Query{Parties: []string{party}, Templates: []string{template.FeaturedAppRight}}
	list, err := a.reader.contracts(ctx, q, 1, has(party, "provider"))
	return len(list) > 0, err
}

// isHosted reports whether a party has its validator right here.
func (a *accounts) isHosted(ctx context.Context, party string) (bool, error) {
	operator, err := a.operator.Get(ctx)
	if err != nil {
		return false, err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{template.ValidatorRight}, Key: party}
	list, err := a.reader.contracts(ctx, q, 1, has(party, "user"))
	return len(list) > 0, err
}

// forget has everything about a user looked up again.
func (a *accounts) forget(user string) {
	a.users.Forget(user)
	a.seen.RemoveFunc(func(w installed) bool { return w.User == user })
}
