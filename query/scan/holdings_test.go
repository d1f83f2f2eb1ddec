package scan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// addLifetime adds a contract of alice that is active from 02:00 on in migration 0.
func addLifetime(m *memory, id, template, argument string, signatories ...string) {
	e := created("x", 0, id, alice, schemas.CompactJSON, at("2026-07-01T09:00:00Z"))
	e.TemplateID, e.Argument, e.Signatories = "6a3b:"+template, []byte(argument), signatories
	m.contracts = append(m.contracts, lifetime{
		ActiveContract: history.ActiveContract{Event: e, Encoding: schemas.CompactJSON, CreatedIn: "1220000000"},
		from:           at("2026-07-01T02:00:00Z"), to: schemas.MaxMicros,
	})
}

// vault is a world in which alice also has locked coins, bob holds the lock of one, and two
// rounds are open.
func vault() *memory {
	m := world()
	locked := func(id, owner, holder, amount string) {
		addLifetime(m, id, "Splice.Amulet:LockedAmulet", fmt.Sprintf(`{"amulet":{"amount":{"createdAt":{"number":"5"},"initialAmount":"%s","ratePerRound":{"rate":"0.5000000000"}},"dso":"%s","owner":"%s"},"lock":{"expiresAt":"2026-07-02T00:00:00Z","holders":["%s"],"optContext":null}}`, amount, dso, owner, holder), dso, owner, holder)
	}
	locked("00d1", alice, bob, "100.0000000001")
	locked("00d2", alice, alice, "0.2500000000")
	for _, n := range []string{"12", "9"} {
		addLifetime(m, "00e"+n, "Splice.Round:OpenMiningRound", `{"round":{"number":"`+n+`"}}`, dso)
	}
	slices.SortFunc(m.contracts, compareLifetimes)
	return m
}

func TestHoldingsState(t *testing.T) {
	m := vault()
	s := serve(t, m)
	owned := func(owner string) []string {
		return activeAt(m, 0, at("2026-07-01T06:00:00Z"), func(l *lifetime) bool {
			return strings.Contains(string(l.Event.Argument), `"owner":"`+owner+`"`) || strings.HasPrefix(l.Event.ContractID, "00c") && slices.Contains(l.Event.Signatories, owner)
		})
	}
	members := func(owners ...string) string {
		list, _ := json.Marshal(owners)
		return `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","owner_party_ids":` + string(list)
	}
	for _, owner := range []string{alice, bob, "nobody::12"} {
		want := owned(owner)
		for _, path := range []string{"/v0/holdings/state", "/v1/holdings/state"} {
			if got, _ := numbered(t, func() *served { return serve(t, m) }, path, members(owner), 2); !slices.Equal(got, want) {
				t.Errorf("%s of %s: %v, want %v", path, owner, got, want)
			}
		}
		var page acsAnswer
		s.ok("POST", "/v2/holdings/state", `{`+members(owner)+`,"page_size":1000}`, &page)
		if len(page.Events) != len(want) || page.Token != nil {
			t.Errorf("of %s: %d holdings with token %v, want %d", owner, len(page.Events), page.Token, len(want))
		}
	}
	if slices.Contains(owned(bob), "00d1") || !slices.Contains(owned(alice), "00d1") {
		t.Fatal("the coin that bob only holds the lock of counts as his: the test proves nothing")
	}
	for members, text := range map[string]string{
		`"migration_id":0,"record_time":"2026-07-01T06:00:00Z"`:                                                             "owner_party_ids is required",
		`"migration_id":0,"record_time":"2026-07-01T06:00:00Z","owner_party_ids":[]`:                                        "at least one party",
		`"migration_id":0,"record_time":"2026-07-01T06:00:00Z","owner_party_ids":["a",null]`:                                "array of strings",
		`"migration_id":0,"record_time":"2026-07-01T06:00:00Z","owner_party_ids":[` + strings.Repeat(`"p",`, 1000) + `"p"]`: "1001 elements",
		`"migration_id":"0","record_time":"2026-07-01T06:00:00Z","owner_party_ids":["a"]`:                                   "integer",
		`"migration_id":0,"record_time":"2026-07-01T06:00:00","owner_party_ids":["a"]`:                                      "record_time",
		`"migration_id":0,"at":"2026-07-01T06:00:00Z","record_time":"2026-07-01T06:00:00Z","owner_party_ids":["a"]`:         "exclude",
		`"migration_id":0,"record_time":"2026-07-01T06:00:00Z","record_time_match":"near","owner_party_ids":["a"]`:          "one of",
	} {
		s.refused("POST", "/v2/holdings/state", `{`+members+`,"page_size":10}`, 400, text)
		s.refused("POST", "/v1/holdings/summary", `{`+members+`}`, 400, text)
		s.refused("POST", "/v0/holdings/summary", `{`+members+`}`, 400, text)
	}
	s.refused("POST", "/v0/holdings/state", `{`+members(alice)+`,"page_size":1001}`, 400, "Exceeded")
	s.refused("POST", "/v0/holdings/summary", `{`+members(alice)+`,"as_of_round":"x"}`, 400, "integer")
	s.refused("POST", "/v1/holdings/summary", `{"migration_id":0,"record_time":"2026-07-01T05:00:00Z","owner_party_ids":["a"]}`, 404, "No snapshot")
}

func TestHoldingsSummary(t *testing.T) {
	s := serve(t, vault())
	members := `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","owner_party_ids":["` + bob + `","` + alice + `","nobody::12"]`
	// At 06:00 the coins of 01:30 to 05:50 that live for five hours are active: 1 each.
	coins := map[string]int{}
	for _, owner := range []string{alice, bob} {
		coins[owner] = len(activeAt(vault(), 0, at("2026-07-01T06:00:00Z"), func(l *lifetime) bool {
			return strings.HasPrefix(l.Event.ContractID, "00c") && slices.Contains(l.Event.Signatories, owner)
		}))
	}
	type totals struct {
		Party        string `json:"party_id"`
		Unlocked     string `json:"total_unlocked_coin"`
		Locked       string `json:"total_locked_coin"`
		Total        string `json:"total_coin_holdings"`
		FeesUnlocked string `json:"accumulated_holding_fees_unlocked"`
		FeesLocked   string `json:"accumulated_holding_fees_locked"`
		FeesTotal    string `json:"accumulated_holding_fees_total"`
		Available    string `json:"total_available_coin"`
	}
	ask := func(path, more string) (round *int64, list []totals) {
		var answer struct {
			Round     *int64   `json:"computed_as_of_round"`
			Summaries []totals `json:"summaries"`
		}
		s.ok("POST", path, `{`+members+more+`}`, &answer)
		return answer.Round, answer.Summaries
	}
	round, got := ask("/v1/holdings/summary", "")
	want := []totals{
		{Party: alice, Unlocked: fmt.Sprintf("%d.0000000000", coins[alice]), Locked: "100.2500000001", Total: fmt.Sprintf("%d.2500000001", 100+coins[alice])},
		{Party: bob, Unlocked: fmt.Sprintf("%d.0000000000", coins[bob]), Locked: "0.0000000000", Total: fmt.Sprintf("%d.0000000000", coins[bob])},
	}
	if round != nil || !slices.Equal(got, want) {
		t.Errorf("v1: %+v as of round %v, want %+v", got, round, want)
	}
	// The earliest open round is 9: coins of round 7 lose 2 * 0.000190259, those of round 5
	// lose 4 * 0.5, the smaller one at most all it has.
	round, got = ask("/v0/holdings/summary", "")
	fees := func(n int) string { return decimal.Must("0.0003805180").TimesInt(int64(n)).String() }
	less := func(n int) string { return decimal.Must(fmt.Sprint(n)).Minus(decimal.Must(fees(n))).String() }
	want[0].FeesUnlocked, want[0].FeesLocked, want[0].Available = fees(coins[alice]), "2.2500000000", less(coins[alice])
	want[0].FeesTotal = decimal.Must(fees(coins[alice])).Plus(decimal.Must("2.25")).String()
	want[1].FeesUnlocked, want[1].FeesLocked, want[1].Available, want[1].FeesTotal = fees(coins[bob]), "0.0000000000", less(coins[bob]), fees(coins[bob])
	if round == nil || *round != 9 || !slices.Equal(got, want) {
		t.Errorf("v0: %+v as of round %v, want %+v", got, round, want)
	}
	// Before the coins were made nothing has accrued.
	if round, got = ask("/v0/holdings/summary", `,"as_of_round":3`); *round != 3 || got[0].FeesTotal != "0.0000000000" || got[0].Available != got[0].Unlocked {
		t.Errorf("as of round %d: %+v", *round, got)
	}
	serve(t, world()).refused("POST", "/v0/holdings/summary", `{`+members+`}`, 404, "No mining round is open")
}
