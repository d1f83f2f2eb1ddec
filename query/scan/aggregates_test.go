package scan

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// roundsWorld is a world in which rounds 2 to 5 and 7 are closed. Of 5 a contract is left that issues.
func roundsWorld() *memory {
	m := world()
	number := decimal.Must
	for round := 2; round <= 7; round++ {
		if round != 6 {
			m.put(closedRoundTemplate, fmt.Sprintf("00closed%d", round), fmt.Sprintf(`{"round":{"number":"%d"}}`, round), schemas.Micros(8-round)*600*1e6, endedAt(stateEnd-1))
		}
	}
	m.put(issuingRoundTemplate, "00issuing5", `{"round":{"number":"5"}}`, 1000*1e6)
	m.put(openRoundTemplate, "00open9", openRound(9, "2026-07-02T04:30:00Z"), 1000*1e6)
	for i, collected := range []int{3, 12, 12} {
		m.put(licenseTemplate, fmt.Sprintf("00license%d", i), fmt.Sprintf(`{"validator":"v%d::1220","faucetState":{"firstReceivedFor":{"number":"1"},"lastReceivedFor":{"number":"%d"},"numCouponsMissed":"0"}}`, i, collected), day, observedBy(fmt.Sprintf("v%d::1220", i)))
	}
	m.put(licenseTemplate, "00license9", `{"validator":"idle::1220","faucetState":null}`, day, observedBy("idle::1220"))
	m.inRounds = []history.RoundSum{
		{Round: -1, Party: bob, Initial: number("100"), Rate: number("0.1")},
		{Round: 2, Party: alice, AppRewards: number("5"), ValidatorRewards: number("1"), Initial: number("6.2"), Rate: number("0.1")},
		{Round: 3, Party: bob, AppRewards: number("2"), TrafficBytes: 1000, TrafficPurchases: 2, TrafficSpent: number("7"), Initial: number("-40.25"), Rate: number("0")},
		{Round: 4, Party: alice, ValidatorRewards: number("0.5"), TrafficBytes: 10, TrafficPurchases: 1, TrafficSpent: number("0.1"), Initial: number("0.4"), Rate: number("0")},
		{Round: 4, Party: bob, AppRewards: number("3")},
		{Round: 5, Party: alice, AppRewards: number("1000")},
	}
	return m
}

// decimals spells amounts with 10 digits.
func decimals(text string) string {
	for strings.Contains(text, "~") {
		before, after, _ := strings.Cut(text, "~")
		amount, rest, _ := strings.Cut(after, "~")
		text = before + `"` + decimal.Must(amount).String() + `"` + rest
	}
	return text
}

func TestAggregatesOfRounds(t *testing.T) {
	s := serve(t, roundsWorld())
	total := func(round int, effective, app, validator, initial, rate, apps, validators, initials, rates, balance string) string {
		return fmt.Sprintf(`{"app_rewards":~%s~,"change_to_holding_fees_rate":~%s~,"change_to_initial_amount_as_of_round_zero":~%s~,"closed_round":%d,"closed_round_effective_at":"%s",`+
			`"cumulative_app_rewards":~%s~,"cumulative_change_to_holding_fees_rate":~%s~,"cumulative_change_to_initial_amount_as_of_round_zero":~%s~,"cumulative_validator_rewards":~%s~,"total_coin_balance":~%s~,"validator_rewards":~%s~}`,
			app, rate, initial, round, effective, apps, rates, initials, validators, balance, validator)
	}
	party := func(round int, party, app, validator string, bytes, purchases int, spent, apps, validators string, allBytes, allPurchases int, allSpent, initials, rates string) string {
		return fmt.Sprintf(`{"app_rewards":~%s~,"closed_round":%d,"cumulative_app_rewards":~%s~,"cumulative_change_to_holding_fees_rate":~%s~,"cumulative_change_to_initial_amount_as_of_round_zero":~%s~,"cumulative_traffic_num_purchases":%d,`+
			`"cumulative_traffic_purchased":%d,"cumulative_traffic_purchased_cc_spent":~%s~,"cumulative_validator_rewards":~%s~,"party":"%s","traffic_num_purchases":%d,"traffic_purchased":%d,"traffic_purchased_cc_spent":~%s~,"validator_rewards":~%s~}`,
			app, round, apps, rates, initials, allPurchases, allBytes, allSpent, validators, party, purchases, bytes, spent, validator)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/v0/aggregated-rounds", "", `{"end":4,"start":2}`},
		{"GET", "/v0/round-of-latest-data", "", `{"effectiveAt":"2026-07-02T04:00:00Z","round":4}`},
		{"GET", "/v0/rewards-collected", "", `{"amount":~11.5~}`},
		{"GET", "/v0/rewards-collected?round=4", "", `{"amount":~3.5~}`},
		// 100 + 6.2 - 40.25, less 0.2 for 4 rounds
		{"GET", "/v0/total-coin-balance?asOfEndOfRound=3", "", `{"total_balance":~65.15~}`},
		{"GET", "/v0/total-amulet-balance?asOfEndOfRound=2", "", `{"total_balance":~105.6~}`},
		{"GET", "/v0/wallet-balance?asOfEndOfRound=4&party_id=" + alice, "", `{"wallet_balance":~6.1~}`},
		{"GET", "/v0/wallet-balance?asOfEndOfRound=4&party_id=x", "", `{"wallet_balance":~0~}`},
		{"POST", "/v0/round-totals", `{"start_round":3,"end_round":4}`, `{"entries":[` +
			total(3, "2026-07-02T03:50:00Z", "2", "0", "-40.25", "0", "7", "1", "65.95", "0.2", "65.15") + `,` +
			total(4, "2026-07-02T04:00:00Z", "3", "0.5", "0.4", "0", "10", "1.5", "66.35", "0.2", "65.35") + `]}`},
		{"POST", "/v0/round-party-totals", `{"start_round":3,"end_round":4}`, `{"entries":[` +
			party(3, bob, "2", "0", 1000, 2, "7", "2", "0", 1000, 2, "7", "59.75", "0.1") + `,` +
			party(4, alice, "0", "0.5", 10, 1, "0.1", "5", "1.5", 10, 1, "0.1", "6.6", "0.1") + `,` +
			party(4, bob, "3", "0", 0, 0, "0", "5", "0", 1000, 2, "7", "59.75", "0.1") + `]}`},
		{"GET", "/v0/top-providers-by-app-rewards?round=4&limit=10", "", `{"providersAndRewards":[{"provider":"` + bob + `","rewards":~5~},{"provider":"` + alice + `","rewards":~5~}]}`},
		{"GET", "/v0/top-providers-by-app-rewards?round=3&limit=1", "", `{"providersAndRewards":[{"provider":"` + alice + `","rewards":~5~}]}`},
		{"GET", "/v0/top-validators-by-validator-rewards?round=4&limit=10", "", `{"validatorsAndRewards":[{"provider":"` + alice + `","rewards":~1.5~}]}`},
		{"GET", "/v0/top-validators-by-purchased-traffic?round=4&limit=10", "", `{"validatorsByPurchasedTraffic":[{"lastPurchasedInRound":3,"numPurchases":2,"totalCcSpent":~7~,"totalTrafficPurchased":1000,"validator":"` + bob + `"},` +
			`{"lastPurchasedInRound":4,"numPurchases":1,"totalCcSpent":~0.1~,"totalTrafficPurchased":10,"validator":"` + alice + `"}]}`},
		{"GET", "/v0/top-validators-by-validator-faucets?limit=2", "", `{"validatorsByReceivedFaucets":[{"firstCollectedInRound":1,"lastCollectedInRound":12,"numRoundsCollected":12,"numRoundsMissed":0,"validator":"v2::1220"},` +
			`{"firstCollectedInRound":1,"lastCollectedInRound":12,"numRoundsCollected":12,"numRoundsMissed":0,"validator":"v1::1220"}]}`},
	} {
		for _, prefix := range Prefixes {
			if r := s.do(c.method, prefix+c.path, c.body); r.status != http.StatusOK || r.body != decimals(c.want) {
				t.Errorf("%s %s %s =\n %d %s, want\n     %s", c.method, c.path, c.body, r.status, r.body, decimals(c.want))
			}
		}
	}
	s = serve(t, roundsWorld(), func(c *Config) { c.Naming = query.Network })
	if r := s.do("POST", "/v0/round-totals", `{"start_round":4,"end_round":4}`); !strings.Contains(r.body, `"total_amulet_balance":"65.3500000000"`) {
		t.Errorf("in the network's spelling totals are %s", r.body)
	}
}

func TestRefusalsOfAggregates(t *testing.T) {
	s, empty := serve(t, roundsWorld()), serve(t, world())
	for _, c := range []struct {
		s                  *served
		method, path, body string
		status             int
		text               string
	}{
		{s, "GET", "/v0/total-coin-balance?asOfEndOfRound=5", "", 404, "Data for round 5 not yet computed"},
		{s, "GET", "/v0/total-coin-balance?asOfEndOfRound=1", "", 404, "Data for round 1 not yet computed"},
		{s, "GET", "/v0/total-coin-balance?asOfEndOfRound=-1", "", 400, "asOfEndOfRound must not be negative"},
		{s, "GET", "/v0/total-coin-balance", "", 400, "asOfEndOfRound is required"},
		{s, "GET", "/v0/wallet-balance?asOfEndOfRound=3&party_id=", "", 400, "party_id"},
		{s, "GET", "/v0/rewards-collected?round=6", "", 404, "Data for round 6"},
		{s, "GET", "/v0/top-providers-by-app-rewards?round=5&limit=3", "", 404, "Data for round 5"},
		{s, "GET", "/v0/top-providers-by-app-rewards?round=4&limit=1001", "", 400, "limit"},
		{s, "GET", "/v0/top-validators-by-validator-faucets?limit=0", "", 400, "limit"},
		{s, "POST", "/v0/round-totals", `{"start_round":4,"end_round":5}`, 400, "Rounds 2 to 4 are aggregated"},
		{s, "POST", "/v0/round-totals", `{"start_round":4,"end_round":3}`, 400, "end_round must not be before"},
		{s, "POST", "/v0/round-totals", `{"start_round":2,"end_round":202}`, 400, "more than 200 rounds"},
		{s, "POST", "/v0/round-party-totals", `{"start_round":2,"end_round":52}`, 400, "more than 50 rounds"},
		{empty, "GET", "/v0/aggregated-rounds", "", 404, "No data"},
		{empty, "GET", "/v0/round-of-latest-data", "", 404, "No data"},
		{empty, "GET", "/v0/rewards-collected", "", 404, "No data"},
		{empty, "POST", "/v0/round-totals", `{"start_round":2,"end_round":2}`, 404, "No data"},
	} {
		if r := c.s.do(c.method, c.path, c.body); r.status != c.status || !strings.Contains(r.body, c.text) {
			t.Errorf("%s %s %s = %d %s, want %d with %q", c.method, c.path, c.body, r.status, r.body, c.status, c.text)
		}
	}
}
