package values

import (
	"bytes"
	"math/rand/v2"
	"testing"

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
		types = append(types, generator{rand.New(rand.NewPCG(seed, 2))}.typ(4))
	}
	return types
}

func addSeeds(f *testing.F, types []*Type, compact bool) {
	for i, t := range types {
		if t == nil {
			continue
		}
		g := generator{rand.New(rand.NewPCG(uint64(i), 3))}
		c, p := g.value(t, false)
		if compact {
			f.Add([]byte(c), uint8(i))
		} else {
			f.Add([]byte(p), uint8(i))
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
