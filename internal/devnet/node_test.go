package devnet

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// TestNodeDigestsMatchTheStream reads the whole stream as a client does.
func TestNodeDigestsMatchTheStream(t *testing.T) {
	for _, participant := range []string{"", "Super-Validator-2", "validator-2"} {
		t.Run(participant, func(t *testing.T) {
			l, c := startNode(t, sim.Config{Updates: 900, Seed: 5, SkipCompact: true,
				Node: &sim.NodeConfig{Participant: participant, MigrationID: 3}}, nodeapi.NodeOptions{})
			frames := c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything))
			updates := decodeNodeUpdates(t, frames)
			d := l.NodeDigests()
			if got := digestsOf(t, updates, 3); !maps.Equal(got, d.Tables) {
				t.Errorf("what was sent digests to %v, the node says %v", got, d.Tables)
			}
			if len(updates) < 40 || d.LedgerEnd != c.ledgerEnd() || d.MigrationID != 3 {
				t.Errorf("%d updates, digests %+v", len(updates), d)
			}
			for i, f := range frames {
				if canonical, err := jsonscan.AppendCanonical(nil, f); err != nil || string(canonical) != string(f) {
					t.Fatalf("frame %d is not canonical: %v, %.300s", i, err, f)
				}
			}
			offset := int64(0)
			for i := range updates {
				if u := &updates[i]; u.Value.Offset <= offset {
					t.Fatalf("offset %d after %d", u.Value.Offset, offset)
				} else {
					offset = u.Value.Offset
				}
			}
		})
	}
}

// TestNodeLeavesPublicHistoryAlone compares the data files with and without a view.
func TestNodeLeavesPublicHistoryAlone(t *testing.T) {
	plain, _ := startLedger(t, sim.Config{Updates: 1500, Seed: 6})
	viewed, _ := startNode(t, sim.Config{Updates: 1500, Seed: 6}, nodeapi.NodeOptions{})
	got, want := fileHashes(t, viewed.Config.Dir), fileHashes(t, plain.Config.Dir)
	for name, hash := range want {
		if got[name] != hash {
			t.Errorf("%s differs", name)
		}
	}
	if len(want) != 4 || len(got) != 6 {
		t.Errorf("%d data files without and %d with a view", len(want), len(got))
	}
	if !reflect.DeepEqual(plain.Digests(), viewed.Digests()) {
		t.Errorf("digests differ: %+v and %+v", plain.Digests(), viewed.Digests())
	}
}

func TestNodeSameSeedSameStream(t *testing.T) {
	a, _ := startNode(t, sim.Config{Updates: 1200, Seed: 1, SkipCompact: true}, nodeapi.NodeOptions{})
	before := runtime.GOMAXPROCS(1)
	b, _ := startNode(t, sim.Config{Updates: 1200, Seed: 1, SkipCompact: true}, nodeapi.NodeOptions{})
	runtime.GOMAXPROCS(before)
	if !reflect.DeepEqual(fileHashes(t, a.Config.Dir), fileHashes(t, b.Config.Dir)) {
		t.Error("same seed, different files")
	}
	if !reflect.DeepEqual(a.NodeDigests(), b.NodeDigests()) || !reflect.DeepEqual(a.Store.Node.Activations, b.Store.Node.Activations) {
		t.Error("same seed, different streams")
	}
}

// publicTrees are the transactions of the scan by update id, with their verdicts.
func publicTrees(t *testing.T, l *ledger.Ledger) (map[string]item, map[string]eventItem) {
	t.Helper()
	c := serveScan(t, l)
	trees, events := map[string]item{}, map[string]eventItem{}
	for _, it := range c.allUpdates("/v2/updates", "protobuf_json", 1000) {
		trees[it.UpdateID] = it
	}
	for _, e := range c.allEvents("protobuf_json", 1000) {
		events[e.position(t).UpdateID] = e
	}
	return trees, events
}

// TestNodeSeesWhatItsPartiesAreInformedOf computes from the public trees which events
// the node's parties see, and compares.
func TestNodeSeesWhatItsPartiesAreInformedOf(t *testing.T) {
	for _, participant := range []string{"", "Super-Validator-1"} {
		t.Run(participant, func(t *testing.T) {
			l, c := startNode(t, sim.Config{Updates: 1000, Seed: 7, SkipCompact: true, Node: &sim.NodeConfig{Participant: participant}}, nodeapi.NodeOptions{})
			hosted := map[string]bool{}
			for _, p := range l.View.Parties {
				hosted[l.Names.Parties[p]] = true
			}
			trees, verdicts := publicTrees(t, l)
			contracts := newContractParties(t, trees)
			streamed := map[string]nodeUpdate{}
			for _, u := range decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything))) {
				streamed[u.Value.UpdateID] = u
			}
			seen := 0
			for id, tree := range trees {
				if tree.Event != nil {
					continue
				}
				want := newWitnessModel(t, tree, contracts, hosted)
				u, ok := streamed[id]
				if ok != (len(want.witnesses) > 0) {
					t.Fatalf("update %s streamed: %t, %d of its events are seen", id, ok, len(want.witnesses))
				}
				if ok {
					seen++
					want.compare(t, &u)
				}
			}
			private := map[string]int{}
			for id, u := range streamed {
				if _, public := trees[id]; public || u.Kind == "TopologyTransaction" {
					continue
				}
				checkPrivate(t, &u, hosted, verdicts[id])
				for _, e := range u.Events {
					_, name, _ := strings.Cut(e.TemplateID, ":")
					private[name+" "+e.Choice]++
				}
			}
			if seen == 0 || participant == "" && len(private) < 12 || strings.HasPrefix(participant, "Super") && len(private) > 0 {
				t.Errorf("%d public transactions seen, private: %v", seen, private)
			}
		})
	}
}

// contractParties are the stakeholders of all contracts of public history.
type contractParties map[string]event

func newContractParties(t *testing.T, trees map[string]item) contractParties {
	t.Helper()
	all := contractParties{}
	for _, tree := range trees {
		for _, raw := range tree.EventsByID {
			if e := decodeEvent(t, raw); e.EventType == "created_event" {
				all[e.ContractID] = e
			}
		}
	}
	return all
}

// informees are the parties that must know of an event.
func (c contractParties) informees(e *event) []string {
	contract := c[e.ContractID]
	parties := slices.Concat(contract.Signatories, e.ActingParties)
	if e.EventType == "created_event" || e.Consuming {
		parties = append(parties, contract.Observers...)
	}
	return parties
}

// witnessModel is who of a node sees what of a public transaction, found the long way.
type witnessModel struct {
	contracts contractParties
	hosted    map[string]bool
	tree      item
	witnesses map[int32]map[string]bool
	events    map[int32]event
	last      map[int32]int32
}

func newWitnessModel(t *testing.T, tree item, contracts contractParties, hosted map[string]bool) *witnessModel {
	t.Helper()
	m := &witnessModel{contracts, hosted, tree, map[int32]map[string]bool{}, map[int32]event{}, map[int32]int32{}}
	for _, root := range tree.RootEventIDs {
		m.walk(t, root, map[string]bool{})
	}
	return m
}

// walk returns the number of the last node below an event.
func (m *witnessModel) walk(t *testing.T, id string, above map[string]bool) int32 {
	t.Helper()
	e := decodeEvent(t, m.tree.EventsByID[id])
	var node int32
	if _, err := fmt.Sscanf(id[strings.LastIndexByte(id, ':'):], ":%d", &node); err != nil {
		t.Fatal(err)
	}
	informed := maps.Clone(above)
	for _, p := range m.contracts.informees(&e) {
		if m.hosted[p] {
			informed[p] = true
		}
	}
	if len(informed) > 0 {
		m.witnesses[node] = informed
	}
	m.events[node], m.last[node] = e, node
	for _, child := range e.ChildEventIDs {
		m.last[node] = m.walk(t, child, informed)
	}
	return m.last[node]
}

// delta reports whether an event changes what is active on the node.
func (m *witnessModel) delta(node int32) bool {
	e := m.events[node]
	contract, changes := m.contracts[e.ContractID], 0
	for _, o := range m.events {
		if o.ContractID == e.ContractID && (o.EventType == "created_event" || o.Consuming) {
			changes++
		}
	}
	hosts := slices.ContainsFunc(slices.Concat(contract.Signatories, contract.Observers), func(p string) bool { return m.hosted[p] })
	return hosts && changes == 1 && (e.EventType == "created_event" || e.Consuming)
}

func (m *witnessModel) compare(t *testing.T, u *nodeUpdate) {
	t.Helper()
	if len(u.Events) != len(m.witnesses) {
		t.Fatalf("update %s has %d events, want %d", u.Value.UpdateID, len(u.Events), len(m.witnesses))
	}
	for i := range u.Events {
		e := &u.Events[i]
		want := slices.Sorted(maps.Keys(m.witnesses[e.Node]))
		if !slices.Equal(e.Witnesses, want) {
			t.Errorf("event %s:%d is witnessed by %v, want %v", u.Value.UpdateID, e.Node, e.Witnesses, want)
		}
		if e.ACSDelta != m.delta(e.Node) {
			t.Errorf("event %s:%d has acsDelta %t", u.Value.UpdateID, e.Node, e.ACSDelta)
		}
		if p := m.events[e.Node]; p.ContractID != e.ContractID || p.Choice != e.Choice || p.TemplateID != e.TemplateID {
			t.Errorf("event %s:%d is %s on %s, want %s", u.Value.UpdateID, e.Node, e.Choice, e.ContractID, p.Choice)
		}
		if e.Kind == "ExercisedEvent" && *e.Last != m.last[e.Node] {
			t.Errorf("event %s:%d: last descendant %d, want %d", u.Value.UpdateID, e.Node, *e.Last, m.last[e.Node])
		}
	}
	if u.Value.RecordTime != m.tree.RecordTime {
		t.Errorf("update %s at %s, want %s", u.Value.UpdateID, u.Value.RecordTime, m.tree.RecordTime)
	}
}

// checkPrivate verifies a transaction that public history knows the verdict of only.
func checkPrivate(t *testing.T, u *nodeUpdate, hosted map[string]bool, public eventItem) {
	t.Helper()
	var v struct {
		Result     string   `json:"verdict_result"`
		Submitting []string `json:"submitting_parties"`
		Views      struct {
			Views []struct {
				Informees []string `json:"informees"`
			} `json:"views"`
		} `json:"transaction_views"`
	}
	if err := json.Unmarshal(public.Verdict, &v); err != nil || public.Update != nil {
		t.Fatalf("private update %s: %v, public part %s", u.Value.UpdateID, err, public.Update)
	}
	if v.Result != "VERDICT_RESULT_ACCEPTED" {
		t.Errorf("private update %s has verdict %s", u.Value.UpdateID, v.Result)
	}
	if (u.Value.CommandID != nil) != hosted[v.Submitting[0]] {
		t.Errorf("private update %s: command told: %t, submitted here: %t", u.Value.UpdateID, u.Value.CommandID != nil, hosted[v.Submitting[0]])
	}
	informed := func(parties []string) bool {
		for _, view := range v.Views.Views {
			if !slices.ContainsFunc(parties, func(p string) bool { return !slices.Contains(view.Informees, p) }) {
				return true
			}
		}
		return false
	}
	for _, e := range u.Events {
		if parties := slices.Concat(e.Signatories, e.Observers, e.Acting); !informed(parties) || slices.ContainsFunc(parties, func(p string) bool { return strings.HasPrefix(p, "DSO::") }) {
			t.Errorf("private event %s:%d is of %v, the views are of %+v", u.Value.UpdateID, e.Node, parties, v.Views.Views)
		}
		if len(e.Witnesses) == 0 || slices.ContainsFunc(e.Witnesses, func(p string) bool { return !hosted[p] }) {
			t.Errorf("private event %s:%d is witnessed by %v", u.Value.UpdateID, e.Node, e.Witnesses)
		}
	}
}
