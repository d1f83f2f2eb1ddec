package validator

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/relay"
)

// Forward says which existing validator does what callers ask for.
type Forward struct {
	// BaseURL is that of its interface, such as "https://wallet.example.com/api/validator".
	BaseURL string // required
	// Client defaults to one that follows no redirects.
	Client *http.Client
}

// forwarder sends requests that change the ledger on, at their paths below the base URL and with the caller's token.
type forwarder struct{ validator *relay.Server }

func newForwarder(cfg *Forward) (*forwarder, error) {
	if cfg == nil {
		return nil, nil
	}
	validator, err := relay.New(cfg.BaseURL, cfg.Client, "Authorization", "Content-Type", "Accept", "Traceparent")
	if err != nil {
		return nil, err
	}
	return &forwarder{validator}, nil
}

// send answers a request with the answer of the validator.
func (f *forwarder) send(ctx context.Context, r *query.Request) error {
	path, err := r.RoutePath()
	if err != nil {
		return err
	}
	target, body, err := networkForm(r, path)
	if err != nil {
		return err
	}
	answer, err := f.validator.Ask(ctx, r, r.Method(), target, body)
	if err != nil {
		return unanswered(err)
	}
	return answer.Reply(r)
}

// networkForm gives the actions on an offer whose id is in the body the path that the network
// has for them; everything else stays as it is.
func networkForm(r *query.Request, path string) (target string, body []byte, err error) {
	action, ok := strings.CutPrefix(path, offersPath+"/")
	if !ok || strings.Contains(action, "/") {
		return path, r.RawBody(), nil
	}
	p := r.Body()
	id := p.Text("contract_id")
	if err := p.Err(); err != nil {
		return "", nil, err
	}
	segment, err := query.Segment("Member contract_id", id)
	return offersPath + "/" + segment + "/" + action, []byte("{}"), err
}

// unanswered says what is known of a request that was sent on and has no answer: nothing.
// Tracking and deduplication ids make it safe to repeat one.
func unanswered(cause error) error {
	var refused *query.Error
	if errors.As(cause, &refused) {
		return cause
	}
	return &query.Error{Code: query.Unavailable, Err: cause,
		Msg: "The validator behind this server did not answer; it is unknown whether it carried out the request."}
}
