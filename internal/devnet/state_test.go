package devnet

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

// replayed executes updates up to a position: all if record time is "".
func replayed(t *testing.T, updates []item, migration int64, recordTime string) *replay {
	t.Helper()
	r := newReplay(t)
	for _, it := range updates {
		if recordTime != "" && (it.MigrationID > migration || it.MigrationID == migration && it.RecordTime > recordTime) {
			break
		}
		r.add(it)
	}
	return r
}

// ofTemplate are the contracts of a template, of all if it is "", ordered by creation time and id.
func (r *replay) ofTemplate(name string) []event {
	var found []event
	for _, e := range r.active {
		if name == "" || strings.HasSuffix(e.TemplateID, ":"+name) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b event) int {
		at, bt := mustTime(r.t, a.CreatedAt), mustTime(r.t, b.CreatedAt)
		if c := at.Compare(bt); c != 0 {
			return c
		}
		return strings.Compare(a.ContractID, b.ContractID)
	})
	return found
}

func (c client) contracts(member, method, path, body string) []scanapi.ContractAnswer {
	c.t.Helper()
	var answer map[string]json.RawMessage
	c.ask(method, path, body, &answer)
	var contracts []scanapi.ContractAnswer
	if err := json.Unmarshal(answer[member], &contracts); err != nil {
		c.t.Fatalf("%s: %v in %s", path, err, answer[member])
	}
	return contracts
}

// equalContracts compares answers with contracts of the history, in order.
func equalContracts(t *testing.T, what string, got []scanapi.ContractAnswer, want []event) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d contracts, the history has %d", what, len(got), len(want))
		return
	}
	for i, e := range want {
		equalContract(t, what, got[i], e)
	}
}

func equalContract(t *testing.T, what string, got scanapi.ContractAnswer, e event) {
	t.Helper()
	if got.ContractID != e.ContractID || got.TemplateID != e.TemplateID || got.CreatedAt != e.CreatedAt ||
		string(got.Payload) != string(e.CreateArguments) || len(got.Blob) != 120 {
		t.Errorf("%s: contract is %+v with payload %s, the history has %+v", what, got, got.Payload, e)
	}
}

// member reads a member of a payload, a path of names.
func member(t *testing.T, payload json.RawMessage, path ...string) string {
	t.Helper()
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(payload, &object); err != nil {
			t.Fatalf("%s of %s: %v", name, payload, err)
		}
		payload = object[name]
	}
	var text string
	if err := json.Unmarshal(payload, &text); err != nil {
		t.Fatalf("%v of %s: %v", path, payload, err)
	}
	return text
}

// TestStateIsThatOfTheHistory compares what is said about the present with the
// contracts that the served history leaves active.
func TestStateIsThatOfTheHistory(t *testing.T) {
	c := serveScan(t, sharedState.get(t))
	r := replayed(t, c.allUpdates("/v2/updates", "compact_json", 1000), 0, "")
	var events struct {
		RecordTime string `json:"record_time"`
	}
	c.ask("GET", "/v0/events/latest-record-time", "", &events)

	t.Run("featured apps", func(t *testing.T) {
		want := r.ofTemplate("Splice.Amulet:FeaturedAppRight")
		got := c.contracts("featured_apps", "GET", "/v0/featured-apps", "")
		equalContracts(t, "all", got, want)
		if len(got) < 2 {
			t.Errorf("%d featured apps are too few", len(got))
		}
		provider := member(t, got[0].Payload, "provider")
		equalContracts(t, "by provider", c.contracts("featured_apps", "GET", "/v0/featured-apps/by-provider/"+provider, ""), want[:1])
		for _, path := range []string{provider, "by-contract-id/" + got[0].ContractID} {
			var one struct {
				Right scanapi.ContractAnswer `json:"featured_app_right"`
			}
			c.ask("GET", "/v0/featured-apps/"+path, "", &one)
			equalContract(t, path, one.Right, want[0])
		}
		if status, answer := c.do("GET", "/v0/featured-apps/nobody::1220", ""); status != 200 || string(answer) != "{}" {
			t.Errorf("an unknown provider gets %d, %s", status, answer)
		}
	})

	t.Run("rounds", func(t *testing.T) {
		closed := c.contracts("rounds", "GET", "/v0/closed-rounds", "")
		equalContracts(t, "closed", closed, r.ofTemplate("Splice.Round:ClosedMiningRound"))
		if len(closed) == 0 {
			t.Error("no closed round")
		}
		var rounds struct {
			Open    map[string]scanapi.PlacedContract `json:"open_mining_rounds"`
			Issuing map[string]scanapi.PlacedContract `json:"issuing_mining_rounds"`
			TTL     int64                             `json:"time_to_live_in_microseconds"`
		}
		const path = "/v0/open-and-issuing-mining-rounds"
		c.ask("POST", path, `{"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`, &rounds)
		open, issuing := r.ofTemplate("Splice.Round:OpenMiningRound"), r.ofTemplate("Splice.Round:IssuingMiningRound")
		if len(rounds.Open) != 3 || len(rounds.Open) != len(open) || len(rounds.Issuing) != len(issuing) || len(issuing) == 0 || rounds.TTL <= 0 {
			t.Fatalf("rounds are %+v", rounds)
		}
		for _, e := range slices.Concat(open, issuing) {
			p := rounds.Open[e.ContractID]
			if p.Contract == nil {
				p = rounds.Issuing[e.ContractID]
			}
			equalContract(t, "round", *p.Contract, e)
		}
		rounds.Open, rounds.Issuing = nil, nil
		c.ask("POST", path, fmt.Sprintf(`{"cached_open_mining_round_contract_ids":[%q,"00ff"],"cached_issuing_round_contract_ids":[%q]}`,
			open[0].ContractID, issuing[0].ContractID), &rounds)
		if p := rounds.Open[open[0].ContractID]; p.Contract != nil || p.DomainID == "" {
			t.Errorf("a known open round is answered with %+v", p)
		}
		if p := rounds.Issuing[issuing[0].ContractID]; p.Contract != nil || p.DomainID == "" {
			t.Errorf("a known issuing round is answered with %+v", p)
		}
		if rounds.Open[open[1].ContractID].Contract == nil || len(rounds.Open) != 3 {
			t.Errorf("open rounds are %+v", rounds.Open)
		}
	})

	t.Run("rules", func(t *testing.T) {
		for _, tc := range []struct{ path, name, template string }{
			{"/v0/amulet-rules", "amulet_rules", "Splice.AmuletRules:AmuletRules"},
			{"/v0/external-party-amulet-rules", "external_party_amulet_rules", "Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"},
			{"/v0/ans-rules", "ans_rules", "Splice.Ans:AnsRules"},
		} {
			want := r.ofTemplate(tc.template)
			var answer map[string]scanapi.PlacedContract
			c.ask("POST", tc.path, `{}`, &answer)
			equalContracts(t, tc.path, []scanapi.ContractAnswer{*answer[tc.name+"_update"].Contract}, want)
			cached := fmt.Sprintf(`{"cached_%s_contract_id":%q,"cached_%s_domain_id":"x"}`, tc.name, want[0].ContractID, tc.name)
			answer = nil
			c.ask("POST", tc.path, cached, &answer)
			if p := answer[tc.name+"_update"]; p.Contract != nil || p.DomainID == "" {
				t.Errorf("%s: known rules are answered with %+v", tc.path, p)
			}
		}
	})

	t.Run("governance", func(t *testing.T) {
		var d struct {
			Party     string                   `json:"dso_party_id"`
			Threshold int                      `json:"voting_threshold"`
			Round     scanapi.PlacedContract   `json:"latest_mining_round"`
			Rules     scanapi.PlacedContract   `json:"dso_rules"`
			Coin      scanapi.PlacedContract   `json:"amulet_rules"`
			Nodes     []scanapi.PlacedContract `json:"sv_node_states"`
		}
		c.ask("GET", "/v0/dso", "", &d)
		equalContract(t, "dso rules", *d.Rules.Contract, r.ofTemplate("Splice.DsoRules:DsoRules")[0])
		equalContract(t, "amulet rules", *d.Coin.Contract, r.ofTemplate("Splice.AmuletRules:AmuletRules")[0])
		if d.Threshold != 3 || len(d.Nodes) != model.SuperValidatorCount || member(t, d.Round.Contract.Payload, "dso") != d.Party {
			t.Errorf("governance is %+v", d)
		}
	})

	t.Run("names", func(t *testing.T) {
		var all struct {
			Entries []scanapi.EntryAnswer `json:"entries"`
		}
		c.ask("GET", "/v0/ans-entries?page_size=1000", "", &all)
		now := mustTime(t, events.RecordTime)
		expired := 0
		var want []event
		for _, e := range r.ofTemplate("Splice.Ans:AnsEntry") {
			if mustTime(t, member(t, e.CreateArguments, "expiresAt")).After(now) {
				want = append(want, e)
			} else {
				expired++
			}
		}
		if len(all.Entries) != len(want)+1+model.SuperValidatorCount || len(want) == 0 || expired == 0 {
			t.Fatalf("%d entries, the history has %d and %d expired ones", len(all.Entries), len(want), expired)
		}
		for i, e := range want {
			if got := all.Entries[i]; got.ContractID != e.ContractID || got.Name != member(t, e.CreateArguments, "name") {
				t.Errorf("entry %d is %+v, want %+v", i, got, e)
			}
		}
		first := all.Entries[0]
		var one struct {
			Entry scanapi.EntryAnswer `json:"entry"`
		}
		c.ask("GET", "/v0/ans-entries/by-name/"+first.Name, "", &one)
		if one.Entry != first {
			t.Errorf("by name: %+v, want %+v", one.Entry, first)
		}
		c.ask("GET", "/v0/ans-entries/by-party/"+first.User, "", &one)
		if one.Entry.User != first.User {
			t.Errorf("by party: %+v", one.Entry)
		}
		c.ask("GET", "/v0/ans-entries?page_size=2&name_prefix="+first.Name[:6], "", &all)
		if len(all.Entries) == 0 || len(all.Entries) > 2 || !strings.HasPrefix(all.Entries[0].Name, first.Name[:6]) {
			t.Errorf("by prefix: %+v", all.Entries)
		}
	})

	t.Run("licenses", func(t *testing.T) {
		want := r.ofTemplate("Splice.ValidatorLicense:ValidatorLicense")
		slices.Reverse(want)
		var got []scanapi.ContractAnswer
		for after := ""; ; {
			var page struct {
				Licenses []scanapi.ContractAnswer `json:"validator_licenses"`
				Next     *int64                   `json:"next_page_token"`
			}
			c.ask("GET", "/v0/admin/validator/licenses?limit=2"+after, "", &page)
			got = append(got, page.Licenses...)
			if page.Next == nil {
				break
			}
			after = fmt.Sprintf("&after=%d", *page.Next)
		}
		equalContracts(t, "licenses", got, want)
		validator := member(t, got[0].Payload, "validator")
		var faucets struct {
			Received []struct {
				Validator             string `json:"validator"`
				NumRoundsCollected    int64  `json:"numRoundsCollected"`
				NumRoundsMissed       int64  `json:"numRoundsMissed"`
				FirstCollectedInRound int64  `json:"firstCollectedInRound"`
				LastCollectedInRound  int64  `json:"lastCollectedInRound"`
			} `json:"validatorsReceivedFaucets"`
		}
		c.ask("GET", "/v0/validators/validator-faucets?validator_ids=x&validator_ids="+url.QueryEscape(validator), "", &faucets)
		if len(faucets.Received) != 1 {
			t.Fatalf("faucets are %+v", faucets)
		}
		if f := faucets.Received[0]; f.Validator != validator || f.NumRoundsCollected < 1 ||
			f.NumRoundsCollected+f.NumRoundsMissed != f.LastCollectedInRound-f.FirstCollectedInRound+1 {
			t.Errorf("faucet is %+v", f)
		}
	})

	t.Run("development fund", func(t *testing.T) {
		var answer struct {
			Coupons []scanapi.PlacedContract `json:"unclaimed-development-fund-coupons"`
		}
		c.ask("GET", "/v0/unclaimed-development-fund-coupons", "", &answer)
		want := r.ofTemplate("Splice.Amulet:UnclaimedDevelopmentFundCoupon")
		if len(want) == 0 || len(want) != len(answer.Coupons) {
			t.Fatalf("%d coupons, the history has %d", len(answer.Coupons), len(want))
		}
		for i := range want {
			equalContract(t, "coupon", *answer.Coupons[i].Contract, want[i])
		}
	})

	t.Run("preapprovals", func(t *testing.T) {
		now := mustTime(t, events.RecordTime)
		for _, e := range r.ofTemplate("Splice.AmuletRules:TransferPreapproval") {
			path := "/v0/transfer-preapprovals/by-party/" + member(t, e.CreateArguments, "receiver")
			if !mustTime(t, member(t, e.CreateArguments, "expiresAt")).After(now) {
				continue
			}
			var answer struct {
				Preapproval scanapi.PlacedContract `json:"transfer_preapproval"`
			}
			c.ask("GET", path, "", &answer)
			equalContract(t, path, *answer.Preapproval.Contract, e)
		}
	})

	t.Run("commands", func(t *testing.T) {
		counters := r.ofTemplate("Splice.ExternalPartyAmuletRules:TransferCommandCounter")
		if len(counters) == 0 {
			t.Fatal("no counter")
		}
		seen := map[string]int{}
		for _, e := range counters {
			sender := member(t, e.CreateArguments, "sender")
			var answer struct {
				Counter scanapi.PlacedContract `json:"transfer_command_counter"`
			}
			c.ask("GET", "/v0/transfer-command-counter/"+sender, "", &answer)
			equalContract(t, sender, *answer.Counter.Contract, e)
			for nonce := range 300 {
				status, raw := c.do("GET", fmt.Sprintf("/v0/transfer-command/status?sender=%s&nonce=%d", url.QueryEscape(sender), nonce), "")
				if status == 404 {
					continue
				}
				var found struct {
					Commands map[string]struct {
						Contract scanapi.ContractAnswer `json:"contract"`
						Status   map[string]string      `json:"status"`
					} `json:"transfer_commands_by_contract_id"`
				}
				if err := json.Unmarshal(raw, &found); err != nil || status != 200 || len(found.Commands) == 0 {
					t.Fatalf("status %d, %s", status, raw)
				}
				for id, command := range found.Commands {
					if id != command.Contract.ContractID || member(t, command.Contract.Payload, "sender") != sender ||
						member(t, command.Contract.Payload, "nonce") != fmt.Sprint(nonce) {
						t.Errorf("command %s is %+v", id, command)
					}
					kind := command.Status["status"] + command.Status["failure_kind"]
					if seen[kind]++; (command.Status["failure_kind"] != "") != (command.Status["reason"] != "") {
						t.Errorf("status of %s is %v", id, command.Status)
					}
					if _, active := r.active[id]; active != (kind == "created") {
						t.Errorf("command %s is %s but active: %v", id, kind, active)
					}
				}
			}
		}
		for _, kind := range []string{"sent", "failedfailed"} {
			if seen[kind] == 0 {
				t.Errorf("no command is %s: %v", kind, seen)
			}
		}
	})
}

// TestTrafficStatus compares the purchases with the contracts and the consumption with
// the summaries of all events.
func TestTrafficStatus(t *testing.T) {
	c := serveScan(t, sharedState.get(t))
	r := replayed(t, c.allUpdates("/v2/updates", "compact_json", 1000), 0, "")
	purchased, synchronizer := map[string]int64{}, ""
	merged := false
	for _, e := range r.ofTemplate("Splice.DecentralizedSynchronizer:MemberTraffic") {
		var bytes int64
		if _, err := fmt.Sscan(member(t, e.CreateArguments, "totalPurchased"), &bytes); err != nil {
			t.Fatal(err)
		}
		purchased[member(t, e.CreateArguments, "memberId")] += bytes
		synchronizer = member(t, e.CreateArguments, "synchronizerId")
		merged = merged || member(t, e.CreateArguments, "numPurchases") != "1"
	}
	if len(purchased) < 2 || !merged {
		t.Fatalf("purchases are %v, merged: %v", purchased, merged)
	}
	consumed := map[string]int64{}
	for _, e := range c.allEvents("compact_json", 1000) {
		var v struct {
			Participant string `json:"submitting_participant_uid"`
			Domain      string `json:"domain_id"`
		}
		var s struct {
			Total int64 `json:"total_traffic_cost"`
		}
		if e.Traffic == nil {
			continue
		}
		if err := json.Unmarshal(e.Verdict, &v); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.Traffic, &s); err != nil {
			t.Fatal(err)
		}
		if v.Domain == synchronizer {
			consumed["PAR::"+v.Participant] += s.Total
		}
	}
	for memberID, bytes := range purchased {
		var answer struct {
			Status struct {
				Actual struct {
					Consumed int64 `json:"total_consumed"`
					Limit    int64 `json:"total_limit"`
				} `json:"actual"`
				Target struct {
					Purchased int64 `json:"total_purchased"`
				} `json:"target"`
			} `json:"traffic_status"`
		}
		c.ask("GET", "/v0/domains/"+synchronizer+"/members/"+memberID+"/traffic-status", "", &answer)
		s := answer.Status
		if s.Target.Purchased != bytes || s.Actual.Limit != bytes || s.Actual.Consumed != consumed[memberID] || s.Actual.Consumed == 0 {
			t.Errorf("traffic of %s is %+v, want %d bought and %d consumed", memberID, s, bytes, consumed[memberID])
		}
	}
}

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
