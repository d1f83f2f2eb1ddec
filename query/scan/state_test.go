package scan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

func ids(t *testing.T, body, member string) []string {
	t.Helper()
	var answer map[string]json.RawMessage
	var list []struct {
		ContractID string `json:"contract_id"`
		Contract   struct {
			ContractID string `json:"contract_id"`
		} `json:"contract"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer[member], &list); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	found := []string{}
	for _, c := range list {
		found = append(found, c.ContractID+c.Contract.ContractID)
	}
	return found
}

func TestContractsOfTheState(t *testing.T) {
	s := serve(t, stateWorld())
	for _, c := range []struct {
		path, member string
		want         []string
	}{
		{"/v0/closed-rounds", "rounds", []string{"00closed9", "00closed10"}},
		{"/v0/featured-apps", "featured_apps", []string{"00app1", "00app2", "00app3"}},
		{"/v0/featured-apps/by-provider/" + alice, "featured_apps", []string{"00app1", "00app3"}},
		{"/v0/featured-apps/by-provider/nobody::1220", "featured_apps", []string{}},
		{"/v0/unclaimed-development-fund-coupons", "unclaimed-development-fund-coupons", []string{"00fund"}},
		{"/v0/ans-entries?page_size=10", "entries", []string{"00name1", "00name2", "", ""}},
		{"/v0/ans-entries?page_size=3", "entries", []string{"00name1", "00name2", ""}},
		{"/v0/ans-entries?page_size=1", "entries", []string{"00name1"}},
		{"/v0/ans-entries?page_size=10&name_prefix=al", "entries", []string{"00name2"}},
		{"/v0/ans-entries?page_size=10&name_prefix=d", "entries", []string{"", ""}},
		{"/v0/ans-entries?page_size=10&name_prefix=none", "entries", []string{}},
		{"/v0/admin/validator/licenses", "validator_licenses", []string{"00lic4", "00lic3", "00lic2", "00lic1", "00lic0", "00lic9"}},
	} {
		for _, prefix := range Prefixes {
			var any map[string]any
			body := s.ok("GET", prefix+c.path, "", &any)
			if got := ids(t, body, c.member); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.path, got, c.want)
			}
		}
	}
}

func TestAnswersOfTheState(t *testing.T) {
	s := serve(t, stateWorld())
	contract := func(id, template, created, payload string) string {
		return fmt.Sprintf(`{"contract_id":"%s","created_at":"%s","created_event_blob":"","payload":%s,"template_id":"6a3b:%s"}`, id, created, payload, template)
	}
	rules := contract("00rules", "Splice.AmuletRules:AmuletRules", "2026-06-27T04:40:00Z", `{"dso":"`+dso+`"}`)
	entry := `{"entry":{"contract_id":"00name2","user":"` + alice + `","name":"alice.unverified.cns","url":"http://x/?a=b&c<d","description":"","expires_at":"2026-08-01T00:00:00Z"}}`
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/v0/dso-party-id", "", `{"dso_party_id":"` + dso + `"}`},
		{"POST", "/v0/coin-rules", `{}`, `{"coin_rules_update":{"contract":` + rules + `,"domain_id":"` + sync1 + `"}}`},
		{"POST", "/v0/amulet-rules", `{"cached_amulet_rules_contract_id":null}`, `{"amulet_rules_update":{"contract":` + rules + `,"domain_id":"` + sync1 + `"}}`},
		{"POST", "/v0/amulet-rules", `{"cached_amulet_rules_contract_id":"00rules"}`, `{"amulet_rules_update":{"domain_id":"` + sync1 + `"}}`},
		{"POST", "/v0/coin-rules", `{"cached_coin_rules_contract_id":"00rules","cached_coin_rules_domain_id":"x"}`, `{"coin_rules_update":{"domain_id":"` + sync1 + `"}}`},
		{"POST", "/v0/ans-rules", `{"cached_ans_rules_contract_id":"00ans"}`, `{"ans_rules_update":{"domain_id":"` + sync1 + `"}}`},
		{"POST", "/v0/open-and-issuing-mining-rounds", `{"cached_open_mining_round_contract_ids":["00open7","00open8","00gone"],"cached_issuing_round_contract_ids":["00issue5","00open9"]}`,
			`{"issuing_mining_rounds":{"00issue5":{"domain_id":"` + sync1 + `"}},"open_mining_rounds":{"00open7":{"domain_id":"` + sync1 + `"},"00open8":{"domain_id":"` + sync1 + `"},` +
				`"00open9":{"contract":` + contract("00open9", "Splice.Round:OpenMiningRound", "2026-07-02T04:23:20Z", openRound(9, "2026-07-02T04:50:00Z")) +
				`,"domain_id":"` + sync1 + `"}},"time_to_live_in_microseconds":30000000}`},
		{"GET", "/v0/featured-apps/nobody::1220", "", `{}`},
		{"GET", "/v0/featured-apps/" + bob, "", `{"featured_app_right":` + contract("00app2", "Splice.Amulet:FeaturedAppRight", "2026-07-02T04:31:40Z", `{"provider":"`+bob+`"}`) + `}`},
		{"GET", "/v0/featured-apps/by-contract-id/00app2", "", `{"featured_app_right":` + contract("00app2", "Splice.Amulet:FeaturedAppRight", "2026-07-02T04:31:40Z", `{"provider":"`+bob+`"}`) + `}`},
		{"GET", "/v0/featured-apps/by-contract-id/00rules", "", `{}`},
		{"GET", "/v0/ans-entries/by-party/" + alice, "", entry},
		{"GET", "/v0/ans-entries/by-party/" + strings.ReplaceAll(alice, ":", "%3A"), "", entry},
		{"GET", "/v0/ans-entries/by-name/alice.unverified.cns", "", entry},
		{"GET", "/v0/ans-entries/by-party/" + dso, "", `{"entry":{"user":"` + dso + `","name":"dso.cns","url":"","description":""}}`},
		{"GET", "/v0/ans-entries/by-name/digital-one.sv.cns", "", `{"entry":{"user":"sv1::1220","name":"digital-one.sv.cns","url":"","description":""}}`},
		{"GET", "/v0/migrations/last", "", `{"migration_id":1}`},
		{"GET", "/v0/validators/validator-faucets?validator_ids=validator-3::1220&validator_ids=x&validator_ids=idle::1220&validator_ids=validator-3::1220", "",
			`{"validatorsReceivedFaucets":[{"firstCollectedInRound":2,"lastCollectedInRound":13,"numRoundsCollected":11,"numRoundsMissed":1,"validator":"validator-3::1220"}]}`},
		// 10 verdicts of 5 bytes in migration 1, 48 and 47 in migration 0, but only with updates
		{"GET", "/v0/domains/" + sync1 + "/members/PAR::p::1220ee/traffic-status", "", `{"traffic_status":{"actual":{"total_consumed":123,"total_limit":123},"target":{"total_purchased":123}}}`},
		{"GET", "/v0/domains/" + sync1 + "/members/PAR::rich::1220ee/traffic-status", "", `{"traffic_status":{"actual":{"total_consumed":0,"total_limit":9000},"target":{"total_purchased":9000}}}`},
	} {
		for _, prefix := range Prefixes {
			r := s.do(c.method, prefix+c.path, c.body)
			if r.status != 200 || r.body != c.want {
				t.Errorf("%s %s %s =\n %d %s, want\n     %s", c.method, c.path, c.body, r.status, r.body, c.want)
			}
		}
	}
}

func TestStateRefusals(t *testing.T) {
	s := serve(t, stateWorld())
	many := `["` + strings.Repeat(`x","`, 1000) + `x"]`
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", "/v0/open-and-issuing-mining-rounds", `{}`, 400, "cached_open_mining_round_contract_ids is required"},
		{"POST", "/v0/open-and-issuing-mining-rounds", `{"cached_open_mining_round_contract_ids":[]}`, 400, "cached_issuing_round_contract_ids is required"},
		{"POST", "/v0/open-and-issuing-mining-rounds", `{"cached_open_mining_round_contract_ids":[7],"cached_issuing_round_contract_ids":[]}`, 400, "array of strings"},
		{"POST", "/v0/open-and-issuing-mining-rounds", `{"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":` + many + `}`, 400, "1001 elements"},
		{"POST", "/v0/open-and-issuing-mining-rounds", `[]`, 400, "object"},
		{"POST", "/v0/coin-rules", `{"cached_coin_rules_contract_id":7}`, 400, "must be a string"},
		{"POST", "/v0/coin-rules", `{"cached_amulet_rules_domain_id":[]}`, 400, "must be a string"},
		{"POST", "/v0/coin-rules", ``, 400, "JSON"},
		{"POST", "/v0/ans-rules", `{"cached_ans_rules_contract_id":{}}`, 400, "must be a string"},
		{"POST", "/v0/external-party-amulet-rules", `{}`, 404, "No external party coin rules found"},
		{"GET", "/v0/coin-rules", ``, 405, ""},
		{"GET", "/v0/ans-entries", ``, 400, "page_size is required"},
		{"GET", "/v0/ans-entries?page_size=0", ``, 400, "Limit must be at least 1."},
		{"GET", "/v0/ans-entries?page_size=1001", ``, 400, "Exceeded limit maximum (1001 > 1000)."},
		{"GET", "/v0/ans-entries?page_size=x", ``, 400, "integer"},
		{"GET", "/v0/ans-entries/by-party/" + bob, ``, 404, "No name service entry found for party"},
		{"GET", "/v0/ans-entries/by-name/bob.unverified.cns", ``, 404, "No name service entry found for name"},
		{"GET", "/v0/ans-entries/by-name/unverified", ``, 404, "No name service entry"},
		{"GET", "/v0/transfer-preapprovals/by-party/" + bob, ``, 404, "No TransferPreapproval found for party"},
		{"GET", "/v0/transfer-preapprovals/by-party/nobody", ``, 404, "No TransferPreapproval found for party"},
		{"GET", "/v0/transfer-command-counter/" + bob, ``, 404, "Use nonce 0"},
		{"GET", "/v0/transfer-command/status", ``, 400, "sender is required"},
		{"GET", "/v0/transfer-command/status?sender=a", ``, 400, "nonce is required"},
		{"GET", "/v0/transfer-command/status?sender=a&nonce=x", ``, 400, "integer"},
		{"GET", "/v0/transfer-command/status?sender=a&nonce=1", ``, 404, "24 hours"},
		{"GET", "/v0/domains/" + sync1 + "/members/p::1220ee/traffic-status", ``, 400, "PAR::"},
		{"GET", "/v0/domains/" + sync1 + "/members/PAR::p/traffic-status", ``, 400, "PAR::"},
		{"GET", "/v0/domains/x/members/PAR::p::1220ee/traffic-status", ``, 400, "NAME::FINGERPRINT"},
		{"GET", "/v0/domains/" + sync1 + "/members/MED::p::1220ff/traffic-status", ``, 404, "No traffic"},
		{"GET", "/v0/validators/validator-faucets", ``, 400, "validator_ids is required"},
		{"GET", "/v0/admin/validator/licenses?limit=0", ``, 400, "Limit must be at least 1."},
		{"GET", "/v0/admin/validator/licenses?limit=1001", ``, 400, "Exceeded"},
		{"GET", "/v0/admin/validator/licenses?after=x", ``, 400, "integer"},
		{"GET", "/v0/admin/validator/licenses?after=-1", ``, 400, "token"},
		{"GET", rewardRounds + "earliest-available", ``, 404, "No reward accounting data available yet."},
		{"GET", rewardRounds + "x/root-hash", ``, 400, "not a number"},
		{"GET", rewardRounds + "-1/activity-totals", ``, 400, "not a number"},
		{"GET", rewardRounds + "1/batches/xyz", ``, 400, "hexadecimal"},
		{"GET", rewardRounds + "1/batches/ab", ``, 404, "No batch"},
		{"GET", "/v0/active-synchronizer-serial", ``, 404, "No synchronizer serial found."},
		{"GET", "/v0/scans", ``, 404, "No scans found."},
		{"GET", "/v0/dso-sequencers", ``, 404, "No sequencers found."},
		{"GET", "/v0/splice-instance-names", ``, 404, "No instance names found."},
		{"GET", "/registry/metadata/v1/instruments", ``, 404, "No instance names found."},
		{"GET", "/registry/metadata/v1/instruments/Gold", ``, 404, "No instrument with id Gold found."},
		{"GET", "/v0/synchronizer-identities/global", ``, 404, "No identities"},
		{"GET", "/v0/synchronizer-bootstrapping-transactions/nowhere", ``, 404, "No synchronizer begins with nowhere."},
		{"GET", "/v0/domains/" + sync1 + "/parties/" + alice + "/participant-id", ``, 404, "No participant"},
		{"GET", "/v1/domains/" + sync1 + "/parties/alice/participant-id", ``, 400, "NAME::FINGERPRINT"},
	} {
		for _, prefix := range Prefixes {
			s.refused(c.method, prefix+c.path, c.body, c.status, c.text)
		}
	}
	if r := s.do("GET", "/v0/migrations/schedule", ""); r.status != 404 || r.body != "" {
		t.Errorf("no schedule: %d %q", r.status, r.body)
	}
	s.health.set(false, nil)
	for _, path := range []string{"/v0/dso", "/v0/featured-apps", "/v0/ans-entries?page_size=1", rewardRounds + "earliest-available"} {
		s.refused("GET", path, "", 503, "")
	}
}

func TestEmptyStoreHasNoState(t *testing.T) {
	m := &memory{}
	m.setMark(schemas.Start)
	s := serve(t, m)
	for path, text := range map[string]string{
		"/v0/dso-party-id": "No governance party found.", "/v0/dso": "No governance party found.", "/v0/migrations/last": "No migration found.",
	} {
		s.refused("GET", path, "", 404, text)
	}
	var answer map[string]any
	if body := s.ok("GET", "/v0/featured-apps", "", &answer); body != `{"featured_apps":[]}` {
		t.Error(body)
	}
}

// While the newest migration has only carried-over contracts, the state is the end of the
// migration before.
func TestStateDuringAMigration(t *testing.T) {
	m := world()
	m.put(coinRulesTemplate, "00rules", `{"dso":"`+dso+`"}`, 0, func(l *lifetime) {
		l.migration, l.from, l.Event.CreatedAt = 0, at("2026-07-01T02:00:00Z"), at("2026-07-01T02:00:00Z")
	})
	m.setMark(schemas.Position{MigrationID: 1, RecordTime: schemas.MinMicros, UpdateID: "00import1"})
	s := serve(t, m)
	var answer map[string]string
	s.ok("GET", "/v0/dso-party-id", "", &answer)
	if answer["dso_party_id"] != dso {
		t.Errorf("%v", answer)
	}
}

func TestNetworkNaming(t *testing.T) {
	m := stateWorld()
	m.facts = map[facts.Key]facts.Fact{facts.Of(facts.InstanceNames): {Body: []byte(`{"coin_name":"Amulet","coin_name_acronym":"CC","name_service_name":"Name Service","name_service_name_acronym":"ANS","network_favicon_url":"https://example.com/icon","network_name":"Network"}`)}}
	s := serve(t, m, func(c *Config) { c.Naming = query.Network })
	for method, path := range map[string]string{"POST": "/v0/coin-rules", "GET": "/v0/dso"} {
		var answer map[string]any
		body := s.ok(method, path, map[string]string{"POST": `{"cached_coin_rules_contract_id":"00rules"}`}[method], &answer)
		if strings.Contains(body, `"coin_`) || !strings.Contains(body, `"amulet_rules`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	var names map[string]string
	if body := s.ok("GET", "/v0/app-instance-names", "", &names); body != `{"amulet_name":"Amulet","amulet_name_acronym":"CC","name_service_name":"Name Service","name_service_name_acronym":"ANS","network_favicon_url":"https://example.com/icon","network_name":"Network"}` {
		t.Error(body)
	}
	var entry map[string]any
	s.ok("GET", "/v0/ans-entries/by-name/dso.ans", "", &entry)
	var registry struct {
		Admin       string `json:"adminId"`
		Instruments []struct{ ID, Name, Symbol string }
	}
	s.ok("GET", "/registry/metadata/v1/info", "", &registry)
	s.ok("GET", "/registry/metadata/v1/instruments", "", &registry)
	if list := registry.Instruments; registry.Admin != dso || len(list) != 1 || list[0].ID != "Amulet" || list[0].Name != "Amulet" || list[0].Symbol != "CC" {
		t.Errorf("the registry has %+v", registry)
	}
}

func TestGovernance(t *testing.T) {
	m := stateWorld()
	type dsoAnswer struct {
		User      string `json:"sv_user"`
		Party     string `json:"sv_party_id"`
		Threshold int64  `json:"voting_threshold"`
		Round     struct {
			Contract struct {
				ContractID string `json:"contract_id"`
			} `json:"contract"`
		} `json:"latest_mining_round"`
		Initial *string `json:"initial_round"`
	}
	s := serve(t, m)
	var answer dsoAnswer
	body := s.ok("GET", "/v0/dso", "", &answer)
	if answer.Round.Contract.ContractID != "00open8" || answer.User != "" || answer.Initial != nil || answer.Threshold != 1 {
		t.Errorf("without a fact: %s", body)
	}
	if got := ids(t, body, "sv_node_states"); !slices.Equal(got, []string{"00node"}) {
		t.Errorf("node states %q", got)
	}
	m.facts = map[facts.Key]facts.Fact{facts.Of(facts.DSO): {Body: []byte(`{"sv_user":"u","sv_party_id":"sv1::1220","voting_threshold":9,"initial_round":"3"}`)}}
	s = serve(t, m)
	body = s.ok("GET", "/v0/dso", "", &answer)
	if answer.User != "u" || answer.Party != "sv1::1220" || *answer.Initial != "3" || answer.Threshold != 1 {
		t.Errorf("with a fact: %s", body)
	}
}

// Pages of licenses hold each one once, also where several have one creation time.
func TestLicensesInPages(t *testing.T) {
	s := serve(t, stateWorld())
	for _, limit := range []int{1, 2, 3, 5} {
		var all []string
		after := ""
		for range 10 {
			var page struct {
				Next *int64 `json:"next_page_token"`
			}
			body := s.ok("GET", fmt.Sprintf("/v0/admin/validator/licenses?limit=%d%s", limit, after), "", &page)
			all = append(all, ids(t, body, "validator_licenses")...)
			if page.Next == nil {
				break
			}
			after = fmt.Sprintf("&after=%d", *page.Next)
		}
		if want := []string{"00lic4", "00lic3", "00lic2", "00lic1", "00lic0", "00lic9"}; !slices.Equal(all, want) {
			t.Errorf("in pages of %d: %q", limit, all)
		}
	}
}

// command adds a transfer command, and the update that ends it if choice is not empty.
func (m *memory) command(id, nonce, choice, result string, before schemas.Micros) {
	end := stateEnd - before/2
	change := func(*lifetime) {}
	if choice != "" {
		change = endedAt(end)
		u := &schemas.Update{
			Kind: schemas.Transaction, MigrationID: 1, SynchronizerID: sync1, RecordTime: end, UpdateID: "1220end" + id, Encoding: schemas.CompactJSON,
			RootEvents: []int32{0}, Events: []schemas.Event{
				{Kind: schemas.Exercised, ContractID: id, Choice: choice, Consuming: true, TemplateID: "6a3b:Splice.ExternalPartyAmuletRules:TransferCommand",
					PackageName: "splice-amulet", Argument: []byte(`{}`), Result: []byte(result)},
			},
		}
		m.items = append(m.items, schemas.Item{Update: u})
	}
	m.put(commandTemplate, id, `{"sender":"`+alice+`","nonce":"`+nonce+`"}`, before, signedBy(alice), change)
}

func TestCommandStatus(t *testing.T) {
	m := stateWorld()
	m.command("00waits", "4", "", "", 1000*1e6)
	m.command("00sent", "4", "TransferCommand_Send", `{"result":{"tag":"TransferCommandResultSuccess","value":{}}}`, 2000*1e6)
	m.command("00fails", "4", "TransferCommand_Send", `{"result":{"tag":"TransferCommandResultFailure","value":{"reason":{"tag":"ITR_Other","value":{"description":"x"}}}}}`, 3000*1e6)
	m.command("00expires", "4", "TransferCommand_Expire", `{}`, 4000*1e6)
	m.command("00back", "4", "TransferCommand_Withdraw", `{}`, 5000*1e6)
	m.command("00archived", "4", "Archive", `{}`, 6000*1e6)
	m.command("00ancient", "4", "", "", day+1)
	m.command("00other", "5", "", "", 1000*1e6)
	s := serve(t, m)
	var answer struct {
		Commands map[string]struct {
			Contract struct {
				ContractID string `json:"contract_id"`
			}
			Status json.RawMessage
		} `json:"transfer_commands_by_contract_id"`
	}
	s.ok("GET", "/v0/transfer-command/status?nonce=4&sender="+alice, "", &answer)
	want := map[string]string{
		"00waits": `{"status":"created"}`, "00sent": `{"status":"sent"}`,
		"00fails":    `{"failure_kind":"failed","reason":"ITR_Other(x)","status":"failed"}`,
		"00expires":  `{"failure_kind":"expired","reason":"The TransferCommand has expired","status":"failed"}`,
		"00back":     `{"failure_kind":"withdrawn","reason":"The TransferCommand has been withdrawn by the sender","status":"failed"}`,
		"00archived": `{"failure_kind":"failed","reason":"The TransferCommand has been ended by Archive","status":"failed"}`,
	}
	for id, status := range want {
		if got := answer.Commands[id]; string(got.Status) != status || got.Contract.ContractID != id {
			t.Errorf("%s: %s, want %s", id, got.Status, status)
		}
	}
	if len(answer.Commands) != len(want) {
		t.Errorf("%d commands, want %d", len(answer.Commands), len(want))
	}
}
