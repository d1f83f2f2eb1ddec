package scan

import (
	"context"
	"errors"
	"net/http"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/relay"
)

// partySets serves the active contracts of a party as a node exports them, which is deprecated: the
// export is made of serialised contracts, and public history has none, so another scan is asked.
type partySets struct {
	upstream *relay.Server // nil without one
}

func newPartySets(url string, client *http.Client) (*partySets, error) {
	if url == "" {
		return &partySets{}, nil
	}
	upstream, err := relay.New(url, client, "Accept", "Traceparent")
	return &partySets{upstream}, err
}

// export answers with what the upstream answers.
func (s *partySets) export(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	p := r.Query()
	p.OptionalTime("record_time")
	if err := p.Err(); err != nil {
		return err
	}
	if s.upstream == nil {
		return query.Errorf(query.Disabled, "The active contracts of %s cannot be exported: public history has no serialised contracts, and no scan is configured that could be asked (--scan-url). Use POST /v2/state/acs.", party)
	}
	err = s.upstream.Pass(ctx, r)
	var refused *query.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return &query.Error{Code: query.Unavailable, Msg: "The scan behind this server did not answer.", Err: err}
}
