package state

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// ProxyRoutes are the lookups of a validator's scan proxy that differ in form from ours.
func (a *API) ProxyRoutes() []query.Route {
	return []query.Route{
		{Method: "GET", Path: "/v0/scan-proxy/coin-rules", Name: "scan_proxy.coin_rules", Handle: a.governance.proxyRules},
		{Method: "GET", Path: "/v0/scan-proxy/open-and-issuing-mining-rounds", Name: "scan_proxy.rounds", Handle: a.rounds.proxyRounds},
	}
}

// proxyRules serves the rules of the coin to callers who keep none.
func (g *governance) proxyRules(ctx context.Context, r *query.Request) error {
	c, err := g.sets.latest(ctx, template.CoinRules)
	if err != nil {
		return err
	}
	if c == nil {
		return errNone("coin rules")
	}
	return r.JSON(map[string]query.ContractState{r.Naming(g.naming).Member("coin_rules"): c.withState()})
}

// proxyRounds serves the rounds in which coins can be used and minted, oldest first.
func (m *rounds) proxyRounds(ctx context.Context, r *query.Request) error {
	answer := map[string][]query.ContractState{}
	for member, template := range map[string]string{"open_mining_rounds": template.OpenMiningRound, "issuing_mining_rounds": template.IssuingMiningRound} {
		list, err := m.sets.get(ctx, template)
		if err != nil {
			return err
		}
		states := make([]query.ContractState, len(list))
		for i := range list {
			states[i] = list[i].withState()
		}
		answer[member] = states
	}
	return r.JSON(answer)
}
