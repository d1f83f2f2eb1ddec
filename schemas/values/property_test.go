package values

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// generator makes random types, and random values of them in both encodings. It builds
// the encodings apart from each other and with the standard library, to be judged by.
type generator struct{ *rand.Rand }

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

// value returns a random value of type t in both encodings, not always canonical.
// nested is as for compact.
func (g generator) value(t *Type, nested bool) (compact, protobuf string) {
	switch t.Kind {
	case KindOptional:
		return g.optional(t, nested)
	case KindList:
		c, p := g.many(func() (string, string) { return g.value(t.Elem, false) })
		return "[" + c + "]", member("list", partsOf("elements", p))
	case KindTextMap:
		n := 0
		c, p := g.many(func() (string, string) {
			key := quote(g.text() + strconv.Itoa(n)) // distinct; the order is checked after sorting
			n++
			c, p := g.value(t.Elem, false)
			return key + ":" + c, `{"key":` + key + `,"value":` + p + `}`
		})
		return "{" + c + "}", member("textMap", partsOf("entries", p))
	case KindGenMap:
		c, p := g.many(func() (string, string) {
			kc, kp := g.value(t.Key, false)
			vc, vp := g.value(t.Elem, false)
			return "[" + kc + "," + vc + "]", `{"key":` + kp + `,"value":` + vp + `}`
		})
		return "[" + c + "]", member("genMap", partsOf("entries", p))
	case KindRecord:
		return g.record(t)
	case KindVariant:
		f := t.Fields[g.IntN(len(t.Fields))]
		c, p := g.value(f.Type, false)
		return `{"tag":` + quote(f.Label) + `,"value":` + c + `}`,
			member("variant", `{"constructor":`+quote(f.Label)+`,"value":`+p+`}`)
	}
	return g.scalar(t.Kind)
}

func member(name, value string) string { return `{"` + name + `":` + value + `}` }

func partsOf(name, parts string) string {
	if parts == "" {
		return "{}"
	}
	return member(name, "["+parts+"]")
}

func (g generator) many(one func() (string, string)) (compact, protobuf string) {
	var c, p []string
	for range g.IntN(4) {
		a, b := one()
		c, p = append(c, a), append(p, b)
	}
	return strings.Join(c, ","), strings.Join(p, ",")
}

func (g generator) optional(t *Type, nested bool) (compact, protobuf string) {
	if g.IntN(3) == 0 {
		if nested {
			return "[]", member("optional", "{}")
		}
		return "null", member("optional", "{}")
	}
	compact, protobuf = g.value(t.Elem, true)
	if nested {
		compact = "[" + compact + "]"
	}
	return compact, member("optional", member("value", protobuf))
}

// record leaves out some of the trailing optional fields, as an older version does.
func (g generator) record(t *Type) (compact, protobuf string) {
	n := len(t.Fields)
	for n > 0 && t.Fields[n-1].Type.Kind == KindOptional && g.IntN(3) == 0 {
		n--
	}
	var c, p []string
	for _, f := range t.Fields[:n] {
		a, b := g.value(f.Type, false)
		c, p = append(c, quote(f.Label)+":"+a), append(p, member("value", b))
	}
	g.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
	return "{" + strings.Join(c, ",") + "}", member("record", partsOf("fields", strings.Join(p, ",")))
}

func (g generator) scalar(kind Kind) (compact, protobuf string) {
	switch kind {
	case KindUnit:
		return "{}", `{"unit":{}}`
	case KindBool:
		b := strconv.FormatBool(g.IntN(2) == 0)
		return b, member("bool", b)
	case KindInt64:
		n := quote(strconv.FormatInt(int64(g.Uint64())>>g.IntN(64), 10))
		return n, member("int64", n)
	case KindNumeric:
		n := quote(fmt.Sprintf("%d.%010d", g.Int64N(1e15)-5e14, g.Int64N(1e10)))
		return n, member("numeric", n)
	case KindTimestamp:
		micros := minMicros + g.Int64N(maxMicros-minMicros+1)
		micros -= micros % []int64{1, 1000, 1000000}[g.IntN(3)]
		return quote(isoShortest(time.UnixMicro(micros).UTC())), member("timestamp", quote(strconv.FormatInt(micros, 10)))
	case KindDate:
		day := minDay + g.Int64N(maxDay-minDay+1)
		return quote(time.Unix(day*86400, 0).UTC().Format(time.DateOnly)), member("date", strconv.FormatInt(day, 10))
	case KindEnum:
		name := quote(g.text())
		return name, member("enum", member("constructor", name))
	}
	text := quote(g.text())
	return text, member(kind.String(), text)
}

func isoShortest(at time.Time) string {
	switch at.Nanosecond() / 1000 {
	case 0:
		return at.Format("2006-01-02T15:04:05Z")
	case at.Nanosecond() / 1000000 * 1000:
		return at.Format("2006-01-02T15:04:05.000Z")
	}
	return at.Format("2006-01-02T15:04:05.000000Z")
}

func TestRandomValuesOfRandomTypes(t *testing.T) {
	for seed := range uint64(3000) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		typ := g.typ(4)
		for range 3 {
			compact, protobuf := g.value(typ, false)
			wantCompact := canonical(t, []byte(compact))
			got, err := AppendCompact(nil, []byte(protobuf), typ)
			if err != nil || string(got) != string(wantCompact) {
				t.Fatalf("seed %d: AppendCompact(%s) =\n%s, %v, want\n%s", seed, protobuf, got, err, wantCompact)
			}
			got, err = AppendProtobuf(nil, []byte(compact), typ)
			if want := sortedEntries(t, protobuf); err != nil || string(canonical(t, got)) != string(got) || sortedEntries(t, string(got)) != want {
				t.Fatalf("seed %d: AppendProtobuf(%s) =\n%s, %v, want\n%s", seed, compact, got, err, want)
			}
		}
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
