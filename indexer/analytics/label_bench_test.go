package analytics

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// BenchmarkLabel labels a shape of a coin.
func BenchmarkLabel(b *testing.B) {
	l := store.Label{PackageName: "splice-amulet", TemplateID: "0a:Splice.Amulet:Amulet",
		Shape: "\x01\n" + `{"record":{"fields":[{"value":{"party":"` + "\x02" + `"}},{"value":{"party":"` + "\x02" + `"}},{"value":{"record":{"fields":[{"value":{"numeric":"` + "\x03" +
			`"}},{"value":{"record":{"fields":[{"value":{"int64":"` + "\x03" + `"}}]}}},{"value":{"record":{"fields":[{"value":{"numeric":"` + "\x03" + `"}}]}}}]}}}]}}` + "\n"}
	catalog := values.Default()
	b.SetBytes(int64(len(l.Shape)))
	b.ReportAllocs()
	for b.Loop() {
		if label(catalog, &l); len(l.Argument) != 6 {
			b.Fatalf("the argument has %d pieces: %q", len(l.Argument), l.Argument)
		}
	}
}
