package analytics

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// Private opens the stream of a node for those who may read of it. caller returns who sends a request and what
// they ask; its errors may be those of auth.Verifier.
func Private(caller func(ctx context.Context, r *query.Request) (*auth.Principal, Source, error)) func(context.Context, *query.Request) (Source, tables.Access, error) {
	return func(ctx context.Context, r *query.Request) (Source, tables.Access, error) {
		who, source, err := caller(ctx, r)
		switch {
		case errors.Is(err, auth.ErrUnauthenticated):
			return nil, tables.Access{}, &query.Error{Code: query.Unauthenticated, Msg: "The request has no valid token.", Err: err}
		case errors.Is(err, auth.ErrUnavailable):
			return nil, tables.Access{}, &query.Error{Code: query.Unavailable, Msg: "It cannot be found out now what the user may read.", Err: err}
		case err != nil:
			return nil, tables.Access{}, err
		}
		access := tables.Access{All: who.MayRead(nil, true) == nil, Parties: who.Parties()}
		if !access.All && len(access.Parties) == 0 {
			return nil, access, query.Errorf(query.Denied, "The user may not read as any party.")
		}
		return source, access, nil
	}
}
