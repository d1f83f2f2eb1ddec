package validator

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

func noWallet(user string) error {
	return query.Errorf(query.NotFound, "No wallet found for user %s.", user)
}

// walletOf returns the party of a user's wallet. Without a wallet the answer is 404; 403 if
// there is one and the node does not let the user act as its party.
func (a *accounts) walletOf(ctx context.Context, user string) (party string, err error) {
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
	installed, err := a.has(ctx, rights.PrimaryParty, user)
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
func (a *accounts) lostWallet(ctx context.Context, user string, cause error) error {
	party, err := a.partyOf(ctx, user)
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
func (a *accounts) rightsOf(ctx context.Context, user string) (auth.Rights, error) {
	rights, err := a.users.Rights(ctx, user)
	if errors.Is(err, auth.ErrUnavailable) {
		return rights, &query.Error{Code: query.Unavailable, Msg: "The rights of users cannot be read at the moment.", Err: err}
	}
	return rights, err
}

// mayAdminister returns nil if a user is an active administrator of the node whose primary
// party is the operator and who may act as it.
func (a *accounts) mayAdminister(ctx context.Context, user string) error {
	operator, err := a.operator.Get(ctx)
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
		return denied(user, errors.New("the ledger user is not an administrator of the node"))
	}
	return nil
}
