package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// generator makes random types, and random values of them in both encodings. It builds
// the encodings apart from each other and with the standard library, to be judged by.
type generator struct{ *rand.Rand }

func newGenerator(seed, purpose uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, purpose))}
}

func (g generator) typ(depth int) *Type {
	kinds := int(KindEnum)
	kind := Kind(1 + g.IntN(kinds))
	if depth == 0 && kind >= KindOptional && kind != KindEnum {
		kind = Kind(1 + g.IntN(int(KindDate)))
	}
	switch kind {
	case KindOptional:
		return Optional(g.typ(depth - 1))
	case KindList:
		return List(g.typ(depth - 1))
	case KindTextMap:
		return TextMap(g.typ(depth - 1))
	case KindGenMap:
		return GenMap(g.typ(depth-1), g.typ(depth-1))
	case KindRecord:
		return Record(g.fields(depth)...)
	case KindVariant:
		return Variant(append(g.fields(depth), Field{Label: "last", Type: g.typ(depth - 1)})...)
	}
	return Scalar(kind)
}

func (g generator) fields(depth int) []Field {
	fields := make([]Field, g.IntN(6))
	for i := range fields {
		fields[i] = Field{Label: g.text() + strconv.Itoa(i), Type: g.typ(depth - 1)}
	}
	return fields
}

func (g generator) text() string {
	alphabet := []rune("abcXYZ019 _-:\"\\/\n\t\x00\x1f\x7fé\u2028\uFFFD😀")
	text := make([]rune, g.IntN(12))
	for i := range text {
		text[i] = alphabet[g.IntN(len(alphabet))]
	}
	return string(text)
}

func quote(s string) string { return string(jsonscan.AppendString(nil, []byte(s))) }

// encoded is one value: in compact_json, in protobuf_json without labels, ids and empty
// lists, and in protobuf_json with all of them. None is always canonical.
type encoded struct{ compact, protobuf, verbose string }

// same is a value whose encodings are those of its kind with the same text.
func same(kind Kind, text string) encoded {
	member := member(kind.String(), text)
	return encoded{text, member, member}
}

const someID = `{"packageId":"p","moduleName":"M","entityName":"E"}`

// value returns a random value of type t. nested is as for converter.compact. With budget 0
// it is as small as its type allows, so that values of recursive types have an end.
func (g generator) value(t *Type, nested bool, budget int) encoded {
	switch t.Kind {
	case KindOptional:
		return g.optional(t, nested, budget)
	case KindList:
		return partsOf(t.Kind, "elements", "[]", g.many(budget, func(int) encoded { return g.value(t.Elem, false, budget-1) }))
	case KindTextMap:
		return partsOf(t.Kind, "entries", "{}", g.many(budget, func(i int) encoded {
			key, v := quote(g.text()+strconv.Itoa(i)), g.value(t.Elem, false, budget-1) // distinct
			entry := func(v string) string { return `{"key":` + key + `,"value":` + v + `}` }
			return encoded{key + ":" + v.compact, entry(v.protobuf), entry(v.verbose)}
		}))
	case KindGenMap:
		return partsOf(t.Kind, "entries", "[]", g.many(budget, func(int) encoded {
			k, v := g.value(t.Key, false, budget-1), g.value(t.Elem, false, budget-1)
			entry := func(k, v string) string { return `{"key":` + k + `,"value":` + v + `}` }
			return encoded{"[" + k.compact + "," + v.compact + "]", entry(k.protobuf, v.protobuf), entry(k.verbose, v.verbose)}
		}))
	case KindRecord:
		return g.record(t, budget)
	case KindVariant:
		return g.variant(t, budget)
	case KindEnum:
		name := quote(g.text())
		if len(t.Fields) > 0 {
			name = quote(t.Fields[g.IntN(len(t.Fields))].Label)
		}
		return encoded{name, `{"enum":{"constructor":` + name + `}}`, `{"enum":{"enumId":` + someID + `,"constructor":` + name + `}}`}
	}
	return g.scalar(t.Kind)
}

func member(name, value string) string { return `{"` + name + `":` + value + `}` }

// partsOf joins the parts of a list or map. brackets are those of compact_json.
func partsOf(kind Kind, name, brackets string, parts []encoded) encoded {
	var c, p, v []string
	for _, part := range parts {
		c, p, v = append(c, part.compact), append(p, part.protobuf), append(v, part.verbose)
	}
	short := "{}"
	if len(parts) > 0 {
		short = member(name, "["+strings.Join(p, ",")+"]")
	}
	return encoded{
		compact:  brackets[:1] + strings.Join(c, ",") + brackets[1:],
		protobuf: member(kind.String(), short),
		verbose:  member(kind.String(), member(name, "["+strings.Join(v, ",")+"]")),
	}
}

func (g generator) many(budget int, one func(i int) encoded) (parts []encoded) {
	if budget > 0 {
		for i := range g.IntN(4) {
			parts = append(parts, one(i))
		}
	}
	return parts
}

func (g generator) optional(t *Type, nested bool, budget int) encoded {
	if budget <= 0 || g.IntN(3) == 0 {
		compact := "null"
		if nested {
			compact = "[]"
		}
		return encoded{compact, `{"optional":{}}`, `{"optional":{"value":null}}`}
	}
	v := g.value(t.Elem, true, budget-1)
	if nested {
		v.compact = "[" + v.compact + "]"
	}
	return encoded{v.compact, `{"optional":{"value":` + v.protobuf + `}}`, `{"optional":{"value":` + v.verbose + `}}`}
}

// record leaves out some of the trailing optional fields, as an older version does.
func (g generator) record(t *Type, budget int) encoded {
	n := len(t.Fields)
	for n > 0 && t.Fields[n-1].Type.Kind == KindOptional && g.IntN(3) == 0 {
		n--
	}
	var c, p, v []string
	for _, f := range t.Fields[:n] {
		e, label := g.value(f.Type, false, budget-1), quote(f.Label)
		c, p = append(c, label+":"+e.compact), append(p, member("value", e.protobuf))
		v = append(v, `{"label":`+label+`,"value":`+e.verbose+`}`)
	}
	g.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
	short := "{}"
	if n > 0 {
		short = member("fields", "["+strings.Join(p, ",")+"]")
	}
	return encoded{
		compact:  "{" + strings.Join(c, ",") + "}",
		protobuf: member("record", short),
		verbose:  `{"record":{"recordId":` + someID + `,"fields":[` + strings.Join(v, ",") + `]}}`,
	}
}

func (g generator) variant(t *Type, budget int) encoded {
	f := t.Fields[g.IntN(len(t.Fields))]
	if budget <= 0 {
		f = slices.MinFunc(t.Fields, func(a, b Field) int { return height(a.Type, nil) - height(b.Type, nil) })
	}
	tag, e := quote(f.Label), g.value(f.Type, false, budget-1)
	return encoded{
		compact:  `{"tag":` + tag + `,"value":` + e.compact + `}`,
		protobuf: `{"variant":{"constructor":` + tag + `,"value":` + e.protobuf + `}}`,
		verbose:  `{"variant":{"variantId":` + someID + `,"constructor":` + tag + `,"value":` + e.verbose + `}}`,
	}
}

const endless = 1 << 20

// height is how deep the smallest value of t is, endless if all are.
func height(t *Type, above []*Type) int {
	if slices.Contains(above, t) {
		return endless
	}
	above = append(slices.Clip(above), t)
	switch t.Kind {
	case KindRecord:
		most := 0
		for _, f := range t.Fields {
			most = max(most, height(f.Type, above))
		}
		return min(most+1, endless)
	case KindVariant:
		least := endless
		for _, f := range t.Fields {
			least = min(least, height(f.Type, above))
		}
		return min(least+1, endless)
	}
	return 1 // also what may be none or empty
}

func (g generator) scalar(kind Kind) encoded {
	extreme := g.IntN(8) == 0
	switch kind {
	case KindUnit:
		return encoded{"{}", `{"unit":{}}`, `{"unit":{}}`}
	case KindBool:
		return same(kind, strconv.FormatBool(g.IntN(2) == 0))
	case KindInt64:
		n := int64(g.Uint64()) >> g.IntN(64)
		if extreme {
			n = pick[int64](g, math.MinInt64, -1, 0, 1, math.MaxInt64)
		}
		return same(kind, quote(strconv.FormatInt(n, 10)))
	case KindNumeric:
		n := fmt.Sprintf("%d.%010d", g.Int64N(1e15)-5e14, g.Int64N(1e10))
		if extreme {
			n = pick(g, "0.0000000000", "-0.0000000001", "9999999999999999999999999999.9999999999",
				"-9999999999999999999999999999.9999999999", "1.0000000000000000000000000000000000001")
		}
		return same(kind, quote(n))
	case KindTimestamp:
		micros := int64(schemas.MinMicros) + g.Int64N(int64(schemas.MaxMicros-schemas.MinMicros)+1)
		micros -= micros % []int64{1, 1000, 1000000}[g.IntN(3)]
		if extreme {
			micros = pick[int64](g, int64(schemas.MinMicros), -1, 0, 1, 999, 1000, int64(schemas.MaxMicros))
		}
		text := quote(isoShortest(time.UnixMicro(micros).UTC()))
		number := `{"timestamp":` + quote(strconv.FormatInt(micros, 10)) + `}`
		return encoded{text, number, number}
	case KindDate:
		day := minDay + g.Int64N(maxDay-minDay+1)
		if extreme {
			day = pick[int64](g, minDay, -1, 0, 11016, maxDay) // 11016 is a leap day
		}
		text := quote(time.Unix(day*86400, 0).UTC().Format(time.DateOnly))
		number := member("date", strconv.FormatInt(day, 10))
		return encoded{text, number, number}
	}
	return same(kind, quote(g.text()))
}

func pick[T any](g generator, values ...T) T { return values[g.IntN(len(values))] }

func isoShortest(at time.Time) string {
	switch at.Nanosecond() / 1000 {
	case 0:
		return at.Format("2006-01-02T15:04:05Z")
	case at.Nanosecond() / 1000000 * 1000:
		return at.Format("2006-01-02T15:04:05.000Z")
	}
	return at.Format("2006-01-02T15:04:05.000000Z")
}

// checkBothWays converts a value in both directions and says what is wrong with the result.
// As the generator makes all encodings by itself, this is more than that a round trip ends
// where it began.
func checkBothWays(t *testing.T, typ *Type, v encoded) error {
	t.Helper()
	want := string(canonical(t, []byte(v.compact)))
	for _, protobuf := range []string{v.protobuf, v.verbose} {
		if got, err := AppendCompact(nil, []byte(protobuf), typ); err != nil || string(got) != want {
			return fmt.Errorf("AppendCompact(%s) =\n%s, %v, want\n%s", protobuf, got, err, want)
		}
	}
	if got, err := AppendCompact(nil, []byte(v.verbose), nil); err != nil || string(got) != want {
		return fmt.Errorf("without a type, AppendCompact(%s) =\n%s, %v, want\n%s", v.verbose, got, err, want)
	}
	got, err := AppendProtobuf(nil, []byte(v.compact), typ)
	if want := sortedEntries(t, v.protobuf); err != nil || string(canonical(t, got)) != string(got) || sortedEntries(t, string(got)) != want {
		return fmt.Errorf("AppendProtobuf(%s) =\n%s, %v, want\n%s", v.compact, got, err, want)
	}
	return nil
}

func TestRandomValuesOfRandomTypes(t *testing.T) {
	for seed := range uint64(3000) {
		g := newGenerator(seed, 1)
		typ := g.typ(4)
		for range 3 {
			if err := checkBothWays(t, typ, g.value(typ, false, 5)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// Every type of the catalogue, found by the names of both spellings.
func TestRandomValuesOfTheWholeCatalog(t *testing.T) {
	c := Default()
	types := 0
	check := func(typ, neutral *Type, name string) {
		switch {
		case typ == nil:
			return // not known, which the files say
		case typ != neutral:
			t.Errorf("%s has another type by its neutral name", name)
		case height(typ, nil) >= endless:
			t.Fatalf("%s has no finite value", name)
		}
		types++
		for seed := range uint64(20) {
			g := newGenerator(seed, uint64(types))
			if err := checkBothWays(t, typ, g.value(typ, false, int(seed%8))); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(c.templates)) {
		if !strings.HasPrefix(pkg, networkPackage) {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.templates[pkg])) {
			if !strings.HasPrefix(id, networkModule) {
				continue
			}
			check(c.Template(pkg, id), c.Template(Neutral(pkg), Neutral(id)), pkg+":"+id)
			for _, name := range slices.Sorted(maps.Keys(c.templates[pkg][id].choices)) {
				if Network(name) != name {
					continue
				}
				at := pkg + ":" + id + " " + name
				check(c.ChoiceArgument(pkg, id, "", name), c.ChoiceArgument(Neutral(pkg), Neutral(id), "", Neutral(name)), at+" argument")
				check(c.ChoiceResult(pkg, id, "", name), c.ChoiceResult(Neutral(pkg), Neutral(id), "", Neutral(name)), at+" result")
			}
		}
	}
	if types < 450 {
		t.Errorf("only %d types checked", types)
	}
}

// sortedEntries returns a protobuf_json value with the entries of text maps in the order of
// their keys, which is all that AppendProtobuf may change.
func sortedEntries(t *testing.T, protobuf string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(protobuf))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", protobuf, err)
	}
	sortEntries(v)
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sortEntries(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			sortEntries(e)
		}
	case map[string]any:
		for _, e := range v {
			sortEntries(e)
		}
		if textMap, ok := v["textMap"].(map[string]any); ok {
			byKey := map[string]any{}
			entries, _ := textMap["entries"].([]any)
			for _, e := range entries {
				byKey[e.(map[string]any)["key"].(string)] = e
			}
			textMap["entries"] = byKey // marshals in the order of the keys
		}
	}
}
