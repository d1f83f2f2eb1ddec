package values

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// fuzzTypes are what the fuzz tests choose from: none, some of the catalogue, and random
// ones.
func fuzzTypes() []*Type {
	c := Default()
	types := []*Type{
		nil, pair, older, account,
		c.Template("splice-amulet", "Splice.Round:OpenMiningRound"),
		c.ChoiceArgument("splice-amulet", "Splice.AmuletRules:AmuletRules", "", "AmuletRules_Transfer"),
		c.ChoiceArgument("", "", "x:Splice.Api.Token.TransferInstructionV1:TransferFactory", "TransferFactory_Transfer"),
	}
	for seed := range uint64(57) {
		types = append(types, newGenerator(seed, 2).typ(4))
	}
	return types
}

func addSeeds(f *testing.F, types []*Type, compact bool) {
	for i, t := range types {
		if t == nil {
			continue
		}
		v := newGenerator(uint64(i), 3).value(t, false, 5)
		if compact {
			f.Add([]byte(v.compact), uint8(i))
		} else {
			f.Add([]byte(v.protobuf), uint8(i))
			f.Add([]byte(v.verbose), uint8(i))
		}
	}
	for _, tt := range sameBothWays {
		if compact {
			f.Add([]byte(tt.compact), uint8(0))
		} else {
			f.Add([]byte(tt.protobuf), uint8(0))
		}
	}
}

func FuzzAppendCompact(f *testing.F) {
	types := fuzzTypes()
	addSeeds(f, types, false)
	f.Fuzz(func(t *testing.T, src []byte, typ uint8) {
		got, err := AppendCompact(nil, src, types[int(typ)%len(types)])
		if err != nil {
			if len(got) != 0 {
				t.Fatalf("AppendCompact(%q) = %q with error %v", src, got, err)
			}
			return
		}
		if !jsonscan.IsCanonical(got) {
			t.Fatalf("AppendCompact(%q) = %q is not canonical", src, got)
		}
	})
}

// What AppendProtobuf makes must convert back, and then again to the same.
func FuzzAppendProtobuf(f *testing.F) {
	types := fuzzTypes()
	addSeeds(f, types, true)
	f.Fuzz(func(t *testing.T, src []byte, n uint8) {
		typ := types[int(n)%len(types)]
		protobuf, err := AppendProtobuf(nil, src, typ)
		if err != nil {
			return
		}
		if !jsonscan.IsCanonical(protobuf) {
			t.Fatalf("AppendProtobuf(%q) = %q is not canonical", src, protobuf)
		}
		compact, err := AppendCompact(nil, protobuf, typ)
		if err != nil {
			t.Fatalf("AppendCompact(AppendProtobuf(%q) = %q): %v", src, protobuf, err)
		}
		again, err := AppendProtobuf(nil, compact, typ)
		if err != nil || !bytes.Equal(again, protobuf) {
			t.Fatalf("%q became %q, then %q, then %q, %v", src, protobuf, compact, again, err)
		}
	})
}

// A catalogue file is refused, or every type in it converts values.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(acme))
	own := ownCatalog(f)
	names, err := fs.Glob(own, "*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(own, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, tt := range badFiles {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := newLoader()
		if l.readAll(fstest.MapFS{"fuzzed.yaml": {Data: text}}) != nil {
			return
		}
		c, err := l.catalog()
		if err != nil {
			return
		}
		for id, tmpl := range c.templates[l.files[0].Package] {
			types := []*Type{tmpl.record}
			for _, ch := range tmpl.choices {
				types = append(types, ch.Argument, ch.Result)
			}
			for _, typ := range types {
				if typ == nil || !allFinite(typ, map[*Type]bool{}) {
					continue
				}
				if err := checkBothWays(t, typ, newGenerator(1, 5).value(typ, false, 4)); err != nil {
					t.Fatalf("%s: %v", id, err)
				}
			}
		}
	})
}

// allFinite reports whether t and all types in it have values.
func allFinite(t *Type, seen map[*Type]bool) bool {
	if t == nil || seen[t] {
		return true
	}
	seen[t] = true
	for _, f := range t.Fields {
		if !allFinite(f.Type, seen) {
			return false
		}
	}
	return height(t, nil) < endless && (t.Kind != KindVariant || len(t.Fields) > 0) && allFinite(t.Elem, seen) && allFinite(t.Key, seen)
}
