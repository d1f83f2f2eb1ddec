package scan

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

// The lookups of a validator's scan proxy keep to the document of the validator interface, and
// are those of the scan interface but for their form.
func TestProxyRoutesKeepToTheDocument(t *testing.T) {
	document, err := openapitest.Load(openapi.Validator, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	m := stateWorld()
	s := serve(t, m)
	api, err := New(Config{Source: m, Health: &health{backfilled: true}, Log: quiet(t), TokenKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	routes := query.BothPaths(api.ProxyRoutes())
	proxy := &served{t: t, url: serveRoutes(t, routes), document: document}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v0/scan-proxy/dso-party-id", ""},
		{"GET", "/v0/scan-proxy/dso", ""},
		{"GET", "/v0/scan-proxy/featured-apps/" + alice, ""},
		{"POST", "/v0/scan-proxy/ans-rules", "{}"},
		{"GET", "/v0/scan-proxy/ans-entries?page_size=10", ""},
		{"GET", "/v0/scan-proxy/ans-entries/by-party/" + alice, ""},
		{"GET", "/v0/scan-proxy/ans-entries/by-name/zoe.unverified.cns", ""},
		{"GET", "/v0/scan-proxy/transfer-preapprovals/by-party/" + alice, ""},
		{"GET", "/v0/scan-proxy/transfer-command-counter/" + alice, ""},
		{"GET", "/v0/scan-proxy/unclaimed-development-fund-coupons", ""},
	} {
		own := s.do(c.method, strings.Replace(c.path, "/scan-proxy", "", 1), c.body)
		if a := proxy.do(c.method, c.path, c.body); a.status != own.status || a.body != own.body {
			t.Errorf("%s %s = %d %s, but scan has %d %s", c.method, c.path, a.status, a.body, own.status, own.body)
		}
	}
	for path, member := range map[string]string{"/v0/scan-proxy/coin-rules": "coin_rules", "/v0/scan-proxy/amulet-rules": "amulet_rules"} {
		if a := proxy.do("GET", path, ""); a.status != 200 || !strings.Contains(a.body, `"`+member+`":{"contract":{"contract_id":"00rules"`) {
			t.Errorf("%s = %d %s", path, a.status, a.body)
		}
	}
	a := proxy.do("GET", "/v0/scan-proxy/open-and-issuing-mining-rounds", "")
	if a.status != 200 || strings.Count(a.body, `"contract_id":"00open`) != 3 || strings.Count(a.body, `"contract_id":"00issue`) != 1 {
		t.Errorf("the rounds are %d %s", a.status, a.body)
	}
	const registry = 21
	if len(routes) != len(proxied)+3+registry {
		t.Errorf("there are %d routes, of %d that are named, two of another form and %d of the registry", len(routes), len(proxied), registry)
	}
	info := s.do("GET", "/registry/metadata/v1/info", "")
	if a := proxy.do("GET", "/v0/scan-proxy/registry/metadata/v1/info", ""); a.status != 200 || a.body != info.body {
		t.Errorf("the registry's party is %d %s, but scan has %d %s", a.status, a.body, info.status, info.body)
	}
}

// serveRoutes serves routes at the root until the test ends and returns their URL.
func serveRoutes(t *testing.T, routes []query.Route) string {
	t.Helper()
	return querytest.Serve(t, query.Config{Log: quiet(t), Mounts: []query.Mount{{Prefixes: []string{""}, Routes: routes}}}).URL
}
