package view_test

import (
	"encoding/json"
	"strings"
	"testing"
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
