package values

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

var update = flag.Bool("update", false, "rewrite testdata/examples_protobuf.json")

type example struct {
	Template string          `json:"template"` // package name:Module:Entity
	Choice   string          `json:"choice,omitempty"`
	Compact  json.RawMessage `json:"compact,omitempty"`
	Protobuf json.RawMessage `json:"protobuf,omitempty"`
}

// typ is the type of the example: of the choice's argument if it names a choice.
func (e example) typ(t testing.TB, c *Catalog) *Type {
	t.Helper()
	pkg, _, _ := bytes.Cut([]byte(e.Template), []byte(":"))
	typ := c.Template(string(pkg), e.Template)
	if e.Choice != "" {
		typ = c.ChoiceArgument(string(pkg), e.Template, "", e.Choice)
	}
	if typ == nil {
		t.Fatalf("no type for %s %s", e.Template, e.Choice)
	}
	return typ
}

func readExamples(t testing.TB, name string) []example {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var examples []example
	if err := json.Unmarshal(text, &examples); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return examples
}

func canonical(t testing.TB, text []byte) []byte {
	t.Helper()
	out, err := jsonscan.AppendCanonical(nil, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// Payloads as the network documents them in compact_json, with their protobuf_json form
// in a file of its own.
func TestExamplesBothWays(t *testing.T) {
	examples := readExamples(t, "testdata/examples.json")
	const golden = "testdata/examples_protobuf.json"
	if *update {
		writeGolden(t, golden, examples)
	}
	want := readExamples(t, golden)
	if len(want) != len(examples) {
		t.Fatalf("%s has %d examples, not %d", golden, len(want), len(examples))
	}
	for i, e := range examples {
		t.Run(e.Template+"/"+e.Choice, func(t *testing.T) {
			compact := canonical(t, e.Compact)
			protobuf := canonical(t, want[i].Protobuf)
			c := Default()
			typ := e.typ(t, c)
			if got, err := AppendProtobuf(nil, e.Compact, typ); err != nil || !bytes.Equal(got, protobuf) {
				t.Errorf("AppendProtobuf(%s) =\n%s, %v, want\n%s", e.Compact, got, err, protobuf)
			}
			if got, err := AppendCompact(nil, protobuf, typ); err != nil || !bytes.Equal(got, compact) {
				t.Errorf("AppendCompact(%s) =\n%s, %v, want\n%s", protobuf, got, err, compact)
			}
			neutral := e
			neutral.Template, neutral.Choice = Neutral(e.Template), Neutral(e.Choice)
			if neutral.typ(t, c) != typ {
				t.Errorf("%s %s has another type", neutral.Template, neutral.Choice)
			}
		})
	}
}

// writeGolden writes one example a line, for readable diffs.
func writeGolden(t *testing.T, name string, examples []example) {
	t.Helper()
	lines := make([][]byte, len(examples))
	for i, e := range examples {
		protobuf, err := AppendProtobuf(nil, e.Compact, e.typ(t, Default()))
		if err != nil {
			t.Fatal(err)
		}
		lines[i], err = json.Marshal(example{Template: e.Template, Choice: e.Choice, Protobuf: protobuf})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := append([]byte("[\n"), bytes.Join(lines, []byte(",\n"))...)
	if err := os.WriteFile(name, append(text, "\n]\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
}
