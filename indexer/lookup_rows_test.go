package indexer

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// newLookupRows are copies that begin with no dictionary.
func (f *fixture) newLookupRows(t *testing.T) *LookupRows {
	t.Helper()
	if err := CreateLookupRows(t.Context(), f.db); err != nil {
		t.Fatal(err)
	}
	return NewLookupRows(f.db, schemas.ScanStream, values.Default(), time.Millisecond, f.log)
}

// checkCopies compares the copies with items, of which those from some number on have none.
func (f *fixture) checkCopies(t *testing.T, items []schemas.Item, copied int) {
	t.Helper()
	reader := copies.NewItems(f.db, schemas.ScanStream, values.Default())
	var ids []string
	want := map[string]*schemas.Item{}
	for i := range items {
		it := &items[i]
		if it.Update != nil && it.Update.IsImport() {
			continue
		}
		id := it.Position().UpdateID
		ids = append(ids, id)
		if i < copied {
			want[id] = it
		}
	}
	found, err := reader.ByID(t.Context(), append(ids, "1220none", ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want) {
		t.Fatalf("%d copies are found, want %d", len(found), len(want))
	}
	for id, it := range want {
		p, ok, err := found[id].Piece(t.Context(), nil)
		if err != nil || !ok || string(p.Text) != string(rendered(it, schemas.CompactJSON)) {
			t.Fatalf("the copy of %s is %s: %v", id, p.Text, err)
		}
		if same, ok, err := found[id].IsOf(t.Context(), it); !same || !ok || err != nil {
			t.Fatalf("the copy of %s is not equal to itself: %v", id, err)
		}
	}
	if n, ok, err := reader.Rows(t.Context()); err != nil || !ok || n != uint64(len(want)) {
		t.Errorf("%d rows, want %d: %v", n, len(want), err)
	}
}

// rendered is an item as it is served in an encoding.
func rendered(it *schemas.Item, want schemas.Encoding) []byte {
	var form schemas.UpdateForm
	if it.Update != nil {
		form.Values = values.Writer{Catalog: values.Default(), Want: want}.For(it.Update.Encoding)
	}
	return schemas.AppendItemForm(nil, it, form)
}

// Copies are the committed items, whatever dictionary they were packed with, and end where
// their journal does.
func TestCopiesAreTheItems(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 8, Items: 300})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	l := f.newLookupRows(t)
	done := 0
	for i, b := range batches(h.Items, 90) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if i == 4 {
			f.checkCopies(t, h.Items, done) // the last batch is not copied yet
		}
		done += len(b.Items)
		if err := l.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 1 || i == 3 {
			for j := range b.Items {
				l.samples.pieces = append(l.samples.pieces, copies.AppendPiece(nil, &b.Items[j], values.Default()))
			}
			if err := l.newDictionary(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.checkCopies(t, h.Items, len(h.Items))
	mark, err := journals.Watermark(t.Context(), f.db, journals.LookupsStream(schemas.ScanStream))
	if err != nil || mark != h.Items[len(h.Items)-1].Position() {
		t.Errorf("the copies stand at %s: %v", mark, err)
	}
	dictionaries, err := copies.Dictionaries(t.Context(), f.db, schemas.ScanStream)
	if err != nil || len(dictionaries) != 2 {
		t.Errorf("%d dictionaries: %v", len(dictionaries), err)
	}
	if err := l.Step(t.Context()); !errors.Is(err, journal.ErrCaughtUp) {
		t.Errorf("a step after the last: %v", err)
	}
}

// Copies that were made with another catalogue answer nothing, as their values might be written
// otherwise, and are told apart from copies of other items.
func TestCopiesOfAnotherCatalogueAreNotUsed(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 10, Items: 20, Migrations: 1})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.Items, 10) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.newLookupRows(t).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := values.Load(fstest.MapFS{"more.yaml": {Data: []byte("package: more\nrecords: {A: {a: Text}}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	it := &h.Items[len(h.Items)-1]
	id := it.Position().UpdateID
	found, err := copies.NewItems(f.db, schemas.ScanStream, other).ByID(t.Context(), []string{id})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d copies: %v", len(found), err)
	}
	if p, ok, err := found[id].Piece(t.Context(), nil); ok || err != nil {
		t.Errorf("a copy of another template catalogue answers %s: %v", p.Text, err)
	}
	if same, ok, err := found[id].IsOf(t.Context(), it); same || !ok || err != nil {
		t.Errorf("a copy of another template catalogue is the same: %t, is of the item: %t, %v", same, ok, err)
	}
	var log strings.Builder
	l := NewLookupRows(f.db, schemas.ScanStream, other, time.Millisecond, slog.New(slog.NewTextHandler(&log, nil)))
	if err := l.Step(t.Context()); !errors.Is(err, journal.ErrCaughtUp) {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "another template catalogue") {
		t.Errorf("nothing is said of it: %s", log.String())
	}
}

// A process that ends after the rows, or the dictionary, of a range were written and before
// they were committed leaves nothing behind that the next one does not replace.
func TestCopiesSurviveAnEndBetweenRowsAndCommit(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 9, Items: 200, Migrations: 1})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.Items, 50) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	first := f.newLookupRows(t)
	if _, err := first.follower.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.loadDictionary(t.Context()); err != nil {
		t.Fatal(err)
	}
	row, _, err := first.follower.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.samples.pieces = [][]byte{copies.AppendPiece(nil, &h.Items[3], values.Default())}
	if err := first.newDictionary(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.apply(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	second := f.newLookupRows(t)
	if err := second.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if second.last != 1 {
		t.Errorf("goes on with dictionary %d, want the one that is stored", second.last)
	}
	f.checkCopies(t, h.Items, len(h.Items))
	if err := first.Step(t.Context()); err == nil || errors.Is(err, journal.ErrCaughtUp) {
		t.Errorf("the first one does not give way: %v", err)
	}
}

// A dictionary is due when there are samples enough, once more when they are of more of
// history, and then when it does much worse than at first.
func TestDictionariesAreReplacedWhenTheyNoLongerHelp(t *testing.T) {
	it := schematest.New(schematest.Config{Seed: 1, Items: 5, Migrations: 1}).Items[3]
	sample := copies.AppendPiece(nil, &it, values.Default())
	piece := len(sample)
	var s samples
	enough := (dictionaryBytes/piece + 2) * firstSamples
	for i := range enough {
		if due := s.due(0); due != (s.bytes >= dictionaryBytes) || due && i < dictionaryBytes/piece*firstSamples {
			t.Fatalf("due is %t after %d items", due, i)
		}
		s.look(0, sample)
	}
	if !s.due(0) || len(s.content()) != dictionaryBytes {
		t.Fatalf("none is due with %d bytes, of which %d would be taken", s.bytes, len(s.content()))
	}
	s.begin()
	s.seen = betterAfter - 1
	if s.due(1) {
		t.Error("a better one is due too early")
	}
	if s.look(1, sample); !s.due(1) {
		t.Error("no better one is due")
	}
	s.begin()
	pack := func(out int) {
		for range ratioItems {
			s.packed(1000, out)
		}
	}
	for _, out := range []int{100, 90, 120} {
		if pack(out); s.due(2) {
			t.Errorf("one is due though items become %d bytes", out)
		}
	}
	if pack(130); !s.due(2) || s.due(maxDictionaries) {
		t.Error("none is due, or more than there may be")
	}
}
