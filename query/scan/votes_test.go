package scan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// closing is an update that closes a vote request, some time before the end of the state world.
func closing(before schemas.Micros, requester, action, outcome string) schemas.Item {
	t := stateEnd - before
	result := fmt.Sprintf(`{"request":{"requester":"%s","action":%s},"completedAt":"%s","offboardedVoters":[],"abstainingSvs":[],"outcome":%s}`,
		requester, action, schemas.AppendShortTime(nil, t-1e6), outcome)
	return schemas.Item{Update: &schemas.Update{
		Kind: schemas.Transaction, MigrationID: 1, SynchronizerID: sync1, RecordTime: t, UpdateID: fmt.Sprintf("1220vote%d", before), Encoding: schemas.CompactJSON,
		RootEvents: []int32{0}, Events: []schemas.Event{{
			Kind: schemas.Exercised, ContractID: "00dso", Choice: "DsoRules_CloseVoteRequest", TemplateID: "6a3b:Splice.DsoRules:DsoRules",
			PackageName: "splice-dso-governance", Argument: []byte(`{}`), Result: []byte(result), Children: []int32{},
		}},
	}}
}

func weightAction(sv string, weight int) string {
	return fmt.Sprintf(`{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_UpdateSvRewardWeight","value":{"svParty":"%s","newRewardWeight":"%d"}}}}`, sv, weight)
}

const (
	configAction = `{"tag":"ARC_AmuletRules","value":{"amuletRulesAction":{"tag":"CRARC_SetConfig","value":{}}}}`
	nameAction   = `{"tag":"ARC_AnsEntryContext","value":{"ansEntryContextCid":"00ab","ansEntryContextAction":{"tag":"ANSRARC_RejectEntryInitialPayment","value":{}}}}`
	otherAction  = `{"tag":"ExtActionRequiringConformation","value":{"dummyUnitField":{}}}`
	rejected     = `{"tag":"VRO_Rejected","value":{}}`
	expired      = `{"tag":"VRO_Expired","value":{}}`
)

func acceptedAt(text string) string {
	return `{"tag":"VRO_Accepted","value":{"effectiveAt":"` + text + `"}}`
}

// votesWorld is stateWorld with votes. In the order of history the results are: 1 a weight of 10 for
// sv1, 2 a rejected configuration, 3 an expired name, 4 a weight of 20 for sv1 from later on, 5 an
// extension, 6 a weight of 30 for sv2.
func votesWorld() *memory {
	m := stateWorld()
	m.put(priceVoteTemplate, "00price1", `{"sv":"sv1::1220","amuletPrice":"0.0500000000"}`, 900*1e6)
	m.put(priceVoteTemplate, "00price2", `{"sv":"sv2::1220","amuletPrice":null}`, 800*1e6)
	m.put(voteRequestTemplate, "00first", `{"requester":"Digital-One","trackingCid":null}`, 700*1e6)
	m.put(voteRequestTemplate, "00third", `{"requester":"Digital-Two","trackingCid":"00second"}`, 600*1e6)
	m.items = append(m.items,
		closing(1000*1e6, "Digital-One", weightAction("sv1::1220", 10), acceptedAt("2026-07-02T04:00:00Z")),
		closing(900*1e6, "Digital-Two", configAction, rejected),
		closing(800*1e6, "Digital-One", nameAction, expired),
		closing(700*1e6, "Digital-Two", weightAction("sv1::1220", 20), acceptedAt("2026-08-01T00:00:00.120Z")),
		closing(600*1e6, "Digital-One", otherAction, `{"tag":"VRO_AcceptedButActionFailed","value":{"description":"x"}}`),
		closing(500*1e6, "Digital-One", weightAction("sv2::1220", 30), acceptedAt("2026-07-02T04:00:00Z")),
	)
	return m
}

// entries names the results of an answer by their number in votesWorld.
func entries(t *testing.T, body string) []int {
	t.Helper()
	var answer struct {
		Results []struct {
			CompletedAt string
		} `json:"dso_rules_vote_results"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	list := []int{}
	for _, r := range answer.Results {
		list = append(list, 11-int((stateEnd-1e6-at(r.CompletedAt))/100e6))
	}
	return list
}

func TestVotes(t *testing.T) {
	s := serve(t, votesWorld())
	for _, c := range []struct {
		method, path, body, member string
		want                       []string
	}{
		{"GET", "/v0/coin-price/votes", "", "coin_price_votes", []string{"00price1", "00price2"}},
		{"GET", "/v0/amulet-price/votes", "", "amulet_price_votes", []string{"00price1", "00price2"}},
		{"GET", "/v0/admin/sv/voterequests", "", "dso_rules_vote_requests", []string{"00first", "00third"}},
		{"POST", "/v0/voterequest", `{"vote_request_contract_ids":["00second","00first","00third","00x"]}`, "vote_requests", []string{"00first", "00third"}},
		{"POST", "/v0/voterequest", `{"vote_request_contract_ids":["00third"]}`, "vote_requests", []string{}},
		{"POST", "/v0/voterequest", `{"vote_request_contract_ids":[]}`, "vote_requests", []string{}},
	} {
		var answer map[string]any
		body := s.ok(c.method, c.path, c.body, &answer)
		if got := ids(t, body, c.member); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.path, c.body, got, c.want)
		}
	}
	var answer map[string]struct {
		ContractID string `json:"contract_id"`
	}
	s.ok("GET", "/v0/voterequests/00second", "", &answer)
	if got := answer["dso_rules_vote_request"].ContractID; got != "00third" {
		t.Errorf("the request that is tracked as 00second is %q", got)
	}
	for _, c := range []struct{ method, path, body, text string }{
		{"POST", "/v0/voterequest", `{"vote_request_contract_ids":["` + strings.Repeat(`x","`, 1000) + `x"]}`, "1001 elements"},
		{"POST", "/v0/voterequest", `{}`, "vote_request_contract_ids is required"},
		{"POST", "/v0/admin/sv/voteresults", `{}`, "limit is required"},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":0}`, "Limit must be at least 1."},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":1001}`, "Exceeded limit maximum (1001 > 1000)."},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":1,"pageToken":7}`, "pageToken must be the token of an earlier page"},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":1,"pageToken":"1"}`, "pageToken"},
		{"POST", "/v0/admin/sv/voteresults", `{"limit":1,"accepted":"yes"}`, "accepted must be true or false"},
		{"POST", "/v0/admin/sv/voteresults/count", `[]`, "object"},
		{"POST", "/v0/admin/sv/voteresults/count", `{"actionName":7}`, "actionName must be a string"},
		{"POST", "/v0/admin/sv/previous-sv-reward-weight", `{}`, "svParty is required"},
	} {
		s.refused(c.method, c.path, c.body, 400, c.text)
	}
	s.refused("GET", "/v0/voterequests/00third", "", 404, "No open vote request with the tracking id 00third found.")
	s.health.set(false, nil)
	s.refused("GET", "/v0/admin/sv/voterequests", "", 503, "")
	s.refused("POST", "/v0/admin/sv/voteresults/count", "{}", 503, "")
}

func TestVoteResults(t *testing.T) {
	m := votesWorld()
	s := serve(t, m)
	for filter, want := range map[string][]int{
		``:                                        {4, 5, 3, 2, 6, 1}, // of equal times the later one first
		`,"accepted":true`:                        {4, 6, 1},
		`,"accepted":false`:                       {5, 3, 2},
		`,"actionName":"SRARC_"`:                  {4, 3, 6, 1}, // ANSRARC_, too
		`,"actionName":"_Set"`:                    {2},
		`,"actionName":"srarc"`:                   {},
		`,"actionName":"ANSRARC"`:                 {3},
		`,"requester":"Two"`:                      {4, 2},
		`,"requester":"One","accepted":true`:      {6, 1},
		`,"effectiveFrom":"2026-07-02T04:00:00Z"`: {4},
		`,"effectiveTo":"2026-07-02T04:00:00Z"`:   {},
		`,"effectiveFrom":"2026-07-02T04:00:00Z","effectiveTo":"2026-07-02T04:00:00Z"`: {6, 1},
		`,"effectiveFrom":"","effectiveTo":"2026-08-01T00:00:00.120Z"`:                 {6, 1},
		`,"effectiveTo":"2027"`:                  {4, 6, 1},
		`,"effectiveTo":"2027","accepted":false`: {},
	} {
		for limit := range 6 {
			var got []int
			token := ""
			for {
				var page struct {
					Next *int64 `json:"next_page_token"`
				}
				body := s.ok("POST", "/v0/admin/sv/voteresults", fmt.Sprintf(`{"limit":%d%s%s}`, limit+1, filter, token), &page)
				found := entries(t, body)
				got = append(got, found...)
				if (len(found) == 0) != (page.Next == nil) {
					t.Fatalf("a page with %d results has the token %v", len(found), page.Next)
				}
				if page.Next == nil {
					break
				}
				if token = fmt.Sprintf(`,"pageToken":%d`, *page.Next); *page.Next != int64(found[len(found)-1]) {
					t.Fatalf("the token behind result %d is %d", found[len(found)-1], *page.Next)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v, want %v", filter, limit+1, got, want)
			}
		}
		var answer map[string]int
		s.ok("POST", "/v0/admin/sv/voteresults/count", "{"+strings.TrimPrefix(filter, ",")+"}", &answer)
		if answer["count"] != len(want) {
			t.Errorf("count of %s: %v, want %d", filter, answer, len(want))
		}
	}
	for body, want := range map[string]string{
		`{"svParty":"sv1::1220"}`: `{"rewardWeight":"20"}`,
		`{"svParty":"sv1::1220","effectiveBefore":"2026-08-01T00:00:00.120Z"}`: `{"rewardWeight":"10"}`,
		`{"svParty":"sv1::1220","effectiveBefore":"2026-07-02T04:00:00Z"}`:     `{}`,
		`{"svParty":"sv2::1220"}`: `{"rewardWeight":"30"}`,
		`{"svParty":"sv3::1220"}`: `{}`,
	} {
		if r := s.do("POST", "/v0/admin/sv/previous-sv-reward-weight", body); r.status != 200 || r.body != want {
			t.Errorf("%s: %d %s, want %s", body, r.status, r.body, want)
		}
	}
	// What happens later comes on top, and what is not of the known form is there as well.
	odd := closing(-200*1e6, "", "{}", expired)
	odd.Update.Events[0].Result = []byte(`{"error":"no such field","value":[]}`)
	m.mu.Lock()
	m.items = append(m.items, closing(-100*1e6, "Digital-Three", configAction, rejected), odd)
	m.mu.Unlock()
	m.setMark(schemas.Position{MigrationID: 1, RecordTime: stateEnd + 300*1e6, UpdateID: "1220010010"})
	var page struct {
		Results []json.RawMessage `json:"dso_rules_vote_results"`
		Next    int64             `json:"next_page_token"`
	}
	s.ok("POST", "/v0/admin/sv/voteresults", `{"limit":3}`, &page)
	if len(page.Results) != 3 || page.Next != 7 || string(page.Results[1]) != `{"error":"no such field","value":[]}` || !strings.Contains(string(page.Results[2]), "Digital-Three") {
		t.Errorf("after more results: %s, token %d", page.Results, page.Next)
	}
}

func TestVotesInTheNetworksNaming(t *testing.T) {
	s := serve(t, votesWorld(), func(c *Config) { c.Naming = query.Network })
	var answer map[string]any
	body := s.ok("GET", "/v0/coin-price/votes", "", &answer)
	if got := ids(t, body, "amulet_price_votes"); len(got) != 2 {
		t.Error(body)
	}
}
