package wallet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// appNode is a node on which an app has asked for allocations.
type appNode struct {
	Ledger
	views     map[string][]node.ActiveContract // by interface
	submitted []node.Submission
}

func (n *appNode) ActiveViews(_ context.Context, _, interfaceID string, _ int) ([]node.ActiveContract, error) {
	return n.views[interfaceID], nil
}

func (n *appNode) Submit(_ context.Context, s node.Submission) (*node.Transaction, error) {
	n.submitted = append(n.submitted, s)
	return &node.Transaction{UpdateID: "1220", Offset: 7, Events: []node.Event{{Exercised: &node.Exercised{
		Choice: "AllocationRequest_Reject", Result: json.RawMessage(`{"meta":{"values":{"k":"v"}}}`)}}}}, nil
}

// asked adds a request, which the node shows unless code is not 0.
func (n *appNode) asked(name, id string, created int64, code int, view string) {
	v := node.View{InterfaceID: "ab:" + template.Entity(name), Value: json.RawMessage(view)}
	v.Status.Code = code
	c := node.ActiveContract{Created: node.Created{ContractID: id, CreatedAt: time.Unix(created, 0), Views: []node.View{v}}}
	n.views["#"+name] = append(n.views["#"+name], c)
}

// shownReader shows all that was submitted, and leaves it to the node what interfaces show.
type shownReader struct{ Reader }

func (shownReader) Shown(context.Context, string, ...string) ([]ShownContract, bool, error) {
	return nil, false, nil
}

func (shownReader) WaitFor(context.Context, int64) error { return nil }

func TestAllocationRequests(t *testing.T) {
	n := &appNode{views: map[string][]node.ActiveContract{}}
	leg := func(sender string) string { return fmt.Sprintf(`{"transferLegs":{"l":{"sender":%q}}}`, sender) }
	side := func(owner string) string {
		return fmt.Sprintf(`{"allocations":[{"authorizer":{"owner":null}},{"authorizer":{"owner":%q}}]}`, owner)
	}
	n.asked(template.AllocationRequest, "late", 9, 0, leg("alice"))
	n.asked(template.AllocationRequest, "both", 2, 0, leg("alice"))
	n.asked(template.AllocationRequest, "broken", 1, 13, "null")
	n.asked(template.AllocationRequest, "of bob", 1, 0, leg("bob"))
	n.asked(template.AllocationRequestV2, "both", 2, 0, side("alice"))
	n.asked(template.AllocationRequestV2, "of bob, too", 1, 0, side("bob"))
	w := &Allocations{submitter: &submitter{ledger: n, reader: shownReader{}, log: slog.New(slog.DiscardHandler), wait: time.Second, timeout: time.Second}}
	alice := Actor{User: "alice", Party: "alice"}
	list, err := w.Requests(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, r.ID+" "+strings.TrimPrefix(template.Entity(r.InterfaceID), "Splice.Api.Token."))
	}
	if want := []string{"both AllocationRequestV2:AllocationRequest", "late AllocationRequestV1:AllocationRequest"}; !slices.Equal(got, want) {
		t.Errorf("the requests are %q, want %q", got, want)
	}
	for _, c := range []struct {
		reject   func(context.Context, Actor, string) (AllocationResult, error)
		id       string
		argument string // "" if it is not found
	}{
		{w.RejectRequest, "of bob", ""},
		{w.RejectRequest, "broken", ""},
		{w.RejectRequestV2, "late", ""},
		{w.RejectRequestV2, "of bob, too", ""},
		{w.RejectRequest, "late", `{"actor":"alice","extraArgs":{"context":{"values":{}},"meta":{"values":{}}}}`},
		{w.RejectRequestV2, "both", `{"actors":["alice"],"extraArgs":{"context":{"values":{}},"meta":{"values":{}}}}`},
	} {
		n.submitted = nil
		result, err := c.reject(t.Context(), alice, c.id)
		if c.argument == "" {
			if !errors.Is(err, ErrNotFound) || len(n.submitted) > 0 {
				t.Errorf("rejecting %s: %v after %v", c.id, err, n.submitted)
			}
			continue
		}
		if err != nil || result.Meta["k"] != "v" || result.Offset != 7 || len(n.submitted) != 1 {
			t.Fatalf("rejecting %s: %+v, %v after %v", c.id, result, err, n.submitted)
		}
		sent, err := json.Marshal(n.submitted[0].Commands[0])
		if err != nil || !strings.Contains(string(sent), c.argument) || !strings.Contains(string(sent), `"contractId":"`+c.id+`"`) {
			t.Errorf("rejecting %s sends %s, %v", c.id, sent, err)
		}
	}
}
