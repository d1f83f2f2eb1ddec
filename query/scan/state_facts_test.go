package scan

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

func TestFactsAreServed(t *testing.T) {
	m := stateWorld()
	m.facts = map[facts.Key]facts.Fact{
		facts.Of(facts.Serial):                         {Body: []byte(`{"serial":3}`)},
		facts.Of(facts.Schedule):                       {Body: []byte(`{"migration_id":2,"time":"2027-01-01T00:00:00Z"}`)},
		facts.Of(facts.Bootstrapping, "global-domain"): {Body: []byte(`{"domain_parameters":"a","mediator_domain_state":"b","sequencer_domain_state":"c"}`)},
		facts.Of(facts.Participants, sync1, alice):     {Body: []byte(`{"participant_ids":["PAR::a","PAR::b"]}`)},
		facts.Of(facts.Participants, sync1, bob):       {Body: []byte(`{"participant_id":"PAR::b"}`)},
		facts.Of(facts.RewardRoot, "3"):                {Body: []byte(`{"root_hash":"1220ab","round_number":3,"status":"Ok"}`)},
	}
	s := serve(t, m)
	for path, want := range map[string]string{
		"/v0/active-synchronizer-serial":                                 `{"serial":3}`,
		"/v0/migrations/schedule":                                        `{"migration_id":2,"time":"2027-01-01T00:00:00Z"}`,
		"/v0/synchronizer-bootstrapping-transactions/glob":               `{"domain_parameters":"a","mediator_domain_state":"b","sequencer_domain_state":"c"}`,
		"/v0/synchronizer-bootstrapping-transactions/" + sync1:           `{"domain_parameters":"a","mediator_domain_state":"b","sequencer_domain_state":"c"}`,
		"/v1/domains/" + sync1 + "/parties/" + alice + "/participant-id": `{"participant_ids":["PAR::a","PAR::b"]}`,
		"/v1/domains/" + sync1 + "/parties/" + bob + "/participant-id":   `{"participant_ids":["PAR::b"]}`,
		"/v0/domains/" + sync1 + "/parties/" + bob + "/participant-id":   `{"participant_id":"PAR::b"}`,
		rewardRounds + "3/root-hash":                                     `{"root_hash":"1220ab","round_number":3,"status":"Ok"}`,
		rewardRounds + "4/root-hash":                                     `{"status":"CannotProvide"}`,
		rewardRounds + "7/activity-totals":                               `{"status":"Undetermined"}`,
	} {
		if r := s.do("GET", path, ""); r.status != 200 || r.body != want {
			t.Errorf("%s = %d %s, want %s", path, r.status, r.body, want)
		}
	}
	s.refused("GET", "/v0/domains/"+sync1+"/parties/"+alice+"/participant-id", "", 500, "unexpected")
}

// asker is a Facts that gives one answer.
type asker struct {
	fact facts.Fact
	err  error
}

func (a asker) Ask(context.Context, facts.Key) (facts.Fact, error) { return a.fact, a.err }

func TestUpstreamIsAskedForParticipants(t *testing.T) {
	path := "/v0/domains/" + sync1 + "/parties/" + bob + "/participant-id"
	kept := map[facts.Key]facts.Fact{facts.Of(facts.Participants, sync1, bob): {Body: []byte(`{"participant_id":"PAR::kept"}`)}}
	away := fmt.Errorf("no route: %w", schemas.ErrUnavailable)
	for name, c := range map[string]struct {
		asker  asker
		kept   map[facts.Key]facts.Fact
		status int
		text   string
	}{
		"it answers":                          {asker{fact: facts.Fact{Body: []byte(`{"participant_ids":["PAR::new"]}`)}}, kept, 200, "PAR::new"},
		"it knows nothing":                    {asker{err: schemas.ErrNotFound}, kept, 404, "No participant"},
		"it is away, the store knows":         {asker{err: away}, kept, 200, "PAR::kept"},
		"it is away, the store knows nothing": {asker{err: away}, nil, 503, "does not respond"},
	} {
		t.Run(name, func(t *testing.T) {
			m := stateWorld()
			m.facts = c.kept
			s := serve(t, m, func(cfg *Config) { cfg.Facts = c.asker })
			if r := s.do("GET", path, ""); r.status != c.status || !strings.Contains(r.body, c.text) {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
}

func TestEarliestRound(t *testing.T) {
	for first, want := range map[int64]string{4: `{"earliest_round":5}`, 5: `{"earliest_round":6}`, 6: ``} {
		m := stateWorld()
		m.items[0].AppActivity = &schemas.AppActivity{RoundNumber: first, Records: []byte(`[]`)}
		s := serve(t, m)
		if want == "" {
			s.refused("GET", rewardRounds+"earliest-available", "", 404, "available yet")
			continue
		}
		var any map[string]any
		if body := s.ok("GET", rewardRounds+"earliest-available", "", &any); body != want {
			t.Errorf("first activity in round %d: %s, want %s", first, body, want)
		}
	}
}
