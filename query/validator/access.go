package validator

import (
	"context"

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
	// commands are set for operations with write.
	commands *Commands
}

// operation is one operation of the interface.
type operation struct {
	method, path, name string
	access             access
	// class is query.Route.Class.
	class query.Class
	// write marks operations that change the ledger, or that only the node can answer: they need
	// commands, and with Config.Forward they are sent on.
	write  bool
	handle func(ctx context.Context, c *caller) error
}

// guarded makes the handler of an operation: it identifies the caller, and then checks their rights.
func (a *API) guarded(op operation) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		c := &caller{Request: r}
		if op.access == public {
			return op.handle(ctx, c)
		}
		who, err := a.auth.Identify(ctx, auth.TokenOf(r.Header("Authorization"), ""))
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
			c.party, err = a.accounts.walletOf(ctx, who.User)
		case operatorOnly:
			err = a.accounts.mayAdminister(ctx, who.User)
		}
		if err != nil {
			return err
		}
		if op.write {
			if a.commands == nil {
				return query.Errorf(query.Disabled, "This server may not send commands to the node.")
			}
			if c.commands, err = a.commands(ctx); err != nil {
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
