package view_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A node that was written by others must answer the same requests with the same updates.
func TestViewAgreesWithTheSimulatedNode(t *testing.T) {
	same, kept := 0, 0
	for _, c := range []devnet.Config{
		{Updates: 700, Seed: 31, Node: &devnet.NodeConfig{}},
		{Updates: 250, Seed: 32, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}},
	} {
		w := newWorld(t, c, false)
		known := w.knownByCatalogue()
		end := w.updates[len(w.updates)-1].Local.Offset
		for n := range 60 {
			g := &generator{Rand: rand.New(rand.NewPCG(c.Seed, uint64(n))), w: w, plain: true}
			q := g.wants()
			begin := g.Int64N(end)
			body := q.text(begin, end, g.IntN(2) == 0)
			status, answer := w.post(t, "/v2/updates", body)
			var theirs []json.RawMessage
			if err := json.Unmarshal(answer, &theirs); err != nil || status != 200 {
				t.Fatalf("seed %d, case %d: %s: status %d: %v, %.300s", c.Seed, n, body, status, err, answer)
			}
			theirs = slices.DeleteFunc(theirs, func(e json.RawMessage) bool { return strings.HasPrefix(string(e), `{"update":{"OffsetCheckpoint"`) })
			req, err := view.ParseUpdates([]byte(body), known, view.Formats)
			if err != nil {
				t.Fatalf("seed %d, case %d: %s: %v", c.Seed, n, body, err)
			}
			ours := w.render(t, req)
			if len(ours) != len(theirs) {
				t.Fatalf("seed %d, case %d: %s: %d updates, the node gives %d", c.Seed, n, body, len(ours), len(theirs))
			}
			for i := range ours {
				kept++
				own, node := withoutSubmission(t, ours[i]), withoutSubmission(t, theirs[i])
				if own.text != node.text {
					t.Fatalf("seed %d, case %d: %s: update %d is\n%s\nthe node gives\n%s", c.Seed, n, body, i, own.text, node.text)
				}
				if own.command == node.command {
					same++
				}
				// Of several who act in a root the simulated node takes one for the submitter.
				if own.command == "" && node.command != "" {
					t.Errorf("seed %d, case %d: the command is not told, the node tells %s: %s", c.Seed, n, node.command, own.text)
				}
			}
		}
	}
	if t.Logf("%d updates, %d of them with the same command", kept, same); kept < 5000 || same*100 < kept*95 {
		t.Errorf("of %d updates %d have the command that the node tells", kept, same)
	}
}

// render is the answer to a request.
func (w *world) render(t *testing.T, req *view.Updates) (list [][]byte) {
	t.Helper()
	for i := range w.updates {
		u := &w.updates[i]
		if u.Local.Offset <= req.Begin || u.Local.Offset > *req.End {
			continue
		}
		out, visible, err := req.Format.AppendUpdate(nil, u)
		if err != nil {
			t.Fatal(err)
		}
		if visible {
			list = append(list, out)
		}
	}
	if req.Descending {
		slices.Reverse(list)
	}
	return list
}

// told is an update without what depends on who submitted it, and that.
type told struct{ text, command string }

// withoutSubmission also leaves out an empty workflow id, which the simulated node writes.
func withoutSubmission(t *testing.T, element []byte) (out told) {
	t.Helper()
	var e map[string]map[string]map[string]map[string]json.RawMessage
	if err := json.Unmarshal(element, &e); err != nil {
		t.Fatalf("%v: %.300s", err, element)
	}
	for _, update := range e["update"] {
		value := update["value"]
		out.command = string(value["commandId"])
		delete(value, "commandId")
		delete(value, "paidTrafficCost")
		if string(value["workflowId"]) == `""` {
			delete(value, "workflowId")
		}
	}
	out.text = canonical(t, []byte(toJSON(e)))
	return out
}

// The set of active contracts, put together from the world's updates, must be what the
// node gives.
func TestActiveContractsAgreeWithTheSimulatedNode(t *testing.T) {
	c := devnet.Config{Updates: 900, Seed: 12, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}}
	w := newWorld(t, c, false)
	known := w.knownByCatalogue()
	shown, inFlight := 0, 0
	var departures []int64
	for i := range w.updates {
		if w.updates[i].Kind == schemas.Unassignment {
			departures = append(departures, w.updates[i].Local.Offset)
		}
	}
	for n := range 40 {
		g := &generator{Rand: rand.New(rand.NewPCG(c.Seed, uint64(n))), w: w, plain: true}
		q := g.eventWants()
		offset := w.updates[g.IntN(len(w.updates))].Local.Offset
		if n < len(departures) {
			offset = departures[n]
		}
		body := toJSON(map[string]any{"activeAtOffset": offset, "eventFormat": q.json()})
		status, answer := w.post(t, "/v2/state/active-contracts", body)
		var theirs []map[string]json.RawMessage
		if err := json.Unmarshal(answer, &theirs); err != nil || status != 200 {
			t.Fatalf("case %d: %s: status %d: %v, %.300s", n, body, status, err, answer)
		}
		req, err := view.ParseActive([]byte(body), known)
		if err != nil || req.Offset != offset {
			t.Fatalf("case %d: %s: %v", n, body, err)
		}
		want := map[string]bool{}
		for _, e := range theirs {
			want[canonical(t, []byte(`{"contractEntry":`+string(e["contractEntry"])+`}`))] = true
		}
		selection := req.Format.Selection()
		got := map[string]bool{}
		for _, contract := range w.activeAt(offset) {
			out, visible, err := req.Format.AppendActive(nil, &contract, "")
			if err != nil {
				t.Fatal(err)
			}
			if !visible {
				continue
			}
			got[canonical(t, out)] = true
			u := schemas.Update{Kind: schemas.Transaction, Events: []schemas.Event{contract.Event}}
			if shown++; !selects(&nodehistory.Selection{Transactions: &selection}, &u) {
				t.Fatalf("case %d: %s: contract %s is visible, but not selected", n, body, contract.Event.ContractID)
			}
			if contract.Unassigned != nil {
				inFlight++
			}
		}
		if !maps.Equal(got, want) {
			for e := range got {
				if !want[e] {
					t.Errorf("too much: %s", e)
					break
				}
			}
			for e := range want {
				if !got[e] {
					t.Errorf("missing: %s", e)
					break
				}
			}
			t.Fatalf("case %d: %s: %d contracts, the node gives %d", n, body, len(got), len(want))
		}
	}
	if t.Logf("%d contracts, %d in flight", shown, inFlight); shown < 1000 || inFlight == 0 {
		t.Errorf("only %d contracts were compared, %d of them in flight", shown, inFlight)
	}
}

// activeAt follows the updates up to an offset.
func (w *world) activeAt(offset int64) map[string]nodehistory.Contract {
	active := map[string]nodehistory.Contract{}
	for i := range w.updates {
		u := &w.updates[i]
		if u.Local.Offset > offset {
			break
		}
		for j := range u.Events {
			e := &u.Events[j]
			switch {
			case !e.Local.ACSDelta:
			case e.Kind == schemas.Created:
				c := nodehistory.Contract{Event: *e, SynchronizerID: u.SynchronizerID, Offset: u.Local.Offset}
				if u.Reassignment != nil {
					c.Counter = u.Reassignment.Counter
				}
				active[e.ContractID] = c
			case e.Kind == schemas.Unassigned:
				c, known := active[e.ContractID]
				if !known {
					continue // of a contract that was made up, see decorate
				}
				left := *u
				left.Events = u.Events[j : j+1]
				c.Unassigned = &nodehistory.Event{Update: left}
				active[e.ContractID] = c
			default:
				delete(active, e.ContractID)
			}
		}
	}
	return active
}

// The node's refusals of names and shapes are ours, in status and code.
func TestRefusalsAgreeWithTheSimulatedNode(t *testing.T) {
	w := newWorld(t, devnet.Config{Updates: 200, Seed: 33, Node: &devnet.NodeConfig{}}, false)
	known := w.known()
	known.AddPackageName("splice-amulet")
	template := func(id string) string {
		return fmt.Sprintf(`{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":%q}}}}]}}}}`, id)
	}
	for _, body := range []string{
		`{`, `[]`, `{"beginExclusive":"x"}`, `{"beginExclusive":1.5}`, `{}`, `{"filter":{},"updateFormat":{}}`,
		`{"verbose":true,"updateFormat":{}}`, `{"beginExclusive":-1,"updateFormat":{}}`, `{"endInclusive":3,"beginExclusive":4,"updateFormat":{}}`,
		`{"descendingOrder":true,"updateFormat":{}}`, `{"updateFormat":{"includeReassignments":{}}}`, `{"updateFormat":{"includeReassignments":{"filtersByParty":{"alice":{}}}}}`,
		template("a:b"), template("#nothing:A:B"), template("#splice-amulet:Splice.Amulet:Coin"), template("00:Splice.Amulet:Amulet"),
		strings.Replace(template("a:b:c"), "Template", "Colour", 1),
	} {
		if body != "{}" { // which lacks everything
			body = begun(body)
		}
		status, answer := w.post(t, "/v2/updates", body)
		var theirs struct{ Code string }
		text := json.Unmarshal(answer, &theirs) != nil
		_, err := view.ParseUpdates([]byte(body), known, view.Formats)
		switch e := err.(type) {
		case *view.Invalid:
			if text || e.Code != theirs.Code {
				t.Errorf("%s: %v, the node answers %d %s", body, err, status, answer)
			}
		case *view.Undecodable:
			if !text || status != 400 {
				t.Errorf("%s: %v, the node answers %d %s", body, err, status, answer)
			}
		default:
			t.Errorf("%s: %v, the node answers %d %s", body, err, status, answer)
		}
	}
}
