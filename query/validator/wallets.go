package validator

import (
	"context"
	"time"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
)

// installed is a wallet.
type installed struct {
	User  string `json:"endUserName"`
	Party string `json:"endUserParty"`
}

// wallets are all wallets of the operator, in the order of their installation.
func (a *API) wallets(ctx context.Context) ([]installed, error) {
	return a.walletsWith(ctx, "")
}

// walletsWith are those of a user, or all if user is "".
func (a *API) walletsWith(ctx context.Context, user string) ([]installed, error) {
	operator, err := a.operator(ctx)
	if err != nil {
		return nil, err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{installTemplate}, Key: user}
	list, err := a.contracts(ctx, q, maxListed, has(operator.Party, "validatorParty"))
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

// partyOfWallet returns the party of the wallet of a user, "" without one.
func (a *API) partyOfWallet(ctx context.Context, user string) (string, error) {
	wallets, err := a.walletsWith(ctx, user)
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

// hasWallet reports whether a party has a wallet of which a user is the user.
func (a *API) hasWallet(ctx context.Context, party, user string) (bool, error) {
	if _, ok := a.seen.Get(installed{user, party}); ok {
		return true, nil
	}
	q := wallethistory.Query{Parties: []string{party}, Templates: []string{installTemplate}, Key: user}
	list, err := a.contracts(ctx, q, 1, func(c *contract) (bool, error) {
		var w installed
		err := c.decode(&w)
		return w == installed{user, party}, err
	})
	if err != nil || len(list) == 0 {
		return false, err
	}
	a.seen.Put(installed{user, party}, struct{}{}, a.cfg.Now())
	return true, nil
}

const (
	// seenFor is how long a wallet is remembered once it was found: operations of a user come
	// together, and wallets are seldom removed.
	seenFor = 2 * time.Second
	maxSeen = 10_000
)

// operator finds the operator, who is remembered for a while.
func (a *API) operator(ctx context.Context) (Operator, error) { return a.foundOperator.Get(ctx) }

// isFeatured reports whether a party has the right of a featured app.
func (a *API) isFeatured(ctx context.Context, party string) (bool, error) {
	q := wallethistory.Query{Parties: []string{party}, Templates: []string{featuredTemplate}}
	list, err := a.contracts(ctx, q, 1, has(party, "provider"))
	return len(list) > 0, err
}
