package devnet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// votesSeen is what a walk through the history says of votes.
type votesSeen struct {
	t        *testing.T
	prices   map[string]string // active votes on the price, by super-validator
	tracking map[string]string // of the open requests, by contract
	results  []json.RawMessage // of closed requests, in order
	rounds   map[string]json.RawMessage
	newest   string // round
	casts    int
}

func (v *votesSeen) add(it item) {
	created := map[string]event{} // by template
	for _, raw := range it.EventsByID {
		e := decodeEvent(v.t, raw)
		_, name, _ := strings.Cut(e.TemplateID, ":")
		if e.Choice == "" {
			created[name] = e
		}
		if name == "Splice.DSO.AmuletPrice:AmuletPriceVote" && e.Choice == "" {
			var vote struct {
				Sv    string
				Price *string `json:"amuletPrice"`
			}
			if err := json.Unmarshal(e.CreateArguments, &vote); err != nil {
				v.t.Fatal(err)
			}
			if vote.Price != nil {
				v.prices[vote.Sv] = *vote.Price
			}
		}
	}
	if c, ok := created["Splice.Round:OpenMiningRound"]; ok && len(it.EventsByID) < 20 { // not the foundation
		v.newest = member(v.t, c.CreateArguments, "round", "number")
		v.rounds[v.newest] = c.CreateArguments
		if price := member(v.t, c.CreateArguments, "amuletPrice"); price != v.median() {
			v.t.Errorf("round %s has the price %s, the votes are %v", v.newest, price, v.prices)
		}
	}
	request := created["Splice.DsoRules:VoteRequest"]
	for _, raw := range it.EventsByID {
		switch e := decodeEvent(v.t, raw); e.Choice {
		case "DsoRules_RequestVote":
			if strings.Contains(string(request.CreateArguments), `"trackingCid":"`) {
				v.t.Errorf("a new request is tracked: %s", request.CreateArguments)
			}
			v.tracking[request.ContractID] = request.ContractID
		case "DsoRules_CastVote":
			v.casts++
			old := member(v.t, e.Argument, "requestCid")
			if got := member(v.t, request.CreateArguments, "trackingCid"); got != v.tracking[old] || got == "" {
				v.t.Errorf("a vote on request %s makes one that is tracked as %s", v.tracking[old], got)
			}
			v.tracking[request.ContractID] = v.tracking[old]
			delete(v.tracking, old)
		case "DsoRules_CloseVoteRequest":
			delete(v.tracking, member(v.t, e.Argument, "requestCid"))
			v.results = append(v.results, e.Result)
		}
	}
}

// median is that of the prices.
func (v *votesSeen) median() string {
	var prices []model.Decimal
	for _, text := range v.prices {
		p, err := model.ParseDecimal(text)
		if err != nil {
			v.t.Fatal(err)
		}
		prices = append(prices, p)
	}
	slices.Sort(prices)
	n := len(prices)
	return ((prices[(n-1)/2] + prices[n/2]) / 2).String()
}

// TestVotesAreThoseOfTheHistory compares what is said of votes with the served history.
func TestVotesAreThoseOfTheHistory(t *testing.T) {
	c := serveScan(t, sharedState.get(t))
	updates := c.allUpdates("/v2/updates", "compact_json", 1000)
	v := &votesSeen{t: t, prices: map[string]string{}, tracking: map[string]string{}, rounds: map[string]json.RawMessage{}}
	for _, it := range updates {
		v.add(it)
	}
	r := replayed(t, updates, 0, "")
	votes := c.contracts("amulet_price_votes", "GET", "/v0/amulet-price/votes", "")
	equalContracts(t, "votes on the price", votes, r.ofTemplate("Splice.DSO.AmuletPrice:AmuletPriceVote"))
	if len(votes) != model.SuperValidatorCount || len(v.prices) != model.SuperValidatorCount || len(v.results) < 6 || v.casts < 12 {
		t.Errorf("%d votes on the price, %d with one, %d closed requests, %d votes", len(votes), len(v.prices), len(v.results), v.casts)
	}
	equalContracts(t, "open requests", c.contracts("dso_rules_vote_requests", "GET", "/v0/admin/sv/voterequests", ""), r.ofTemplate("Splice.DsoRules:VoteRequest"))
	for id, tracking := range v.tracking {
		for body, want := range map[string]int{tracking: 1, "00ff": 0} {
			got := c.contracts("vote_requests", "POST", "/v0/voterequest", fmt.Sprintf(`{"vote_request_contract_ids":[%q]}`, body))
			if len(got) != want || want > 0 && got[0].ContractID != id {
				t.Errorf("requests tracked as %s: %v", body, got)
			}
		}
		var one map[string]struct {
			ContractID string `json:"contract_id"`
		}
		if c.ask("GET", "/v0/voterequests/"+tracking, "", &one); one["dso_rules_vote_request"].ContractID != id {
			t.Errorf("the request tracked as %s is %v", tracking, one)
		}
	}
	compareResults(t, c, v.results)
	rules := r.ofTemplate("Splice.DsoRules:DsoRules")[0]
	var svs struct {
		List [][2]json.RawMessage `json:"svs"`
	}
	if err := json.Unmarshal(rules.CreateArguments, &svs); err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, entry := range svs.List {
		weight := member(t, entry[1], "svRewardWeight")
		var answer map[string]string
		c.ask("POST", "/v0/admin/sv/previous-sv-reward-weight", fmt.Sprintf(`{"svParty":%s}`, entry[0]), &answer)
		if got := cmp.Or(answer["rewardWeight"], fmt.Sprint(model.SvRewardWeight)); got != weight {
			t.Errorf("the weight of %s is %s, the votes say %s", entry[0], weight, got)
		}
		if answer["rewardWeight"] != "" {
			changed++
		}
	}
	if changed == 0 {
		t.Error("no weight was changed by a vote")
	}
	for number, round := range v.rounds {
		var answer struct {
			Fee string `json:"amulet_create_fee"`
		}
		c.ask("GET", "/v0/amulet-config-for-round?round="+number, "", &answer)
		fee, err1 := model.ParseDecimal(member(t, round, "transferConfigUsd", "createFee", "fee"))
		price, err2 := model.ParseDecimal(member(t, round, "amuletPrice"))
		if err1 != nil || err2 != nil || answer.Fee != fee.Over(price).String() {
			t.Errorf("the fee of round %s is %s, not %s by %s: %v, %v", number, answer.Fee, fee, price, err1, err2)
		}
	}
	for _, request := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v0/voterequest", `{"vote_request_contract_ids":` + manyTexts(1001) + `}`, 400},
		{"POST", "/v0/voterequest", `{}`, 400},
		{"GET", "/v0/voterequests/00ff", "", 404},
		{"POST", "/v0/admin/sv/voteresults", `{}`, 400},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":0}`, 400},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":1001}`, 400},
		{"POST", "/v0/admin/sv/previous-sv-reward-weight", `{}`, 400},
		{"GET", "/v0/amulet-config-for-round?round=x", "", 400},
		{"GET", "/v0/amulet-config-for-round?round=1000", "", 404},
		{"GET", "/v0/acs/somebody::1220", "", 501},
	} {
		if status, answer := c.do(request.method, request.path, request.body); status != request.status {
			t.Errorf("%s %s: status %d, %s, want %d", request.method, request.path, status, answer, request.status)
		}
	}
}

// compareResults compares the results of votes with those of the history: all, by pages, and by filters.
func compareResults(t *testing.T, c client, want []json.RawMessage) {
	t.Helper()
	latestFirst := slices.Clone(want)
	slices.Reverse(latestFirst)
	outcomes := map[string]int{}
	for _, filter := range []struct{ body, part string }{
		{"", ""}, {`,"accepted":true`, "VRO_Accepted"}, {`,"accepted":false,"actionName":"Weight"`, "SRARC_UpdateSvRewardWeight"},
		{`,"actionName":"CRARC_SetConfig"`, "CRARC_SetConfig"}, {`,"requester":"Validator-2"`, `"requester":"Super-Validator-2"`},
	} {
		var found []string
		for token := ""; ; {
			var page struct {
				Results []json.RawMessage `json:"dso_rules_vote_results"`
				Next    *int64            `json:"next_page_token"`
			}
			c.ask("POST", "/v0/admin/sv/voteresults", `{"limit":2`+filter.body+token+`}`, &page)
			for _, result := range page.Results {
				found = append(found, string(result))
			}
			if page.Next == nil {
				break
			}
			token = fmt.Sprintf(`,"pageToken":%d`, *page.Next)
		}
		var expected []string
		for _, result := range latestFirst {
			if strings.Contains(string(result), filter.part) && !(strings.Contains(filter.body, "false") && strings.Contains(string(result), "VRO_Accepted")) {
				expected = append(expected, string(result))
				if filter.part == "" {
					outcomes[member(t, result, "outcome", "tag")]++
				}
			}
		}
		if !slices.Equal(found, expected) || len(found) == 0 {
			t.Errorf("results%s:\n got %s\nwant %s", filter.body, found, expected)
		}
		var count map[string]int
		if c.ask("POST", "/v0/admin/sv/voteresults/count", "{"+strings.TrimPrefix(filter.body, ",")+"}", &count); count["count"] != len(expected) {
			t.Errorf("count%s: %v, want %d", filter.body, count, len(expected))
		}
	}
	if len(outcomes) != 3 {
		t.Errorf("outcomes are %v", outcomes)
	}
}
