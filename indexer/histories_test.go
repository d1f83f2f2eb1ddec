package indexer

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// written stores a history with its lifetimes.
func written(t *testing.T, h *schematest.History) *fixture {
	t.Helper()
	f := newFixture(t)
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.Items, 200) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReaderMatchesTheItems reads one stored history in all ways and compares what comes with the
// items that were written.
func TestReaderMatchesTheItems(t *testing.T) {
	h := schematest.New(schematest.Config{Seed: 12, Items: schematest.Rounds(240, 400)})
	hashed := lastTransaction(h)
	hashed.ExternalTransactionHash = "1220beef"
	f := written(t, h)
	t.Run("history of contracts", func(t *testing.T) { f.checkContractHistory(t, h) })
	t.Run("updates of parties", func(t *testing.T) { f.checkPartyUpdates(t, h) })
	t.Run("keys of active contracts", func(t *testing.T) { f.checkActiveKeys(t, h) })
	t.Run("update by hash", func(t *testing.T) { f.checkHashes(t, hashed.UpdateID) })
	t.Run("pages and lists", func(t *testing.T) { f.checkPages(t, h) })
}

// lastTransaction is the last update of a history that is a transaction.
func lastTransaction(h *schematest.History) (last *schemas.Update) {
	for _, it := range h.Items {
		if u := it.Update; u != nil && u.Kind == schemas.Transaction && !u.IsImport() {
			last = u
		}
	}
	return last
}

// plainSteps tells what happened to each contract by walking the items.
func plainSteps(h *schematest.History) map[string][]history.ContractStep {
	steps := make(map[string][]history.ContractStep)
	for _, it := range h.Items {
		if it.Update == nil {
			continue
		}
		u := *it.Update
		if u.Kind == schemas.Unassignment {
			steps[u.Reassignment.ContractID] = append(steps[u.Reassignment.ContractID], history.ContractStep{Update: u})
		}
		for _, e := range it.Update.Events {
			u.Events = []schemas.Event{e}
			steps[e.ContractID] = append(steps[e.ContractID], history.ContractStep{Update: u})
		}
	}
	return steps
}

func appendSteps(dst []byte, steps []history.ContractStep) []byte {
	for i := range steps {
		u := &steps[i].Update
		dst = append(dst, u.Position().String()+" "+u.UpdateID+" "...)
		if u.Kind == schemas.Transaction {
			dst = append(schemas.AppendEvent(dst, u, &u.Events[0]), '\n')
			continue
		}
		dst = append(schemas.AppendReassignmentEvent(dst, u), '\n')
	}
	return dst
}

func (f *fixture) checkContractHistory(t *testing.T, h *schematest.History) {
	through := h.Items[len(h.Items)-1].Position()
	all := plainSteps(h)
	kinds := make(map[schemas.UpdateKind]int)
	for i, id := range slices.Sorted(maps.Keys(all)) {
		want := all[id]
		if i%60 > 0 && len(want) < 6 {
			continue
		}
		for _, s := range want {
			kinds[s.Update.Kind]++
		}
		var got []history.ContractStep
		q := history.ContractQuery{ContractID: id, After: schemas.Start, AfterNode: -1, Through: through, Limit: 1 + i%4}
		for {
			page, err := f.reader.ContractHistory(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page...)
			if len(page) < q.Limit {
				break
			}
			last := page[len(page)-1]
			q.After, q.AfterNode = last.Update.Position(), last.Node()
		}
		if g, w := appendSteps(nil, got), appendSteps(nil, want); string(g) != string(w) {
			t.Fatalf("contract %s in pages of %d:\n%swant\n%s", id, q.Limit, g, w)
		}
	}
	if kinds[schemas.Unassignment] == 0 || kinds[schemas.Assignment] == 0 || kinds[schemas.Transaction] < 20 {
		t.Errorf("the contracts looked at had %v steps: the test proves little", kinds)
	}
}

// concerns tells, by walking the items, which updates concern a party.
func concerns(h *schematest.History, party string) []schemas.Update {
	type key struct {
		migration int64
		contract  string
	}
	var list []schemas.Update
	stakeholder := make(map[key]bool)
	for _, it := range h.Items {
		u := it.Update
		if u == nil {
			continue
		}
		concerned := u.Kind == schemas.Unassignment && stakeholder[key{u.MigrationID, u.Reassignment.ContractID}]
		for i := range u.Events {
			e := &u.Events[i]
			named := slices.Contains(e.Signatories, party) || slices.Contains(e.Observers, party)
			if e.Kind == schemas.Created {
				stakeholder[key{u.MigrationID, e.ContractID}] = named
			}
			concerned = concerned || named || slices.Contains(e.ActingParties, party) ||
				e.Consuming && stakeholder[key{u.MigrationID, e.ContractID}]
		}
		if concerned && !u.IsImport() {
			list = append(list, *u)
		}
	}
	return list
}

func (f *fixture) checkPartyUpdates(t *testing.T, h *schematest.History) {
	through := h.Items[len(h.Items)-1].Position()
	sizes := []int{7, 64, 1000}
	for _, party := range []string{schematest.Party("party", 0), schematest.Party("party", 3), schematest.Party("observer", 2), "a::1220", "nobody::1220"} {
		want := concerns(h, party)
		if len(want) < 20 && party != "nobody::1220" {
			t.Fatalf("%d updates concern %s: the test proves little", len(want), party)
		}
		for _, size := range sizes {
			var got []schemas.Update
			after := schemas.Start
			for {
				page, err := f.reader.PartyUpdates(t.Context(), party, history.Range{After: after, Through: through, Limit: size})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if len(page) < size {
					break
				}
				after = page[len(page)-1].Position()
			}
			if len(got) != len(want) {
				t.Fatalf("%d updates of %s in pages of %d, want %d", len(got), party, size, len(want))
			}
			for i := range want {
				g, w := schemas.AppendUpdate(nil, &got[i], schemas.UpdateForm{}), schemas.AppendUpdate(nil, &want[i], schemas.UpdateForm{})
				if string(g) != string(w) {
					t.Fatalf("update %d of %s:\n%s\nwant\n%s", i, party, g, w)
				}
			}
		}
		sizes = []int{31, 1000} // the smallest pages are read once
	}
}

func (f *fixture) checkActiveKeys(t *testing.T, h *schematest.History) {
	for _, it := range []schemas.Item{h.Items[100], h.Items[len(h.Items)-1]} {
		for _, parties := range [][]string{nil, {schematest.Party("party", 1)}} {
			p := it.Position()
			q := history.ActiveQuery{MigrationID: p.MigrationID, At: p.RecordTime, Parties: parties, Limit: 100_000}
			all, err := f.reader.ActiveContracts(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []int{1, 5, 9, 100_000} {
				q.Limit = step
				f.checkKeys(t, q, all)
			}
		}
	}
}

// checkKeys compares the keys of pages with a whole set, and the pages that they bound.
func (f *fixture) checkKeys(t *testing.T, q history.ActiveQuery, all []history.ActiveContract) {
	t.Helper()
	step := q.Limit
	keys, err := f.reader.ActiveKeys(t.Context(), q, 4)
	if want := min(4, len(all)/step); err != nil || len(keys) != want {
		t.Fatalf("%d keys of every %d of %d contracts, want %d: %v", len(keys), step, len(all), want, err)
	}
	for i, key := range keys {
		page := all[i*step : (i+1)*step]
		if last := page[step-1].Event; key.CreatedAt != last.CreatedAt || key.ContractID != last.ContractID {
			t.Errorf("key %d of every %d is %s of %s, want %s of %s", i, step, key.ContractID, key.CreatedAt, last.ContractID, last.CreatedAt)
		}
		q.Through, q.Limit = key, step+1
		got, err := f.reader.ActiveContracts(t.Context(), q)
		if err != nil || len(got) != step || got[0].Event.ContractID != page[0].Event.ContractID {
			t.Errorf("page %d of %d contracts has %d, %v", i, step, len(got), err)
		}
		q = q.From(key.CreatedAt, key.ContractID, step)
	}
}

func (f *fixture) checkHashes(t *testing.T, id string) {
	for hash, want := range map[string]string{"1220beef": id, "1220bee0": ""} {
		id, ok, err := f.reader.UpdateIDByHash(t.Context(), hash)
		if err != nil || id != want || ok != (want != "") {
			t.Errorf("hash %s is that of %q, %v, %v; want %q", hash, id, ok, err, want)
		}
	}
}

// checkPages reads ranges by one query and by many.
func (f *fixture) checkPages(t *testing.T, h *schematest.History) {
	last := h.Items[len(h.Items)-1].Position()
	for _, rg := range []history.Range{
		{After: schemas.Start, Through: last},
		{After: h.Items[70].Position(), Through: h.Items[190].Position()},
		{After: last, Through: schemas.EndOf(last.MigrationID, schemas.MaxMicros)},
	} {
		for _, limit := range []int{1, 7, 1000} {
			rg.Limit = 100_000
			updates, err := f.reader.Updates(t.Context(), rg)
			verdicts, err2 := f.reader.Verdicts(t.Context(), rg)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			rg.Limit = limit
			samePages(t, updates, limit, func(page func([]schemas.Update) error) error { return f.reader.UpdatePages(t.Context(), rg, page) }, appendPlain)
			samePages(t, verdicts, limit, func(page func([]schemas.Item) error) error { return f.reader.VerdictPages(t.Context(), rg, page) }, schemas.AppendItem)
		}
	}
	imports, err := f.reader.Imports(t.Context(), 1, "", 100_000)
	if err != nil || len(imports) == 0 {
		t.Fatalf("%d imports, %v", len(imports), err)
	}
	samePages(t, imports, 3, func(page func([]schemas.Update) error) error { return f.reader.ImportPages(t.Context(), 1, 3, page) }, appendPlain)
	for _, it := range []schemas.Item{h.Items[60], h.Items[200], h.Items[len(h.Items)-1]} {
		p := it.Position()
		q := history.ActiveQuery{MigrationID: p.MigrationID, At: p.RecordTime, Limit: 100_000}
		all, err := f.reader.ActiveContracts(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		f.checkCarried(t, h, q, all)
		q.Limit = 4
		samePages(t, all, q.Limit, func(page func([]history.ActiveContract) error) error {
			return f.reader.ActivePages(t.Context(), q, page)
		},
			func(dst []byte, c *history.ActiveContract) []byte {
				return schemas.AppendActiveContract(dst, &c.Event, c.CreatedIn, schemas.UpdateForm{})
			})
	}
}

// checkCarried hides where contracts that were carried over were created, and of no others.
func (f *fixture) checkCarried(t *testing.T, h *schematest.History, q history.ActiveQuery, all []history.ActiveContract) {
	t.Helper()
	carried := make(map[string]bool)
	for _, it := range h.Items {
		switch u := it.Update; {
		case u == nil || u.MigrationID != q.MigrationID || u.RecordTime > q.At:
		case u.RecordTime == schemas.MinMicros:
			carried[u.Events[0].ContractID] = true
		case u.Kind == schemas.Assignment: // since then it is active by that
			delete(carried, u.Events[0].ContractID)
		}
	}
	q.HideCarried = true
	hidden, err := f.reader.ActiveContracts(t.Context(), q)
	if err != nil || len(hidden) != len(all) {
		t.Fatalf("%d contracts, want %d: %v", len(hidden), len(all), err)
	}
	for i := range all {
		want := all[i].CreatedIn
		if carried[all[i].Event.ContractID] {
			want = ""
		}
		if hidden[i].CreatedIn != want {
			t.Errorf("contract %s was created in %q, want %q", all[i].Event.ContractID, hidden[i].CreatedIn, want)
		}
	}
	if q.MigrationID == 1 && len(carried) == 0 {
		t.Error("no contract was carried over: the test proves nothing")
	}
}

func appendPlain(dst []byte, u *schemas.Update) []byte {
	return schemas.AppendUpdate(dst, u, schemas.UpdateForm{})
}

// samePages compares what pages hold with a list, and lets the first page end the reading.
func samePages[T any](t *testing.T, want []T, limit int, read func(page func([]T) error) error, appendRow func([]byte, *T) []byte) {
	t.Helper()
	var got []T
	err := read(func(page []T) error {
		if len(page) == 0 || len(page) > limit {
			t.Errorf("a page has %d rows of at most %d", len(page), limit)
		}
		got = append(got, page...)
		return nil
	})
	if err != nil || len(got) != len(want) {
		t.Fatalf("pages of %d have %d rows, want %d: %v", limit, len(got), len(want), err)
	}
	for i := range want {
		if g, w := string(appendRow(nil, &got[i])), string(appendRow(nil, &want[i])); g != w {
			t.Fatalf("row %d of pages of %d:\n%s\nwant\n%s", i, limit, g, w)
		}
	}
	stop := errors.New("enough")
	if err := read(func([]T) error { return stop }); len(want) > 0 && !errors.Is(err, stop) {
		t.Errorf("a page that ends the reading makes it return %v", err)
	}
}
