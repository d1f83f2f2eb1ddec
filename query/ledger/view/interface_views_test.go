package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// failedView is a view that a node could not compute.
func failedView(id string) map[string]any {
	return map[string]any{"interfaceId": id, "viewStatus": map[string]any{"code": json.Number("9"), "message": "thrown"}}
}

// viewOf is what a reader is shown of an interface of a created contract: what the node gave, unless it
// failed; else a holding of coins; else that nothing is known, or how it failed.
func viewOf(e event, id string, given []any) any {
	var failed any = map[string]any{"interfaceId": id, "viewStatus": map[string]any{"code": 12, "message": "the node did not return this view, and it is not computed here"}}
	for _, g := range given {
		if one := g.(map[string]any); one["interfaceId"] == id {
			if one["viewStatus"].(map[string]any)["code"] == json.Number("0") {
				return g
			}
			failed = g
		}
	}
	if id != holdingID {
		return failed
	}
	coin, lock := event(e["createArgument"].(map[string]any)), any(nil)
	if locked, ok := coin["amulet"]; ok {
		l := coin["lock"].(map[string]any)
		lock = map[string]any{"holders": l["holders"], "expiresAt": l["expiresAt"], "expiresAfter": nil, "context": l["optContext"]}
		coin = locked.(map[string]any)
	}
	amount := coin["amount"].(map[string]any)
	rate := strings.TrimRight(amount["ratePerRound"].(map[string]any)["rate"].(string), "0")
	if strings.HasSuffix(rate, ".") {
		rate += "0"
	}
	const coinKeys = "amulet.splice.lfdecentralizedtrust.org/"
	meta := map[string]any{coinKeys + "created-in-round": amount["createdAt"].(map[string]any)["number"], coinKeys + "rate-per-round": rate}
	return map[string]any{"interfaceId": id, "viewStatus": map[string]any{"code": 0, "message": ""}, "viewValue": map[string]any{
		"owner": coin["owner"], "instrumentId": map[string]any{"admin": coin["dso"], "id": "Amulet"},
		"amount": amount["initialAmount"], "lock": lock, "meta": map[string]any{"values": meta},
	}}
}

// A view that cannot be computed says so, for this view alone.
func TestViewsOfDamagedContracts(t *testing.T) {
	filter := func(id string) string {
		return `{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":"` + id + `","includeInterfaceView":true}}}}`
	}
	const v1, v2 = "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding", "#splice-api-token-holding-v2:Splice.Api.Token.HoldingV2:Holding"
	format := formatOf(t, fewKnown(), transactionsOf(`{"filtersForAnyParty":{"cumulative":[`+filter(v1)+`,`+filter(v2)+`]}}`, "ACS_DELTA"))
	const argument = `{"amount":{"createdAt":{"number":"3"},"initialAmount":"5.0000000000","ratePerRound":{"rate":"0.5000000000"}},"dso":"DSO::12","owner":"bob::12"}`
	for _, c := range []struct{ name, argument, given, want string }{
		{"computed", argument, ``, `[{"interfaceId":"` + v1 + `","viewStatus":{"code":0,"message":""},"viewValue":{"amount":"5.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},"lock":null,"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"3","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"0.5"}},"owner":"bob::12"}},` +
			`{"interfaceId":"` + v2 + `","viewStatus":{"code":0,"message":""},"viewValue":{"account":{"id":"","owner":"bob::12","provider":null},"amount":"5.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},"lock":null,"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"3","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"0.5"}}}}]`},
		{"no coin at all", `{"owner":"bob"}`, ``, `[{"interfaceId":"` + v1 + `","viewStatus":{"code":9,"message":"computing Splice.Api.Token.HoldingV1:Holding of splice-amulet:Splice.Amulet:Amulet: amount is no record"}},` +
			`{"interfaceId":"` + v2 + `","viewStatus":{"code":9,"message":"computing Splice.Api.Token.HoldingV2:Holding of splice-amulet:Splice.Amulet:Amulet: amount is no record"}}]`},
		{"one given, one failed", `{"owner":"bob"}`, `{"interfaceViews":[{"interfaceId":"aa:Splice.Api.Token.HoldingV1:Holding","viewStatus":{"code":0},"viewValue":{"a":1}},{"interfaceId":"bb:Splice.Api.Token.HoldingV2:Holding","viewStatus":{"code":9,"message":"thrown"}}]}`,
			`[{"interfaceId":"aa:Splice.Api.Token.HoldingV1:Holding","viewStatus":{"code":0},"viewValue":{"a":1}},{"interfaceId":"bb:Splice.Api.Token.HoldingV2:Holding","viewStatus":{"code":9,"message":"thrown"}}]`},
		{"an argument that is none", `[]`, `{"interfaceViews":[{},7]}`, `owner is no text"}}]`},
	} {
		u := coin()
		u.Events[1].Argument, u.Events[1].Local.Extras = []byte(c.argument), []byte(c.given)
		out, visible, err := format.AppendUpdate(nil, u)
		if err != nil || !visible || !json.Valid(out) || !strings.Contains(string(out), c.want) || !strings.Contains(string(out), `"createArgument":`+c.argument) {
			t.Errorf("%s: %t, %v: %s\nwant %s", c.name, visible, err, out, c.want)
		}
	}
}

// Views of a stream that was read without any are those of the node, of all its contracts, and so are
// those of one that was read with them.
func TestViewsAreThoseOfTheSimulatedNode(t *testing.T) {
	views := map[string]int{}
	for _, c := range []devnet.Config{
		{Updates: 600, Seed: 34, Node: &devnet.NodeConfig{}},
		{Updates: 300, Seed: 35, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}},
	} {
		w := newWorld(t, c, false)
		all := []entry{}
		for _, id := range w.interfaces {
			all = append(all, entry{kind: "InterfaceFilter", asked: id, view: true})
		}
		events, given := &eventWants{anyParty: all}, map[string][]byte{}
		for _, effects := range []bool{false, true, false, true} {
			q := &wants{transactions: events, reassignments: events, effects: effects}
			body := q.text(0, w.updates[len(w.updates)-1].Local.Offset, false)
			status, answer := w.post(t, "/v2/updates", body)
			var theirs []json.RawMessage
			if err := json.Unmarshal(answer, &theirs); err != nil || status != 200 {
				t.Fatalf("%s: status %d: %v, %.300s", body, status, err, answer)
			}
			req, err := view.ParseUpdates([]byte(body), w.knownByCatalogue(), view.Formats)
			if err != nil {
				t.Fatal(err)
			}
			ours, compared := w.render(t, req), 0
			for _, element := range theirs {
				if strings.HasPrefix(string(element), `{"update":{"OffsetCheckpoint"`) {
					continue
				}
				own, node := withoutSubmission(t, ours[compared]), withoutSubmission(t, element)
				if compared++; own.text != node.text {
					t.Fatalf("effects %t: an update is\n%s\nthe node gives\n%s", effects, own.text, node.text)
				}
				countViews(own.text, views)
				keepViews(t, element, given)
			}
			if compared != len(ours) || compared < 100 {
				t.Fatalf("%d updates, the node gives %d", len(ours), compared)
			}
			if effects {
				w.give(t, given)
			}
		}
	}
	// Allocations and coupons need commands: see the tests of the simulated node.
	if t.Logf("%v", views); len(views) < 14 {
		t.Errorf("views of %d interfaces were compared: %v", len(views), views)
	}
}

// countViews counts views that did not fail by the names of their interfaces.
func countViews(text string, views map[string]int) {
	for _, given := range strings.Split(text, `{"interfaceId":"`)[1:] {
		_, name, _ := strings.Cut(given, ":")
		if entity, _, ok := strings.Cut(name, `","viewStatus":{"code":0,`); ok {
			views[entity]++
		}
	}
}

// keepViews adds the views of created events, by contract.
func keepViews(t *testing.T, element []byte, given map[string][]byte) {
	t.Helper()
	var update struct {
		Update map[string]struct{ Value map[string]any }
	}
	if err := json.Unmarshal(element, &update); err != nil {
		t.Fatal(err)
	}
	for kind, u := range update.Update {
		for _, e := range (&frame{kind, u.Value}).events() {
			if v, ok := e["interfaceViews"]; ok {
				given[e.text("contractId")] = []byte(canonical(t, []byte(toJSON(v))))
			}
		}
	}
}

// give makes the world's stream one that was read with views.
func (w *world) give(t *testing.T, views map[string][]byte) {
	t.Helper()
	for i := range w.updates {
		for j := range w.updates[i].Events {
			e := &w.updates[i].Events[j]
			v := views[e.ContractID]
			if v == nil || e.Kind != schemas.Created {
				continue
			}
			extras := map[string]json.RawMessage{}
			if err := json.Unmarshal(e.Local.Extras, &extras); err != nil {
				t.Fatal(err)
			}
			extras["interfaceViews"] = v
			e.Local.Extras = []byte(canonical(t, []byte(toJSON(extras))))
		}
	}
}
