package view_test

import (
	"strings"
	"testing"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// exercised and created are the events of coin for carol, a mere witness.
	exercised = `{"acsDelta":false,"actingParties":["alice::12"],"choice":"Give","choiceArgument":{},"consuming":true,"contractId":"00aa","exerciseResult":null,"lastDescendantNodeId":1,"nodeId":0,"offset":7,"packageName":"splice-amulet","templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["carol::12"]}`
	created   = `{"acsDelta":false,"contractId":"00bb","createArgument":{"owner":"bob"},"createdAt":"2023-11-14T22:13:20.500Z","nodeId":1,"observers":["other::node"],"offset":7,"packageName":"splice-amulet","representativePackageId":"ab12","signatories":["bob::12"],"templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["carol::12"]}`

	treeOfCoin = `{"effectiveAt":"2023-11-14T22:13:20.500Z","eventsById":{"0":{"ExercisedTreeEvent":{"value":` + exercised + `}},"1":{"CreatedTreeEvent":{"value":` + created + `}}},"offset":7,"recordTime":"2023-11-14T22:13:20.000000Z","synchronizerId":"global::12","updateId":"1220aa"}`
)

// One transaction is given alone, flat or as a tree, byte for byte.
func TestOneTransactionIsWrittenAs(t *testing.T) {
	flat, err := view.ParseTransactionByID([]byte(`{"updateId":"1220aa","requestingParties":["alice::12"]}`), fewKnown())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := view.TreeByID("1220aa", []string{"carol::12"})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := view.TreeByOffset(7, []string{"other::node"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := view.TreeByOffset(7, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		q    *view.OneUpdate
		want string
	}{
		{"what is active for who acts", flat, `{"transaction":{"commandId":"c","effectiveAt":"2023-11-14T22:13:20.500Z","events":[{"ArchivedEvent":{"contractId":"00aa","nodeId":0,"offset":7,"packageName":"splice-amulet","templateId":"old1:Splice.Amulet:Amulet","witnessParties":["alice::12"]}}],"offset":7,"paidTrafficCost":3,"recordTime":"2023-11-14T22:13:20.000000Z","synchronizerId":"global::12","updateId":"1220aa"}}`},
		{"a tree for a witness", tree, `{"transaction":` + treeOfCoin + `}`},
		{"nothing for who saw nothing", stranger, ``},
	} {
		out, visible, err := c.q.Format.AppendUpdate([]byte("before"), coin())
		if err != nil || string(out) != "before"+c.want || visible != (c.want != "") {
			t.Errorf("%s: %t, %v\n%s\nwant\n%s", c.name, visible, err, out, c.want)
		}
	}
	if parties, any := whole.Format.Readers(); len(parties) > 0 || !any {
		t.Errorf("a tree for nobody in particular needs the right to read as %v, any party %t", parties, any)
	}
	if _, err := view.TreeByID("1220aa", []string{"nobody"}); err == nil {
		t.Error("a tree for what is no party is not refused")
	}
}

// The same tree as an element of a list.
func TestTreesOfAList(t *testing.T) {
	q, err := view.ParseUpdates([]byte(`{"beginExclusive":0,"filter":{"filtersByParty":{"carol::12":{}}},"verbose":true}`), fewKnown(), view.Trees)
	if err != nil {
		t.Fatal(err)
	}
	out, visible, err := q.Format.AppendUpdate(nil, coin())
	if want := `{"update":{"TransactionTree":{"value":` + treeOfCoin + `}}}`; err != nil || !visible || string(out) != want {
		t.Errorf("%t, %v\n%s\nwant\n%s", visible, err, out, want)
	}
	flat, err := view.ParseUpdates([]byte(`{"beginExclusive":0,"filter":{"filtersByParty":{"carol::12":{}}}}`), fewKnown(), view.Formats)
	if err != nil {
		t.Fatal(err)
	}
	if q.Format.Digest() == flat.Format.Digest() {
		t.Error("trees and flats have one digest: the answer to one would be given for the other")
	}
}

// A contract is shown to who has a stake in it, with its blob.
func TestContractIsWrittenAs(t *testing.T) {
	u := coin()
	event := &nodehistory.Event{Update: schemas.Update{UpdateID: u.UpdateID, SynchronizerID: u.SynchronizerID, Local: u.Local, Events: u.Events[1:]}}
	for party, want := range map[string]bool{"bob::12": true, "carol::12": false} {
		q, err := view.ParseContract([]byte(`{"contractId":"00bb","queryingParties":["` + party + `"]}`))
		if err != nil {
			t.Fatal(err)
		}
		out, visible, err := q.Format.AppendContract(nil, event)
		if err != nil || visible != want || want != strings.HasPrefix(string(out), `{"createdEvent":{"acsDelta":true,"contractId":"00bb","createArgument":{"owner":"bob"},`) || want != strings.Contains(string(out), `"createdEventBlob":"Ymxv"`) {
			t.Errorf("%s: %t, %v, %s", party, visible, err, out)
		}
	}
}
