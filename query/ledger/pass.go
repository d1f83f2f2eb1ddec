package ledger

import (
	"context"
	"errors"
	"net/http"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/relay"
)

// passed are the operations that only the node can answer: what changes the ledger or the node, and
// what the stream does not tell.
var passed = []struct{ method, path, name string }{
	{"POST", "/v2/commands/submit-and-wait", "submit_and_wait"},
	{"POST", "/v2/commands/submit-and-wait-for-transaction", "submit_and_wait_for_transaction"},
	{"POST", "/v2/commands/submit-and-wait-for-transaction-tree", "submit_and_wait_for_tree"},
	{"POST", "/v2/commands/submit-and-wait-for-reassignment", "submit_and_wait_for_reassignment"},
	{"POST", "/v2/commands/async/submit", "submit"},
	{"POST", "/v2/commands/async/submit-reassignment", "submit_reassignment"},
	{"POST", "/v2/commands/completions", "completions"},
	{"POST", "/v2/commands/command-completions", "command_completions"},

	{"POST", "/v2/interactive-submission/prepare", "prepare"},
	{"POST", "/v2/interactive-submission/execute", "execute"},
	{"POST", "/v2/interactive-submission/executeAndWait", "execute_and_wait"},
	{"POST", "/v2/interactive-submission/executeAndWaitForTransaction", "execute_and_wait_for_transaction"},
	{"POST", "/v2/interactive-submission/preferred-packages", "preferred_packages"},
	{"GET", "/v2/interactive-submission/preferred-package-version", "preferred_package_version"},

	{"GET", "/v2/parties", "parties"},
	{"POST", "/v2/parties", "allocate_party"},
	{"GET", "/v2/parties/participant-id", "participant_id"},
	{"GET", "/v2/parties/{party}", "party"},
	{"PATCH", "/v2/parties/{party}", "update_party"},
	{"POST", "/v2/parties/external/generate-topology", "generate_topology"},
	{"POST", "/v2/parties/external/allocate", "allocate_external_party"},

	{"GET", "/v2/authenticated-user", "authenticated_user"},
	{"GET", "/v2/users", "users"},
	{"POST", "/v2/users", "create_user"},
	{"GET", "/v2/users/{user-id}", "user"},
	{"PATCH", "/v2/users/{user-id}", "update_user"},
	{"DELETE", "/v2/users/{user-id}", "delete_user"},
	{"GET", "/v2/users/{user-id}/rights", "rights"},
	{"POST", "/v2/users/{user-id}/rights", "grant_rights"},
	{"PATCH", "/v2/users/{user-id}/rights", "revoke_rights"},
	{"PATCH", "/v2/users/{user-id}/identity-provider-id", "move_user"},

	{"GET", "/v2/idps", "identity_providers"},
	{"POST", "/v2/idps", "create_identity_provider"},
	{"GET", "/v2/idps/{idp-id}", "identity_provider"},
	{"PATCH", "/v2/idps/{idp-id}", "update_identity_provider"},
	{"DELETE", "/v2/idps/{idp-id}", "delete_identity_provider"},

	{"GET", "/v2/packages", "packages"},
	{"POST", "/v2/packages", "upload_package"},
	{"GET", "/v2/packages/{package-id}", "package"},
	{"GET", "/v2/packages/{package-id}/status", "package_status"},
	{"POST", "/v2/dars", "upload_dar"},
	{"POST", "/v2/dars/validate", "validate_dar"},
	{"GET", "/v2/package-vetting", "vetted_packages_deprecated"},
	{"POST", "/v2/package-vetting", "vet_packages_deprecated"},
	{"POST", "/v2/package-vetting/list", "vetted_packages"},
	{"POST", "/v2/package-vetting/update", "vet_packages"},
}

// passedSockets are those of them that are websockets.
var passedSockets = []struct{ path, name string }{
	{"/v2/commands/completions", "completions.stream"},
	{"/v2/commands/command-completions", "command_completions.stream"},
}

// passing passes requests on to the node behind an API, if there is one.
type passing struct {
	api  *API
	node *relay.Server // nil without one
}

// passTo sets up what is passed on to the node at a URL, "" for none.
func (a *API) passTo(url string, client *http.Client) (err error) {
	a.passing.api = a
	if url != "" {
		a.passing.node, err = relay.New(url, client, "Authorization", "Content-Type", "Accept", "Traceparent", "Tracestate")
	}
	return err
}

// routes are those of the node's own operations.
func (p *passing) routes() (list []query.Route) {
	for _, op := range passed {
		list = append(list, query.Route{Method: op.method, Path: op.path, Name: "ledger.node." + op.name, Transfer: true, Handle: p.pass})
	}
	for _, op := range passedSockets {
		list = append(list, query.Route{Method: "GET", Path: op.path, Name: "ledger.node." + op.name, Handle: p.passSocket})
	}
	return list
}

// pass answers with the node's answer to the caller, who has the rights that the node says.
func (p *passing) pass(ctx context.Context, r *query.Request) error {
	if _, err := p.admit(ctx, r); err != nil {
		return err
	}
	return p.unanswered(p.node.Pass(ctx, r))
}

func (p *passing) passSocket(ctx context.Context, r *query.Request) error {
	who, err := p.admit(ctx, r)
	if err != nil {
		return err
	}
	end, err := p.api.streams.begin(holderOf(who.User, r.Client()))
	if err != nil {
		return err
	}
	if err = p.node.PassSocket(ctx, r, p.api.cfg.Auth != nil, end); err != nil {
		end()
	}
	return p.unanswered(err)
}

// admit reports who asks, or why the request goes no further than this.
func (p *passing) admit(ctx context.Context, r *query.Request) (*auth.Principal, error) {
	r.TraceID() // from here on the log has it
	who, err := p.api.principal(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case p.node == nil:
		return nil, failure(unsupported, "Only the node can do this, and nothing is passed on to one: --node-url is not set, or everybody may use this interface without a token.")
	}
	return who, nil
}

// unanswered says what is known of a request that was passed on and has no answer: nothing. What
// the caller did wrong stays what it is.
func (p *passing) unanswered(err error) error {
	var refused *query.Error
	var hand *query.HandshakeError
	if err == nil || errors.As(err, &refused) || errors.As(err, &hand) {
		return err
	}
	return &Failure{Code: serviceNotRunning, Err: err,
		Cause: "The node at " + p.node.Host() + " did not answer; it is unknown whether it carried out the request."}
}
