package validator

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// access says who may use an operation.
type access uint8

const (
	// walletUser operations are about the wallet of the token's user. It is the zero value, so
	// that an operation that says nothing is not open to everybody.
	walletUser access = iota
	// operatorOnly operations are for administrators of the node who act as the operator.
	operatorOnly
	// anyUser operations need a good token; its user need not have a wallet, nor be known to
	// the node.
	anyUser
	// public operations need no token.
	public
)

// caller is a request of somebody who may send it.
type caller struct {
	*query.Request
	// user is the subject of the token, "" where none is needed.
	user string
	// party is that of the user's wallet, "" but for operations of wallets.
	party string
	// commands are set for operations that change the ledger.
	commands Commands
}

// operation is one operation of the interface.
type operation struct {
	method, path, name string
	access             access
	// write marks operations that change the ledger: with Config.Forward they are sent on.
	write  bool
	handle func(ctx context.Context, c *caller) error
}

// guarded makes the handler of an operation: it finds out who asks, and then whether they may.
func (a *API) guarded(op operation) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		c := &caller{Request: r}
		if op.access == public {
			return op.handle(ctx, c)
		}
		who, err := a.cfg.Auth.Identify(ctx, auth.TokenOf(r.Header("Authorization"), ""))
		if err != nil {
			return unauthenticated(err)
		}
		c.user = who.User
		if op.write && a.forward != nil {
			// The other validator decides about the rest: it is its users that the token is of.
			return a.forward.send(ctx, r)
		}
		switch op.access {
		case walletUser:
			c.party, err = a.walletOf(ctx, who.User)
		case operatorOnly:
			err = a.mayAdminister(ctx, who.User)
		}
		if err != nil {
			return err
		}
		if op.write {
			if a.cfg.Commands == nil {
				return query.Errorf(query.Disabled, "This server may not send commands to the node.")
			}
			if c.commands, err = a.cfg.Commands(ctx); err != nil {
				return refused(err)
			}
		}
		return op.handle(ctx, c)
	}
}

// unauthenticated withholds the reason: it would help to guess.
func unauthenticated(err error) error {
	return &query.Error{Code: query.Unauthenticated, Msg: "The request has no valid token.", Err: err}
}

// denied withholds the reason, too.
func denied(user string, err error) error {
	return &query.Error{Code: query.Denied, Msg: "Authorization Failed for " + user, Err: err}
}

func noWallet(user string) error {
	return query.Errorf(query.NotFound, "No wallet found for user %s.", user)
}

// walletOf returns the party of a user's wallet. Without a wallet the answer is 404; 403 if
// there is one and the node does not let the user act as its party.
func (a *API) walletOf(ctx context.Context, user string) (party string, err error) {
	rights, err := a.rightsOf(ctx, user)
	if errors.Is(err, auth.ErrUnauthenticated) {
		return "", a.lostWallet(ctx, user, err)
	}
	if err != nil {
		return "", err
	}
	if rights.PrimaryParty == "" {
		return "", noWallet(user)
	}
	installed, err := a.hasWallet(ctx, rights.PrimaryParty, user)
	switch {
	case err != nil:
		return "", err
	case !installed:
		return "", noWallet(user)
	case rights.Deactivated:
		return "", denied(user, errors.New("the ledger user is deactivated"))
	case !rights.ActAs[rights.PrimaryParty]:
		return "", denied(user, errors.New("the ledger user may not act as the wallet's party "+rights.PrimaryParty))
	}
	return rights.PrimaryParty, nil
}

// lostWallet is the answer to a user whom the node does not know: the wallet of one who was
// removed may still be there.
func (a *API) lostWallet(ctx context.Context, user string, cause error) error {
	party, err := a.partyOfWallet(ctx, user)
	switch {
	case err != nil:
		return err
	case party == "":
		return noWallet(user)
	}
	return denied(user, cause)
}

// rightsOf asks what a user may do. Its error is auth.ErrUnauthenticated for a user whom the
// node does not know.
func (a *API) rightsOf(ctx context.Context, user string) (auth.Rights, error) {
	rights, err := a.cfg.Users.Rights(ctx, user)
	if errors.Is(err, auth.ErrUnavailable) {
		return rights, &query.Error{Code: query.Unavailable, Msg: "The rights of users cannot be found out at the moment.", Err: err}
	}
	return rights, err
}

// mayAdminister returns nil if a user is an active administrator of the node whose primary
// party is the operator and who may act as it.
func (a *API) mayAdminister(ctx context.Context, user string) error {
	operator, err := a.operator(ctx)
	if err != nil {
		return err
	}
	rights, err := a.rightsOf(ctx, user)
	switch {
	case errors.Is(err, auth.ErrUnauthenticated):
		return denied(user, err)
	case err != nil:
		return err
	case rights.Deactivated:
		return denied(user, errors.New("the ledger user is deactivated"))
	case rights.PrimaryParty != operator.Party || !rights.ActAs[operator.Party]:
		return denied(user, errors.New("the ledger user is not that of the operator "+operator.Party))
	case !rights.ParticipantAdmin:
		return denied(user, errors.New("the ledger user is no administrator of the node"))
	}
	return nil
}
