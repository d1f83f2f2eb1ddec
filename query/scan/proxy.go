package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// proxied are the operations that a validator's scan proxy has in the same form.
var proxied = []string{
	"GET /v0/dso-party-id", "GET /v0/dso", "GET /v0/featured-apps/{provider_party_id}", "POST /v0/ans-rules",
	"GET /v0/ans-entries", "GET /v0/ans-entries/by-party/{party}", "GET /v0/ans-entries/by-name/{name}",
	"GET /v0/transfer-preapprovals/by-party/{party}", "GET /v0/transfer-command-counter/{party}", "GET /v0/transfer-command/status",
	"POST /v0/holdings/summary", "POST /v1/holdings/summary", "GET /v0/unclaimed-development-fund-coupons",
}

// ProxyRoutes are the lookups of a validator's scan proxy, such as GET /v0/scan-proxy/dso, at
// their neutral paths. Who may use them is for their server to find out.
func (a *API) ProxyRoutes() []query.Route {
	list := []query.Route{
		{Method: "GET", Path: "/v0/scan-proxy/coin-rules", Name: "scan_proxy.coin_rules", Handle: a.proxyCoinRules},
		{Method: "GET", Path: "/v0/scan-proxy/open-and-issuing-mining-rounds", Name: "scan_proxy.rounds", Handle: a.proxyRounds},
	}
	for _, r := range a.Routes() {
		if !slices.Contains(proxied, r.Method+" "+r.Path) {
			continue
		}
		version, rest, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		r.Path, r.Name = "/"+version+"/scan-proxy/"+rest, strings.Replace(r.Name, "scan.", "scan_proxy.", 1)
		list = append(list, r)
	}
	return list
}

// proxyCoinRules serves the rules of the coin to callers who keep none.
func (a *API) proxyCoinRules(ctx context.Context, r *query.Request) error {
	c, err := a.sets.latest(ctx, coinRulesTemplate)
	if err != nil {
		return err
	}
	if c == nil {
		return errNone("coin rules")
	}
	return r.JSON(map[string]withState{a.cfg.Naming.Member("coin_rules"): c.withState()})
}

// proxyRounds serves the rounds in which coins can be used and minted, oldest first.
func (a *API) proxyRounds(ctx context.Context, r *query.Request) error {
	answer := map[string][]withState{}
	for member, template := range map[string]string{"open_mining_rounds": openRoundTemplate, "issuing_mining_rounds": issuingRoundTemplate} {
		list, err := a.sets.get(ctx, template)
		if err != nil {
			return err
		}
		rounds := make([]withState, len(list))
		for i := range list {
			rounds[i] = list[i].withState()
		}
		answer[member] = rounds
	}
	return r.JSON(answer)
}
