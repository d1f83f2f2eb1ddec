package devnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
)

// nodePage is an answer with a page of updates or of active contracts.
type nodePage struct {
	Updates   []json.RawMessage `json:"updates"`
	Contracts []json.RawMessage `json:"activeContracts"`
	At        int64             `json:"activeAtOffset"`
	Lowest    int64             `json:"lowestPageOffsetExclusive"`
	Highest   int64             `json:"highestPageOffsetInclusive"`
	Next      string            `json:"nextPageToken"`
}

// pages reads all pages of a request, which lacks its last brace.
func (c nodeClient) pages(path, request string, each func(p nodePage)) {
	c.t.Helper()
	for token := ""; ; {
		body := request + "}"
		if token != "" {
			body = fmt.Sprintf("%s,\"pageToken\":%q}", request, token)
		}
		var p nodePage
		c.call("POST", path, body, &p)
		each(p)
		if token = p.Next; token == "" {
			return
		}
	}
}

// escaped is JSON with the characters of HTML escaped, as pages have it.
func escaped(text []byte) []byte {
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.Bytes()
}

// TestNodePages reads the stream, forwards and backwards, and the active contracts page by page.
func TestNodePages(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	end := c.ledgerEnd()
	const size = 37
	var want [][]byte
	for _, frame := range c.frames("/v2/updates", updatesBody(0, end, everything)) {
		if !bytes.Contains(frame, []byte(`"OffsetCheckpoint"`)) {
			want = append(want, escaped(frame))
		}
	}
	for _, descending := range []bool{false, true} {
		var got [][]byte
		low, high, pages := int64(0), end, 0
		request := fmt.Sprintf(`{"beginOffsetExclusive":0,"endOffsetInclusive":%d,"maxPageSize":%d,"updateFormat":%s,"descendingOrder":%v`, end, size, everything, descending)
		c.pages("/v2/updates/get-updates-page", request, func(p nodePage) {
			pages++
			if len(p.Updates) > size || !descending && p.Lowest != low || descending && p.Highest != high {
				t.Errorf("page %d has %d updates of (%d, %d]", pages, len(p.Updates), p.Lowest, p.Highest)
			}
			if low = p.Highest; descending {
				low, high = 0, p.Lowest
			}
			for _, u := range p.Updates {
				got = append(got, u)
			}
		})
		if descending {
			slices.Reverse(got)
		}
		if !slices.EqualFunc(got, want, func(a, b []byte) bool { return bytes.Equal(a, b) }) || pages < 3 {
			t.Errorf("%d pages, descending %v, have %d updates, want %d", pages, descending, len(got), len(want))
		}
	}
	var active [][]byte
	for _, frame := range c.frames("/v2/state/active-contracts", fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, end, anyParty)) {
		active = append(active, escaped(frame))
	}
	var got [][]byte
	c.pages("/v2/state/active-contracts-page", fmt.Sprintf(`{"maxPageSize":%d,"eventFormat":%s`, size, anyParty), func(p nodePage) {
		if p.At != end {
			t.Errorf("the contracts are of offset %d, want %d", p.At, end)
		}
		for _, contract := range p.Contracts {
			got = append(got, contract)
		}
	})
	if !slices.EqualFunc(got, active, func(a, b []byte) bool { return bytes.Equal(a, b) }) {
		t.Errorf("pages have %d contracts, want %d", len(got), len(active))
	}
	var p nodePage
	c.call("POST", "/v2/updates/get-updates-page", fmt.Sprintf(`{"maxPageSize":1,"updateFormat":%s}`, everything), &p)
	for _, r := range []refusal{
		{"a token of another request", "POST", "/v2/updates/get-updates-page", fmt.Sprintf(`{"maxPageSize":2,"updateFormat":%s,"pageToken":%q}`, everything, p.Next), 400, "INVALID_ARGUMENT"},
		{"no token", "POST", "/v2/updates/get-updates-page", fmt.Sprintf(`{"updateFormat":%s,"pageToken":"x"}`, everything), 400, "INVALID_ARGUMENT"},
		{"no format", "POST", "/v2/updates/get-updates-page", `{}`, 400, "MISSING_FIELD"},
		{"a negative size", "POST", "/v2/updates/get-updates-page", fmt.Sprintf(`{"maxPageSize":-1,"updateFormat":%s}`, everything), 400, "INVALID_ARGUMENT"},
		{"behind the end", "POST", "/v2/updates/get-updates-page", fmt.Sprintf(`{"endOffsetInclusive":%d,"updateFormat":%s}`, end+1, everything), 400, "OFFSET_AFTER_LEDGER_END"},
		{"no token of contracts", "POST", "/v2/state/active-contracts-page", fmt.Sprintf(`{"eventFormat":%s,"pageToken":"7.x"}`, anyParty), 400, "INVALID_ARGUMENT"},
	} {
		c.refuses(r)
	}
}

// TestNodeTransactionTrees has a command answered with a tree, and asks for completions by party.
func TestNodeTransactionTrees(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	begin, alice := f.ledgerEnd(), f.addParty("alice")
	var tree struct {
		Transaction struct {
			UpdateID string `json:"updateId"`
			Offset   int64  `json:"offset"`
			Events   map[string]map[string]struct {
				Value struct {
					NodeID     int    `json:"nodeId"`
					TemplateID string `json:"templateId"`
				} `json:"value"`
			} `json:"eventsById"`
		} `json:"transactionTree"`
	}
	f.call("POST", "/v2/commands/submit-and-wait-for-transaction-tree", f.install("ann", alice, "t1", `"userId":"ann"`), &tree)
	u := f.streamed(tree.Transaction.Offset)
	root := tree.Transaction.Events["0"]["CreatedTreeEvent"].Value
	if u.Value.UpdateID != tree.Transaction.UpdateID || len(tree.Transaction.Events) != len(u.Events) || root.NodeID != 0 || !strings.HasSuffix(root.TemplateID, ":WalletAppInstall") {
		t.Errorf("the tree is %+v", tree)
	}
	for _, c := range []struct {
		parties string
		want    int
	}{{fmt.Sprintf(`"parties":[%q],`, alice), 1}, {"", 1}, {`"parties":["nobody::1220"],`, 0}} {
		list := f.list("/v2/commands/command-completions?stream_idle_timeout_ms=20", fmt.Sprintf(`{%s"beginExclusive":%d}`, c.parties, begin))
		if found := strings.Count(fmt.Sprintf("%s", list), `"commandId":"t1"`); found != c.want {
			t.Errorf("by %s, there are %d completions: %s", c.parties, found, list)
		}
	}
}

// TestNodeIdentityProviders configures identity providers and moves a user to one.
func TestNodeIdentityProviders(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	config := func(id, issuer string) string {
		return fmt.Sprintf(`{"identityProviderConfig":{"identityProviderId":%q,"issuer":%q,"jwksUrl":"https://%s/keys"}`, id, issuer, issuer)
	}
	type answer struct {
		Config map[string]any `json:"identityProviderConfig"`
	}
	var a answer
	c.call("POST", "/v2/idps", config("corp", "one")+"}", &a)
	c.call("POST", "/v2/idps", config("other", "two")+"}", &a)
	c.call("PATCH", "/v2/idps/corp", `{"identityProviderConfig":{"isDeactivated":true,"issuer":"three"},"updateMask":{"paths":["is_deactivated"]}}`, &a)
	want := map[string]any{"identityProviderId": "corp", "isDeactivated": true, "issuer": "one", "jwksUrl": "https://one/keys", "audience": ""}
	if c.call("GET", "/v2/idps/corp", "", &a); !maps.Equal(a.Config, want) {
		t.Errorf("the configuration is %v", a.Config)
	}
	var list struct {
		Configs []map[string]any `json:"identityProviderConfigs"`
	}
	if c.call("GET", "/v2/idps", "", &list); len(list.Configs) != 2 || list.Configs[1]["identityProviderId"] != "other" {
		t.Errorf("the configurations are %v", list.Configs)
	}
	var user struct {
		User struct {
			Provider string `json:"identityProviderId"`
		} `json:"user"`
	}
	var nothing map[string]any
	c.call("POST", "/v2/users", `{"user":{"id":"dora"}}`, &user)
	c.call("PATCH", "/v2/users/dora/identity-provider-id", `{"userId":"dora","targetIdentityProviderId":"corp"}`, &nothing)
	if c.call("GET", "/v2/users/dora?identity-provider-id=corp", "", &user); user.User.Provider != "corp" {
		t.Errorf("dora belongs to %q", user.User.Provider)
	}
	for _, r := range []refusal{
		{"a second one", "POST", "/v2/idps", config("corp", "four") + "}", 409, "IDENTITY_PROVIDER_CONFIG_ALREADY_EXISTS"},
		{"of the same issuer", "POST", "/v2/idps", config("more", "one") + "}", 409, "IDENTITY_PROVIDER_CONFIG_ISSUER_ALREADY_EXISTS"},
		{"without issuer", "POST", "/v2/idps", config("more", "") + "}", 400, "MISSING_FIELD"},
		{"unknown", "GET", "/v2/idps/nobody", "", 404, "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"},
		{"unknown", "DELETE", "/v2/idps/nobody", "", 404, "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"},
		{"an unknown member", "PATCH", "/v2/idps/corp", config("corp", "one") + `,"updateMask":{"paths":["x"]}}`, 400, "INVALID_ARGUMENT"},
		{"without mask", "PATCH", "/v2/idps/corp", config("corp", "one") + `}`, 400, "MISSING_FIELD"},
		{"to an unknown one", "PATCH", "/v2/users/dora/identity-provider-id", `{"sourceIdentityProviderId":"corp","targetIdentityProviderId":"nobody"}`, 404, "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"},
		{"from another one", "PATCH", "/v2/users/dora/identity-provider-id", `{"sourceIdentityProviderId":"other"}`, 404, "USER_NOT_FOUND"},
	} {
		c.refuses(r)
	}
	c.call("DELETE", "/v2/idps/other", "", &nothing)
	c.refuses(refusal{"deleted", "GET", "/v2/idps/other", "", 404, "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"})
}

// TestNodePackageVetting validates a package without keeping it, and vets and unvets others.
func TestNodePackageVetting(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	payload := packagestest.Payload(packagestest.Trade("1.0.0"))
	if status, _, body := c.do("POST", "/v2/dars/validate", string(packagestest.DAR(payload, packagestest.Standard()))); status != http.StatusOK || len(body) > 0 {
		t.Errorf("validating: %d %s", status, body)
	}
	c.refuses(refusal{"validated only", "GET", "/v2/packages/" + packagestest.ID(payload), "", 404, "PACKAGE_NOT_FOUND"})
	c.refuses(refusal{"no package", "POST", "/v2/dars/validate", "hello", 400, "INVALID_DAR"})
	var preferred struct {
		Preference struct {
			Reference map[string]string `json:"packageReference"`
			On        string            `json:"synchronizerId"`
		} `json:"packagePreference"`
	}
	c.call("GET", "/v2/interactive-submission/preferred-package-version?package-name=splice-amulet", "", &preferred)
	coin := preferred.Preference.Reference["packageId"]
	if coin == "" || preferred.Preference.Reference["packageName"] != "splice-amulet" || preferred.Preference.On == "" {
		t.Errorf("preferred is %+v", preferred)
	}
	var none map[string]any
	if c.call("GET", "/v2/interactive-submission/preferred-package-version?package-name=unknown", "", &none); len(none) > 0 {
		t.Errorf("of an unknown package, preferred is %v", none)
	}
	type packages struct {
		Packages []struct {
			ID string `json:"packageId"`
		} `json:"packages"`
		Serial int `json:"topologySerial"`
	}
	vets := func() bool {
		var list struct {
			On []packages `json:"vettedPackages"`
		}
		c.call("GET", "/v2/package-vetting", fmt.Sprintf(`{"packageMetadataFilter":{"packageIds":[%q]}}`, coin), &list)
		return len(list.On) > 0
	}
	change := func(kind, more string) (past, next packages) {
		var changed struct {
			Past packages `json:"pastVettedPackages"`
			New  packages `json:"newVettedPackages"`
		}
		c.call("POST", "/v2/package-vetting/update", fmt.Sprintf(`{"changes":[{"operation":{%q:{"value":{"packages":[{"packageId":%q}]}}}}]%s}`, kind, coin, more), &changed)
		return changed.Past, changed.New
	}
	if past, next := change("Unvet", `,"dryRun":true`); len(past.Packages) != len(next.Packages)+1 || !vets() {
		t.Errorf("a dry run goes from %d packages to %d", len(past.Packages), len(next.Packages))
	}
	if past, next := change("Unvet", ""); len(past.Packages) != len(next.Packages)+1 || next.Serial != past.Serial+1 || vets() {
		t.Errorf("from %d packages to %d", len(past.Packages), len(next.Packages))
	}
	if past, next := change("Vet", ""); len(past.Packages)+1 != len(next.Packages) || !vets() {
		t.Errorf("back from %d packages to %d", len(past.Packages), len(next.Packages))
	}
	c.refuses(refusal{"unknown", "POST", "/v2/package-vetting", `{"changes":[{"operation":{"Vet":{"value":{"packages":[{"packageName":"unknown"}]}}}}]}`, 404, "PACKAGE_NOT_FOUND"})
}
