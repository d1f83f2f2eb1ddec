package devnet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// contractEventsAnswer is what the node tells about a contract.
type contractEventsAnswer struct {
	Created *struct {
		Event          json.RawMessage `json:"createdEvent"`
		SynchronizerID string          `json:"synchronizerId"`
	} `json:"created"`
	Archived *struct {
		Event          json.RawMessage `json:"archivedEvent"`
		SynchronizerID string          `json:"synchronizerId"`
	} `json:"archived"`
}

// TestNodeFindsContracts compares the events of every contract with those of the stream.
func TestNodeFindsContracts(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	const effects = `{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":` + anyParty + `},"includeReassignments":` + anyParty + `}`
	updates := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), effects)))
	created, archived := map[string]string{}, map[string]string{}
	synchronizers := map[string]string{}
	for i := range updates {
		for j, raw := range updates[i].Value.Events {
			kind, value := single(t, raw)
			id := updates[i].Events[j].ContractID
			switch kind {
			case "JsAssignmentEvent":
				var assigned struct {
					Created json.RawMessage `json:"createdEvent"`
				}
				if err := json.Unmarshal(value, &assigned); err != nil {
					t.Fatal(err)
				}
				value = assigned.Created
				fallthrough
			case "CreatedEvent":
				if created[id] == "" {
					created[id], synchronizers[id] = string(value), updates[i].Value.SynchronizerID
				}
			case "ArchivedEvent":
				archived[id] = string(value)
			}
		}
	}
	if len(created) < 50 || len(archived) < 20 {
		t.Fatalf("only %d contracts, %d archived", len(created), len(archived))
	}
	asked := 0
	for id, want := range created {
		if asked++; asked > 300 {
			break
		}
		var got contractEventsAnswer
		c.call("POST", "/v2/events/events-by-contract-id", fmt.Sprintf(`{"contractId":%q,"eventFormat":%s}`, id, anyParty), &got)
		if got.Created == nil || string(got.Created.Event) != want || got.Created.SynchronizerID != synchronizers[id] {
			t.Fatalf("contract %s: created is %+v, want %s", id, got.Created, want)
		}
		if ended := archived[id]; (got.Archived != nil) != (ended != "") || ended != "" && string(got.Archived.Event) != ended {
			t.Fatalf("contract %s: archived is %+v, want %s", id, got.Archived, ended)
		}
	}
}

func TestNodeFindsUpdates(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	frames := c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything))
	for i := 0; i < len(frames); i += 7 {
		u := decodeNodeUpdate(t, frames[i])
		if u.Kind == "OffsetCheckpoint" {
			continue
		}
		_, _, got := c.do("POST", "/v2/updates/update-by-offset", fmt.Sprintf(`{"offset":%d,"updateFormat":%s}`, u.Value.Offset, everything))
		if string(got) != string(frames[i]) {
			t.Fatalf("offset %d: %.300s, want %.300s", u.Value.Offset, got, frames[i])
		}
		if u.Kind == "TopologyTransaction" {
			continue
		}
		_, _, got = c.do("POST", "/v2/updates/update-by-id", fmt.Sprintf(`{"updateId":%q,"updateFormat":%s}`, u.Value.UpdateID, everything))
		if string(got) != string(frames[i]) {
			t.Fatalf("update %s: %.300s, want %.300s", u.Value.UpdateID, got, frames[i])
		}
	}
}

func TestNodeLookupRefusals(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	coins := `{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":"#splice-wallet:Splice.Wallet.TransferOffer:TransferOffer"}}}}]}}`
	var first nodeUpdate
	for _, frame := range c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything)) {
		if first = decodeNodeUpdate(t, frame); first.Kind == "Transaction" {
			break
		}
	}
	topology := `{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`
	const events, packages = "/v2/events/events-by-contract-id", "/v2/interactive-submission/preferred-packages"
	for _, tc := range []refusal{
		{"no contract id", "POST", events, `{"eventFormat":` + anyParty + `}`, 400, ""},
		{"no event format", "POST", events, `{"contractId":"00"}`, 400, "INVALID_ARGUMENT"},
		{"a contract id that is none", "POST", events, `{"contractId":"00","eventFormat":` + anyParty + `}`, 404, "CONTRACT_EVENTS_NOT_FOUND"},
		{"a contract that is not there", "POST", events, fmt.Sprintf(`{"contractId":%q,"eventFormat":%s}`, l.Names.IDs.AppendContractID(nil, 1<<40), anyParty), 404, "CONTRACT_EVENTS_NOT_FOUND"},
		{"a contract of another template", "POST", events, fmt.Sprintf(`{"contractId":%q,"eventFormat":%s}`, first.Events[0].ContractID, coins), 404, "CONTRACT_EVENTS_NOT_FOUND"},
		{"no offset", "POST", "/v2/updates/update-by-offset", `{"updateFormat":` + everything + `}`, 400, ""},
		{"offset zero", "POST", "/v2/updates/update-by-offset", `{"offset":0,"updateFormat":` + everything + `}`, 400, "INVALID_ARGUMENT"},
		{"no update format", "POST", "/v2/updates/update-by-offset", `{"offset":1}`, 400, "INVALID_ARGUMENT"},
		{"an offset after the end", "POST", "/v2/updates/update-by-offset", `{"offset":99999999,"updateFormat":` + everything + `}`, 404, "UPDATE_NOT_FOUND"},
		{"an update of another kind", "POST", "/v2/updates/update-by-id", fmt.Sprintf(`{"updateId":%q,"updateFormat":%s}`, first.Value.UpdateID, topology), 404, "UPDATE_NOT_FOUND"},
		{"an update that is not there", "POST", "/v2/updates/update-by-id", `{"updateId":"1220` + strings.Repeat("0", 64) + `","updateFormat":` + everything + `}`, 404, "UPDATE_NOT_FOUND"},
		{"no update id", "POST", "/v2/updates/update-by-id", `{"updateFormat":` + everything + `}`, 400, ""},
		{"no packages", "POST", packages, `{}`, 400, "MISSING_FIELD"},
		{"an unknown package", "POST", packages, `{"packageVettingRequirements":[{"parties":[],"packageName":"nothing"}]}`, 404, "PACKAGE_NAMES_NOT_FOUND"},
		{"packages of an unknown party", "POST", packages, `{"packageVettingRequirements":[{"parties":["a::b"],"packageName":"splice-amulet"}]}`, 404, "PARTY_NOT_FOUND"},
	} {
		c.refuses(tc)
	}
	var preferred struct {
		References []map[string]string `json:"packageReferences"`
	}
	c.call("POST", packages, `{"packageVettingRequirements":[{"parties":[],"packageName":"splice-amulet"}]}`, &preferred)
	if len(preferred.References) != 1 || preferred.References[0]["packageId"] != l.Names.TemplateIDs[0][1][:model.PackageIDLength] {
		t.Errorf("preferred packages are %+v", preferred)
	}
	coin := preferred.References[0]["packageId"]
	var all struct {
		IDs []string `json:"packageIds"`
	}
	c.call("GET", "/v2/packages", "", &all)
	if !slices.Contains(all.IDs, coin) || !slices.IsSorted(all.IDs) || len(slices.Compact(slices.Clone(all.IDs))) != len(all.IDs) {
		t.Errorf("the packages are %q", all.IDs)
	}
	for id, want := range map[string]string{coin: "PACKAGE_STATUS_REGISTERED", "00ff": "PACKAGE_STATUS_UNSPECIFIED"} {
		var status struct {
			Status string `json:"packageStatus"`
		}
		if c.call("GET", "/v2/packages/"+id+"/status", "", &status); status.Status != want {
			t.Errorf("package %s has %s", id, status.Status)
		}
	}
	for filter, want := range map[string]int{
		`{}`: len(all.IDs), `{"packageMetadataFilter":{"packageIds":["` + coin + `"]}}`: 1, `{"packageMetadataFilter":{"packageNamePrefixes":["splice-amu"]}}`: 4,
		`{"packageMetadataFilter":{"packageIds":["00ff"]}}`: 0, `{"topologyStateFilter":{"participantIds":["PAR::other::12"]}}`: 0, `{"topologyStateFilter":{"synchronizerIds":["` + l.Names.Synchronizers[0] + `"]}}`: len(all.IDs),
	} {
		var vetted struct {
			Packages []struct {
				Packages []struct{ PackageID, PackageName, PackageVersion string }
			} `json:"vettedPackages"`
		}
		c.call("POST", "/v2/package-vetting/list", filter, &vetted)
		for _, on := range vetted.Packages {
			if len(on.Packages) != want {
				t.Errorf("%s: %d packages are vetted, want %d", filter, len(on.Packages), want)
			}
		}
		if (len(vetted.Packages) > 0) != (want > 0) {
			t.Errorf("%s: vetted on %d synchronizers", filter, len(vetted.Packages))
		}
	}
}
