package packages_test

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	. "github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// read reads packages, the standard ones with them.
func read(t *testing.T, list ...*packages.Package) []*packages.Package {
	t.Helper()
	payloads := [][]byte{Standard()}
	for _, p := range list {
		payloads = append(payloads, Payload(p))
	}
	all, err := packages.ReadDAR(DAR(payloads...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// learnt is a catalogue that has learnt packages.
func learnt(t *testing.T, list ...*packages.Package) *values.Catalog {
	t.Helper()
	c := values.Default().Learning()
	c.Learn(packages.Definitions(read(t, list...)))
	return c
}

const (
	orderWithLabels = `{"at":"2026-07-05T10:00:00Z","legs":[{"tag":"Cash","value":{"due":"2026-07-06","money":{"amount":"1.5000000000","currency":"CHF"}}},` +
		`{"tag":"Coin","value":"00ab"},{"tag":"Nothing","value":{}}],"limits":{"day":"9.0000000000"},"note":null,"open":true,"owner":"alice::12",` +
		`"pair":{"_1":"bob::12","_2":"7"},"side":"Sell","tags":{"map":[["x",{}]]},"tree":{"children":[{"children":[],"label":"leaf"}],"label":"root"},"ttl":{"microseconds":"60"}}`
	orderByPosition = `{"record":{"fields":[{"value":{"party":"alice::12"}},{"value":{"enum":{"constructor":"Sell"}}},{"value":{"list":{"elements":[` +
		`{"variant":{"constructor":"Cash","value":{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"numeric":"1.5000000000"}},{"value":{"text":"CHF"}}]}}},{"value":{"date":20640}}]}}}},` +
		`{"variant":{"constructor":"Coin","value":{"contractId":"00ab"}}},{"variant":{"constructor":"Nothing","value":{"unit":{}}}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"party":"bob::12"}},{"value":{"int64":"7"}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"genMap":{"entries":[{"key":{"text":"x"},"value":{"unit":{}}}]}}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"int64":"60"}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"text":"root"}},{"value":{"list":{"elements":[{"record":{"fields":[{"value":{"text":"leaf"}},{"value":{"list":{}}}]}}]}}}]}}},` +
		`{"value":{"textMap":{"entries":[{"key":"day","value":{"numeric":"9.0000000000"}}]}}},` +
		`{"value":{"timestamp":"1783245600000000"}},{"value":{"bool":true}},{"value":{"optional":{}}}]}}`
)

// Values by position get the labels of the package, in the types of its choices and of an interface too,
// and the other way round.
func TestValuesConvertByWhatAPackageSays(t *testing.T) {
	c := learnt(t, Trade("1.0.0"))
	tests := []struct {
		name               string
		typ                *values.Type
		labelled, position string
	}{
		{"create argument", c.Template("acme-trade", "0a:Acme.Trade:Order"), orderWithLabels, orderByPosition},
		{"choice argument", c.ChoiceArgument("acme-trade", "0a:Acme.Trade:Order", "", "Order_Fill"), `{"by":"bob::12","price":"2.0000000000"}`,
			`{"record":{"fields":[{"value":{"numeric":"2.0000000000"}},{"value":{"party":"bob::12"}}]}}`},
		{"choice result", c.ChoiceResult("acme-trade", "0a:Acme.Trade:Order", "", "Order_Fill"), `{"rest":"00cd"}`,
			`{"record":{"fields":[{"value":{"optional":{"value":{"contractId":"00cd"}}}}]}}`},
		{"interface choice", c.ChoiceArgument("any", "0b:Any:Template", "0a:Acme.Api:Tradable", "Tradable_Rename"), `{"name":"n"}`,
			`{"record":{"fields":[{"value":{"text":"n"}}]}}`},
	}
	for _, tt := range tests {
		got, err := values.AppendCompact(nil, []byte(tt.position), tt.typ)
		if err != nil || string(got) != tt.labelled {
			t.Errorf("%s: %s, %v, want\n%s", tt.name, got, err, tt.labelled)
		}
		got, err = values.AppendProtobuf(nil, []byte(tt.labelled), tt.typ)
		if err != nil || string(got) != tt.position {
			t.Errorf("%s back: %s, %v, want\n%s", tt.name, got, err, tt.position)
		}
	}
	entries := 0
	for _, e := range c.Entries() {
		if e.PackageName == "acme-trade" {
			entries++
			if e.Interface == (e.Entity == "Acme.Trade:Order") || !e.Interface && (len(e.Implements) != 1 || e.Implements[0] != "Acme.Api:Tradable") {
				t.Errorf("entry %+v", e)
			}
		}
	}
	if entries != 2 {
		t.Errorf("%d entries of acme-trade, want a template and an interface", entries)
	}
}

// The newest version counts: upgrades append optional fields.
func TestTheNewestVersionCounts(t *testing.T) {
	newer := Trade("1.10.0")
	order := newer.Modules[1].Type("Order")
	order.Fields = append(order.Fields, F("memo", Of(packages.Optional, Of(packages.Text))))
	for _, list := range [][]*packages.Package{{Trade("1.9.0"), newer}, {newer, Trade("1.9.0")}} {
		typ := learnt(t, list...).Template("acme-trade", "Acme.Trade:Order")
		if last := typ.Fields[len(typ.Fields)-1]; last.Label != "memo" {
			t.Errorf("the last field is %s", last.Label)
		}
	}
}

// What the catalogue's files have stays, and what they lack of a template is learnt.
func TestFilesComeFirst(t *testing.T) {
	coin := &packages.Package{Name: "splice-amulet", Version: "0.1.8", Modules: []packages.Module{{
		Name: "Splice.Amulet",
		Types: []packages.DataType{
			Data(packages.Record, "Amulet", F("wrong", Of(packages.Text))), Data(packages.Record, "New", F("a", Of(packages.Text))),
		},
		Templates: []packages.Template{
			{Name: "Amulet", Choices: []packages.Choice{
				{Name: "Amulet_New", Argument: TypeOf("", "Splice.Amulet", "New"), Result: Of(packages.Unit)},
				{Name: "Amulet_Expire", Argument: TypeOf("", "Splice.Amulet", "New"), Result: Of(packages.Unit)},
			}},
			{Name: "New"},
		},
	}}}
	own, c := values.Default(), learnt(t, coin)
	const id = "Splice.Amulet:Amulet"
	if c.Template("splice-amulet", id) != own.Template("splice-amulet", id) || c.ChoiceArgument("splice-amulet", id, "", "Amulet_Expire") != own.ChoiceArgument("splice-amulet", id, "", "Amulet_Expire") {
		t.Error("a package took the place of what the files have")
	}
	for _, missing := range []*values.Type{
		c.ChoiceArgument("splice-amulet", id, "", "Amulet_New"), c.ChoiceArgument("app-coin", "App.Coin:Coin", "", "Coin_New"),
		c.Template("splice-amulet", "Splice.Amulet:New"), c.Template("app-coin", "App.Coin:New"), c.Template("", "Splice.Amulet:New"),
	} {
		if missing == nil || missing.Fields[0].Label != "a" {
			t.Errorf("what the files lack is %+v", missing)
		}
	}
	if own.Template("splice-amulet", "Splice.Amulet:New") != nil {
		t.Error("the built-in catalogue has learnt, too")
	}
	if a, b := own.Fingerprint(), c.Fingerprint(); a == b {
		t.Errorf("both have the fingerprint %d", a)
	}
	c.Learn(nil, 0)
	if c.Fingerprint() != own.Fingerprint() || c.Template("splice-amulet", "Splice.Amulet:New") != nil {
		t.Error("what was learnt is still there")
	}
}

// Types that are no data, of packages that are not there, or endless, are left out, and only they.
func TestWhatIsNoDataIsLeftOut(t *testing.T) {
	const module = "Odd"
	own := func(name string, args ...*packages.Type) *packages.Type { return TypeOf("", module, name, args...) }
	params := func(t packages.DataType, names ...string) packages.DataType {
		t.Params = names
		return t
	}
	a := Param("a")
	p := &packages.Package{Name: "odd", Version: "1.0.0", Modules: []packages.Module{{
		Name: module,
		Types: []packages.DataType{
			Data(packages.Record, "Function", F("f", Of(packages.NotData))),
			Data(packages.Record, "Foreign", F("f", TypeOf(strings.Repeat("ab", 32), "M", "T"))),
			params(Data(packages.Record, "Endless", F("a", a), F("rest", Of(packages.Optional, own("Endless", Of(packages.List, a))))), "a"),
			params(Data(packages.Record, "Twins", F("a", own("Twins", Tuple2(a, a)))), "a"),
			params(Data(packages.Record, "Box", F("content", a), F("more", Of(packages.List, own("Box", a)))), "a"),
			// Each refers to the other, and one has a function: none of both is data.
			Data(packages.Record, "Left", F("right", Of(packages.Optional, own("Right"))), F("f", Of(packages.NotData))),
			Data(packages.Record, "Right", F("left", Of(packages.Optional, own("Left")))),
			Data(packages.Record, "HasFunction", F("x", own("Function"))),
			Data(packages.Record, "HasForeign", F("x", own("Foreign"))),
			Data(packages.Record, "HasEndless", F("x", own("Endless", Of(packages.Int64)))),
			Data(packages.Record, "HasTwins", F("x", own("Twins", Of(packages.Int64)))),
			Data(packages.Record, "HasLeft", F("x", own("Left"))),
			Data(packages.Record, "HasRight", F("x", own("Right"))),
			Data(packages.Record, "HasWrongArguments", F("x", own("Box"))),
			Data(packages.Record, "HasBox", F("x", own("Box", own("Box", Of(packages.Text))))),
		},
	}}}
	m := &p.Modules[0]
	// A type that takes 2^60 steps to walk without remembering where one was.
	wide := Of(packages.Int64)
	for range 60 {
		wide = Of(packages.GenMap, wide, wide)
	}
	m.Types = append(m.Types, Data(packages.Record, "HasWide", F("x", wide)))
	for _, typ := range m.Types {
		if strings.HasPrefix(typ.Name, "Has") {
			m.Templates = append(m.Templates, packages.Template{Name: typ.Name})
		}
	}
	c := learnt(t, p)
	data := map[string]bool{"HasBox": true, "HasWide": true}
	for _, tmpl := range m.Templates {
		if typ := c.Template("odd", module+":"+tmpl.Name); (typ != nil) != data[tmpl.Name] {
			t.Errorf("%s: %+v, want one: %t", tmpl.Name, typ, data[tmpl.Name])
		}
	}
	got, err := values.AppendCompact(nil, []byte(`{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"text":"in"}},{"value":{"list":{}}}]}}},{"value":{"list":{}}}]}}}]}}`),
		c.Template("odd", module+":HasBox"))
	if want := `{"x":{"content":{"content":"in","more":[]},"more":[]}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestVersionsAreOrderedByTheirNumbers(t *testing.T) {
	ascending := []string{"0.1.9", "0.1.10", "0.2", "0.2.0", "1.0.0-rc1", "1.0.1", "10.0.0"}
	for i := range ascending {
		for j := range ascending {
			got, want := packages.CompareVersions(ascending[i], ascending[j]), 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got != want {
				t.Errorf("%s and %s: %d, want %d", ascending[i], ascending[j], got, want)
			}
		}
	}
}

// A numeric keeps how many digits it has after its point.
func TestNumericsHaveTheirScale(t *testing.T) {
	numeric := func(n int64) *packages.Type {
		return Of(packages.Numeric, &packages.Type{Kind: packages.Natural, N: n})
	}
	p := &packages.Package{Name: "acme-scales", Version: "1.0.0", Modules: []packages.Module{{
		Name: "M", Types: []packages.DataType{Data(packages.Record, "T", F("a", numeric(0)), F("b", numeric(37)), F("c", Decimal()))}, Templates: []packages.Template{{Name: "T"}},
	}}}
	fields := learnt(t, p).Template("acme-scales", "M:T").Fields
	if fields[0].Type.Scale != 0 || fields[1].Type.Scale != 37 || fields[2].Type.Scale != 10 {
		t.Errorf("the scales are %d, %d and %d", fields[0].Type.Scale, fields[1].Type.Scale, fields[2].Type.Scale)
	}
}
