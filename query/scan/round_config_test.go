package scan

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// pricedRound is an open round of the state world with fees.
func pricedRound(number int, price string) string {
	return fmt.Sprintf(`{"round":{"number":"%d"},"amuletPrice":"%s","tickDuration":{"microseconds":"600000000"},"opensAt":"2026-07-02T04:00:00Z",`+
		`"transferConfigUsd":{"createFee":{"fee":"0.0300000000"},"holdingFee":{"rate":"0.0000190259"},"lockHolderFee":{"fee":"0.0050000000"},`+
		`"transferFee":{"initialRate":"0.0100000000","steps":[{"_1":"100.0000000000","_2":"0.0010000000"}]}}}`, number, price)
}

func TestRoundConfig(t *testing.T) {
	m := world()
	earlier := func(l *lifetime) { l.migration, l.to = 0, l.from+1800*1e6 }
	for i := range 40 { // rounds 0 to 39, of which 20 to 39 are in migration 1, too, and most are over
		before := schemas.Micros(40-max(2, i)) * 700 * 1e6 // the first three at once, in another order
		price := fmt.Sprintf("0.%02d00000000", 10+i)
		id := fmt.Sprintf("00round%d", 99-i)
		if i < 22 {
			m.put(openRoundTemplate, id, pricedRound(i, price), before, earlier)
		}
		if i >= 20 {
			m.put(openRoundTemplate, id, pricedRound(i, price), before, endedAt(stateEnd-before+1800*1e6))
		}
	}
	m.setMark(schemas.Position{MigrationID: 1, RecordTime: stateEnd, UpdateID: "1220010009"})
	s := serve(t, m)
	for number := range 40 {
		var answer struct {
			Holding string `json:"holding_fee"`
		}
		want := 190259 * 100 / float64(10+number) // in units of the tenth digit
		s.ok("GET", fmt.Sprintf("/v0/coin-config-for-round?round=%d", number), "", &answer)
		var got float64
		if _, err := fmt.Sscanf(answer.Holding, "0.%f", &got); err != nil || got < want-1 || got > want+1 {
			t.Errorf("the holding fee of round %d is %s, want %.1f units", number, answer.Holding, want)
		}
	}
	const want = `{"%s_create_fee":"0.1500000000","holding_fee":"0.0000951295","lock_holder_fee":"0.0250000000",` +
		`"transfer_fee":{"initial":"0.0100000000","steps":[{"amount":"500.0000000000","rate":"0.0010000000"}]}}`
	for _, word := range []string{"coin", "amulet"} {
		if r := s.do("GET", "/v0/"+word+"-config-for-round?round=10", ""); r.status != 200 || r.body != fmt.Sprintf(want, word) {
			t.Errorf("%s: %d %s, want %s", word, r.status, r.body, want)
		}
	}
	for _, number := range []int64{-1, 40, 1 << 62} {
		s.refused("GET", fmt.Sprintf("/v0/coin-config-for-round?round=%d", number), "", 404, "No open mining round")
	}
	s.refused("GET", "/v0/coin-config-for-round", "", 400, "round is required")
	s.refused("GET", "/v0/coin-config-for-round?round=x", "", 400, "integer")
}

// The export of a party's contracts is the upstream's, as it gives it.
func TestExportOfAPartysContracts(t *testing.T) {
	var asked string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.RawQuery == "" {
			w.WriteHeader(http.StatusNotImplemented)
			fmt.Fprint(w, `{"error":"not here"}`)
			return
		}
		fmt.Fprint(w, `{"acs_snapshot":"H4sIAAAAAAAA"}`)
	}))
	s := serve(t, world(), func(c *Config) { c.UpstreamURL = upstream.URL + "/api/scan" })
	var answer map[string]string
	s.ok("GET", "/v0/acs/"+alice+"?record_time=2026-07-02T00:00:00Z", "", &answer)
	if answer["acs_snapshot"] != "H4sIAAAAAAAA" || asked != "/api/scan/v0/acs/"+alice+"?record_time=2026-07-02T00:00:00Z" {
		t.Errorf("asked for %s: %v", asked, answer)
	}
	s.refused("GET", "/v0/acs/"+alice, "", 501, "not here")
	s.refused("GET", "/v0/acs/"+alice+"?record_time=now", "", 400, "record_time")
	upstream.Close()
	s.refused("GET", "/v0/acs/"+alice, "", 503, "did not answer")

	none := serve(t, world())
	none.refused("GET", "/v0/acs/"+alice, "", 501, "public history has no serialised contracts")
	if _, err := New(Config{Source: world(), Health: &health{}, Log: quiet(t), TokenKey: testKey, Naming: query.Neutral, UpstreamURL: "nowhere"}); err == nil {
		t.Error("a URL that is none is accepted")
	}
}
