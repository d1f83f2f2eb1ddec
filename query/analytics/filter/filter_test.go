package filter

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func columns() Columns {
	list := Columns{}
	for name, storeType := range map[string]string{
		"template": "LowCardinality(String)", "party": "String", "note": "Nullable(String)", "cause": "Enum8('mint' = 1, 'burn' = 2)",
		"node": "Int32", "amount": "Decimal(38, 10)", "fee": "Nullable(Decimal(38, 10))", "record_time": "DateTime64(6, 'UTC')",
		"consuming": "Bool", "signatories": "Array(LowCardinality(String))", "children": "Array(Int32)", "odd": "Map(String, String)",
		"born": "Nullable(Date32)", "rate": "Decimal(38, 2)", "tags": "Array(Nullable(String))",
	} {
		list[name] = NewColumn(name, storeType)
	}
	return list
}

func TestCompile(t *testing.T) {
	for expression, want := range map[string]struct {
		text   string
		params map[string]string
	}{
		`template == "a"`:                       {"(`template` = {f0:String})", map[string]string{"f0": "a"}},
		`"a" != template`:                       {"(`template` != {f0:String})", map[string]string{"f0": "a"}},
		`5 < node`:                              {"(`node` > {f0:Int64})", map[string]string{"f0": "5"}},
		`node >= -1`:                            {"(`node` >= {f0:Int64})", map[string]string{"f0": "-1"}},
		`amount > 0.1234567891`:                 {"(`amount` > {f0:Decimal(38, 10)})", map[string]string{"f0": "0.1234567891"}},
		`amount == 9999999999999999999999999.5`: {"(`amount` = {f0:Decimal(38, 10)})", map[string]string{"f0": "9999999999999999999999999.5"}},
		`amount <= -2.5`:                        {"(`amount` <= {f0:Decimal(38, 10)})", map[string]string{"f0": "-2.5"}},
		`amount == decimal("3.10")`:             {"(`amount` = {f0:Decimal(38, 10)})", map[string]string{"f0": "3.10"}},
		`fee > 1`:                               {"ifNull(`fee` > {f0:Decimal(38, 10)}, false)", map[string]string{"f0": "1"}},
		`note == null || !has(note)`:            {"(isNull(`note`) OR (NOT isNotNull(`note`)))", nil},
		`template == null`:                      {"false", nil},
		`born >= "2026-07-01"`:                  {"ifNull(`born` >= {f0:Date32}, false)", map[string]string{"f0": "2026-07-01"}},
		`date("1969-12-31") == born`:            {"ifNull(`born` = {f0:Date32}, false)", map[string]string{"f0": "1969-12-31"}},
		`rate < 1.250`:                          {"(`rate` < {f0:Decimal(38, 2)})", map[string]string{"f0": "1.250"}},
		`"a" in tags && has(tags)`:              {"((has(`tags`, {f0:String})) AND true)", map[string]string{"f0": "a"}},
		`tags.exists(x, x == null || x > "a")`:  {"(arrayExists(_element -> (isNull(_element) OR ifNull(_element > {f0:String}, false)), `tags`))", map[string]string{"f0": "a"}},
		`cause == "mint"`:                       {"(toString(`cause`) = {f0:String})", map[string]string{"f0": "mint"}},
		`record_time >= timestamp("2026-07-01T00:00:00Z")`: {"(`record_time` >= {f0:DateTime64(6, 'UTC')})", map[string]string{"f0": "2026-07-01 00:00:00.000000"}},
		`record_time < "2026-07-01T02:00:00.5+02:00"`:      {"(`record_time` < {f0:DateTime64(6, 'UTC')})", map[string]string{"f0": "2026-07-01 00:00:00.500000"}},
		`record_time > now - duration("24h")`:              {"(`record_time` > {f0:DateTime64(6, 'UTC')})", map[string]string{"f0": "2026-06-30 12:00:00.000000"}},
		`consuming && !consuming`:                          {"(`consuming` AND (NOT `consuming`))", nil},
		`consuming == true`:                                {"(`consuming` = {f0:Bool})", map[string]string{"f0": "true"}},
		`"p" in signatories`:                               {"(has(`signatories`, {f0:String}))", map[string]string{"f0": "p"}},
		`party in signatories`:                             {"(has(`signatories`, `party`))", nil},
		`template in ["a", "b"]`:                           {"(`template` IN ({f0:String}, {f1:String}))", map[string]string{"f0": "a", "f1": "b"}},
		`template in []`:                                   {"false", nil},
		`node in [1, 2]`:                                   {"(`node` IN ({f0:Int64}, {f1:Int64}))", map[string]string{"f0": "1", "f1": "2"}},
		`template.startsWith("a") && template.endsWith("z") && note.contains("\n")`: {
			"(((startsWith(`template`, {f0:String})) AND (endsWith(`template`, {f1:String}))) AND ifNull(position(`note`, {f2:String}) > 0, false))",
			map[string]string{"f0": "a", "f1": "z", "f2": `\n`},
		},
		`size(signatories) > 1 && party.size() < 9`: {"((toInt64(length(`signatories`)) > {f0:Int64}) AND (toInt64(lengthUTF8(`party`)) < {f1:Int64}))", map[string]string{"f0": "1", "f1": "9"}},
		`signatories.exists(p, p.startsWith("a") || p == party) && children.all(n, n > 3)`: {
			"((arrayExists(_element -> ((startsWith(_element, {f0:String})) OR (_element = `party`)), `signatories`)) AND (arrayAll(_element -> (_element > {f1:Int64}), `children`)))",
			map[string]string{"f0": "a", "f1": "3"},
		},
	} {
		c, err := Filter{Expression: expression}.Compile(columns(), noon)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if c.Text != want.text || len(c.Params) != len(want.params) || len(want.params) > 0 && !maps.Equal(map[string]string(c.Params), want.params) {
			t.Errorf("%s\n  is   %s %q\n  want %s %q", expression, c.Text, c.Params, want.text, want.params)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat("!(", 60) + "consuming" + strings.Repeat(")", 60)
	for expression, want := range map[string]string{
		"template ==":                       "at character",
		`templat == "a"`:                    `there is no column "templat"; the nearest is "template", at character 1 of the filter`,
		`consuming && amont > 1`:            `the nearest is "amount", at character 14 of the filter`,
		`template == 5`:                     "a text cannot be compared with 5",
		`node == "5"`:                       `an integer cannot be compared with "5"`,
		`node == 1.5`:                       "an integer cannot be compared with 1.5",
		`amount == 0.12345678901`:           "no number with at most 28 digits",
		`amount == 1e3`:                     "no number",
		`rate == 1.251`:                     "at most 36 digits before the point and 2 behind it",
		`rate == amount`:                    "numbers with 2 and 10 digits",
		`born == 5`:                         "a day cannot be compared with 5",
		`born == "2026-02-30"`:              "is no day",
		`node == 99999999999999999999`:      "at character",
		`1 == 1`:                            "two constants",
		`template`:                          "this is no condition, at character 1",
		`true`:                              "this is no condition",
		`signatories == "a"`:                "a list cannot be compared",
		`template == signatories`:           "a list cannot be compared",
		`template in "a"`:                   "must be a list",
		`template in [party]`:               "texts, numbers and instants alone",
		`"a" in ["a"]`:                      "must be a column",
		`5 in signatories`:                  "a text cannot be compared with 5",
		`consuming < true`:                  "no order",
		`note < null`:                       "null is only equal",
		`record_time > "yesterday"`:         "is no instant",
		`record_time > now - 5`:             "only a duration can be added",
		`record_time > now - duration("x")`: "is no duration",
		`amount + 1 > 2`:                    "only a duration can be added",
		`template.matches(".*")`:            `there is no function "matches"`,
		`template.startsWith(party)`:        "for a column of texts and a text",
		`odd == "a"`:                        "a value that cannot be compared cannot be compared",
		`odd == odd`:                        "cannot be compared",
		`party.exists(p, p == "a")`:         "for columns with lists",
		`signatories.exists(p, children.exists(q, q == 1))`: "not inside each other",
		`signatories.exists(1, true)`:                       "a name for the element",
		`has("a")`:                                          "has is for a column",
		`size(5) > 1`:                                       "only a list or a text has a size",
		`template[0] == "a"`:                                `at character`,
		`template.x == "a"`:                                 "names of columns, comparisons",
		`{"a": 1}`:                                          "names of columns, comparisons",
		`b"a" == template`:                                  "no value that a column can have",
		`startsWith(template, "a")`:                         "is not called like this",
		`template == "a\xff"`:                               "",
		"template == \"a\xff\"":                             "must be UTF-8",
		deep:                                                "",
		strings.Repeat("consuming && ", 400) + "consuming": "",
	} {
		c, err := Filter{Expression: expression}.Compile(columns(), noon)
		var wrong *Error
		if want == "" && err == nil {
			continue // what the parser allows
		}
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %q, %v; want %q", expression, c.Text, err, want)
		}
	}
}

// FuzzCompile holds that no text of a filter gets into the condition but for names of columns: all
// values are parameters.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`template == "a" && amount > 1.5`, `"p" in signatories`, `signatories.exists(p, p == "a")`, `record_time > now - duration("24h")`, `-node == 5`, `node == -(-5)`, "a.b(c)[d]{e}"} {
		f.Add(seed)
	}
	known := columns()
	f.Fuzz(func(t *testing.T, expression string) {
		c, err := Filter{Expression: expression}.Compile(known, noon)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		rest := c.Text
		for name := range known {
			rest = strings.ReplaceAll(rest, quoted(name), "")
		}
		for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" (),{}->=<!':", r) }) {
			if !allowed[word] && !(word[0] == 'f' && strings.Trim(word[1:], "0123456789") == "") {
				t.Fatalf("%q gives %q, which has %q", expression, c.Text, word)
			}
		}
	})
}

var allowed = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields("AND OR NOT IN has startsWith endsWith position length lengthUTF8 toInt64 toString ifNull isNull isNotNull false true arrayExists arrayAll _element String Int64 Date32 Decimal 38 10 DateTime64 6 UTC Bool 0") {
		words[w] = true
	}
	return words
}()

func TestComparisons(t *testing.T) {
	f := Filter{Expression: `consuming`, Comparisons: []Comparison{
		{"template", "", "a, b"}, {"amount", "ge", "1.5"}, {"node", "in", "1,2"}, {"signatories", "has", "p"}, {"note", "null", "false"},
		{"record_time", "lt", "2026-07-01T00:00:00Z"}, {"consuming", "eq", "false"}, {"party", "prefix", "alice"},
	}}
	c, err := f.Compile(columns(), noon)
	want := "(`template` = {f0:String}) AND (`amount` >= {f1:Decimal(38, 10)}) AND (`node` IN ({f2:Int64}, {f3:Int64})) AND (has(`signatories`, {f4:String}))" +
		" AND isNotNull(`note`) AND (`record_time` < {f5:DateTime64(6, 'UTC')}) AND (`consuming` = {f6:Bool}) AND (startsWith(`party`, {f7:String})) AND `consuming`"
	if err != nil || c.Text != want || c.Params["f0"] != "a, b" || c.Params["f3"] != "2" {
		t.Errorf("%s %q, %v\nwant %s", c.Text, c.Params, err, want)
	}
	for _, wrong := range []Comparison{
		{"templat", "", "a"}, {"template", "like", "a"}, {"node", "", "x"}, {"node", "in", "1,"}, {"amount", "", "1,5"}, {"consuming", "", "yes"},
		{"record_time", "gt", "now"}, {"template", "has", "a"}, {"signatories", "", "a"}, {"note", "null", "maybe"}, {"odd", "", "x"}, {"node", "prefix", "1"},
	} {
		var refused *Error
		if c, err := (Filter{Comparisons: []Comparison{wrong}}).Compile(columns(), noon); !errors.As(err, &refused) {
			t.Errorf("%v: %q, %v", wrong, c.Text, err)
		}
	}
}
