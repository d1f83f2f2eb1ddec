package scanapi

import (
	"net/http"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// newest is the contract of a template that was created last; false if there is none.
func (s *stateServer) newest(t *model.Template) (ledger.ContractState, bool) {
	all := s.ledger.OfTemplate(t, nil)
	if len(all) == 0 {
		return ledger.ContractState{}, false
	}
	return all[len(all)-1], true
}

// rules answers with the rules contract of a template, by the cache protocol: name is
// that of the rules in the members of request and answer.
func (s *stateServer) rules(t *model.Template, name string) handler {
	return func(r *http.Request) (any, error) {
		q := map[string]any{}
		if err := reply.Decode(r, &q); err != nil {
			return nil, err
		}
		cached := ""
		for _, member := range []string{"cached_" + name + "_contract_id", "cached_" + name + "_domain_id"} {
			text, ok := q[member].(string)
			if q[member] != nil && !ok {
				return nil, reply.BadRequest("%s must be a text", member)
			}
			if cached == "" {
				cached = text
			}
		}
		c, ok := s.newest(t)
		if !ok {
			return nil, reply.NotFound("No active %s contract", t.Entity())
		}
		return map[string]any{name + "_update": placedUnlessCached(s.ledger, c, cached)}, nil
	}
}

// latestRound is the open round of the highest number that has opened.
func (s *stateServer) latestRound() (ledger.ContractState, bool) {
	now := s.ledger.RecordTime()
	open := s.ledger.OfTemplate(model.OpenRoundTemplate, func(c *model.Contract) bool { return c.Payload.(model.OpenRound).OpensAt <= now })
	if len(open) == 0 {
		return ledger.ContractState{}, false
	}
	return slices.MaxFunc(open, func(a, b ledger.ContractState) int {
		return int(a.Payload.(model.OpenRound).Number - b.Payload.(model.OpenRound).Number)
	}), true
}

func (s *stateServer) governance(_ *http.Request) (any, error) {
	round, haveRound := s.latestRound()
	coin, haveCoin := s.newest(model.AmuletRulesTemplate)
	rules, haveRules := s.newest(model.DsoRulesTemplate)
	if !haveRound || !haveCoin || !haveRules {
		return nil, reply.NotFound("The network is not founded yet")
	}
	n := s.ledger.Names
	return map[string]any{
		"sv_user": "sv-1", "sv_party_id": n.Name(n.SuperValidators.First), "dso_party_id": n.Name(model.Dso),
		"voting_threshold": sim.Threshold(n.SuperValidators.Len()), "latest_mining_round": placed(s.ledger, round),
		"amulet_rules": placed(s.ledger, coin), "dso_rules": placed(s.ledger, rules),
		"sv_node_states": placedAll(s.ledger, nodeStates(s.ledger)), "initial_round": "0",
	}, nil
}

// nodeStates are the states of the super-validators' nodes, in their order.
func nodeStates(l *ledger.Ledger) []ledger.ContractState {
	states := l.OfTemplate(model.SvNodeStateTemplate, nil)
	slices.SortFunc(states, func(a, b ledger.ContractState) int {
		return int(a.Payload.(model.SvNodeState).Sv - b.Payload.(model.SvNodeState).Sv)
	})
	return states
}

func (s *stateServer) featuredApps(_ *http.Request) (any, error) {
	return map[string]any{"featured_apps": contractAnswers(s.ledger, s.ledger.OfTemplate(model.FeaturedAppRightTemplate, nil))}, nil
}

func (s *stateServer) rightsOf(provider string) []ledger.ContractState {
	return s.ledger.OfTemplate(model.FeaturedAppRightTemplate, func(c *model.Contract) bool {
		return s.ledger.Names.Name(c.Payload.(model.FeaturedAppRight).Provider) == provider
	})
}

func (s *stateServer) featuredAppsOf(r *http.Request) (any, error) {
	return map[string]any{"featured_apps": contractAnswers(s.ledger, s.rightsOf(r.PathValue("party")))}, nil
}

func (s *stateServer) featuredApp(r *http.Request) (any, error) {
	return s.right(s.rightsOf(r.PathValue("party")))
}

func (s *stateServer) featuredAppByID(r *http.Request) (any, error) {
	return s.right(s.ledger.OfTemplate(model.FeaturedAppRightTemplate, func(c *model.Contract) bool {
		return ledger.ContractIDOf(s.ledger, c) == r.PathValue("id")
	}))
}

// right answers with the first of rights, or with an empty object.
func (s *stateServer) right(rights []ledger.ContractState) (any, error) {
	if len(rights) == 0 {
		return map[string]any{}, nil
	}
	return map[string]any{"featured_app_right": contractAnswerOf(s.ledger, rights[0].Contract)}, nil
}

func (s *stateServer) unclaimedFund(_ *http.Request) (any, error) {
	return map[string]any{
		"unclaimed-development-fund-coupons": placedAll(s.ledger, s.ledger.OfTemplate(model.UnclaimedFundTemplate, nil))}, nil
}
