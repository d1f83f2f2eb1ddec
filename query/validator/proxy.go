package validator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/relay"
)

// proxySegment is what the paths of the scan proxy have and those of a scan do not.
const proxySegment = "/scan-proxy"

// scanProxy answers lookups from our own scan interface where it has its history, else it asks
// an upstream. A scan asks for no token, so the upstream gets none.
type scanProxy struct {
	upstream *relay.Server // nil without one
	// registry is where the upstream has the registry of the token standard.
	registry *relay.Server
	naming   query.Naming
}

func newScanProxy(url string, client *http.Client, naming query.Naming) (*scanProxy, error) {
	if url == "" {
		return &scanProxy{}, nil
	}
	upstream, err := relay.New(url, client, "Content-Type", "Accept", "Traceparent")
	if err != nil {
		return nil, err
	}
	// A scan has its registry at its root, and all else below the prefix, too.
	registry, err := relay.New(strings.TrimSuffix(strings.TrimRight(url, "/"), "/api/scan"), client, "Content-Type", "Accept", "Traceparent")
	return &scanProxy{upstream, registry, naming}, err
}

// operations are the lookups of own.
func (p *scanProxy) operations(own []query.Route) []operation {
	var list []operation
	for _, route := range own {
		list = append(list, operation{method: route.Method, path: route.Path, name: route.Name, access: anyUser, class: route.Class, handle: p.lookup(route)})
	}
	return list
}

// lookup answers from our own scan interface, or from the upstream while that has no history.
func (p *scanProxy) lookup(route query.Route) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		err := route.Handle(ctx, c.Request)
		var own *query.Error
		if p.upstream == nil || !errors.As(err, &own) || own.Code != query.Unavailable {
			return err
		}
		return p.ask(ctx, c.Request)
	}
}

// ask answers with what the upstream answers.
func (p *scanProxy) ask(ctx context.Context, r *query.Request) error {
	path, err := r.RoutePath()
	if err != nil {
		return err
	}
	question := p.questionFor(r, strings.Replace(path, proxySegment, "", 1))
	upstream := p.upstream
	if strings.HasPrefix(question.path, "/registry/") {
		upstream = p.registry
	}
	answer, err := upstream.Ask(ctx, r, question.method, question.path, question.body)
	var refused *query.Error
	if errors.As(err, &refused) {
		return err
	}
	if err != nil {
		return &query.Error{Code: query.Unavailable, Msg: "The scan behind this server did not answer.", Err: err}
	}
	if answer.Status != http.StatusOK || question.reshape == nil {
		return answer.Reply(r)
	}
	shaped, err := question.reshape(answer.Body)
	if err != nil {
		return &query.Error{Code: query.Unavailable, Msg: "The scan behind this server returned an unexpected answer.", Err: err}
	}
	return r.JSON(shaped)
}

// question is a request as a scan has it. reshape, if there is one, makes our answer of its own.
type question struct {
	method, path string
	body         []byte
	reshape      func(answer []byte) (any, error)
}

// questionFor finds what to ask a scan. Two lookups of the proxy have no caches to compare with,
// which those of a scan require, and so are of another form.
func (p *scanProxy) questionFor(r *query.Request, path string) question {
	naming := r.Naming(p.naming).NamingOf(path)
	switch path {
	case "/v0/coin-rules", "/v0/amulet-rules":
		return question{http.MethodPost, "/v0/amulet-rules", []byte("{}"), func(answer []byte) (any, error) {
			return rulesOf(answer, naming)
		}}
	case "/v0/open-and-issuing-mining-rounds":
		return question{http.MethodPost, path, []byte(`{"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`), roundsOf}
	}
	if rest, ok := strings.CutPrefix(path, "/v0/registry/"); ok {
		return question{r.Method(), "/registry/" + rest, r.RawBody(), nil}
	}
	return question{r.Method(), path, r.RawBody(), func(answer []byte) (any, error) { return respelled(answer, naming) }}
}

// rulesOf takes the rules out of a scan's answer.
func rulesOf(answer []byte, naming query.Naming) (any, error) {
	var updates map[string]json.RawMessage
	if err := json.Unmarshal(answer, &updates); err != nil {
		return nil, fmt.Errorf("reading the coin rules: %w", err)
	}
	for _, name := range []string{"amulet_rules_update", "coin_rules_update"} {
		if rules, ok := updates[name]; ok {
			return map[string]json.RawMessage{naming.Member("coin_rules"): rules}, nil
		}
	}
	return nil, errors.New("the answer has no coin rules")
}

// roundsOf turns the maps of a scan's answer into lists, ordered by contract id.
func roundsOf(answer []byte) (any, error) {
	var rounds struct {
		Open    map[string]json.RawMessage `json:"open_mining_rounds"`
		Issuing map[string]json.RawMessage `json:"issuing_mining_rounds"`
	}
	if err := json.Unmarshal(answer, &rounds); err != nil {
		return nil, fmt.Errorf("reading the mining rounds: %w", err)
	}
	return map[string]any{"open_mining_rounds": byID(rounds.Open), "issuing_mining_rounds": byID(rounds.Issuing)}, nil
}

func byID(contracts map[string]json.RawMessage) []json.RawMessage {
	list := make([]json.RawMessage, 0, len(contracts))
	for _, id := range slices.Sorted(maps.Keys(contracts)) {
		list = append(list, contracts[id])
	}
	return list
}

// respelled gives the members of an object, not those inside of them, the spelling of our answers.
func respelled(answer []byte, naming query.Naming) (any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	object := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		object[naming.Respell(name)] = value
	}
	return object, nil
}
