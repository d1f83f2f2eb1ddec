package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// What is read out of a piece renders and is written as the item it was made of.
func TestItemsComeBackOutOfOnePiece(t *testing.T) {
	for _, it := range schematest.New(schematest.Config{Seed: 3, Items: 300}).Items {
		piece := AppendItem(nil, &it)
		got, err := ReadItem(piece)
		if err != nil {
			t.Fatalf("update %s: %v", it.Position().UpdateID, err)
		}
		if want := schemas.AppendItem(nil, &it); string(schemas.AppendItem(nil, &got)) != string(want) {
			t.Fatalf("reads as\n%s, want\n%s", schemas.AppendItem(nil, &got), want)
		}
		if got.Position() != it.Position() || it.Update != nil && got.Update.Encoding != it.Update.Encoding {
			t.Fatalf("reads as the item at %s, want %s", got.Position(), it.Position())
		}
		if !bytes.Equal(AppendItem(nil, &got), piece) {
			t.Fatalf("update %s is written otherwise after it was read", it.Position().UpdateID)
		}
	}
}

// A piece that was cut, lengthened or is something else is refused and breaks nothing.
func TestDamagedPiecesAreRefused(t *testing.T) {
	items := schematest.New(schematest.Config{Seed: 4, Items: 20, Migrations: 1}).Items
	for i := range items {
		piece := AppendItem(nil, &items[i])
		for n := range piece {
			if _, err := ReadItem(piece[:n]); !errors.Is(err, errItemForm) {
				t.Fatalf("%d of %d bytes: %v", n, len(piece), err)
			}
		}
		if _, err := ReadItem(append(bytes.Clone(piece), 0)); !errors.Is(err, errItemForm) {
			t.Fatalf("with a byte more: %v", err)
		}
		for n := range piece {
			damaged := bytes.Clone(piece)
			damaged[n] ^= 0xff
			_, _ = ReadItem(damaged) // may read as another item, but must return
		}
	}
}

// Bodies need the dictionary that they were packed with, and no other.
func TestBodiesNameTheirDictionary(t *testing.T) {
	items := schematest.New(schematest.Config{Seed: 5, Items: 200, Migrations: 1}).Items
	var sample []byte
	for i := range items[:100] {
		sample = AppendItem(sample, &items[i])
	}
	one, two := LookupDictionary{ID: 1, Content: sample}, LookupDictionary{ID: 2, Content: sample[len(sample)/2:]}
	all, err := NewItemUnpacker([]LookupDictionary{one, two})
	if err != nil {
		t.Fatal(err)
	}
	first, err := NewItemUnpacker([]LookupDictionary{one})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[uint32]int{}
	for _, d := range []LookupDictionary{{}, one, two} {
		packer, err := NewItemPacker(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range items[100:] {
			body, piece := packer.Pack(nil, &items[100+i])
			sizes[d.ID] += len(body)
			got, err := all.Piece(body)
			if err != nil || !bytes.Equal(got, piece) {
				t.Fatalf("with dictionary %d: %v", d.ID, err)
			}
			if _, err := first.Piece(body); errors.Is(err, ErrNoDictionary) != (d.ID == 2) {
				t.Fatalf("with dictionary %d, which is not known: %v", d.ID, err)
			}
		}
	}
	if 2*sizes[1] > sizes[0] {
		t.Errorf("a dictionary makes bodies %d bytes, without one they have %d", sizes[1], sizes[0])
	}
}
