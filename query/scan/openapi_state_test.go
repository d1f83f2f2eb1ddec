package scan

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// What an upstream told is served in the shape that the document gives it, of every kind.
func TestFactsKeepToTheDocument(t *testing.T) {
	m := stateWorld()
	m.put(externalRulesTemplate, "00external", `{"dso":"`+dso+`"}`, 4*day)
	rewardHash := "1220ab"
	m.facts = map[facts.Key]facts.Fact{
		facts.Of(facts.InstanceNames): {Body: []byte(`{"coin_name":"Coin","coin_name_acronym":"CC","name_service_name":"Name Service","name_service_name_acronym":"ANS","network_favicon_url":"https://example.com/icon","network_name":"Network"}`)},
		facts.Of(facts.Sequencers): {Body: []byte(`{"domainSequencers":[{"domainId":"` + sync1 + `","sequencers":[` +
			`{"migrationId":1,"id":"SEQ::a::1220","url":"https://a.example.com","svName":"a","availableAfter":"2026-07-01T00:00:00Z"},` +
			`{"migrationId":-1,"synchronizerSerial":3,"id":"SEQ::b::1220","url":"https://b.example.com","svName":"b","availableAfter":"2026-07-01T00:00:00Z"}]}]}`)},
		facts.Of(facts.BFTSequencers):               {Body: []byte(`{"bftSequencers":[{"serialId":3,"id":"SEQ::a::1220","p2pUrl":"https://p2p.example.com"}]}`)},
		facts.Of(facts.Scans):                       {Body: []byte(`{"scans":[{"domainId":"` + sync1 + `","scans":[{"publicUrl":"https://scan.example.com","svName":"a"}]}]}`)},
		facts.Of(facts.LSU):                         {Body: []byte(`{"lsu":{"topologyFreezeTime":"2026-08-01T00:00:00Z","upgradeTime":"2026-08-02T00:00:00Z","successorPhysicalSynchronizerId":"s::1220::35-1"}}`)},
		facts.Of(facts.RollForwardLSU):              {Body: []byte(`{}`)},
		facts.Of(facts.Identities, "global-domain"): {Body: []byte(`{"sequencer_id":"SEQ::a::1220","sequencer_identity_transactions":["YQ=="],"mediator_id":"MED::a::1220","mediator_identity_transactions":[]}`)},
		facts.Of(facts.RewardTotals, "3"): {Body: []byte(`{"status":"Ok","round_number":3,"total_app_activity_weight":5,"active_parties_count":1,"activity_records_count":2,` +
			`"rewarded_app_provider_parties_count":1,"total_app_reward_minting_allowance":"1.0000000000","total_app_reward_thresholded":"0.0000000000","total_app_reward_unclaimed":"0.0000000000"}`)},
		facts.Of(facts.RewardBatch, "3", rewardHash): {Body: []byte(`{"batch_type":"BatchOfMintingAllowances","minting_allowances":[{"provider":"` + alice + `","amount":"1.0000000000"}]}`)},
		facts.Of(facts.RewardBatch, "3", "1220cd"):   {Body: []byte(`{"batch_type":"BatchOfBatches","child_hashes":["1220ab"]}`)},
	}
	s := serve(t, m)
	for _, path := range []string{
		"/registry/metadata/v1/info", "/registry/metadata/v1/instruments", "/registry/metadata/v1/instruments/Amulet",
		"/v0/app-instance-names", "/v0/splice-instance-names", "/v0/dso-sequencers", "/v0/sv-bft-sequencers", "/v0/scans", "/v0/lsu", "/v0/roll-forward-lsu",
		"/v0/synchronizer-identities/global", rewardRounds + "3/activity-totals", rewardRounds + "3/batches/" + rewardHash, rewardRounds + "3/batches/1220cd",
		"/v0/transfer-preapprovals/by-party/" + alice, "/v0/transfer-command-counter/" + alice,
	} {
		var answer map[string]any
		s.ok("GET", path, "", &answer)
	}
	var rules map[string]any
	s.ok("POST", "/v0/external-party-coin-rules", `{}`, &rules)
}
