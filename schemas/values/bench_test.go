package values

import (
	"bytes"
	"strings"
	"testing"
)

// One operation converts all examples, whose shapes are those of the network's most
// frequent payloads, with ids of the network's length. The rate counts the bytes read.
func BenchmarkAppendCompact(b *testing.B) {
	examples := readExamples(b, "testdata/examples_protobuf.json")
	benchmark(b, examples, AppendCompact, func(e example) []byte { return e.Protobuf })
}

func BenchmarkAppendProtobuf(b *testing.B) {
	examples := readExamples(b, "testdata/examples.json")
	benchmark(b, examples, AppendProtobuf, func(e example) []byte { return e.Compact })
}

func benchmark(b *testing.B, examples []example, convert func(dst, src []byte, t *Type) ([]byte, error), source func(example) []byte) {
	var sources [][]byte
	var types []*Type
	size := 0
	for _, e := range examples {
		sources = append(sources, longIDs(canonical(b, source(e))))
		types = append(types, e.typ(b, Default()))
		size += len(sources[len(sources)-1])
	}
	var dst []byte
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i, src := range sources {
			var err error
			if dst, err = convert(dst[:0], src, types[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// longIDs gives the parties and contracts in the examples ids of full length.
func longIDs(payload []byte) []byte {
	payload = bytes.ReplaceAll(payload, []byte("::1220"), []byte("::1220"+strings.Repeat("c0ffee", 10)+"00"))
	return bytes.ReplaceAll(payload, []byte(`"00`), []byte(`"00`+strings.Repeat("0123456789abcdef", 8)+"ca101220"))
}

func BenchmarkCatalogLookup(b *testing.B) {
	c := Default()
	const id = "67fac2f853bce8dbf0b9817bb5ba7c59f10e8120b7c808696f7010e5f0c8a791:Splice.AmuletRules:AmuletRules"
	b.ReportAllocs()
	for b.Loop() {
		if c.ChoiceArgument("splice-amulet", id, "", "AmuletRules_Transfer") == nil {
			b.Fatal("type not found")
		}
	}
}
