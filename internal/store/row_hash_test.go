package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// hashSamples are items of every kind: of a random history, and of a node's own stream.
func hashSamples() []schemas.Item {
	items := schematest.New(schematest.Config{Seed: 4, Items: 60}).Items
	created := schemas.Event{
		EventID: "own", Kind: schemas.Created, ContractID: contract, TemplateID: "p:M:T", PackageName: "p", Argument: []byte(`{"a":"` + alice + `"}`),
		CreatedAt: 5, Signatories: []string{alice, "bob"}, Observers: []string{"carol"},
	}
	exercised := schemas.Event{
		Node: 1, EventID: "own too", Kind: schemas.Exercised, ContractID: "#1:0", TemplateID: "p:M:T", PackageName: "p", Argument: []byte(`{}`),
		Choice: "Go", InterfaceID: "p:M:I", Result: []byte("null"), Consuming: true, ActingParties: []string{"alice"}, Children: []int32{1, 2},
	}
	for _, e := range []*schemas.Event{&created, &exercised} {
		e.Local = &schemas.LocalEvent{Witnesses: []string{"bob"}, ACSDelta: true, LastDescendant: 2, Extras: []byte(`{"k":1}`)}
	}
	return append(items, schemas.Item{Update: &schemas.Update{
		Kind: schemas.Assignment, MigrationID: 1, SynchronizerID: "sync", RecordTime: 10, UpdateID: "u", WorkflowID: "w",
		EffectiveAt: 9, ExternalTransactionHash: "ab", RootEvents: []int32{0}, Events: []schemas.Event{created, exercised},
		Local:        &schemas.LocalUpdate{Offset: 7, CommandID: "c", PaidTrafficCost: 8, TraceContext: []byte(`{}`), Topology: []byte(`[]`), Extras: []byte(`{"e":1}`)},
		Reassignment: &schemas.Reassignment{Submitter: "alice", SourceSynchronizer: "a", TargetSynchronizer: "b", UnassignID: "x", Counter: 3, ContractID: contract},
	}})
}

// TestBatchHashStaysAsStored pins the hashes that are in the journals of stores: a column that is added
// to a hashed table changes them, and needs another batchHashForm.
func TestBatchHashStaysAsStored(t *testing.T) {
	all := hashSamples()
	assigned := all[len(all)-1]
	imported := schemas.Event{
		Kind: schemas.Created, ContractID: contract, TemplateID: "p:M:T", PackageName: "p", Argument: []byte(`{"a":"` + alice + `"}`), CreatedAt: 5, Signatories: []string{alice},
	}
	for _, c := range []struct {
		item schemas.Item
		want string
	}{
		{assigned, "rows1:78582c493689fcc2b54d387a3a652aa3"},
		{schemas.Item{Update: &schemas.Update{Kind: schemas.Transaction, MigrationID: 1, RecordTime: schemas.MinMicros, UpdateID: contract, SynchronizerID: "sync", RootEvents: []int32{0}, Events: []schemas.Event{imported}}}, "rows1:e646450a0a57ac672e5da90167e54c09"},
		{schemas.Item{Verdict: &schemas.Verdict{MigrationID: 1, RecordTime: 10, UpdateID: "u", SynchronizerID: "sync", FinalizationTime: 11, SubmittingParties: []string{alice}, Result: "VERDICT_RESULT_ACCEPTED"}}, "rows1:96efad3ec5c9b31768538c952d640752"},
	} {
		if got := HashBatch(&schemas.Batch{Stream: schemas.ScanStream, Items: []schemas.Item{c.item}}); got != c.want {
			t.Errorf("the hash of %s is %s, stores have %s", c.item.Position(), got, c.want)
		}
	}
}

// Whatever shows in the wire form of an item shows in the hash of its batch.
func TestBatchHashCoversWhatIsServed(t *testing.T) {
	kinds := map[string]int{}
	for _, it := range hashSamples() {
		kind := "verdict"
		if it.Update != nil {
			kind = string(it.Update.Kind) + fmt.Sprint(it.Update.IsImport(), it.Verdict != nil, it.Update.Local != nil)
		}
		if kinds[kind]++; kinds[kind] > 2 {
			continue
		}
		b := &schemas.Batch{Stream: schemas.ScanStream, Items: []schemas.Item{it}}
		row, hash := schemas.AppendItem(nil, &it), HashBatch(b)
		seen := map[string]string{}
		mutate(reflect.ValueOf(&b.Items[0]).Elem(), kind, func(path string) {
			changed := HashBatch(b)
			if changed == hash && !slices.Equal(schemas.AppendItem(nil, &b.Items[0]), row) {
				if it.Update != nil && it.Update.IsImport() && (strings.Contains(path, "RootEvents") || strings.Contains(path, "Events[new]") || strings.Contains(path, "ExternalTransactionHash")) {
					return // what the writer takes no import with
				}
				t.Errorf("%s changes what is served and not the hash", path)
			}
			if other, ok := seen[changed]; ok && changed != hash {
				t.Errorf("%s and %s give the same hash", path, other)
			}
			seen[changed] = path
		})
		if len(seen) < 10 {
			t.Errorf("%s: only %d fields change the hash", kind, len(seen))
		}
	}
	if len(kinds) < 6 {
		t.Errorf("only %v were looked at", kinds)
	}
}

// mutate changes one leaf of v after another, calls so, and changes it back. The kinds of
// updates and events stay, because other fields count with each; so do pointers and times of
// imports, which tell them apart.
func mutate(v reflect.Value, path string, so func(path string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			mutate(v.Elem(), path, so)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).Type() == reflect.TypeFor[schemas.Micros]() && v.Field(i).Int() == int64(schemas.MinMicros) {
				continue
			}
			mutate(v.Field(i), path+"."+v.Type().Field(i).Name, so)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			change(v, reflect.ValueOf([]byte("9")), path, so)
			return
		}
		for i := range v.Len() {
			mutate(v.Index(i), fmt.Sprintf("%s[%d]", path, i), so)
		}
		change(v, reflect.Append(v.Slice3(0, v.Len(), v.Len()), reflect.Zero(v.Type().Elem())), path+"[new]", so)
	case reflect.String:
		if v.Type() != reflect.TypeFor[schemas.UpdateKind]() && v.Type() != reflect.TypeFor[schemas.EventKind]() {
			change(v, reflect.ValueOf("9"+v.String()).Convert(v.Type()), path, so)
		}
	case reflect.Bool:
		change(v, reflect.ValueOf(!v.Bool()), path, so)
	default:
		change(v, reflect.ValueOf(v.Int()+1).Convert(v.Type()), path, so)
	}
}

func change(v, to reflect.Value, path string, so func(path string)) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	v.Set(to)
	so(path)
	v.Set(was)
}

// Rows hash alike whether they are added or were read, and whatever stands beside them.
func TestRowHashesOfReadRows(t *testing.T) {
	items := hashSamples()
	written := NewBatchRows()
	written.Fill(&schemas.Batch{Stream: schemas.ScanStream, Items: items})
	for name, pair := range map[string][2]interface {
		Block
		AppendHashes([]uint64) []uint64
	}{
		"updates": {written.updates, NewUpdates()}, "events": {written.events, NewEvents()},
		"imports": {written.imports, NewImports()}, "verdicts": {written.verdicts, NewVerdicts()},
	} {
		for i, c := range pair[1].columns() {
			var wire proto.Buffer
			from := pair[0].columns()[i].data
			if p, ok := from.(proto.Preparable); ok {
				if err := p.Prepare(); err != nil {
					t.Fatal(err)
				}
			}
			if s, ok := from.(proto.StateEncoder); ok {
				s.EncodeState(&wire)
			}
			from.EncodeColumn(&wire)
			r := proto.NewReader(wire.Reader())
			if s, ok := c.data.(proto.StateDecoder); ok {
				if err := s.DecodeState(r); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.data.DecodeColumn(r, pair[0].Rows()); err != nil {
				t.Fatalf("%s of %s: %v", c.name, name, err)
			}
		}
		got, want := pair[1].AppendHashes(nil), pair[0].AppendHashes(nil)
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows that are read hash otherwise than the %d that were added", name, len(got), len(want))
		}
	}
}

// The hash of a batch tells rows in other order, in another table or another number apart.
func TestBatchHashTellsRowsApart(t *testing.T) {
	sums := map[string]string{}
	for name, fill := range map[string]func(h *BatchHash){
		"none": func(*BatchHash) {}, "one": func(h *BatchHash) { h.AddUpdates(1) }, "twice": func(h *BatchHash) { h.AddUpdates(1, 1) },
		"two": func(h *BatchHash) { h.AddUpdates(1, 2) }, "turned": func(h *BatchHash) { h.AddUpdates(2, 1) },
		"event": func(h *BatchHash) { h.AddEvents(1) }, "import": func(h *BatchHash) { h.AddImports(1) }, "verdict": func(h *BatchHash) { h.AddVerdicts(1) },
	} {
		var h BatchHash
		h.AddEvents(7)
		h.Reset()
		fill(&h)
		if other, ok := sums[h.Sum()]; ok {
			t.Errorf("%s hashes like %s", name, other)
		}
		if sums[h.Sum()] = name; !IsBatchHash(h.Sum()) {
			t.Errorf("%s is not seen to be a hash of a batch", h.Sum())
		}
	}
	if IsBatchHash("e73d3b0407215a0e008bcdec51155803") {
		t.Error("a hash of an earlier version passes for one of this")
	}
}

// BenchmarkBatchRows takes a batch of 1,000 updates of about 4 kB, and hashes its rows apart.
func BenchmarkBatchRows(b *testing.B) {
	items := schematest.New(schematest.Config{Seed: 4, Items: 1000, Migrations: 1}).Items
	value := []byte(`{"record":{"fields":[` + strings.Repeat(`{"value":{"party":"`+alice+`"}},{"value":{"contractId":"`+contract+`"}},{"value":{"numeric":"12.3456789000"}},`, 3) + `{"value":{"int64":"6"}}]}}`)
	for _, it := range items {
		if it.Update != nil {
			for i := range it.Update.Events {
				it.Update.Events[i].Argument = value
			}
		}
	}
	batch, rows := &schemas.Batch{Stream: schemas.ScanStream, Items: items}, NewBatchRows()
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			rows.Fill(batch)
		}
	})
	b.Run("hash", func(b *testing.B) {
		rows.Fill(batch)
		for b.Loop() {
			for _, table := range []interface{ AppendHashes([]uint64) []uint64 }{rows.updates, rows.events, rows.imports, rows.verdicts} {
				rows.hashesOf(table)
			}
		}
	})
}
