package typed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// TestRowsGiveTheirValuesBack makes rows of random values of random types, and the values again of the rows.
func TestRowsGiveTheirValuesBack(t *testing.T) {
	types, wide := 3000, 0
	if testing.Short() {
		types = 300
	}
	for seed := range types {
		g := &generator{rand.New(rand.NewPCG(uint64(seed), 1))}
		argument, result := g.record(4), g.typeOf(3)
		p := New(nil, Part{"arg", argument}, Part{"res", result})
		wide = max(wide, len(p.Columns))
		for range 4 {
			texts := [][]byte{g.canonical(t, argument), g.canonical(t, result)}
			// What is generated is a value of the type, as the encodings have it.
			for i, of := range []*values.Type{argument, result} {
				if stored, err := values.AppendProtobuf(nil, texts[i], of); err != nil {
					t.Fatalf("seed %d: %s: %v", seed, texts[i], err)
				} else if back, err := values.AppendCompact(nil, stored, of); err != nil || string(back) != string(texts[i]) {
					t.Fatalf("seed %d: %s is %s in compact_json again: %v", seed, texts[i], back, err)
				}
			}
			cells, err := p.Row(texts...)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, texts, err)
			}
			for i, want := range texts {
				if got := p.AppendValue(nil, i, cells); string(got) != string(want) {
					t.Fatalf("seed %d:\n got %s\nwant %s\nrow %v of %s", seed, got, want, cells, described(p.Columns))
				}
			}
			checkCells(t, p, cells)
		}
	}
	if wide < 30 {
		t.Errorf("the widest table has %d columns", wide)
	}
}

// checkCells makes sure that the lists of one list are equally long.
func checkCells(t *testing.T, p *Plan, cells []any) {
	t.Helper()
	lengths := map[string]int{}
	for i, c := range p.Columns {
		inside, _, ok := strings.Cut(c.Path, "[]")
		if !ok {
			continue
		}
		n := len(cells[i].([]any))
		if other, there := lengths[inside]; there && other != n {
			t.Fatalf("column %s has %d elements, another one of %s %d", c.Name, n, inside, other)
		}
		lengths[inside] = n
	}
}

// FuzzRow reads any JSON into the columns of one type.
func FuzzRow(f *testing.F) {
	g := &generator{rand.New(rand.NewPCG(7, 1))}
	of := g.record(4)
	p := New(nil, payload(of))
	for range 20 {
		f.Add(string(g.canonical(f, of)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		source, err := jsonscan.AppendCanonical(nil, []byte(text))
		if err != nil {
			return
		}
		cells, err := p.Row(source)
		if err != nil {
			return
		}
		checkCells(t, p, cells)
		once := p.AppendValue(nil, 0, cells)
		again, err := p.Row(once)
		if err != nil || string(p.AppendValue(nil, 0, again)) != string(once) {
			t.Fatalf("%s becomes %s, then %v", text, once, err)
		}
	})
}

// generator makes types and values.
type generator struct{ *rand.Rand }

func (g *generator) record(depth int) *values.Type {
	var fields []values.Field
	for i := range 1 + g.IntN(5) {
		fields = append(fields, values.Field{Label: fmt.Sprintf("%c%d", 'a'+g.IntN(26), i), Type: g.typeOf(depth - 1)})
	}
	return values.Record(fields...)
}

func (g *generator) typeOf(depth int) *values.Type {
	kinds := []values.Kind{values.KindBool, values.KindInt64, values.KindText, values.KindParty, values.KindContractID, values.KindTimestamp, values.KindDate}
	n := g.IntN(20)
	switch {
	case depth <= 0 || n < 7:
		return values.Scalar(kinds[g.IntN(len(kinds))])
	case n < 8:
		return values.Numeric(g.IntN(38))
	case n < 9:
		return []*values.Type{nothing, enum("Red", "Green")}[g.IntN(2)]
	case n < 12:
		return values.Optional(g.typeOf(depth - 1))
	case n < 14:
		return g.record(depth)
	case n < 16:
		return values.List(g.typeOf(depth - 1))
	case n < 17:
		return values.TextMap(g.typeOf(depth - 1))
	case n < 18:
		return values.GenMap(g.typeOf(depth-1), g.typeOf(depth-1))
	case n < 19:
		return values.Record(values.Field{Label: "map", Type: values.GenMap(values.Scalar(kinds[g.IntN(len(kinds))]), nothing)})
	}
	v := values.Variant()
	for i := range 1 + g.IntN(14) {
		v.Fields = append(v.Fields, values.Field{Label: fmt.Sprintf("C%d", i), Type: g.typeOf(depth - 2)})
	}
	return v
}

func (g *generator) canonical(t testing.TB, of *values.Type) []byte {
	t.Helper()
	text, err := json.Marshal(g.value(of))
	if err != nil {
		t.Fatal(err)
	}
	if text, err = jsonscan.AppendCanonical(nil, text); err != nil {
		t.Fatal(err)
	}
	return text
}

// value is a value in compact_json.
func (g *generator) value(of *values.Type) any {
	switch of.Kind {
	case values.KindUnit:
		return map[string]any{}
	case values.KindOptional:
		return g.optional(of.Elem, false)
	case values.KindList:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(of.Elem))
		}
		return list
	case values.KindTextMap:
		m := map[string]any{}
		for range g.IntN(4) {
			m[g.text()] = g.value(of.Elem)
		}
		return m
	case values.KindGenMap:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, []any{g.value(of.Key), g.value(of.Elem)})
		}
		return list
	case values.KindRecord:
		m := map[string]any{}
		last := 0
		for i, f := range of.Fields {
			v := g.value(f.Type)
			m[f.Label] = v
			if v != nil || f.Type.Kind != values.KindOptional {
				last = i + 1
			}
		}
		for _, f := range of.Fields[last:] {
			delete(m, f.Label)
		}
		return m
	case values.KindVariant:
		c := of.Fields[g.IntN(len(of.Fields))]
		return map[string]any{"tag": c.Label, "value": g.value(c.Type)}
	case values.KindEnum:
		return of.Fields[g.IntN(len(of.Fields))].Label
	}
	return g.scalar(of)
}

func (g *generator) optional(elem *values.Type, nested bool) any {
	some := g.IntN(3) > 0
	var v any
	if some && elem.Kind == values.KindOptional {
		v = g.optional(elem.Elem, true)
	} else if some {
		v = g.value(elem)
	}
	switch {
	case nested && some:
		return []any{v}
	case nested:
		return []any{}
	}
	return v
}

func (g *generator) scalar(of *values.Type) any {
	switch of.Kind {
	case values.KindBool:
		return g.IntN(2) == 0
	case values.KindInt64:
		return fmt.Sprint(int64(g.Uint64()))
	case values.KindNumeric:
		units := Units{uint64(int64(g.Uint64()) >> (2 + g.IntN(61))), g.Uint64()}
		return string(appendUnits(nil, units, of.Scale))
	case values.KindTimestamp:
		at := minTime + schemas.Micros(g.Int64N(int64(maxTime-minTime)))
		return string(schemas.AppendShortTime(nil, at))
	case values.KindDate:
		return fmt.Sprintf("%04d-%02d-%02d", 1900+g.IntN(400), 1+g.IntN(12), 1+g.IntN(28))
	}
	return g.text()
}

func (g *generator) text() string {
	return []string{"", "a", "alice::1220ab", "null", "ünï", "\"quoted\"\n", strings.Repeat("x", g.IntN(40)), "00ab"}[g.IntN(8)]
}
