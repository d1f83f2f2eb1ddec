package devnet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// TestDealsAskForAllocations makes deals of an app and ends them by the interface of the token standard,
// which also shows them.
func TestDealsAskForAllocations(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 61})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	at := func(d time.Time) string { return d.Format(time.RFC3339Nano) }
	deal := func() choices.Command {
		now := d.l.Now()
		return create(model.DealTemplate, "venue", venue, "createdAt", at(now), "prepareUntil", at(now.Add(time.Hour)), "settleBefore", at(now.Add(2*time.Hour)),
			"transferLegs", map[string]any{"leg": map[string]any{"sender": alice, "receiver": bob, "amount": "3.5",
				"instrumentId": map[string]any{"admin": d.l.GovernanceParty(), "id": "Amulet"}, "meta": map[string]any{"values": map[string]any{"k": "v"}}}})
	}
	end := func(party, choice string, members ...any) choices.Submission {
		var id string
		if err := json.Unmarshal(d.must([]string{venue}, deal())[0], &id); err != nil {
			t.Fatal(err)
		}
		c := exercise(model.DealTemplate, id, choice, append(members, "extraArgs", emptyExtraArgs)...)
		c.TemplateID = "#" + model.InterfaceNames[model.AllocationRequestInterface][0] + ":" + model.InterfaceNames[model.AllocationRequestInterface][1]
		return d.submission([]string{party}, c)
	}
	for _, c := range []struct {
		party, choice string
		members       []any
		ok            bool
	}{
		{alice, "AllocationRequest_Reject", []any{"actor", alice}, true},
		{venue, "AllocationRequest_Withdraw", nil, true},
		{bob, "AllocationRequest_Reject", []any{"actor", bob}, false}, // is not asked for anything
		{bob, "AllocationRequest_Reject", []any{"actor", alice}, false},
		{alice, "AllocationRequest_Withdraw", nil, false},
	} {
		s := end(c.party, c.choice, c.members...)
		if !c.ok {
			d.refused(s)
			continue
		}
		if result := d.mustSubmit(s).Results[0]; string(result) != `{"meta":{"values":{}}}` {
			t.Errorf("%s gives %s", c.choice, result)
		}
	}
	bad := deal()
	bad.CreateArguments = []byte(strings.ReplaceAll(string(bad.CreateArguments), `"3.5"`, `"0"`))
	d.refused(d.submission([]string{venue}, bad))
	c := serveNode(t, d.l, nodeapi.NodeOptions{})
	asked := fmt.Sprintf(`{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":{"verbose":true,"filtersForAnyParty":{"cumulative":[`+
		`{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}},`+
		`{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q,"includeInterfaceView":true}}}}]}}}}`,
		"#splice-api-token-allocation-request-v1:Splice.Api.Token.AllocationRequestV1:AllocationRequest")
	shown := strings.Join(texts(c.frames("/v2/updates", updatesBody(d.first, c.ledgerEnd(), asked))), "\n")
	for _, want := range []string{`"executor":"` + venue + `"`, `"transferLegs":{"leg":{`, `"sender":"` + alice + `"`, `"amount":"3.5000000000"`, `"settlementRef":{"cid":null,"id":"Deal"}`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the views of the deals have no %s", want)
		}
	}
	d.finish()
}

func texts(frames [][]byte) (list []string) {
	for _, f := range frames {
		list = append(list, string(f))
	}
	return list
}
