package walletapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
)

// fake answers with fixed texts by method and path, and notes what it was sent.
type fake struct {
	*testing.T
	answers map[string]string // "404 text" for a status beside 200
	sent    map[string]string
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	key := r.Method + " " + r.URL.RequestURI()
	f.sent[key] = string(body)
	if got := r.Header.Get("Authorization"); got != "Bearer token of ann" {
		f.Errorf("%s has the authorization %q", key, got)
	}
	text, ok := f.answers[key]
	if !ok {
		f.Errorf("nobody should ask for %s", key)
	}
	status := 200
	if len(text) > 4 && text[3] == ' ' && strings.Trim(text[:3], "0123456789") == "" {
		status = int(text[0]-'0')*100 + int(text[1]-'0')*10 + int(text[2]-'0')
		text = text[4:]
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}}, nil
}

func newFake(t *testing.T, answers ...string) (*User, *fake) {
	f := &fake{t, map[string]string{}, map[string]string{}}
	for i := 0; i+1 < len(answers); i += 2 {
		f.answers[answers[i]] = answers[i+1]
	}
	return (&Client{Transport: f, Prefix: "/api/validator"}).As("token of ann"), f
}

// TestErrors are of the class of their status, with the text of the interface.
func TestErrors(t *testing.T) {
	for answer, want := range map[string]struct {
		code query.Code
		text string
	}{
		`400 {"error":"insufficient funds"}`:   {query.Invalid, "Insufficient funds."},
		`401 {"error":"no"}`:                   {query.Unauthenticated, "Your token is not accepted any more. Nothing was done: sign in again."},
		`403 {"error":"Not you."}`:             {query.Denied, "Not you."},
		`404 {"error":""}`:                     {query.NotFound, "The wallet refuses this."},
		`409 {"error":"submitted before"}`:     {query.AlreadyExists, "Submitted before."},
		`429 <html>`:                           {query.RateLimited, "The wallet refuses this."},
		`501 {"error":"Off."}`:                 {query.Disabled, "Off."},
		`503 {"error":"Later."}`:               {query.Unavailable, "Later."},
		`500 {"error":"secret internal text"}`: {query.Internal, ""},
		`418 short and stout`:                  {query.Internal, ""},
	} {
		u, _ := newFake(t, "POST /api/validator/v0/register", answer)
		err := u.Register(t.Context())
		status, text, _ := query.Status(err)
		if want.code == query.Internal {
			if status != 500 || strings.Contains(text, "secret") {
				t.Errorf("%s is %d %q", answer, status, text)
			}
			continue
		}
		if !Is(err, want.code) || text != want.text {
			t.Errorf("%s is %d %q, want %q", answer, status, text, want.text)
		}
	}
	u, _ := newFake(t, "GET /api/validator/v0/wallet/balance", `{"round":`)
	if _, err := u.Balance(t.Context()); err == nil {
		t.Error("half an answer is taken")
	}
}

// TestPathsAreEscaped: an id cannot lead to another operation.
func TestPathsAreEscaped(t *testing.T) {
	const path = "POST /api/validator/v0/wallet/transfer-offers/..%2F..%2Fadmin%2Fusers%3Fx=%23/accept"
	u, f := newFake(t, path, `{}`)
	if err := u.Act(t.Context(), "/v0/wallet/transfer-offers", "../../admin/users?x=#", "accept"); err != nil {
		t.Error(err)
	}
	if _, ok := f.sent[path]; !ok {
		t.Errorf("sent was %v", f.sent)
	}
}

const coin = `{"contract":{"contract":{"contract_id":"00c","created_at":"2026-07-09T03:33:11.600Z","template_id":"p:Splice.Amulet:Amulet",
	"payload":{"amount":{"createdAt":{"number":"6"},"initialAmount":"613.7701011714","ratePerRound":{"rate":"0.0001173461"}},"owner":"ann::12"}},"domain_id":"global::12"},
	"round":7,"accrued_holding_fee":"0.0001173461","effective_amount":"613.7701011714"}`

const locked = `{"contract":{"contract":{"contract_id":"00l","created_at":"2026-07-09T03:33:11.600Z","template_id":"p:Splice.Amulet:LockedAmulet",
	"payload":{"amulet":{"amount":{"createdAt":{"number":"6"},"initialAmount":"3.0000000000","ratePerRound":{"rate":"0.1"}},"owner":"ann::12"},
	"lock":{"expiresAt":"2026-07-09T04:33:10.870Z","holders":["dso::12"],"optContext":"for ben"}}},"domain_id":"global::12"},
	"round":7,"accrued_holding_fee":"0.0000000000","effective_amount":"3.0000000000"}`

// TestCoins are read in either spelling of the interface.
func TestCoins(t *testing.T) {
	for _, names := range [][2]string{{"coins", "locked_coins"}, {"amulets", "locked_amulets"}} {
		u, _ := newFake(t, "GET /api/validator/v0/wallet/coins", `{"`+names[0]+`":[`+coin+`],"`+names[1]+`":[`+locked+`]}`)
		coins, synchronizer, err := u.Coins(t.Context())
		if err != nil || len(coins) != 2 || synchronizer != "global::12" {
			t.Fatalf("the coins are %+v on %s, %v", coins, synchronizer, err)
		}
		free, held := coins[0], coins[1]
		if free.ID != "00c" || free.Amount != "613.7701011714" || free.Fee != "0.0001173461" || free.Since != "6" || free.Round != 7 || free.Lock != nil {
			t.Errorf("the coin is %+v", free)
		}
		if held.Amount != "3.0000000000" || held.Lock == nil || held.Lock.Why != "for ben" || held.Lock.Until.String() != "2026-07-09T04:33:10.870000Z" {
			t.Errorf("the locked coin is %+v, %+v", held, held.Lock)
		}
	}
}

const requests = `{"allocation_requests":[
	{"contract":{"contract_id":"00a","created_at":"2026-07-09T03:33:11Z","template_id":"p:Splice.Api.Token.AllocationRequestV1:AllocationRequest","created_event_blob":"","payload":{
		"settlement":{"executor":"venue::12","settlementRef":{"id":"trade-1","cid":null},"requestedAt":"2026-07-09T03:00:00Z","allocateBefore":"2026-07-09T04:00:00Z","settleBefore":"2026-07-09T05:00:00Z","meta":{"values":{"k":"v"}}},
		"transferLegs":{"out":{"sender":"ann::12","receiver":"ben::12","amount":"2.5000000000","instrumentId":{"admin":"dso::12","id":"Amulet"},"meta":{"values":{"note":"hat"}}},
		                "in":{"sender":"ben::12","receiver":"ann::12","amount":"9.0000000000","instrumentId":{"admin":"other::12","id":"Gold"},"meta":{"values":{}}}},"meta":{"values":{}}}}},
	{"contract":{"contract_id":"00b","created_at":"2026-07-09T03:33:11Z","template_id":"p:Splice.Api.Token.AllocationRequestV2:AllocationRequest","created_event_blob":"","payload":{
		"settlement":{"executors":["venue::12"],"settlementRef":{"id":"trade-2","cid":null},"meta":{"values":{}}},"transferLegs":[]}}}]}`

// TestAllocationRequests are allocated as they ask, with all that is said beside them.
func TestAllocationRequests(t *testing.T) {
	u, f := newFake(t, "GET /api/validator/v0/wallet/token-standard/allocation-requests", requests, "POST /api/validator/v0/allocations", `{}`)
	list, err := u.AllocationRequests(t.Context(), "ann::12")
	if err != nil || len(list) != 2 || list[0].Version != 1 || list[1].Version != 2 || list[1].Text != "trade-2" {
		t.Fatalf("the requests are %+v, %v", list, err)
	}
	if legs := list[0].Legs; len(legs) != 1 || legs[0].ID != "out" || legs[0].Receiver != "ben::12" || legs[0].Amount != "2.5000000000" {
		t.Fatalf("the legs are %+v", legs)
	}
	if err := u.Allocate(context.Background(), &list[0], list[0].Legs[0]); err != nil {
		t.Fatal(err)
	}
	want := `{"settlement":{"executor":"venue::12","settlement_ref":{"id":"trade-1"},"requested_at":1783566000000000,"allocate_before":1783569600000000,"settle_before":1783573200000000,"meta":{"k":"v"}},
		"transfer_leg_id":"out","transfer_leg":{"receiver":"ben::12","amount":"2.5000000000","meta":{"note":"hat"}}}`
	if got := f.sent["POST /api/validator/v0/allocations"]; !sameJSON(t, got, want) {
		t.Errorf("sent was %s", got)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var texts [2]string
	for i, text := range []string{a, b} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(again)
	}
	return texts[0] == texts[1]
}
