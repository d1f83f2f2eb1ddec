package typed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func field(label string, t *values.Type) values.Field { return values.Field{Label: label, Type: t} }

var (
	text    = values.Scalar(values.KindText)
	party   = values.Scalar(values.KindParty)
	integer = values.Scalar(values.KindInt64)
	amount  = values.Scalar(values.KindNumeric)
	instant = values.Scalar(values.KindTimestamp)
	nothing = values.Scalar(values.KindUnit)
)

func enum(names ...string) *values.Type {
	t := &values.Type{Kind: values.KindEnum}
	for _, n := range names {
		t.Fields = append(t.Fields, values.Field{Label: n})
	}
	return t
}

// described are columns as "name type".
func described(columns []Column) (list []string) {
	for _, c := range columns {
		list = append(list, c.Name+" "+c.Type)
	}
	return list
}

func payload(t *values.Type) Part { return Part{Type: t} }

// TestColumns has a type for each line of the table in the package's documentation.
func TestColumns(t *testing.T) {
	leg := values.Record(field("sender", party), field("amount", values.Optional(amount)), field("meta", values.TextMap(text)))
	side := values.Variant(field("Buy", leg), field("Sell", amount), field("Hold", nothing))
	wide := values.Variant()
	for i := range 13 {
		wide.Fields = append(wide.Fields, field(fmt.Sprintf("C%d", i), integer))
	}
	tree := values.Record()
	tree.SetFields([]values.Field{field("label", text), field("below", values.List(tree)), field("other", values.Optional(tree))})
	deep := text
	for range 6 {
		deep = values.Record(field("x", deep))
	}
	set := func(of *values.Type) *values.Type { return values.Record(field("map", values.GenMap(of, nothing))) }
	for _, c := range []struct {
		name string
		of   *values.Type
		want string
	}{
		{"integers", integer, "v Int64"},
		{"numbers", values.Numeric(4), "v Decimal(38, 4)"},
		{"parties", party, "v LowCardinality(String)"},
		{"optional parties", values.Optional(party), "v LowCardinality(Nullable(String))"},
		{"optional instants", values.Optional(instant), "v Nullable(DateTime64(6, 'UTC'))"},
		{"enums", enum("A", "B"), "v LowCardinality(String)"},
		{"unit", nothing, ""},
		{"optional unit", values.Optional(nothing), "v__present Bool"},
		{"optional optional", values.Optional(values.Optional(text)), "v__json Nullable(String)"},
		{"records", values.Record(field("a", leg)), "v__a__sender LowCardinality(String), v__a__amount Nullable(Decimal(38, 10)), v__a__meta Map(String, String)"},
		{"optional records", values.Optional(leg), "v__present Bool, v__sender LowCardinality(Nullable(String)), v__amount Nullable(Decimal(38, 10)), v__meta Map(String, String)"},
		{"variants", side, "v__tag LowCardinality(String), v__Buy__sender LowCardinality(Nullable(String)), v__Buy__amount Nullable(Decimal(38, 10)), v__Buy__meta Map(String, String), v__Sell Nullable(Decimal(38, 10))"},
		{"optional variants", values.Optional(values.Variant(field("A", text))), "v__tag LowCardinality(Nullable(String)), v__A Nullable(String)"},
		{"wide variants", wide, "v__tag LowCardinality(String), v__content__json Nullable(String)"},
		{"lists", values.List(amount), "v Array(Decimal(38, 10))"},
		{"lists of optionals", values.List(values.Optional(party)), "v Array(LowCardinality(Nullable(String)))"},
		{"lists of records", values.List(leg), "v__sender Array(LowCardinality(String)), v__amount Array(Nullable(Decimal(38, 10))), v__meta__json Array(String)"},
		{"lists of variants", values.List(side), "v__tag Array(LowCardinality(String)), v__Buy__sender Array(LowCardinality(Nullable(String))), v__Buy__amount Array(Nullable(Decimal(38, 10))), v__Buy__meta__json Array(Nullable(String)), v__Sell Array(Nullable(Decimal(38, 10)))"},
		{"lists of units", values.List(nothing), "v__json String"},
		{"lists of lists", values.List(values.List(text)), "v__json Array(String)"},
		{"optional lists", values.Optional(values.List(text)), "v__present Bool, v Array(String)"},
		{"text maps of records", values.TextMap(leg), "v__key Array(String), v__value__sender Array(LowCardinality(String)), v__value__amount Array(Nullable(Decimal(38, 10))), v__value__meta__json Array(String)"},
		{"maps", values.GenMap(party, amount), "v__key Array(LowCardinality(String)), v__value Array(Decimal(38, 10))"},
		{"sets", set(party), "v Array(LowCardinality(String))"},
		{"recursive types", tree, "v__label String, v__below__json Array(String), v__other__json Nullable(String)"},
		{"deep types", deep, "v__x__x__x__x__json String"},
		{"labels that look like columns of the table", values.Record(field("a__b", text), field("select", text)), "v__a__b_ String, v__select String"},
	} {
		if got := strings.Join(described(New(nil, payload(values.Record(field("v", c.of)))).Columns), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	if got := described(New(nil, payload(values.Record(field("_node", text)))).Columns); got[0] != "_node_ String" {
		t.Errorf("a label with an underscore before it has column %s", got)
	}
	both := New(nil, Part{"arg", values.Record(field("x", text), field("a__b", text), field("a", values.Record(field("b_", text))))}, Part{"res", amount}, Part{"more", nil})
	if got, want := strings.Join(described(both.Columns), ", "), "arg__x String, arg__a__b_ String, arg__a__b__2 String, res Decimal(38, 10), more__json String"; got != want {
		t.Errorf("parts of a choice:\n got %s\nwant %s", got, want)
	}
}

// TestNoTableHasMoreColumns has types that would need more than there may be.
func TestNoTableHasMoreColumns(t *testing.T) {
	inner := values.Record()
	for i := range 60 {
		inner.Fields = append(inner.Fields, field(fmt.Sprintf("f%d", i), text))
	}
	inner.SetFields(inner.Fields)
	p := New(nil, payload(values.Record(field("a", inner), field("b", inner), field("c", inner), field("d", inner), field("e", amount))))
	if len(p.Columns) != 182 || p.Columns[180].Name != "d__json" || p.Columns[181].Name != "e" {
		t.Errorf("%d columns, the last %s", len(p.Columns), described(p.Columns[178:]))
	}
	many := values.Record()
	for i := range MaxColumns + 1 {
		many.Fields = append(many.Fields, field(fmt.Sprintf("f%d", i), text))
	}
	many.SetFields(many.Fields)
	if p := New(nil, payload(many)); len(p.Columns) != 1 || p.Columns[0].Name != "payload__json" {
		t.Errorf("of %d fields there are columns %s", len(many.Fields), described(p.Columns))
	}
	// All that the catalogue has fits, and most of it is no JSON.
	columns, texts := 0, 0
	for _, e := range values.Default().Entries() {
		if e.Interface {
			continue
		}
		p := New(nil, payload(values.Default().Template(e.PackageName, e.Entity)))
		if len(p.Columns) > MaxColumns {
			t.Errorf("%s has %d columns", e.Entity, len(p.Columns))
		}
		for _, c := range p.Columns {
			columns++
			if strings.HasSuffix(c.Name, "__json") {
				texts++
			}
		}
	}
	if columns < 500 || texts*10 > columns {
		t.Errorf("of %d columns %d are JSON", columns, texts)
	}
}

// TestLaterVersions appends to a type, and breaks its rules.
func TestLaterVersions(t *testing.T) {
	first := values.Record(field("owner", party), field("side", values.Variant(field("Buy", amount))), field("kind", enum("A")))
	before := New(nil, payload(first))
	old := []byte(`{"kind":"A","owner":"alice","side":{"tag":"Buy","value":"1.0000000000"}}`)
	row := func(p *Plan, text string) ([]any, error) { return p.Row([]byte(text)) }
	cells, err := row(before, string(old))
	if err != nil {
		t.Fatal(err)
	}

	later := values.Record(field("owner", party), field("side", values.Variant(field("Buy", amount), field("Sell", text))), field("kind", enum("A", "B")),
		field("note", values.Optional(text)))
	after := New(before.Columns, payload(later))
	if again := New(after.Columns, payload(later)); before.Shape != New(before.Columns, payload(first)).Shape || after.Shape == before.Shape || again.Shape != after.Shape {
		t.Errorf("shapes are %x, then %x, and again %x", before.Shape, after.Shape, again.Shape)
	}
	if !slices.Equal(after.Columns[:len(before.Columns)], before.Columns) {
		t.Errorf("columns were %s and are %s", described(before.Columns), described(after.Columns))
	}
	if got, want := described(after.Columns[len(before.Columns):]), []string{"side__Sell Nullable(String)", "note Nullable(String)"}; !slices.Equal(got, want) {
		t.Errorf("added columns %s, want %s", got, want)
	}
	again, err := row(after, string(old))
	if err != nil || fmt.Sprint(again) != fmt.Sprint(append(slices.Clone(cells), nil, nil)) {
		t.Errorf("an old value has cells %v then %v, %v", cells, again, err)
	}
	for _, text := range []string{
		`{"kind":"B","note":"x","owner":"alice","side":{"tag":"Sell","value":"y"}}`,
		string(old),
	} {
		cells, err := row(after, text)
		if got := after.AppendValue(nil, 0, cells); err != nil || string(got) != text {
			t.Errorf("%s comes back as %s, %v", text, got, err)
		}
	}
	if _, err := row(before, `{"kind":"B","note":"x","owner":"alice","side":{"tag":"Sell","value":"y"}}`); !errors.Is(err, ErrUnfit) {
		t.Errorf("a later value fits the earlier columns: %v", err)
	}
	// Planned again it is the same, whatever is JSON.
	tree := values.Record()
	tree.SetFields([]values.Field{field("below", values.Optional(tree)), field("x", values.Optional(values.Optional(text)))})
	once := New(nil, payload(tree))
	if twice := New(once.Columns, payload(tree)); !slices.Equal(once.Columns, twice.Columns) {
		t.Errorf("planned again: %s, then %s", described(once.Columns), described(twice.Columns))
	}
	broken := New(before.Columns, payload(values.Record(field("owner", integer), field("side", values.Variant(field("Buy", amount))), field("kind", enum("A")))))
	if _, err := row(broken, `{"kind":"A","owner":"1","side":{"tag":"Buy","value":"1.0"}}`); !errors.Is(err, ErrUnfit) || !slices.Equal(broken.Columns, before.Columns) {
		t.Errorf("a field of another type: %v, columns %s", err, described(broken.Columns))
	}
}

// TestUnfitValues has values that the columns do not take.
func TestUnfitValues(t *testing.T) {
	p := New(nil, payload(values.Record(field("n", integer), field("a", values.Numeric(2)), field("at", instant), field("o", values.Optional(values.Variant(field("A", nothing)))))))
	for _, c := range []struct{ text, want string }{
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"1"}`, ""},
		{`{"a":"1.001","at":"2026-01-01T00:00:00Z","n":"1"}`, "a: "},
		{`{"a":"1234567890123456789012345678901234567.00","at":"2026-01-01T00:00:00Z","n":"1"}`, "38 digits"},
		{`{"a":"1.00","at":"then","n":"1"}`, `"then" is no time`},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"9223372036854775808"}`, "is no Int64"},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","b":1,"n":"1"}`, `a field "b"`},
		{`{"a":"1.00","n":"1"}`, "no field at"},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"1","o":{"tag":"B","value":{}}}`, `a constructor "B"`},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"1","o":{"tag":"A","value":{"x":1}}}`, "where there is none"},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"1"} `, ""},
		{`{"a":"1.00","at":"2026-01-01T00:00:00Z","n":"1"}}`, "malformed"},
		{`[]`, "malformed"},
		{``, "malformed"},
	} {
		_, err := p.Row([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestTableNames has names that are long, alike, or words of SQL.
func TestTableNames(t *testing.T) {
	used := map[string]bool{}
	taken := func(name string) bool { return used[name] }
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{"splice-amulet", "Splice.Amulet:Amulet", ""}, "t_splice_amulet__splice_amulet_amulet"},
		{Source{"splice-amulet", "Splice.Amulet:Amulet", "Amulet_Expire"}, "c_splice_amulet__splice_amulet_amulet__amulet_expire"},
		{Source{"splice.amulet", "Splice.Amulet:Amulet", ""}, "t_splice_amulet__splice_amulet_amulet_7f42cfde"},
		{Source{"select", "From:Where'", ""}, "t_select__from_where_"},
		{Source{"p", strings.Repeat("Long.", 30) + ":T", ""}, "t_p__" + strings.Repeat("long_", 16) + "lo_"},
	} {
		got := c.source.TableName(taken)
		if !strings.HasPrefix(got, c.want) || len(got) > maxTableName || used[got] {
			t.Errorf("%s has table %s, want %s", c.source, got, c.want)
		}
		used[got] = true
	}
}
