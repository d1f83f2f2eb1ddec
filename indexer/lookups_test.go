package indexer

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// Rows of a batch whose commit is missing stand in the tables; no lookup may show them,
// and the next one after the commit must.
func TestLookupsEndAtTheWatermark(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 7, Items: 60, Migrations: 1})
	list := batches(h.Items, 30)
	written, pending := list[len(list)-2], list[len(list)-1]
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range list[:len(list)-1] {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	w.rows.Fill(pending)
	if err := w.insert(t.Context(), int64(len(list))); err != nil {
		t.Fatal(err)
	}
	f.checkKnown(t, written, len(written.Items))
	f.checkKnown(t, pending, 0)
	if err := w.Write(t.Context(), pending); err != nil {
		t.Fatal(err)
	}
	f.checkKnown(t, pending, len(pending.Items))
}

// checkKnown looks up all items of a batch at once.
func (f *fixture) checkKnown(t *testing.T, b *schemas.Batch, want int) {
	t.Helper()
	ids := make([]string, len(b.Items))
	for i := range b.Items {
		ids[i] = b.Items[i].Position().UpdateID
	}
	found, err := f.reader.ItemsByID(t.Context(), ids)
	if err != nil || len(found) != want {
		t.Fatalf("%d of %d items are found, want %d: %v", len(found), len(ids), want, err)
	}
	for i := range b.Items {
		it, ok := found[ids[i]]
		if ok && string(schemas.AppendItem(nil, &it)) != string(schemas.AppendItem(nil, &b.Items[i])) {
			t.Errorf("item %s is not what was written", ids[i])
		}
	}
}
