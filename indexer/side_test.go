package indexer

import (
	"testing"

	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// Verdicts that were left out when history was stored are found as gaps, and what is then
// written to the side stream completes the items without a change to what was stored.
func TestLateVerdictsCompleteItems(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 200})
	late := map[schemas.Position]schemas.Item{}
	var stored []schemas.Item
	without := 0
	for i, it := range h.Items {
		if it.Update == nil {
			stored = append(stored, it)
			continue
		}
		if it.Verdict != nil && i%40 < 12 {
			late[it.Position()] = schemas.Item{Verdict: it.Verdict, Traffic: it.Traffic, AppActivity: it.AppActivity}
			it.Verdict, it.Traffic, it.AppActivity = nil, nil, nil
		}
		if it.Verdict == nil && it.Update.Kind == schemas.Transaction && !it.Update.IsImport() {
			without++
		}
		stored = append(stored, it)
	}
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(stored, 90) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	batch := &schemas.Batch{Stream: journals.SideStream(schemas.ScanStream), After: schemas.Start}
	found := 0
	for at := schemas.Start; ; {
		start, end, ok, err := f.reader.NextGap(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for _, it := range h.Items {
			p := it.Position()
			if !start.Before(p) || end.Before(p) || it.Update == nil || it.Update.Kind != schemas.Transaction {
				continue
			}
			found++
			if side, ok := late[p]; ok {
				batch.Items = append(batch.Items, side)
			}
		}
		at = end
	}
	if found != without || len(batch.Items) != len(late) || len(late) == 0 {
		t.Fatalf("the gaps have %d transactions and %d of the late verdicts, want %d and %d", found, len(batch.Items), without, len(late))
	}
	before := f.stored(t)
	batch.Through = batch.Items[len(batch.Items)-1].Position()
	if err := NewWriter(f.db, batch.Stream, f.log).Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if got := f.stored(t); got != before || got != digestItems(stored) {
		t.Errorf("without the side the stream reads as %s, want %s", got, before)
	}
	f.reader = f.reader.WithSide()
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Errorf("with the side the stream reads as %s, want %s", got, want)
	}
	f.checkLookups(t, h)
}
