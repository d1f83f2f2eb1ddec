package copies

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	codec "github.com/ledgerlake/ledgerlake/schemas/values"
)

// served is an item as the scan interface gives it in an encoding.
func served(it *schemas.Item, want schemas.Encoding) string {
	var form schemas.UpdateForm
	if it.Update != nil {
		form.Values = codec.Writer{Catalog: codec.Default(), Want: want}.For(it.Update.Encoding)
	}
	return string(schemas.AppendItemForm(nil, it, form))
}

// What is read out of a piece is served as the item it was made of, in both encodings unless
// the piece says that it cannot.
func TestPiecesAreServedAsTheirItems(t *testing.T) {
	exact := 0
	for _, it := range schematest.New(schematest.Config{Seed: 3, Items: 300}).Items {
		at := it.Position()
		p, err := ReadPiece(AppendPiece(nil, &it, codec.Default()))
		if err != nil {
			t.Fatalf("update %s: %v", at.UpdateID, err)
		}
		if string(p.Text) != served(&it, schemas.CompactJSON) {
			t.Fatalf("reads as\n%s, want\n%s", p.Text, served(&it, schemas.CompactJSON))
		}
		if p.MigrationID != at.MigrationID || p.RecordTime != at.RecordTime || !p.IsOf(at.UpdateID) || p.IsOf(at.UpdateID[1:]) || p.IsOf(at.UpdateID+"0") || p.IsOf("") {
			t.Fatalf("%s reads as the item at %d, %s", at, p.MigrationID, p.RecordTime)
		}
		update := ""
		if it.Update != nil {
			update = served(&schemas.Item{Update: it.Update}, schemas.CompactJSON)
			update = update[len(`{"update":`) : len(update)-1]
		}
		if string(p.Update()) != update {
			t.Fatalf("the update reads as\n%s, want\n%s", p.Update(), update)
		}
		if want := it.Verdict == nil && it.Update.Kind == schemas.Transaction; p.MayGrow() != want {
			t.Errorf("%s may grow: %t, want %t", at, p.MayGrow(), want)
		}
		got, ok, err := p.Item(codec.Default())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		exact++
		for _, encoding := range []schemas.Encoding{schemas.CompactJSON, schemas.ProtobufJSON} {
			if served(&got, encoding) != served(&it, encoding) {
				t.Fatalf("%s in %s is\n%s, want\n%s", at, encoding, served(&got, encoding), served(&it, encoding))
			}
		}
	}
	if exact == 0 {
		t.Error("no piece is exact")
	}
}

// Values come back out of pieces as they were stored, whatever they are.
func TestPiecesKeepWhatCompactJSONLoses(t *testing.T) {
	const unknown, known = "p:M:Unknown", "6a3b:Splice.DecentralizedSynchronizer:MemberTraffic"
	for _, c := range []struct {
		name, template, argument string
		encoding                 schemas.Encoding
		originals                bool
	}{
		{"stored in compact JSON", unknown, `{"a":"1"}`, schemas.CompactJSON, false},
		{"of an unknown type", unknown, `{"record":{"fields":[{"value":{"text":"a"}}]}}`, schemas.ProtobufJSON, false},
		{"without fields of an unknown type", unknown, `{"record":{}}`, schemas.ProtobufJSON, true},
		{"of a known type", known, fmt.Sprintf(memberTraffic, "1.0000000000"), schemas.ProtobufJSON, false},
		{"with a number that is written otherwise", known, fmt.Sprintf(memberTraffic, "1.0"), schemas.ProtobufJSON, true},
		{"with labels", known, `{"record":{"fields":[{"label":"dso","value":{"party":"d::1"}}]}}`, schemas.ProtobufJSON, true},
	} {
		event := schemas.Event{
			Kind: schemas.Created, ContractID: "00ab", TemplateID: c.template, PackageName: "splice-amulet",
			CreatedAt: schematest.FirstTime, Signatories: []string{"d::1"}, Argument: []byte(c.argument),
		}
		first, second := event, event
		first.EventID, second.EventID, second.Node = "1220ab:0", "1220ab:1", 1
		it := schemas.Item{Update: &schemas.Update{
			Kind: schemas.Transaction, UpdateID: "1220ab", SynchronizerID: "s::1", RecordTime: schematest.FirstTime, EffectiveAt: schematest.FirstTime,
			Encoding: c.encoding, RootEvents: []int32{0, 1}, Events: []schemas.Event{first, second},
		}}
		p, err := ReadPiece(AppendPiece(nil, &it, codec.Default()))
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := p.Item(codec.Default())
		if !ok || err != nil {
			t.Fatalf("a value %s is not read: %v; compact it is %s", c.name, err, p.Text)
		}
		if got.Update.Encoding != c.encoding || served(&got, schemas.ProtobufJSON) != served(&it, schemas.ProtobufJSON) || served(&got, schemas.CompactJSON) != served(&it, schemas.CompactJSON) {
			t.Errorf("a value %s reads as\n%s, want\n%s", c.name, served(&got, schemas.ProtobufJSON), served(&it, schemas.ProtobufJSON))
		}
		if has := len(p.originals) > 2*len(got.Update.Events); has != c.originals {
			t.Errorf("of a value %s %d bytes are kept as they were", c.name, len(p.originals))
		}
	}
}

const memberTraffic = `{"record":{"fields":[{"value":{"party":"d::1"}},{"value":{"text":"PAR::p::1"}},{"value":{"text":"s::1"}},{"value":{"int64":"1"}},` +
	`{"value":{"int64":"200"}},{"value":{"int64":"1"}},{"value":{"numeric":"%s"}},{"value":{"numeric":"2.0000000000"}}]}}`

// A piece that was cut or is something else is refused and breaks nothing.
func TestDamagedPiecesAreRefused(t *testing.T) {
	items := schematest.New(schematest.Config{Seed: 4, Items: 8, Migrations: 1}).Items
	for i := range items {
		piece := AppendPiece(nil, &items[i], codec.Default())
		for n := range piece {
			p, err := ReadPiece(piece[:n])
			if err != nil {
				if !errors.Is(err, errPiece) {
					t.Fatalf("%d of %d bytes: %v", n, len(piece), err)
				}
				continue
			}
			if _, ok, err := p.Item(codec.Default()); ok && err == nil { // it ended in a brace
				t.Fatalf("%d of %d bytes are an item", n, len(piece))
			}
		}
		for n := range piece {
			damaged := bytes.Clone(piece)
			damaged[n] ^= 0xff
			if p, err := ReadPiece(damaged); err == nil { // may be another item, but must return
				_, _, _ = p.Item(codec.Default())
				_, _, _ = p.Update(), p.IsOf("1220"), p.MayGrow()
			}
		}
	}
}

// Bodies need the dictionary that they were packed with, and no other.
func TestBodiesNameTheirDictionary(t *testing.T) {
	items := schematest.New(schematest.Config{Seed: 5, Items: 200, Migrations: 1}).Items
	var sample []byte
	for i := range items[:100] {
		sample = AppendPiece(sample, &items[i], codec.Default())
	}
	one, two := store.LookupDictionary{ID: 1, Content: sample}, store.LookupDictionary{ID: 2, Content: sample[len(sample)/2:]}
	all, err := NewUnpacker([]store.LookupDictionary{one, two})
	if err != nil {
		t.Fatal(err)
	}
	first, err := NewUnpacker([]store.LookupDictionary{one})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[uint32]int{}
	for _, d := range []store.LookupDictionary{{}, one, two} {
		packer, err := NewPacker(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range items[100:] {
			piece := AppendPiece(nil, &items[100+i], codec.Default())
			body := packer.Pack(nil, piece)
			sizes[d.ID] += len(body)
			got, err := all.Piece(nil, body)
			if err != nil || !bytes.Equal(got, piece) {
				t.Fatalf("with dictionary %d: %v", d.ID, err)
			}
			if _, err := first.Piece(nil, body); errors.Is(err, ErrNoDictionary) != (d.ID == 2) {
				t.Fatalf("with dictionary %d, which is not known: %v", d.ID, err)
			}
		}
	}
	if 2*sizes[1] > sizes[0] {
		t.Errorf("a dictionary makes bodies %d bytes, without one they have %d", sizes[1], sizes[0])
	}
}

// BenchmarkLookupPiece is what a lookup out of copies does beside HTTP and the query.
func BenchmarkLookupPiece(b *testing.B) {
	items := schematest.New(schematest.Config{Seed: 5, Items: 200, Migrations: 1}).Items
	var sample []byte
	for i := range items[:100] {
		sample = AppendPiece(sample, &items[i], codec.Default())
	}
	d := store.LookupDictionary{ID: 1, Content: sample}
	packer, err := NewPacker(d)
	if err != nil {
		b.Fatal(err)
	}
	unpacker, err := NewUnpacker([]store.LookupDictionary{d})
	if err != nil {
		b.Fatal(err)
	}
	var bodies [][]byte
	for i := range items[100:] {
		piece := AppendPiece(nil, &items[100+i], codec.Default())
		bodies = append(bodies, packer.Pack(nil, piece))
	}
	buf := make([]byte, 0, 64<<10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		piece, err := unpacker.Piece(buf, bodies[i%len(bodies)])
		if err != nil {
			b.Fatal(err)
		}
		p, err := ReadPiece(piece)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(p.Text)))
	}
}
