package export

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestRowsRebuildEveryField reads random history back from Parquet and compares all
// fields, also those that the canonical JSON and so the digests do not show.
func TestRowsRebuildEveryField(t *testing.T) {
	g := buckettest.Gateway(t)
	for seed := range uint64(4) {
		src := twoMigrations(100+seed, 80)
		src.updates[0].EffectiveAt = 0 // 1970 is an instant, not a null
		client := buckettest.Open(t, bucketConfig(g, fmt.Sprintf("seed-%d/", seed)))
		e := newTestExporter(t, src, client, &memoryCatalog{}, nil)
		exportDue(t, e)
		rows, err := e.catalog.PublishedSegments(t.Context(), schemas.MinMicros, schemas.MaxMicros)
		if err != nil {
			t.Fatal(err)
		}
		var back memorySource
		for i := range rows {
			m, err := published.DecodeManifest([]byte(rows[i].Manifest))
			if err != nil {
				t.Fatal(err)
			}
			if err := archive.EachItem(t.Context(), e.parts(), m, back.add); err != nil {
				t.Fatal(err)
			}
		}
		compareAll(t, "update", back.updates, src.updates)
		compareAll(t, "import", back.imports, src.imports)
		compareAll(t, "verdict", back.verdicts, src.verdicts)
		if len(back.updates) < 200 || len(back.imports) != len(src.imports) || len(back.verdicts) < 150 {
			t.Errorf("only %d updates, %d imports and %d verdicts came back", len(back.updates), len(back.imports), len(back.verdicts))
		}
	}
}

// compareAll compares the exported beginning of want with got.
func compareAll[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) > len(want) {
		t.Fatalf("%d rows of kind %s came back, %d were written", len(got), what, len(want))
	}
	for i := range got {
		if w := withoutEmpty(want[i]); !reflect.DeepEqual(got[i], w) {
			t.Fatalf("%s %d came back as\n%+v\nand was\n%+v", what, i, got[i], w)
		}
	}
}

// withoutEmpty is v with empty lists as nil, which is the form that rows give.
func withoutEmpty[T any](v T) T {
	switch v := any(&v).(type) {
	case *schemas.Update:
		v.RootEvents = nonEmpty(v.RootEvents)
		v.Events = append([]schemas.Event(nil), v.Events...)
		for i := range v.Events {
			e := &v.Events[i]
			e.Signatories, e.Observers = nonEmpty(e.Signatories), nonEmpty(e.Observers)
			e.ActingParties, e.Children = nonEmpty(e.ActingParties), nonEmpty(e.Children)
		}
	case *schemas.Item:
		if v.Update != nil {
			v.Update = new(withoutEmpty(*v.Update))
		}
		if v.Verdict == nil {
			break
		}
		verdict := *v.Verdict
		verdict.SubmittingParties = nonEmpty(verdict.SubmittingParties)
		v.Verdict = &verdict
	}
	return v
}

func nonEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// add appends an item as it came out of a segment.
func (s *memorySource) add(it schemas.Item) error {
	if it.Update != nil && it.Update.IsImport() {
		s.imports = append(s.imports, *it.Update)
		return nil
	}
	if it.Update != nil {
		s.updates = append(s.updates, *it.Update)
		it.Update = nil
	}
	if it.Verdict != nil {
		s.verdicts = append(s.verdicts, it)
	}
	return nil
}

// TestMalformedHistoryIsRefused gives the writer what it could not rebuild.
func TestMalformedHistoryIsRefused(t *testing.T) {
	g := newGenerator(1)
	at := micros("2026-07-01T12:00:00Z")
	good := g.transaction(0, at, 3)
	change := func(change func(*schemas.Update)) schemas.Update {
		u := good
		u.Events = append([]schemas.Event(nil), good.Events...)
		change(&u)
		return u
	}
	tests := []struct {
		name string
		bad  schemas.Update
	}{
		{"an unknown kind of update", change(func(u *schemas.Update) { u.Kind = "other" })},
		{"an unknown kind of event", change(func(u *schemas.Update) { u.Events[1].Kind = "" })},
		{"an assignment without particulars", change(func(u *schemas.Update) { u.Kind = schemas.Assignment })},
		{"an unassignment with events", change(func(u *schemas.Update) {
			u.Kind, u.Reassignment = schemas.Unassignment, &schemas.Reassignment{}
		})},
		{"a transaction with particulars of a reassignment", change(func(u *schemas.Update) { u.Reassignment = &schemas.Reassignment{} })},
		{"an event twice", change(func(u *schemas.Update) { u.Events[1].Node = 0 })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := &memorySource{updates: []schemas.Update{tt.bad}, watermark: schemas.EndOf(1, at), contracts: schemas.EndOf(1, at)}
			c := &memoryCatalog{}
			e := newTestExporter(t, src, openMemory(openBucket(t)), c, nil)
			err := e.ExportSegment(t.Context(), schemas.SegmentRef{Stream: "scan", Date: "2026-07-01"})
			if !errors.Is(err, schemas.ErrMalformed) && !errors.Is(err, ErrOrder) || len(c.Rows) > 0 {
				t.Errorf("exporting it: %v", err)
			}
		})
	}
	var row schemas.ImportRow
	if err := row.Set(&good); !errors.Is(err, schemas.ErrMalformed) {
		t.Errorf("a transaction passes as an import: %v", err)
	}
}

// FuzzEventTexts puts arbitrary texts into an event and reads them back.
func FuzzEventTexts(f *testing.F) {
	f.Add("id", "contract", "template:A:B", "package", "choice", []byte("{}"), true)
	f.Add("", "", "", "", "", []byte(nil), false)
	f.Add("é", "\x00", ":", "\xff", "x", []byte("null"), true)
	f.Fuzz(func(t *testing.T, id, contract, template, pkg, choice string, payload []byte, consuming bool) {
		u := schemas.Update{Kind: schemas.Transaction, UpdateID: "u", Events: []schemas.Event{{
			EventID: id, Kind: schemas.Exercised, ContractID: contract, TemplateID: template, PackageName: pkg,
			Choice: choice, Argument: payload, Result: payload, Consuming: consuming,
		}}}
		var row schemas.EventRow
		row.SetEvent(&u, 0)
		var out bytes.Buffer
		w := newParquetWriter[schemas.EventRow](&out, newCodecs(1), schemas.ParquetEvents, schemas.SegmentRef{})
		if _, err := w.Write([]schemas.EventRow{row}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := parquetRows[schemas.EventRow](t, out.Bytes())[0].Event()
		want := u.Events[0]
		if len(payload) == 0 {
			got.Argument, got.Result, want.Argument, want.Result = nil, nil, nil, nil // null; never in history
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("event came back as\n%+v\nand was\n%+v", got, want)
		}
	})
}
