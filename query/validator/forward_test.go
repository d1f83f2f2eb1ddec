package validator

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

// other is an existing validator that notes what it is asked for.
type other struct {
	*httptest.Server
	requests []string
	header   http.Header
	answer   atomic.Pointer[http.HandlerFunc]
}

func newOther(t *testing.T) *other {
	o := &other{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		o.requests, o.header = append(o.requests, fmt.Sprintf("%s %s %s", r.Method, r.RequestURI, body)), r.Header.Clone()
		if answer := o.answer.Load(); answer != nil {
			(*answer)(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "a=b")
		fmt.Fprint(w, `{"offer_contract_id":"00other"}`)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *other) answers(h http.HandlerFunc) { o.answer.Store(&h) }

// Changes go to the other validator with the caller's token; views are our own.
func TestForward(t *testing.T) {
	m, o := full(), newOther(t)
	s := serve(t, m, func(c *Config) { c.Forward = &Forward{BaseURL: o.URL + "/api/validator/"} })
	body := fmt.Sprintf(`{"receiver_party_id":"%s","amount":"1","description":"","expires_at":%d,"tracking_id":"t"}`, bob, later)
	for _, prefix := range Prefixes {
		// A user whom only the other validator knows.
		a := s.as("nobody", "POST", prefix+offersPath, body)
		s.wants(a, 200, `{"offer_contract_id":"00other"}`)
		if a.header.Get("Set-Cookie") != "" {
			t.Errorf("the headers of the answer are %v", a.header)
		}
	}
	want := "POST /api/validator/v0/wallet/transfer-offers " + body
	if len(o.requests) != 2 || o.requests[0] != want || o.requests[1] != want {
		t.Errorf("the other validator got %q, want %q twice", o.requests, want)
	}
	if o.header.Get("Authorization") != "Bearer "+token(t, "nobody") || o.header.Get("X-Request-Id") == "" || o.header.Get("Connection") != "" {
		t.Errorf("the other validator got headers %v", o.header)
	}
	s.wants(s.as("alice", "GET", "/v0/wallet/balance", ""), 200, "")
	s.wants(s.with("", "POST", offersPath, body), 401, "")
	if len(o.requests) != 2 || len(m.commands) > 0 {
		t.Errorf("after a view and a request without token there were %q and %q", o.requests, m.commands)
	}
}

// Every operation that changes something is forwarded, in the form that the network has.
func TestEveryChangeIsForwarded(t *testing.T) {
	m, o := full(), newOther(t)
	o.answers(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error":"no"}`, http.StatusBadRequest) })
	api, err := New(config(t, m, nil))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, m, nil)
	cfg.Forward = &Forward{BaseURL: o.URL}
	forwarding, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url := querytest.Serve(t, query.Config{Mounts: []query.Mount{forwarding.Mount()}}).URL
	writes := 0
	for _, op := range api.operations {
		if !op.write {
			continue
		}
		writes++
		o.requests = nil
		target := strings.NewReplacer("{contract_id}", "00ab", "{receiver-party}", "a::b").Replace(op.path)
		r, err := http.NewRequest(op.method, url+target+"?username=x", strings.NewReader(`{"contract_id":"00ab"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token(t, "alice"))
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		want, sent := target, `{"contract_id":"00ab"}`
		if action, ok := strings.CutPrefix(target, offersPath+"/"); ok && !strings.Contains(action, "/") {
			want, sent = offersPath+"/00ab/"+action, "{}"
		}
		if want = op.method + " " + want + "?username=x " + sent; len(o.requests) != 1 || o.requests[0] != want || response.StatusCode != 400 {
			t.Errorf("%s %s: the other validator got %q, want %q; the answer is %d", op.method, op.path, o.requests, want, response.StatusCode)
		}
	}
	if writes < 30 || len(m.commands) > 0 {
		t.Errorf("%d operations were forwarded, %q was done here", writes, m.commands)
	}
}

// What only the node's administration interface has is known to the other validator, whose answer the
// operator gets; without one nobody is asked.
func TestParticipantIsAskedOfTheOtherValidator(t *testing.T) {
	answers := map[string]string{
		"/v0/admin/participant/identities": `{"id":"PAR::node::1220aa","keys":[{"type":"signing","keyId":"k1","name":"namespace"},{"keyPair":"YWI="}],"authorizedStoreSnapshot":"YWI=","version":"3.5.14"}`,
		"/v0/admin/participant/global-domain-connection-config": `{"sequencer_connections":{"connections":[{"sequencer_alias":"sv-1","endpoints":["sequencer.example.com:443"],"transport_security":true}],
			"sequencer_trust_threshold":1,"sequencer_liveness_margin":0,"submission_request_amplification":{"factor":1,"patience_seconds":10}}}`,
	}
	o := newOther(t)
	o.answers(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers[r.URL.Path])
	})
	m := newMemory()
	alone, forwarding := serve(t, m, nil), serve(t, m, func(c *Config) { c.Forward = &Forward{BaseURL: o.URL} })
	for path, answer := range answers {
		forwarding.wants(forwarding.as("admin", "GET", path, ""), 200, answer)
		forwarding.wants(forwarding.as("alice", "GET", path, ""), 403, "")
		if a := alone.as("admin", "GET", path, ""); a.status != 503 || !strings.Contains(a.body, "administration interface") {
			t.Errorf("%s without another validator: %d %s", path, a.status, a.body)
		}
	}
	if len(o.requests) != len(answers) {
		t.Errorf("the other validator got %q", o.requests)
	}
}

// Answers of the other validator pass as they are; without one it is said that nothing is known.
func TestForwardedAnswers(t *testing.T) {
	o := newOther(t)
	s := serve(t, full(), func(c *Config) {
		c.Forward = &Forward{BaseURL: o.URL, Client: &http.Client{Timeout: 300 * time.Millisecond, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	})
	ask := func() answer { return s.as("alice", "POST", "/v0/wallet/transfer-offers/00ab/accept", "") }
	o.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		fmt.Fprint(w, `{"error":"in flight"}`)
	})
	a := ask()
	s.wants(a, 429, `{"error":"in flight"}`)
	if a.header.Get("Retry-After") != "7" {
		t.Errorf("the headers are %v", a.header)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		},
		"a hang-up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a cut-off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		},
		"a huge one": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 16<<20+1) },
	} {
		o.requests = nil
		o.answers(answer)
		if a := ask(); a.status != 503 || !strings.Contains(a.body, "unknown whether") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if len(o.requests) != 1 {
			t.Errorf("%s: the other validator was asked %d times", name, len(o.requests))
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// While our own scan has no history, lookups go to the upstream, without the caller's token and in
// the form that a scan has.
func TestScanProxyAsksTheUpstream(t *testing.T) {
	o := newOther(t)
	s := serve(t, full(), func(c *Config) { c.ScanURL = o.URL + "/api/scan" })
	contract := `{"contract_id":"00ab","created_at":"2026-07-01T00:00:00Z","created_event_blob":"","payload":{},"template_id":"p:M:E"}`
	for _, c := range []struct{ method, path, body, answer, asked, want string }{
		{"GET", "/v0/scan-proxy/dso-party-id", "", `{"dso_party_id":"` + dso + `"}`, "GET /api/scan/v0/dso-party-id ", `{"dso_party_id":"` + dso + `"}`},
		{"GET", "/v0/scan-proxy/coin-rules", "", `{"amulet_rules_update":{"contract":` + contract + `}}`, "POST /api/scan/v0/amulet-rules {}", `{"coin_rules":{"contract":` + contract + `}}`},
		{"GET", "/api/validator/v0/scan-proxy/amulet-rules", "", `{"coin_rules_update":{"contract":` + contract + `}}`, "POST /api/scan/v0/amulet-rules {}", `{"amulet_rules":{"contract":` + contract + `}}`},
		{"GET", "/v0/scan-proxy/open-and-issuing-mining-rounds", "", `{"time_to_live_in_microseconds":1,"open_mining_rounds":{"00b":{"contract":` + contract + `},"00a":{"contract":` + contract + `,"domain_id":"x"}},"issuing_mining_rounds":{}}`,
			`POST /api/scan/v0/open-and-issuing-mining-rounds {"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`,
			`{"open_mining_rounds":[{"contract":` + contract + `,"domain_id":"x"},{"contract":` + contract + `}],"issuing_mining_rounds":[]}`},
		{"GET", "/v0/scan-proxy/ans-entries?page_size=3&name_prefix=a", "", `{"entries":[]}`, "GET /api/scan/v0/ans-entries?page_size=3&name_prefix=a ", `{"entries":[]}`},
		{"POST", "/v0/scan-proxy/ans-rules", `{}`, `{"ans_rules_update":{}}`, "POST /api/scan/v0/ans-rules {}", `{"ans_rules_update":{}}`},
		{"GET", "/v0/scan-proxy/featured-apps/a%3A%3Ab", "", `{}`, "GET /api/scan/v0/featured-apps/a::b ", `{}`},
	} {
		o.requests = nil
		o.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, c.answer)
		})
		s.wants(s.as("newbie", c.method, c.path, c.body), 200, c.want)
		if len(o.requests) != 1 || o.requests[0] != c.asked || o.header.Get("Authorization") != "" {
			t.Errorf("%s %s asks for %q with %v, want %q", c.method, c.path, o.requests, o.header, c.asked)
		}
	}
	o.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"none"}`)
	})
	if a := s.as("newbie", "GET", "/v0/scan-proxy/registry/metadata/v1/info", ""); a.status == 200 || len(o.requests) == 0 || !strings.Contains(o.requests[len(o.requests)-1], "/registry/metadata/v1/info") {
		t.Errorf("the registry answers %d %s, the scan was asked for %q", a.status, a.body, o.requests)
	}
	o.Close()
	s.wants(s.as("newbie", "GET", "/v0/scan-proxy/dso-party-id", ""), 503, "")
}
