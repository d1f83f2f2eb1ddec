package wallet_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// unasked is a node that must not be asked for views.
type unasked struct{ *node.Client }

func (unasked) ActiveViews(context.Context, string, string, int) ([]node.ActiveContract, error) {
	return nil, errors.New("the node is asked for views")
}

// allocationRequests are of an app whose package no catalogue knows: the node gives their views with its
// stream.
func (w *world) allocationRequests(t *testing.T, alice, bob wallet.Actor) {
	own := w.Restarted(func(c *wallet.Config) { c.Ledger = unasked{w.Client} })
	if list, err := own.Allocations.Requests(t.Context(), alice); err != nil || len(list) > 0 {
		t.Fatalf("without requests, alice has %+v: %v", list, err)
	}
	now := w.Ledger.Now()
	leg := map[string]any{"sender": alice.Party, "receiver": bob.Party, "amount": "2.0",
		"instrumentId": map[string]any{"admin": w.Ledger.GovernanceParty(), "id": "Amulet"}, "meta": map[string]any{"values": map[string]any{}}}
	deal := func() node.Submission {
		return node.Submission{ActAs: []string{bob.Party}, Commands: []node.Command{{Create: &node.CreateCommand{TemplateID: "#harbor-exchange:Harbor.Exchange.Deal:Deal",
			Arguments: map[string]any{"venue": bob.Party, "transferLegs": map[string]any{"leg": leg}, "createdAt": now.Format(time.RFC3339Nano),
				"prepareUntil": now.Add(time.Hour).Format(time.RFC3339Nano), "settleBefore": now.Add(2 * time.Hour).Format(time.RFC3339Nano)}}}}}
	}
	reader := wallet.NewStoreReader(w.Wallets, w.Node, values.Default())
	for range 2 {
		tx := must[*node.Transaction](t, "making a deal")(w.Client.Submit(t.Context(), deal()))
		if err := reader.WaitFor(t.Context(), tx.Offset); err != nil {
			t.Fatal(err)
		}
	}
	list := must[[]wallet.ShownContract](t, "listing requests")(own.Allocations.Requests(t.Context(), alice))
	if len(list) != 2 || template.Entity(list[0].InterfaceID) != template.Entity(template.AllocationRequest) || list[0].Blob == "" {
		t.Fatalf("alice has the requests %+v", list)
	}
	asked := must[[]node.ActiveContract](t, "asking the node")(w.Client.ActiveViews(t.Context(), alice.Party, "#"+template.AllocationRequest, 10))
	var stored, live any
	if err := errors.Join(json.Unmarshal(list[0].View, &stored), json.Unmarshal(asked[0].Views[0].Value, &live)); err != nil {
		t.Fatal(err)
	}
	if sameJSON(t, stored) != sameJSON(t, live) || !strings.Contains(sameJSON(t, stored), `"sender":"`+alice.Party) {
		t.Errorf("the store shows %s, the node %s", list[0].View, asked[0].Views[0].Value)
	}
	if list, err := own.Allocations.Requests(t.Context(), bob); err != nil || len(list) > 0 {
		t.Errorf("bob, who is asked for nothing, has %+v: %v", list, err)
	}
	if _, known, err := reader.Shown(t.Context(), alice.Party, "other:Other:Interface"); err != nil || known {
		t.Errorf("the store knows what an interface shows that nobody has asked for: %v, %v", known, err)
	}
	must[wallet.AllocationResult](t, "rejecting")(own.Allocations.RejectRequest(t.Context(), alice, list[0].ID))
	if left := must[[]wallet.ShownContract](t, "listing again")(own.Allocations.Requests(t.Context(), alice)); len(left) != 1 || left[0].ID != list[1].ID {
		t.Errorf("after one of two was rejected, alice has %+v", left)
	}
}

func sameJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
