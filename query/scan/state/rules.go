package state

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// governance serves the rules of the network and of its governance party.
type governance struct {
	sets    *contractSets
	facts   *factReader
	horizon *horizon.Horizon
	naming  query.Naming
}

// rules serves the one contract of a template unless the caller has it. cachedID and
// cachedDomain name the members of the request, update that of the answer.
func (g *governance) rules(template, cachedID, cachedDomain, update, what string) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		id, _ := p.OptionalText(cachedID)
		p.OptionalText(cachedDomain) // only its type matters: the id alone tells a contract
		if err := p.Err(); err != nil {
			return err
		}
		c, err := g.sets.latest(ctx, template)
		if err != nil {
			return err
		}
		if c == nil {
			return errNone(what)
		}
		return r.JSON(map[string]query.ContractState{r.Naming(g.naming).Member(update): c.unlessCached(c.Event.ContractID == id)})
	}
}

// party returns the governance party as the coin rules name it, or an upstream.
func (g *governance) party(ctx context.Context) (string, error) {
	c, err := g.sets.latest(ctx, template.CoinRules)
	if err != nil {
		return "", err
	}
	if c != nil {
		var rules struct {
			DSO string `json:"dso"`
		}
		if err := c.decode(&rules); err != nil {
			return "", err
		}
		if rules.DSO != "" {
			return rules.DSO, nil
		}
	}
	own, err := g.own(ctx)
	if err != nil {
		return "", err
	}
	if own.DSOParty == "" {
		return "", errNone("governance party")
	}
	return own.DSOParty, nil
}

func (g *governance) partyID(ctx context.Context, r *query.Request) error {
	party, err := g.party(ctx)
	if err != nil {
		return err
	}
	return r.JSON(map[string]string{"dso_party_id": party})
}

// ownFact is what the upstream's operator says of itself. Nothing of it is in history, so
// without it the members are empty.
type ownFact struct {
	DSOParty     string  `json:"dso_party_id"`
	SVParty      string  `json:"sv_party_id"`
	SVUser       string  `json:"sv_user"`
	Threshold    *int64  `json:"voting_threshold"`
	InitialRound *string `json:"initial_round"`
}

func (g *governance) own(ctx context.Context) (own ownFact, err error) {
	fact, err := g.facts.get(ctx, facts.Of(facts.DSO))
	if errors.Is(err, schemas.ErrNotFound) {
		return own, nil
	}
	if err != nil {
		return own, err
	}
	return own, json.Unmarshal(fact.Body, &own)
}

// superValidator is a member of the governance party as its rules name it.
type superValidator struct {
	party, name string
}

// superValidators reads the map of them out of the governance rules; none if the rules are
// not there or of a form that is not known.
func (g *governance) superValidators(ctx context.Context) ([]superValidator, error) {
	c, err := g.sets.latest(ctx, template.DsoRules)
	if err != nil || c == nil {
		return nil, err
	}
	var rules struct {
		SVs [][2]json.RawMessage `json:"svs"`
	}
	if json.Unmarshal(c.payload, &rules) != nil {
		return nil, nil
	}
	var list []superValidator
	for _, entry := range rules.SVs {
		var info struct {
			Name string `json:"name"`
		}
		var sv superValidator
		if json.Unmarshal(entry[0], &sv.party) != nil || json.Unmarshal(entry[1], &info) != nil {
			continue
		}
		sv.name = info.Name
		list = append(list, sv)
	}
	return list, nil
}

// votingThreshold is how many super-validators must agree: more than two thirds of n,
// rounded as the governance rules do.
func votingThreshold(n int64) int64 {
	faulty := max(n-1, 0) / 3
	return (n + faulty + 2) / 2 // the half of n + faulty + 1, rounded up
}

// info serves the governance party, its rules and the upstream's operator.
func (g *governance) info(ctx context.Context, r *query.Request) error {
	party, err := g.party(ctx)
	if err != nil {
		return err
	}
	own, err := g.own(ctx)
	if err != nil {
		return err
	}
	answer := map[string]any{"dso_party_id": party, "sv_party_id": own.SVParty, "sv_user": own.SVUser}
	for member, template := range map[string]string{
		r.Naming(g.naming).Member("coin_rules"): template.CoinRules, "dso_rules": template.DsoRules,
	} {
		c, err := g.sets.latest(ctx, template)
		if err != nil {
			return err
		}
		if c == nil {
			return errNone("contract of " + template)
		}
		answer[member] = c.withState()
	}
	if err := g.addRound(ctx, answer); err != nil {
		return err
	}
	if err := g.addNodeStates(ctx, answer); err != nil {
		return err
	}
	if own.InitialRound != nil {
		answer["initial_round"] = *own.InitialRound
	}
	return g.addThreshold(ctx, r, answer, own)
}

func (g *governance) addThreshold(ctx context.Context, r *query.Request, answer map[string]any, own ownFact) error {
	svs, err := g.superValidators(ctx)
	if err != nil {
		return err
	}
	answer["voting_threshold"] = votingThreshold(int64(len(svs)))
	if len(svs) == 0 && own.Threshold != nil {
		answer["voting_threshold"] = *own.Threshold
	}
	return r.JSON(answer)
}

// addRound adds the open round of the highest number that is open by now.
func (g *governance) addRound(ctx context.Context, answer map[string]any) error {
	latest, err := g.usableRound(ctx)
	if err != nil {
		return err
	}
	answer["latest_mining_round"] = latest.withState()
	return nil
}

// usableRound returns the open round of the highest number that is open by now.
func (g *governance) usableRound(ctx context.Context) (*contract, error) {
	rounds, err := g.sets.get(ctx, template.OpenMiningRound)
	if err != nil {
		return nil, err
	}
	at, err := g.horizon.Present(ctx)
	if err != nil {
		return nil, err
	}
	var latest *contract
	highest := int64(-1)
	for i := range rounds {
		number, err := rounds[i].roundNumber()
		if err != nil {
			return nil, err
		}
		var round struct {
			OpensAt string `json:"opensAt"`
		}
		if err := rounds[i].decode(&round); err != nil {
			return nil, err
		}
		opens, err := schemas.ParseTime(round.OpensAt)
		if err == nil && opens <= at.RecordTime && number > highest {
			latest, highest = &rounds[i], number
		}
	}
	if latest == nil {
		return nil, errNone("open mining round")
	}
	return latest, nil
}

func (g *governance) addNodeStates(ctx context.Context, answer map[string]any) error {
	nodes, err := g.sets.get(ctx, template.SvNodeState)
	if err != nil {
		return err
	}
	states := make([]query.ContractState, len(nodes))
	for i := range nodes {
		states[i] = nodes[i].withState()
	}
	answer["sv_node_states"] = states
	return nil
}
