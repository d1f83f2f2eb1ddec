package ledger

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query"
)

// Contracts of templates that no catalogue knows are found by the interfaces of which the node gave views.
func TestInterfacesThatTheNodeHasShown(t *testing.T) {
	const id, requests = "ee11:Splice.Api.Token.AllocationRequestV1:AllocationRequest", "#splice-api-token-allocation-request-v1:Splice.Api.Token.AllocationRequestV1:AllocationRequest"
	source, clock := &memory{}, &movingClock{at: time.Now()}
	source.grow(2)
	source.templates = []nodehistory.Template{{PackageName: "bazaar", TemplateID: "ab12:Bazaar:Deal"}}
	s := serve(t, source, func(c *Config, _ *query.Config) { c.Now = clock.now })
	events := fmt.Sprintf(`{"filtersByParty":{%q:{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q,"includeInterfaceView":true}}}}]}}}`, alice, requests)
	found := func() string { return s.do("POST", "/v2/updates", updates(0, source.end, events)).body }
	if text := found(); strings.Contains(text, "CreatedEvent") {
		t.Errorf("before there is one, requests are %s", text)
	}
	source.grow(1)
	e := &source.updates[len(source.updates)-1].Events[0]
	e.PackageName, e.TemplateID = "bazaar", "ab12:Bazaar:Deal"
	e.Local.Extras = []byte(`{"interfaceViews":[{"interfaceId":"` + id + `","viewStatus":{"code":0,"message":""},"viewValue":{"k":"v"}}]}`)
	clock.pass(2 * time.Minute)
	if text := found(); strings.Count(text, "CreatedEvent") != 1 || !strings.Contains(text, `"interfaceViews":[{"interfaceId":"`+id+`","viewStatus":{"code":0,"message":""},"viewValue":{"k":"v"}}]`) {
		t.Errorf("by what the node has shown, requests are %s", text)
	}
}

// movingClock is a clock that a test moves.
type movingClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *movingClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *movingClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Contracts are found by the interfaces of their templates, with views, by every operation, although
// the stream was read without any.
func TestInterfacesOfAStreamWithoutThem(t *testing.T) {
	source := &memory{}
	source.grow(4)
	for i := range source.updates {
		e := &source.updates[i].Events[0]
		e.Argument = []byte(`{"amount":{"createdAt":{"number":"3"},"initialAmount":"1.0000000000","ratePerRound":{"rate":"0.5000000000"}},"dso":"` + bob + `","owner":"` + alice + `"}`)
	}
	s := serve(t, source, nil)
	const contract = "0000000003"
	for _, id := range []string{"#splice-api-token-holding-v2:Splice.Api.Token.HoldingV2:Holding", "#app-api-token-holding-v2:App.Api.Token.HoldingV2:Holding",
		strings.Repeat("cd", 32) + ":Splice.Api.Token.HoldingV2:Holding"} {
		events := fmt.Sprintf(`{"filtersByParty":{%q:{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q,"includeInterfaceView":true}}}}]}}}`, alice, id)
		view := `"interfaceViews":[{"interfaceId":"` + id + `","viewStatus":{"code":0,"message":""},"viewValue":{"account":{"id":"","owner":"` + alice + `","provider":null},"amount":"1.0000000000",`
		for path, request := range map[string]string{
			"/v2/updates":                       updates(0, source.end, events),
			"/v2/state/active-contracts":        activeAt(source.end, events),
			"/v2/state/active-contracts-page":   activeAt(source.end, events),
			"/v2/events/events-by-contract-id":  fmt.Sprintf(`{"contractId":%q,"eventFormat":%s}`, contract, events),
			"/v2/updates/update-by-offset":      fmt.Sprintf(`{"offset":%d,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":%s}}}`, offsetOf(3), events),
			"/v2/updates/transaction-by-offset": fmt.Sprintf(`{"offset":%d,"transactionFormat":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":%s}}`, offsetOf(3), events),
		} {
			if a := s.do("POST", path, request); a.status != 200 || !strings.Contains(a.body, contract) || !strings.Contains(a.body, view) {
				t.Errorf("%s by %s: %d %s, want %s", path, id, a.status, a.body, view)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for _, path := range []string{"/v2/updates", "/v2/state/active-contracts"} {
			request := updates(offsetOf(2), source.end, events)
			if path != "/v2/updates" {
				request = activeAt(source.end, events)
			}
			if _, text, err := s.open(path, request).Read(ctx); err != nil || !strings.Contains(string(text), view) {
				t.Errorf("a websocket of %s by %s: %v, %s", path, id, err, text)
			}
		}
		cancel()
	}
	for id, code := range map[string]Code{"#acme-api:Acme.Api:Thing": packageNamesNotFound, strings.Repeat("cd", 32) + ":Acme.Api:Thing": "TEMPLATES_OR_INTERFACES_NOT_FOUND"} {
		events := fmt.Sprintf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q,"includeInterfaceView":true}}}}]}}`, id)
		s.refused("POST", "/v2/updates", updates(0, source.end, events), 404, code)
	}
}
