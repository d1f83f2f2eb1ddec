package indexer

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

type fixture struct {
	dsn    string
	db     *store.DB
	reader *history.Reader
	log    *slog.Logger
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := enginetest.StartMigrated(t, MigrateCluster)
	db := storetest.Open(t, s)
	return &fixture{dsn: s.DSN, db: db, reader: history.NewReader(db, schemas.ScanStream), log: slog.New(slog.DiscardHandler)}
}

// batches cuts items into batches of about size that mix neither migrations nor imports.
var batches = indexertest.ScanBatches

func digestItems(items []schemas.Item) schemas.Digest {
	var d schemas.Digest
	for i := range items {
		d.Add(schemas.AppendItem(nil, &items[i]))
	}
	return d
}

// stored reads everything back: the digest of items, of imports, and row counts that a
// doubled row would change.
func (f *fixture) stored(t *testing.T) schemas.Digest {
	t.Helper()
	var d schemas.Digest
	mark, err := f.reader.Watermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := schemas.Start
	for {
		items, err := f.reader.Items(t.Context(), history.Range{After: at, Through: mark, Limit: 37})
		if err != nil {
			t.Fatal(err)
		}
		d.Merge(digestItems(items))
		if len(items) < 37 {
			break
		}
		at = items[len(items)-1].Position()
	}
	for m := range mark.MigrationID + 1 {
		last := ""
		for {
			imports, err := f.reader.Imports(t.Context(), m, last, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(imports) == 0 {
				break
			}
			for i := range imports {
				d.Add(schemas.AppendItem(nil, &schemas.Item{Update: &imports[i]}))
			}
			last = imports[len(imports)-1].UpdateID
		}
	}
	return d
}

func TestWrittenHistoryReadsBackEqual(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 7, Items: 300})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.Items, 90) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
	f.checkLookups(t, h)
	f.checkDescending(t, h)
	f.checkMigrations(t, h)
}

func (f *fixture) checkLookups(t *testing.T, h *schematest.History) {
	t.Helper()
	for i := 0; i < len(h.Items); i += 41 {
		it := h.Items[i]
		if it.Update != nil && it.Update.IsImport() {
			continue
		}
		id := it.Position().UpdateID
		found, err := f.reader.ItemsByID(t.Context(), []string{id, "1220none", "o'clock\\\t"})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := found[id]
		if !ok || len(found) != 1 || string(schemas.AppendItem(nil, &got)) != string(schemas.AppendItem(nil, &it)) {
			t.Fatalf("lookup of %s found %d items, %s", id, len(found), schemas.AppendItem(nil, &got))
		}
	}
}

func (f *fixture) checkDescending(t *testing.T, h *schematest.History) {
	t.Helper()
	const synchronizer = "global-domain::1220aa"
	var want []string
	for _, it := range h.Items {
		if u := it.Update; u != nil && !u.IsImport() && u.MigrationID == 1 && u.SynchronizerID == synchronizer {
			want = append(want, string(schemas.AppendUpdate(nil, u, schemas.UpdateForm{})))
		}
	}
	slices.Reverse(want)
	var got []string
	before := schemas.MaxMicros
	for {
		updates, err := f.reader.UpdatesBefore(t.Context(), history.Before{
			MigrationID: 1, SynchronizerID: synchronizer, Before: before, AtOrAfter: schemas.MinMicros, Limit: 23,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(updates) == 0 {
			break
		}
		for i := range updates {
			got = append(got, string(schemas.AppendUpdate(nil, &updates[i], schemas.UpdateForm{})))
		}
		before = updates[len(updates)-1].RecordTime
	}
	if !slices.Equal(got, want) {
		t.Fatalf("descending pages gave %d updates that differ from the %d written", len(got), len(want))
	}
}

func (f *fixture) checkMigrations(t *testing.T, h *schematest.History) {
	t.Helper()
	migrations, err := f.reader.Migrations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for _, it := range h.Items {
		if it.Update != nil && it.Update.IsImport() {
			want++
		}
	}
	if len(migrations) != 2 || migrations[0].Imports != 0 || migrations[1].Imports != want || len(migrations[1].Synchronizers) == 0 {
		t.Fatalf("migrations %+v, want two, the second with %d imports", migrations, want)
	}
}

// TestLifetimesMatchTheModel compares the active set at many instants with one that is
// computed by walking the items, for several ways of cutting the history into ranges.
func TestLifetimesMatchTheModel(t *testing.T) {
	for _, size := range []int{17, 1000} {
		t.Run(fmt.Sprintf("batches of %d", size), func(t *testing.T) {
			f := newFixture(t)
			h := schematest.New(schematest.Config{Seed: uint64(size), Items: schematest.Rounds(150, 250), Step: 6 * 3600 * 1e6})
			w := NewWriter(f.db, schemas.ScanStream, f.log)
			l := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
			for i, b := range batches(h.Items, size) {
				if err := w.Write(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				if i%3 == 0 || size > 500 {
					if err := l.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if i == 9 {
					f.checkActive(t, h, "before housekeeping")
					if err := l.Tidy(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := l.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.checkActive(t, h, "at the end")
			if err := l.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.checkActive(t, h, "after housekeeping")
		})
	}
}

func (f *fixture) checkActive(t *testing.T, h *schematest.History, when string) {
	t.Helper()
	mark, err := f.reader.ContractsWatermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	matched := uint64(0)
	for i := 0; i < len(h.Items); i += 31 {
		p := h.Items[i].Position()
		if p.RecordTime == schemas.MinMicros || mark.Before(p) {
			continue
		}
		want := activeAt(h, p.MigrationID, p.RecordTime)
		got := f.active(t, history.ActiveQuery{MigrationID: p.MigrationID, At: p.RecordTime})
		if got != want {
			t.Fatalf("%s: active set at %s is %s, want %s", when, p, got, want)
		}
		parties := []string{schematest.Party("party", 1), schematest.Party("observer", 2)}
		templates := []string{"package:Mod.Ule:T1", "package:Mod.Ule:T2"}
		filtered := f.active(t, history.ActiveQuery{MigrationID: p.MigrationID, At: p.RecordTime, Parties: parties, Templates: templates})
		if filtered.Rows > got.Rows {
			t.Fatalf("a filtered set of %d contracts is larger than the whole of %d", filtered.Rows, got.Rows)
		}
		matched += filtered.Rows
	}
	if matched == 0 {
		t.Fatal("no filtered set had a contract: the test proves nothing")
	}
}

// active pages through an active set and checks its order.
func (f *fixture) active(t *testing.T, q history.ActiveQuery) schemas.Digest {
	t.Helper()
	var d schemas.Digest
	q.Limit = 19
	for {
		page, err := f.reader.ActiveContracts(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			e := &page[i].Event
			if q.AfterContractID != "" && (e.CreatedAt < q.AfterCreatedAt || (e.CreatedAt == q.AfterCreatedAt && e.ContractID <= q.AfterContractID)) {
				t.Fatalf("contract %s of %s does not follow %s of %s", e.ContractID, e.CreatedAt, q.AfterContractID, q.AfterCreatedAt)
			}
			q.AfterCreatedAt, q.AfterContractID = e.CreatedAt, e.ContractID
			if page[i].CreatedIn == "" {
				t.Fatalf("contract %s has no creating update", e.ContractID)
			}
			d.Add(schemas.AppendActiveContract(nil, e, "", schemas.UpdateForm{}))
		}
		if len(page) < q.Limit {
			return d
		}
	}
}

// activeAt walks the items of one migration up to an instant.
func activeAt(h *schematest.History, migration int64, at schemas.Micros) schemas.Digest {
	active := make(map[string][]byte)
	for _, it := range h.Items {
		u := it.Update
		if u == nil || u.MigrationID != migration || u.RecordTime > at {
			continue
		}
		if u.Kind == schemas.Unassignment {
			delete(active, u.Reassignment.ContractID)
		}
		for i := range u.Events {
			switch e := &u.Events[i]; {
			case e.Kind == schemas.Created:
				active[e.ContractID] = schemas.AppendActiveContract(nil, e, "", schemas.UpdateForm{})
			case e.Consuming:
				delete(active, e.ContractID)
			}
		}
	}
	var d schemas.Digest
	for _, row := range active {
		d.Add(row)
	}
	return d
}

func TestUnfitBatchesAreRefused(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 20, Migrations: 1})
	good := batches(h.Items, 20)[0]
	cases := []struct {
		name  string
		spoil func(b *schemas.Batch)
	}{
		{"a gap before it", func(b *schemas.Batch) { b.After.MigrationID = 0 }},
		{"an item beyond its end", func(b *schemas.Batch) { b.Through = b.Items[3].Position() }},
		{"items out of order", func(b *schemas.Batch) { b.Items[0], b.Items[1] = b.Items[1], b.Items[0] }},
		{"an item twice", func(b *schemas.Batch) { b.Items[1] = b.Items[0] }},
		{"no extent", func(b *schemas.Batch) { b.Through = b.After }},
		{"another stream", func(b *schemas.Batch) { b.Stream = "node:x" }},
	}
	for _, c := range cases {
		bad := *good
		bad.Items = slices.Clone(good.Items)
		c.spoil(&bad)
		if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), &bad); err == nil {
			t.Errorf("a batch with %s was written", c.name)
		}
	}
	if got := f.stored(t); got.Rows != 0 {
		t.Fatalf("refused batches left %d rows", got.Rows)
	}
}

func TestBoundParametersAreLiteral(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{``, `'`, `\`, `\'`, "tab\tnewline\nreturn\r", "nul\x00", `{x:String}`, `O'Brien\\`, "π\u2028", `['a']`} {
		type bound struct {
			Text    string `column:"text"`
			Element string `column:"element"`
		}
		got, err := store.SelectAll(t.Context(), f.db, "SELECT {s:String} AS text, arrayJoin({list:Array(String)}) AS element",
			store.Params{"s": store.Text(text), "list": store.Texts([]string{text, "x"})}, store.NewRecords[bound]())
		if err != nil || !slices.Equal(got, []bound{{text, text}, {text, "x"}}) {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
	}
}
