package devnet

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// manyTexts is a JSON list of so many texts.
func manyTexts(n int) string {
	return `["x"` + strings.Repeat(`,"x"`, n-1) + `]`
}

// TestNetworkInformation checks what is not on the ledger: it is there, complete, and
// agrees with what is.
func TestNetworkInformation(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 200, Seed: 23})
	sync, n := l.Names.Synchronizers[0], l.Names
	for _, tc := range []struct{ path, want string }{
		{"/v0/migrations/last", `{"migration_id":1}`},
		{"/v0/active-synchronizer-serial", `{"serial":2}`},
		{"/v0/roll-forward-lsu", `{}`},
		{"/v0/feature-support", `{}`},
		{"/v0/lsu", `{"lsu":{"successorPhysicalSynchronizerId":"` + sync + `::35-3","topologyFreezeTime":"2026-08-07T00:00:00Z","upgradeTime":"2026-08-08T00:00:00Z"}}`},
		{"/v0/domains/" + sync + "/parties/" + n.Parties[n.SuperValidators.At(1)] + "/participant-id", `{"participant_id":"PAR::` + n.Participants[1] + `"}`},
		{"/v1/domains/" + sync + "/parties/" + n.Parties[n.SuperValidators.At(1)] + "/participant-id", `{"participant_ids":["PAR::` + n.Participants[1] + `"]}`},
		{"/v0/domains/" + sync + "/members/" + n.MediatorOf(n.SuperValidators.At(0)) + "/traffic-status", `{"traffic_status":{"actual":{"total_consumed":0,"total_limit":0},"target":{"total_purchased":0}}}`},
		{"/v0/splice-instance-names", `{"amulet_name":"Amulet","amulet_name_acronym":"AMT","name_service_name":"Amulet Name Service","name_service_name_acronym":"CNS","network_favicon_url":"https://devnet.example/favicon.ico","network_name":"Devnet"}`},
	} {
		if status, answer := c.do("GET", tc.path, ""); status != 200 || string(answer) != tc.want {
			t.Errorf("%s: status %d, %s, want %s", tc.path, status, answer, tc.want)
		}
	}
	if status, answer := c.do("GET", "/v0/migrations/schedule", ""); status != 404 || len(answer) != 0 {
		t.Errorf("schedule after the migration: status %d, %q", status, answer)
	}
	for path, lists := range map[string]string{
		"/v0/scans": "scans", "/v0/dso-sequencers": "domainSequencers", "/v0/sv-bft-sequencers": "bftSequencers",
	} {
		var answer map[string][]map[string]any
		c.ask("GET", path, "", &answer)
		if len(answer[lists]) != 1 {
			t.Errorf("%s: %v", path, answer)
		}
	}
	var sequencers struct {
		Domains []struct {
			ID         string `json:"domainId"`
			Sequencers []struct {
				Migration int64  `json:"migrationId"`
				Name      string `json:"svName"`
				After     string `json:"availableAfter"`
			} `json:"sequencers"`
		} `json:"domainSequencers"`
	}
	c.ask("GET", "/v0/dso-sequencers", "", &sequencers)
	for _, s := range sequencers.Domains[0].Sequencers {
		if s.Migration != 1 || !strings.HasPrefix(s.Name, "Super-Validator-") || s.After == "" {
			t.Errorf("sequencer is %+v", s)
		}
	}
	if len(sequencers.Domains[0].Sequencers) != model.SuperValidatorCount {
		t.Errorf("%d sequencers", len(sequencers.Domains[0].Sequencers))
	}
	for _, path := range []string{"/v0/synchronizer-bootstrapping-transactions/global-domain", "/v0/synchronizer-identities/harbor-domain", "/status"} {
		_, first := c.do("GET", path, "")
		if status, again := c.do("GET", "/api/scan"+path, ""); status != 200 || string(first) != string(again) || len(again) < 60 {
			t.Errorf("%s: status %d, %s, then %s", path, status, first, again)
		}
	}
}

// TestMigrationIsAnnounced asks a network that has its migration before it.
func TestMigrationIsAnnounced(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 1, Seed: 24})
	var schedule struct {
		Time string `json:"time"`
		ID   int64  `json:"migration_id"`
	}
	c.ask("GET", "/v0/migrations/schedule", "", &schedule)
	if schedule.Time != "2026-07-04T14:24:00Z" || schedule.ID != 1 {
		t.Errorf("schedule is %+v", schedule)
	}
	if status, _ := c.do("GET", rewardsPath+"earliest-available", ""); status != 404 {
		t.Errorf("a new network knows of rewards: status %d", status)
	}
}
