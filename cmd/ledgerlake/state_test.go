package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// activeContract is a contract as the walk through an upstream's own history leaves it.
type activeContract struct {
	ID         string          `json:"contract_id"`
	TemplateID string          `json:"template_id"`
	CreatedAt  string          `json:"created_at"`
	Payload    json.RawMessage `json:"create_arguments"`
	Observers  []string        `json:"observers"`
}

// activeIn walks through all updates of an upstream, in compact values, and returns the
// contracts of its newest migration that are left, by Module:Entity, oldest first. Those
// that were carried over come first.
func activeIn(t *testing.T, h *sharedHistory) map[string][]activeContract {
	t.Helper()
	type event struct {
		activeContract
		Kind      string `json:"event_type"`
		Consuming bool   `json:"consuming"`
	}
	active := map[string]activeContract{}
	for _, raw := range h.upstreamPages(t, "/v2/updates", "compact_json") {
		u := parse[struct {
			Events map[string]event `json:"events_by_id"`
			Moved  *struct {
				Created *activeContract `json:"created_event"`
				ID      string          `json:"contract_id"`
			} `json:"event"`
		}](t, raw)
		if m := u.Moved; m != nil && m.Created != nil {
			active[m.Created.ID] = *m.Created
		} else if m != nil {
			delete(active, m.ID)
		}
		for _, e := range u.Events {
			if e.Kind == "created_event" {
				active[e.ID] = e.activeContract
			}
		}
		for _, e := range u.Events {
			if e.Consuming {
				delete(active, e.ID)
			}
		}
	}
	byTemplate := map[string][]activeContract{}
	for _, c := range active {
		_, name, _ := strings.Cut(c.TemplateID, ":")
		byTemplate[name] = append(byTemplate[name], c)
	}
	for _, list := range byTemplate {
		slices.SortFunc(list, func(a, b activeContract) int {
			return strings.Compare(fixed(t, a.CreatedAt)+a.ID, fixed(t, b.CreatedAt)+b.ID)
		})
	}
	return byTemplate
}

// fixed brings a time into the form in which the order of texts is that of times.
func fixed(t *testing.T, text string) string {
	t.Helper()
	head, fraction, _ := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
	return head + "." + (fraction + "000000")[:6]
}

// answer asks one operation, "GET path" or "POST path body".
func answer(t *testing.T, base, operation string) (status int, body []byte) {
	t.Helper()
	parts := strings.SplitN(operation, " ", 3)
	var text string
	if len(parts) == 3 {
		text = parts[2]
	}
	request, err := http.NewRequestWithContext(t.Context(), parts[0], base+parts[1], strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// contractsIn collects the contracts in an answer, wherever they stand.
func contractsIn(t *testing.T, body []byte) map[string]activeContract {
	t.Helper()
	found := map[string]activeContract{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			id, isText := v["contract_id"].(string)
			if payload, ok := v["payload"]; ok && isText {
				raw, err := json.Marshal(payload)
				if err != nil {
					t.Fatal(err)
				}
				found[id] = activeContract{ID: id, TemplateID: v["template_id"].(string), CreatedAt: v["created_at"].(string), Payload: raw}
				return
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(parse[any](t, body))
	return found
}

// TestStateFollowsFromHistory compares what we say of the state of a network with the
// contracts that a walk through the network's own pages leaves over.
func TestStateFollowsFromHistory(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	ours := h.served(t)
	active := activeIn(t, h)
	for _, c := range []struct {
		operation string
		templates []string
	}{
		{`POST /v0/open-and-issuing-mining-rounds {"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`,
			[]string{"Splice.Round:OpenMiningRound", "Splice.Round:IssuingMiningRound"}},
		{"GET /v0/closed-rounds", []string{"Splice.Round:ClosedMiningRound"}},
		{"POST /v0/amulet-rules {}", []string{"Splice.AmuletRules:AmuletRules"}},
		{"POST /v0/coin-rules {}", []string{"Splice.AmuletRules:AmuletRules"}},
		{"POST /v0/external-party-coin-rules {}", []string{"Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"}},
		{"POST /v0/ans-rules {}", []string{"Splice.Ans:AnsRules"}},
		{"GET /v0/featured-apps", []string{"Splice.Amulet:FeaturedAppRight"}},
		{"GET /v0/unclaimed-development-fund-coupons", []string{"Splice.Amulet:UnclaimedDevelopmentFundCoupon"}},
		{"GET /v0/admin/validator/licenses", []string{"Splice.ValidatorLicense:ValidatorLicense"}},
		{"GET /v0/amulet-price/votes", []string{"Splice.DSO.AmuletPrice:AmuletPriceVote"}},
		{"GET /v0/admin/sv/voterequests", []string{"Splice.DsoRules:VoteRequest"}},
	} {
		t.Run(c.operation, func(t *testing.T) {
			status, body := answer(t, ours, c.operation)
			if status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			got, want := contractsIn(t, body), 0
			for _, name := range c.templates {
				for _, w := range active[name] {
					want++
					g := got[w.ID]
					if g.TemplateID != w.TemplateID || g.CreatedAt != w.CreatedAt || !bytes.Equal(canonical(t, g.Payload), canonical(t, w.Payload)) {
						t.Errorf("contract %s is %+v, want %+v", w.ID, g, w)
					}
				}
			}
			if len(got) != want {
				t.Errorf("%d contracts, want %d", len(got), want)
			}
		})
	}
	t.Run("preapprovals", func(t *testing.T) { comparePreapprovals(t, ours, active["Splice.AmuletRules:TransferPreapproval"]) })
}

func comparePreapprovals(t *testing.T, ours string, list []activeContract) {
	if len(list) == 0 {
		t.Fatal("there are no preapprovals")
	}
	newest := map[string]string{}
	for _, c := range list {
		newest[parse[struct{ Receiver string }](t, c.Payload).Receiver] = c.ID
	}
	held := 0
	for receiver, id := range newest {
		status, body := answer(t, ours, "GET /v0/transfer-preapprovals/by-party/"+url.PathEscape(receiver))
		if status == http.StatusNotFound {
			continue // expired
		}
		held++
		if _, ok := contractsIn(t, body)[id]; !ok || status != http.StatusOK {
			t.Errorf("preapproval of %s: %d %s, want contract %s", receiver, status, body, id)
		}
	}
	if held == 0 {
		t.Error("all preapprovals have expired")
	}
}

// operationsOf lists operations of a network with the parameters that mean something there.
func operationsOf(t *testing.T, h *sharedHistory) []string {
	t.Helper()
	active := activeIn(t, h)
	list := []string{
		`POST /v0/open-and-issuing-mining-rounds {"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`,
		"GET /v0/closed-rounds", "GET /v0/dso-party-id", "GET /v0/dso", "POST /v0/amulet-rules {}", "POST /v0/external-party-amulet-rules {}",
		"POST /v0/ans-rules {}", "GET /v0/featured-apps", "GET /v0/unclaimed-development-fund-coupons", "GET /v0/ans-entries?page_size=1000",
		"GET /v0/ans-entries?page_size=7&name_prefix=name", "GET /v0/ans-entries?page_size=1000&name_prefix=d", "GET /v0/ans-entries/by-name/dso.cns",
		"GET /v0/admin/validator/licenses", "GET /v0/migrations/last", "GET /v0/migrations/schedule", "GET /v0/active-synchronizer-serial",
		"GET /v0/lsu", "GET /v0/roll-forward-lsu", "GET /v0/scans", "GET /v0/dso-sequencers", "GET /v0/sv-bft-sequencers", "GET /v0/splice-instance-names",
		"GET /v0/synchronizer-identities/global-domain", "GET /v0/synchronizer-bootstrapping-transactions/global-domain",
		"GET /v0/synchronizer-bootstrapping-transactions/nowhere", "GET /v0/featured-apps/nobody::1220aa", "GET /v0/ans-entries/by-name/nobody",
		"GET /v0/internal/reward-accounting-process/rounds/earliest-available", "GET /v0/events/latest-record-time",
		"GET /v0/amulet-price/votes", "GET /v0/admin/sv/voterequests", "GET /v0/acs/nobody::1220aa", `POST /v0/admin/sv/voteresults {"limit":1000}`,
		`POST /v0/admin/sv/voteresults {"limit":1,"accepted":false}`, `POST /v0/admin/sv/voteresults {"limit":2,"pageToken":2}`,
		`POST /v0/admin/sv/voteresults {"limit":2,"pageToken":1}`, `POST /v0/admin/sv/voteresults {"limit":9,"effectiveFrom":"2026"}`,
		`POST /v0/admin/sv/voteresults/count {"actionName":"SRARC_"}`,
	}
	for _, c := range active["Splice.DsoRules:VoteRequest"] {
		request := parse[struct{ TrackingCid string }](t, c.Payload)
		id := cmp.Or(request.TrackingCid, c.ID)
		list = append(list, "GET /v0/voterequests/"+id, fmt.Sprintf(`POST /v0/voterequest {"vote_request_contract_ids":[%q]}`, id))
	}
	for _, c := range active["Splice.DSO.SvState:SvNodeState"] {
		list = append(list, fmt.Sprintf(`POST /v0/admin/sv/previous-sv-reward-weight {"svParty":%q}`, parse[struct{ Sv string }](t, c.Payload).Sv))
	}
	for round := range 60 {
		if round < 3 || round%17 == 0 { // the first three are opened at once; each takes twenty queries
			list = append(list, fmt.Sprintf("GET /v0/amulet-config-for-round?round=%d", round))
		}
		list = append(list, fmt.Sprintf("GET /v0/internal/reward-accounting-process/rounds/%d/activity-totals", round),
			fmt.Sprintf("GET /v0/internal/reward-accounting-process/rounds/%d/root-hash", round))
	}
	payload := func(c activeContract, member string) string {
		return url.PathEscape(fmt.Sprint(parse[map[string]any](t, c.Payload)[member]))
	}
	synchronizer := ""
	for _, c := range active["Splice.DecentralizedSynchronizer:MemberTraffic"] {
		synchronizer = payload(c, "synchronizerId")
		list = append(list, "GET /v0/domains/"+synchronizer+"/members/"+payload(c, "memberId")+"/traffic-status")
	}
	for _, c := range active["Splice.Amulet:FeaturedAppRight"] {
		provider := payload(c, "provider")
		list = append(list, "GET /v0/featured-apps/"+provider, "GET /v0/featured-apps/by-provider/"+provider, "GET /v0/featured-apps/by-contract-id/"+c.ID)
	}
	for _, c := range active["Splice.Ans:AnsEntry"] {
		list = append(list, "GET /v0/ans-entries/by-name/"+payload(c, "name"), "GET /v0/ans-entries/by-party/"+payload(c, "user"))
	}
	for _, c := range active["Splice.AmuletRules:TransferPreapproval"] {
		list = append(list, "GET /v0/transfer-preapprovals/by-party/"+payload(c, "receiver"))
	}
	for _, c := range active["Splice.ExternalPartyAmuletRules:TransferCommandCounter"] {
		sender := payload(c, "sender")
		list = append(list, "GET /v0/transfer-command-counter/"+sender)
		for nonce := range 30 {
			list = append(list, fmt.Sprintf("GET /v0/transfer-command/status?sender=%s&nonce=%d", sender, nonce))
		}
	}
	for _, c := range active["Splice.ValidatorLicense:ValidatorLicense"] {
		validator := payload(c, "validator")
		list = append(list, "GET /v0/validators/validator-faucets?validator_ids="+validator,
			"GET /v0/domains/"+synchronizer+"/parties/"+validator+"/participant-id", "GET /v1/domains/"+synchronizer+"/parties/"+validator+"/participant-id")
	}
	return list
}

// blobless leaves out what public history does not carry.
func blobless(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = blobless(v[i])
		}
	case map[string]any:
		delete(v, "created_event_blob")
		for k := range v {
			v[k] = blobless(v[k])
		}
	}
	return v
}

// TestStateEqualsTheUpstreams asks a network and us the same, in the network's spelling.
func TestStateEqualsTheUpstreams(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	upstream := h.upstream
	ours := waitForURL(t, start(t, "serve", "--data", h.copied(t), "--listen", "127.0.0.1:0", "--scan-url", upstream, "--naming", "network"))
	known, missing := 0, make(map[string]bool)
	for _, part := range []string{
		"/v0/ans-entries/by-name/", "/v0/ans-entries/by-party/", "/v0/transfer-preapprovals/by-party/", "/v0/transfer-command-counter/",
		"/v0/transfer-command/status", "/v0/featured-apps/by-provider/", "/v0/featured-apps/by-contract-id/", "/activity-totals", "/root-hash",
		"/traffic-status", "/validator-faucets", "/v0/domains/", "/v1/domains/", "/voteresults", "/amulet-config-for-round",
	} {
		missing[part] = true
	}
	for _, operation := range operationsOf(t, h) {
		wantStatus, want := answer(t, upstream, operation)
		status, got := answer(t, ours, operation)
		if status != wantStatus {
			t.Errorf("%s: %d %s, the upstream says %d %s", operation, status, got, wantStatus, want)
			continue
		}
		if status != http.StatusOK {
			continue
		}
		known++
		maps.DeleteFunc(missing, func(part string, _ bool) bool { return strings.Contains(operation, part) })
		g, err1 := json.Marshal(blobless(parse[any](t, got)))
		w, err2 := json.Marshal(blobless(parse[any](t, want)))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !bytes.Equal(g, w) {
			t.Errorf("%s:\n got %s\nwant %s", operation, g, w)
		}
	}
	t.Logf("%d operations had an answer", known)
	if len(missing) > 0 {
		t.Errorf("no operation had an answer of those with %q", slices.Sorted(maps.Keys(missing)))
	}
	if known < 100 {
		t.Errorf("only %d operations had an answer", known)
	}
}
