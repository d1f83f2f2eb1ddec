package scan

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// proxied are the operations that a validator's scan proxy has in the same form, as it has all of
// the registry.
var proxied = []string{
	"GET /v0/dso-party-id", "GET /v0/dso", "GET /v0/featured-apps/{provider_party_id}", "POST /v0/ans-rules",
	"GET /v0/ans-entries", "GET /v0/ans-entries/by-party/{party}", "GET /v0/ans-entries/by-name/{name}",
	"GET /v0/transfer-preapprovals/by-party/{party}", "GET /v0/transfer-command-counter/{party}", "GET /v0/transfer-command/status",
	"POST /v0/holdings/summary", "POST /v1/holdings/summary", "GET /v0/unclaimed-development-fund-coupons",
}

// ProxyRoutes are the lookups of a validator's scan proxy, such as GET /v0/scan-proxy/dso, at
// their neutral paths. Who may use them is for their server to find out.
func (a *API) ProxyRoutes() []query.Route {
	list := a.state.ProxyRoutes()
	for _, r := range a.Routes() {
		version, rest, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		switch {
		case version == "registry":
			version, rest = "v0", version+"/"+rest
		case !slices.Contains(proxied, r.Method+" "+r.Path):
			continue
		}
		r.Path, r.Name = "/"+version+"/scan-proxy/"+rest, strings.Replace(r.Name, "scan.", "scan_proxy.", 1)
		list = append(list, r)
	}
	return list
}
