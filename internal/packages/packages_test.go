package packages_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	. "github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
)

func TestAPackageIsReadAsItWasWritten(t *testing.T) {
	want := Trade("1.0.0")
	want.Upgrades = strings.Repeat("ab", 32)
	for _, lf := range []string{"2.1", "2.2", "2.dev", "2.77"} {
		want.LF = lf
		payload := Payload(want)
		got, err := packages.ReadPayload(payload, ID(payload))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(Own(got), want) {
			t.Errorf("LF %s: read\n%+v, want\n%+v", lf, Own(got), want)
		}
		if got.ID != ID(payload) || !bytes.Equal(got.Payload, payload) || got.Templates() != 1 || got.Interfaces() != 1 {
			t.Errorf("id %s, %d bytes, %d templates, %d interfaces", got.ID, len(got.Payload), got.Templates(), got.Interfaces())
		}
	}
}

func TestADARIsReadWithWhatItDependsOn(t *testing.T) {
	trade, standard := Payload(Trade("1.0.0")), Standard()
	file := DAR(trade, standard, trade)
	for _, read := range []func([]byte) ([]*packages.Package, error){packages.ReadDAR, packages.Read} {
		list, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].Name != "acme-trade" || list[1].ID != ID(standard) {
			t.Errorf("read %d packages, the first is %s", len(list), list[0].Name)
		}
	}
	for what, alone := range map[string][]byte{"as a node serves it": trade, "as in a .dar": Archive(trade)} {
		if list, err := packages.Read(alone); err != nil || len(list) != 1 || list[0].ID != ID(trade) {
			t.Errorf("%s: %v, %v", what, list, err)
		}
	}
}

// wire writes a message from numbers and contents, by hand.
func wire(fields ...any) (out []byte) {
	for i := 0; i < len(fields); i += 2 {
		num := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			out = protowire.AppendVarint(protowire.AppendTag(out, num, protowire.VarintType), uint64(v))
		case string:
			out = protowire.AppendString(protowire.AppendTag(out, num, protowire.BytesType), v)
		case []byte:
			out = protowire.AppendBytes(protowire.AppendTag(out, num, protowire.BytesType), v)
		}
	}
	return out
}

// The bytes of a small package, field by field as the public definition numbers them, in version 2.3
// with a table of imports, types that are applied to one argument at a time, and a key.
func TestBytesByHand(t *testing.T) {
	imported := strings.Repeat("cd", 32)
	builtin := func(n int) []byte { return wire(3, wire(1, n)) }
	applied := func(left, right int) []byte { return wire(9, wire(1, wire(8, left), 2, wire(8, right))) }
	content := wire(
		1, wire( // module
			1, 0,
			4, wire(2, 1, 4, 1, 5, wire( // record M:T
				1, wire(3, 3, 2, wire(8, 3)),
				1, wire(3, 4, 2, wire(8, 6)))),
			6, wire(1, 1, 2, 0, 3, "expression", // template T
				6, wire(2, 5, 3, 1, 6, wire(3, 0, 2, wire(8, 6)), 8, wire(8, 0), 9, "expression"),
				9, wire(1, wire(8, 3), 4, "expression"),
				10, wire(1, wire(1, wire(1, wire(4, 0), 2, 0), 2, 1))),
			5, "a value, which is skipped"),
		2, "M", 2, "T", 2, "pkg", 2, "amount", 2, "other", 2, "Do", 2, "1.2.3",
		3, wire(1, []byte{0}), 3, wire(1, []byte{1}),
		4, wire(1, 2, 2, 6),
		5, builtin(0), 5, builtin(5), 5, wire(6, 20), 5, applied(1, 2), // 0 Unit, 1 Numeric, 2 nat 10, 3 Numeric 10
		5, wire(2, wire(1, wire(1, wire(1, wire(4, 0), 2, 0), 2, 1))), // 4 imported M:T
		5, builtin(4711), // 5 of a later version
		5, applied(4, 5), // 6
		6, "kinds", 7, "expressions",
		9, wire(1, imported),
	)
	p, err := packages.ReadPayload(Envelope("3-rc1", content), "")
	if err != nil {
		t.Fatal(err)
	}
	ref := packages.Ref{Package: imported, Module: "M", Name: "T"}
	decimal, other := Decimal(), TypeOf(imported, "M", "T", Of(packages.NotData))
	want := []packages.Module{{
		Name:  "M",
		Types: []packages.DataType{Data(packages.Record, "T", F("amount", decimal), F("other", other))},
		Templates: []packages.Template{{
			Name: "T", Key: decimal, Implements: []packages.Ref{ref},
			Choices: []packages.Choice{{Name: "Do", Consuming: true, Argument: other, Result: Of(packages.Unit)}},
		}},
	}}
	if p.Name != "pkg" || p.Version != "1.2.3" || p.LF != "2.3-rc1" || !reflect.DeepEqual(p.Modules, want) {
		t.Errorf("read %s %s, LF %s\n%+v, want\n%+v", p.Name, p.Version, p.LF, p.Modules, want)
	}
	if s := p.Modules[0].Types[0].Fields[0].Type.Scale(); s != 10 {
		t.Errorf("scale %d", s)
	}
}

// tampered returns Trade, changed before it is written.
func tampered(change func(api, trade *packages.Module)) []byte {
	p := Trade("1.0.0")
	change(&p.Modules[0], &p.Modules[1])
	return Payload(p)
}

func TestBadPackagesAreRefusedByOneLine(t *testing.T) {
	good := Payload(Trade("1.0.0"))
	archive := Archive(good)
	changed := bytes.Replace(archive, []byte("Acme"), []byte("Acne"), 1)
	manifest := func(text string) []byte {
		return Zip(map[string][]byte{"META-INF/MANIFEST.MF": []byte(text), "a.dalf": archive})
	}
	big := Zip(map[string][]byte{
		"META-INF/MANIFEST.MF": []byte("Format: daml-lf\nMain-Dalf: a.dalf\nDalfs: a.dalf\n"), "a.dalf": make([]byte, packages.MaxFile+1),
	})
	many := map[string][]byte{}
	for i := range 2_001 {
		many[fmt.Sprint(i)] = nil
	}
	entries := map[string][]byte{}
	for i := range 60_000 {
		entries[fmt.Sprintf("%080d", i)] = nil
	}
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "it has no content of version 2.x"},
		{"text", []byte("hello, this is no package"), "it is no .dar file"},
		{"a cut zip", DAR(good)[:300], "it is no zip file, or is cut off"},
		{"a zip without manifest", Zip(map[string][]byte{"x": nil}), `there is no "META-INF/MANIFEST.MF" in the zip file`},
		{"a manifest of another format", manifest("Format: jar\nMain-Dalf: a.dalf\n"), `META-INF/MANIFEST.MF: its format is "jar": only daml-lf is read`},
		{"a manifest without main", manifest("Format: daml-lf\nDalfs: a.dalf\n"), "it names no Main-Dalf"},
		{"a manifest that names what is not there", manifest("Format: daml-lf\nMain-Dalf: b.dalf\n"), `there is no "b.dalf" in the zip file`},
		{"a manifest with too many packages", manifest("Format: daml-lf\nMain-Dalf: a.dalf\nDalfs: " + strings.Repeat("a,", 2_001)), "it names 2002 packages: at most 2000 are read"},
		{"a zip bomb", big, `"a.dalf" is larger than the 67108864 bytes that are read of it`},
		{"a zip with many entries", Zip(many), "the zip file has 2001 entries: at most 2000 are read"},
		{"a zip with a large directory", Zip(entries), "its directory has more than 4194304 bytes"},
		{"changed bytes", changed, "its bytes have the hash"},
		{"a cut package", Archive(good[:len(good)-100]), "it is cut off or damaged"},
		{"an old package", Archive(wire(3, "17", 2, "content")), "it is of version 1.x of the language, of which only 2.x is read"},
		{"no version", Archive(wire(3, "a b", 4, wire())), `its version of the language is "a b"`},
		{"an own type that is not there", tampered(func(_, m *packages.Module) {
			m.Types[0].Fields[0].Type = Of(packages.List, TypeOf("", "Acme.Trade", "Nobody"))
		}), "module Acme.Trade: type Money: amount: it refers to type Acme.Trade:Nobody, which is not there"},
		{"an interface that is not there", tampered(func(api, _ *packages.Module) { api.Interfaces = nil }),
			"module Acme.Trade: template Order: it refers to interface Acme.Api:Tradable, which is not there"},
		{"a template without record", tampered(func(_, m *packages.Module) { m.Templates[0].Name = "Side" }), "template Side: there is no record with its fields"},
		{"a template twice", tampered(func(_, m *packages.Module) { m.Templates = append(m.Templates, m.Templates[0]) }), "template Order: it is there twice"},
		{"a choice twice", tampered(func(_, m *packages.Module) {
			m.Templates[0].Choices = append(m.Templates[0].Choices, ArchiveChoice())
		}), "template Order: choice Archive is there twice"},
		{"a type twice", tampered(func(_, m *packages.Module) { m.Types = append(m.Types, m.Types[0]) }), "type Money is there twice"},
		{"a field twice", tampered(func(_, m *packages.Module) { m.Types[0].Fields[1].Name = "amount" }), "type Money: it has amount twice"},
		{"a name with a colon", tampered(func(_, m *packages.Module) { m.Types[0].Fields[1].Name = "a:b" }), `type Money: field 2: the name "a:b", which has a character that no name has`},
		{"a long name", tampered(func(_, m *packages.Module) { m.Types[0].Fields[1].Name = strings.Repeat("x", 1_001) }), "a name longer than 1000 bytes"},
		{"many templates", tampered(func(_, m *packages.Module) {
			for i := range 10_000 {
				m.Types = append(m.Types, Data(packages.Record, fmt.Sprint("T", i)))
				m.Templates = append(m.Templates, packages.Template{Name: fmt.Sprint("T", i)})
			}
		}), "module Acme.Trade: the package has more than 2000 templates and interfaces"},
		{"many fields", tampered(func(_, m *packages.Module) {
			for i := range 2_001 {
				m.Types[0].Fields = append(m.Types[0].Fields, F(fmt.Sprint("f", i), Of(packages.Int64)))
			}
		}), "type Money: it has 2003 fields or constructors: at most 2000 are read"},
		{"a type that refers to itself", Envelope("1", wire(5, wire(8, 0))), "type 0: it refers to type 0, and there are 0 before it"},
		{"a type nested in itself", Envelope("1", wire(5, nested(200))), "type 0: types nested deeper than 100"},
		{"a type with many arguments", Envelope("1", wire(5, wire(3, bytes.Repeat(wire(2, wire(3, "")), 65)))), "a type with more than 64 arguments"},
		{"metadata without a name", Envelope("1", wire(2, "", 4, wire())), "metadata: an empty name"},
		{"a string that is not there", Envelope("1", wire(2, "a", 4, wire(1, 7))), "metadata: it refers to string 7, and there are 1"},
		{"a dotted name that is not there", Envelope("1", wire(2, "a", 4, wire(), 1, wire(1, 3))), "module 0: it refers to dotted name 3, and there are 0"},
		{"an import that is not there", Envelope("2", wire(2, "a", 5, wire(2, wire(1, wire(1, wire(1, wire(4, 5))))))), "type 0: it refers to import 5, and there are 0"},
		{"a string that is none", Envelope("1", wire(2, "\xff\xfe")), "string 0 is not UTF-8"},
		{"an endless name", Envelope("1", wire(2, strings.Repeat("x", 900), 3, wire(1, bytes.Repeat([]byte{0}, 1_000_000)))), "dotted name 0: a name longer than 1000 bytes"},
		{"too many parts", Envelope("1", bytes.Repeat(wire(5, wire(3, "")), 600_000)), "it has more than 1000000 parts: no package is that large"},
	}
	for _, tt := range tests {
		_, err := packages.Read(tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// nested returns a list of a list of a list, so many deep.
func nested(depth int) []byte {
	t := wire(3, wire(1, 0))
	for range depth {
		t = wire(3, wire(1, 10, 2, t))
	}
	return t
}

func TestAnotherIDIsRefused(t *testing.T) {
	payload := Standard()
	if _, err := packages.ReadPayload(payload, hex.EncodeToString(make([]byte, 32))); err == nil || !strings.Contains(err.Error(), "they were changed on their way") {
		t.Errorf("error %v", err)
	}
}

// memory is what reading a file leaves behind, kept at once.
func memory(read func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzPayload: any bytes give a package or an error, with no more memory than the limits allow, and
// what is read can be written and read again.
func FuzzPayload(f *testing.F) {
	f.Add(Payload(Trade("1.0.0")))
	f.Add(Standard())
	f.Add(Envelope("3", wire(5, wire(9, wire(1, wire(3, wire(1, 9)), 2, wire(3, ""))))))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p *packages.Package
		var err error
		used := memory(func() { p, err = packages.ReadPayload(payload, "") })
		if limit := uint64(1<<20 + 2_000*len(payload)); used > limit {
			t.Errorf("%d bytes took %d bytes of memory", len(payload), used)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 4_000 {
				t.Errorf("error %q", err)
			}
			return
		}
		again, err := packages.ReadPayload(Payload(Own(p)), "")
		if err != nil {
			t.Fatalf("what was read, written again: %v", err)
		}
		if !reflect.DeepEqual(Own(again), Own(p)) {
			t.Errorf("read %+v, and %+v when written again", Own(p), Own(again))
		}
	})
}

func FuzzDAR(f *testing.F) {
	f.Add(DAR(Payload(Trade("1.0.0")), Standard()))
	f.Add(Archive(Standard()))
	f.Add(Zip(map[string][]byte{"META-INF/MANIFEST.MF": []byte("Format: daml-lf\nMain-Dalf: a\n b\n"), "ab": Archive(Standard())}))
	f.Fuzz(func(t *testing.T, file []byte) {
		list, err := packages.Read(file)
		if err == nil && len(list) == 0 {
			t.Error("neither a package nor an error")
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 4_000) {
			t.Errorf("error %q", err)
		}
	})
}

// Files that are cut anywhere, or have any one bit changed, are refused: none is taken for another.
func TestDamagedFilesAreNeverTakenForAnother(t *testing.T) {
	archive := Archive(Payload(Trade("1.0.0")))
	id := ID(Payload(Trade("1.0.0")))
	accepted := map[string]int{}
	for i := range archive {
		damaged := slices.Clone(archive)
		damaged[i] ^= 1 << (i % 8)
		for _, file := range [][]byte{archive[:i], damaged} {
			if list, err := packages.Read(file); err == nil {
				accepted[list[0].ID]++
			}
		}
	}
	delete(accepted, id)
	if len(accepted) > 0 {
		t.Errorf("taken for others: %v", slices.Collect(maps.Keys(accepted)))
	}
}

// A package of the size of the network's largest ones.
func BenchmarkReadPayload(b *testing.B) {
	p := Trade("1.0.0")
	m := &p.Modules[1]
	order := m.Templates[0]
	for i := range 300 {
		for _, t := range m.Types[:9] {
			if t.Name == "Order" {
				t.Name = fmt.Sprint("Order", i)
				for k := range 30 {
					t.Fields = append(t.Fields, F(fmt.Sprintf("field_%d_%d", i, k), Of(packages.Optional, Of(packages.List, TypeOf("", "Acme.Trade", fmt.Sprint("Order", i))))))
				}
				m.Types = append(m.Types, t)
				order.Name = t.Name
				m.Templates = append(m.Templates, order)
			}
		}
	}
	payload := Payload(p)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		read, err := packages.ReadPayload(payload, "")
		if err != nil {
			b.Fatal(err)
		}
		if definitions, _ := packages.Definitions([]*packages.Package{read}); len(definitions) < 300 {
			b.Fatal(len(definitions))
		}
	}
}
