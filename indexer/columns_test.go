package indexer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// SQL sees texts as they were written, although the store keeps them taken apart.
func TestComputedColumnsReadAsWritten(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 11, Items: 200})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.Items, 100) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, it := range h.Items {
		if it.Verdict != nil {
			want["verdicts"] = append(want["verdicts"], string(it.Verdict.Views))
		}
		if it.Update == nil {
			continue
		}
		for _, e := range it.Update.Events {
			text := fmt.Sprintf("%s %s %s", e.ContractID, e.Argument, e.Result)
			if it.Update.IsImport() {
				want["imports"] = append(want["imports"], text)
				continue
			}
			want["events"] = append(want["events"], text)
		}
	}
	for _, e := range h.Active {
		want["lifetimes"] = append(want["lifetimes"], fmt.Sprintf("%s %s", e.ContractID, e.Argument))
	}
	for name, query := range map[string]string{
		"events":   "SELECT concat(contract_id, ' ', argument, ' ', result) FROM events",
		"imports":  "SELECT concat(contract_id, ' ', argument, ' ') FROM imports",
		"verdicts": "SELECT views FROM verdicts",
		"lifetimes": `SELECT concat(contract_id, ' ', argument) FROM contracts_live
			WHERE migration_id = 1 AND archived_at > '2200-01-01'`,
	} {
		got := indexertest.Texts(t, f.dsn, query)
		slices.Sort(got)
		slices.Sort(want[name])
		if len(got) == 0 || !slices.Equal(got, want[name]) {
			t.Errorf("%s: SQL reads %d texts that differ from the %d written", name, len(got), len(want[name]))
		}
	}
}

// nodeHistory is a short history of a node's own stream: a set of two active contracts at
// offset 10, then creates, an archival, a divulged create and a reassignment. The set may
// end with a batch of its own, without items.
func nodeHistory(participant string, apart bool) []*schemas.Batch {
	contract := func(n int) string { return fmt.Sprintf("00%0136x", n) }
	created := func(node int32, n int, delta bool) schemas.Event {
		return schemas.Event{
			Node: node, Kind: schemas.Created, ContractID: contract(n), TemplateID: "pkg:Mod:T", PackageName: "package",
			Argument: []byte(`{"owner":"` + schematest.Party("owner", n) + `"}`), CreatedAt: schematest.FirstTime,
			Signatories: []string{schematest.Party("party", 1)},
			Local: &schemas.LocalEvent{
				Witnesses: []string{schematest.Party("party", 1)}, ACSDelta: delta, LastDescendant: node, Extras: []byte(`{"createdEventBlob":"YQ=="}`),
			},
		}
	}
	update := func(offset int64, kind schemas.UpdateKind, events ...schemas.Event) schemas.Item {
		id := fmt.Sprintf("1220%064x", offset)
		for i := range events {
			events[i].EventID = schemas.EventID(id, events[i].Node)
		}
		u := &schemas.Update{
			Kind: kind, SynchronizerID: "sync::1220", RecordTime: schematest.FirstTime + schemas.Micros(1000-offset), UpdateID: id,
			Encoding: schemas.CompactJSON, EffectiveAt: schematest.FirstTime, Events: events,
			Local: &schemas.LocalUpdate{Offset: offset, CommandID: "command", PaidTrafficCost: 7, TraceContext: []byte(`{"traceparent":"00"}`), Extras: []byte(`{"novelty":[1]}`)},
		}
		return schemas.Item{Update: u}
	}
	archived := func(node int32, n int, kind schemas.EventKind) schemas.Event {
		e := created(node, n, true)
		e.Kind, e.Signatories, e.CreatedAt, e.Argument = kind, nil, 0, nil
		if kind == schemas.Exercised {
			e.Consuming, e.Choice, e.Argument, e.Result = true, "Archive", []byte(`{}`), []byte(`{}`)
		}
		return e
	}
	imported := func(n int) schemas.Item {
		it := update(10, schemas.Transaction, created(0, n, true))
		it.Update.RecordTime, it.Update.UpdateID = schemas.MinMicros, contract(n)
		it.Update.Local = &schemas.LocalUpdate{Offset: 10, PaidTrafficCost: -1}
		it.Update.Events[0].EventID = schemas.EventID(contract(n), 0)
		it.Update.RootEvents = []int32{0}
		return it
	}
	unassigned := update(15, schemas.Unassignment, archived(0, 2, schemas.Unassigned))
	unassigned.Update.Reassignment = &schemas.Reassignment{UnassignID: "u1", SourceSynchronizer: "sync::1220", ContractID: contract(2)}
	topology := update(16, schemas.Topology)
	topology.Update.Local.Topology = []byte(`[{"event":{"ParticipantAuthorizationAdded":{}}}]`)
	set := []schemas.Item{imported(1), imported(2)}
	first := []schemas.Item{
		update(11, schemas.Transaction, created(0, 3, true), created(2, 4, true)),
		update(12, schemas.Transaction, archived(0, 3, schemas.Exercised), created(1, 5, false)),
		update(14, schemas.Transaction, archived(0, 1, schemas.Exercised)),
	}
	second := []schemas.Item{unassigned, topology, update(20, schemas.Transaction, created(0, 6, true))}
	stream := schemas.NodeStream(participant)
	var list []*schemas.Batch
	after := schemas.Start
	type part struct {
		through schemas.Position
		items   []schemas.Item
	}
	parts := []part{{set[0].Position(), set[:1]}, {schemas.AtOffset(10), set[1:]}, {schemas.AtOffset(14), first}, {schemas.AtOffset(25), second}}
	if apart {
		parts = append([]part{{set[1].Position(), set}, {schemas.AtOffset(10), nil}}, parts[2:]...)
	}
	for _, b := range parts {
		list = append(list, &schemas.Batch{Stream: stream, After: after, Through: b.through, Items: b.items})
		after = b.through
	}
	return list
}

// The own stream of a node is written by offset, whatever the order of its record times,
// and its lifetimes follow.
func TestNodeStreamByOffset(t *testing.T) {
	f := newFixture(t)
	for _, apart := range []bool{false, true} {
		for _, every := range []int{1, 4} { // lifetimes after each batch, and after all
			t.Run(fmt.Sprintf("set apart %v, lifetimes every %d batches", apart, every), func(t *testing.T) {
				f.checkNodeStream(t, nodeHistory(fmt.Sprintf("participant-%v-%d", apart, every), apart), every)
			})
		}
	}
}

func (f *fixture) checkNodeStream(t *testing.T, list []*schemas.Batch, every int) {
	t.Helper()
	stream := list[0].Stream
	l := NewLifetimes(f.db, stream, time.Millisecond, f.log)
	for i, b := range list {
		// Each batch by a writer that knows nothing yet, and twice.
		for range 2 {
			if err := NewWriter(f.db, stream, f.log).Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if (i+1)%every != 0 {
			continue
		}
		if err := l.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	resume, err := NewWriter(f.db, stream, f.log).Resume(t.Context(), stream)
	if err != nil || resume.Committed != schemas.AtOffset(25) || resume.Pending != nil {
		t.Fatalf("resume at %+v, %v", resume, err)
	}
	live := indexertest.Texts(t, f.dsn, "SELECT substring(contract_id, -1) FROM contracts_live WHERE stream = '"+stream+"' AND archived_at > '2200-01-01' ORDER BY contract_id")
	if want := []string{"4", "6"}; !slices.Equal(live, want) {
		t.Errorf("contracts %q are live, want %q", live, want)
	}
	f.checkNodeUpdates(t, list)
	f.checkActiveAtOffsets(t, stream, 1)
	f.checkEnded(t, list)
	f.checkParties(t, list)
	if err := l.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.checkActiveAtOffsets(t, stream, 3)
}

// checkEnded reads who the stakeholders were of the contracts that ended in other updates
// than began them: 1 and 2 of the set, and 3.
func (f *fixture) checkEnded(t *testing.T, list []*schemas.Batch) {
	t.Helper()
	var want []string
	for offset, n := range map[int64]int{12: 3, 14: 1, 15: 2} {
		want = append(want, fmt.Sprintf("%d %d pkg:Mod:T %s", offset, store.Key(fmt.Sprintf("00%0136x", n)), schematest.Party("party", 1)))
	}
	slices.Sort(want)
	got := indexertest.Texts(t, f.dsn, `SELECT concat(toString(archived_offset), ' ', toString(contract_key), ' ', template_id, ' ', arrayStringConcat(signatories))
		FROM ended_contracts WHERE stream = '`+list[0].Stream+`' AND empty(observers) ORDER BY archived_offset`)
	if !slices.Equal(got, want) {
		t.Errorf("ended contracts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkParties compares the places of parties with the witnesses of events: one for each party of
// each update, however many events it sees.
func (f *fixture) checkParties(t *testing.T, list []*schemas.Batch) {
	t.Helper()
	want := map[string]bool{}
	for _, b := range list {
		for _, it := range b.Items {
			for _, e := range it.Update.Events {
				for _, party := range e.Local.Witnesses {
					if !it.Update.IsImport() {
						want[fmt.Sprintf("%d %d", it.Update.Local.Offset, store.PlaceKey(b.Stream, store.ByParty, party))] = true
					}
				}
			}
		}
	}
	got := indexertest.Texts(t, f.dsn, `SELECT concat(toString(node_offset), ' ', toString(place_key)) FROM places WHERE kind = 'party' AND stream = '`+list[0].Stream+`'`)
	if slices.Sort(got); len(got) == 0 || !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("parties are found at\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(slices.Sorted(maps.Keys(want)), "\n"))
	}
}

// A step of lifetimes that is repeated, because nobody knows whether it was applied, leaves
// the rows of one.
func TestEndedContractsOfARepeatedStep(t *testing.T) {
	f := newFixture(t)
	list := nodeHistory("participant", false)
	w := NewWriter(f.db, list[0].Stream, f.log)
	l := NewLifetimes(f.db, list[0].Stream, time.Millisecond, f.log)
	for _, b := range list {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		l.follower.Forget()
		if err := l.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		row, _, err := l.follower.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lifetimes, earlier, err := l.read(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.endEarlier(t.Context(), row.Through, earlier); err != nil {
				t.Fatal(err)
			}
			if err := l.keepEnded(t.Context(), row, lifetimes, earlier); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.apply(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		if err := journal.Insert(t.Context(), f.db, row, store.Commit); err != nil {
			t.Fatal(err)
		}
	}
	f.checkEnded(t, list)
}

// checkActiveAtOffsets reads the sets of nodeHistory, whose record times go backwards, in
// pages of a limit.
func (f *fixture) checkActiveAtOffsets(t *testing.T, stream string, limit int) {
	t.Helper()
	reader := nodehistory.NewReader(f.db, stream)
	read := func(q nodehistory.ActiveAtQuery) (got string) {
		for q.Limit = limit; ; {
			page, err := reader.ActiveAtOffset(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range page {
				e := &page[i].Event
				got += fmt.Sprintf("%s@%d ", e.ContractID[len(e.ContractID)-1:], page[i].CreatedOffset)
				if page[i].SynchronizerID != "sync::1220" {
					t.Errorf("contract %s is active on %q", e.ContractID, page[i].SynchronizerID)
				}
				q.AfterCreatedAt, q.AfterContractID = e.CreatedAt, e.ContractID
			}
			if len(page) < limit {
				return strings.TrimSpace(got)
			}
		}
	}
	for offset, want := range map[int64]string{
		9: "", 10: "1@10 2@10", 11: "1@10 2@10 3@11 4@11", 12: "1@10 2@10 4@11", 13: "1@10 2@10 4@11",
		14: "2@10 4@11", 15: "4@11", 19: "4@11", 20: "4@11 6@20", 25: "4@11 6@20",
	} {
		if got := read(nodehistory.ActiveAtQuery{Offset: offset}); got != want {
			t.Errorf("active at offset %d: %q, want %q", offset, got, want)
		}
	}
	party, template := schematest.Party("party", 1), "package:Mod:T"
	for name, c := range map[string]struct {
		parties, templates []string
		want               string
	}{
		"a stakeholder":    {parties: []string{"nobody", party}, want: "1@10 2@10 3@11 4@11"},
		"nobody":           {parties: []string{"nobody"}},
		"the template":     {templates: []string{template}, want: "1@10 2@10 3@11 4@11"},
		"another template": {parties: []string{party}, templates: []string{"package:Mod:U"}},
	} {
		if got := read(nodehistory.ActiveAtQuery{Offset: 11, Parties: c.parties, Templates: c.templates}); got != c.want {
			t.Errorf("active at offset 11 of %s: %q, want %q", name, got, c.want)
		}
	}
}

// checkNodeUpdates reads updates and events of a node's stream back by offset.
func (f *fixture) checkNodeUpdates(t *testing.T, list []*schemas.Batch) {
	t.Helper()
	var want, got schemas.Digest
	for _, b := range list {
		want.Merge(digestItems(b.Items))
	}
	reader := nodehistory.NewReader(f.db, list[0].Stream)
	updates, err := reader.UpdatesByOffset(t.Context(), 0, 25, 100)
	if err != nil {
		t.Fatal(err)
	}
	imports, err := history.NewReader(f.db, list[0].Stream).Imports(t.Context(), 0, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range append(updates, imports...) {
		got.Add(schemas.AppendItem(nil, &schemas.Item{Update: &u}))
	}
	if got != want {
		t.Errorf("read back %s, written %s", got, want)
	}
	some, err := reader.UpdatesByOffset(t.Context(), 11, 16, 2)
	if err != nil || len(some) != 2 || some[0].Local.Offset != 12 || some[1].Local.Offset != 14 {
		t.Errorf("two updates after offset 11: %d, %v", len(some), err)
	}
}
