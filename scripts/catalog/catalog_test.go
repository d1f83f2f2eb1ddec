package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	. "github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// written runs the command on packages and loads what it has written beside the built-in catalogue.
func written(t *testing.T, payloads ...[]byte) (*values.Catalog, map[string]string) {
	t.Helper()
	dir := t.TempDir()
	dar := filepath.Join(dir, "packages.dar")
	if err := os.WriteFile(dar, DAR(append(payloads, Standard())...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-out", dir, dar}); err != nil {
		t.Fatal(err)
	}
	texts, files := map[string]string{}, fstest.MapFS{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)], files[filepath.Base(path)] = string(text), &fstest.MapFile{Data: text}
	}
	c, err := values.Load(files)
	if err != nil {
		t.Fatalf("%v in\n%s", err, texts)
	}
	return c, texts
}

// What the whole built-in catalogue says survives as a compiled package: encoded, read, and written as a
// catalogue file again, each template and choice has the types that it had.
func TestTheCatalogueSurvivesAsAPackage(t *testing.T) {
	fsys := os.DirFS("../../schemas/values/catalog")
	whole, err := FromCatalog(fsys)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := written(t, Payload(whole))
	own, choices := values.Default(), 0
	for _, e := range own.Entries() {
		id := e.PackageName + "." + e.Entity
		if !e.Interface {
			if err := same(own.Template(e.PackageName, e.Entity), c.Template("catalogue", id), map[[2]*values.Type]bool{}); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		for _, name := range choicesIn(whole, id) {
			choices++
			for what, pair := range map[string][2]*values.Type{
				"argument": {own.ChoiceArgument(e.PackageName, e.Entity, "", name), c.ChoiceArgument("catalogue", id, "", name)},
				"result":   {own.ChoiceResult(e.PackageName, e.Entity, "", name), c.ChoiceResult("catalogue", id, "", name)},
			} {
				if err := same(pair[0], pair[1], map[[2]*values.Type]bool{}); err != nil {
					t.Errorf("%s of %s of %s: %v", what, name, id, err)
				}
			}
		}
	}
	if choices < 280 {
		t.Errorf("only %d choices were compared", choices)
	}
	for _, e := range c.Entries() {
		if e.PackageName != "catalogue" {
			continue
		}
		pkg, entity, _ := strings.Cut(e.Entity, ".")
		var was values.Entry
		for _, o := range own.Entries() {
			if o.PackageName == pkg && o.Entity == entity {
				was = o
			}
		}
		if was.Interface != e.Interface || len(was.Implements) != len(e.Implements) {
			t.Errorf("%s: %+v, was %+v", e.Entity, e, was)
		}
	}
}

// choicesIn are the names of the choices of a template or interface but Archive.
func choicesIn(p *packages.Package, id string) (names []string) {
	module, entity, _ := strings.Cut(id, ":")
	m := p.Module(module)
	if m == nil {
		return nil
	}
	var list []packages.Choice
	for _, t := range m.Templates {
		if t.Name == entity {
			list = t.Choices
		}
	}
	for _, i := range m.Interfaces {
		if i.Name == entity {
			list = i.Choices
		}
	}
	for _, c := range list {
		if c.Name != "Archive" {
			names = append(names, c.Name)
		}
	}
	return names
}

// same says where two types differ. The names of types do not count.
func same(a, b *values.Type, seen map[[2]*values.Type]bool) error {
	if a == nil && b == nil || seen[[2]*values.Type{a, b}] {
		return nil
	}
	if a == nil || b == nil {
		return fmt.Errorf("one is %v, the other %v", a, b)
	}
	seen[[2]*values.Type{a, b}] = true
	if a.Kind != b.Kind || len(a.Fields) != len(b.Fields) {
		return fmt.Errorf("a %s with %d fields, and a %s with %d", a.Kind, len(a.Fields), b.Kind, len(b.Fields))
	}
	for i := range a.Fields {
		if a.Fields[i].Label != b.Fields[i].Label {
			return fmt.Errorf("field %s, and %s", a.Fields[i].Label, b.Fields[i].Label)
		}
		if err := same(a.Fields[i].Type, b.Fields[i].Type, seen); err != nil {
			return fmt.Errorf("%s: %w", a.Fields[i].Label, err)
		}
	}
	if err := same(a.Elem, b.Elem, seen); err != nil {
		return err
	}
	return same(a.Key, b.Key, seen)
}

// A file, word for word: types of another package and of another version of it, records that stand where
// they are used, names that YAML takes for something else, parameters, and what is no data.
func TestAFileWordForWord(t *testing.T) {
	const module = "Acme.Shop"
	own := func(name string, args ...*packages.Type) *packages.Type { return TypeOf("", module, name, args...) }
	text := Of(packages.Text)
	trade := Payload(Trade("1.0.0"))
	money := TypeOf(ID(trade), "Acme.Trade", "Money")
	box := Data(packages.Record, "Box", F("content", Param("a")))
	box.Params = []string{"a"}
	shop := Payload(&packages.Package{Name: "acme-shop", Version: "2.0.0", Modules: []packages.Module{{
		Name: module,
		Types: []packages.DataType{
			box, EnumOf("Answer", "Yes", "No"), Data(packages.Record, "Item", F("name", text), F("on", own("Answer"))),
			Data(packages.Record, "Order", F("name", text)), // as the template of the other module is named
			Data(packages.Record, "Shop", F("owner", Of(packages.Party)), F("price", money), F("items", Of(packages.GenMap, text, own("Item"))),
				F("best", own("Item")), F("box", own("Box", Of(packages.List, money))), F("order", own("Order")), F("orders", own("Order"))),
			Data(packages.Record, "Shop_Sell", F("item", text)), Data(packages.Record, "Shop_Run", F("f", Of(packages.NotData))),
			Data(packages.Record, "Shop_SellResult"),
		},
		Templates: []packages.Template{{Name: "Shop", Choices: []packages.Choice{
			ArchiveChoice(), {Name: "Shop_Sell", Argument: own("Shop_Sell"), Result: own("Shop_SellResult")},
			{Name: "Shop_Run", Argument: own("Shop_Run"), Result: Of(packages.Optional, Of(packages.ContractID, own("Shop")))},
		}}},
	}, {
		Name:      "Acme.Other",
		Types:     []packages.DataType{Data(packages.Record, "Order", F("id", Of(packages.Int64)))},
		Templates: []packages.Template{{Name: "Order"}},
	}}})
	c, texts := written(t, shop, trade)
	want := `# Written by go run ./scripts/catalog from package acme-shop 2.0.0,
# ` + ID(shop) + `.
# Not data, and left out: argument of Shop_Run: f: it is no data
package: acme-shop
records:
  Acme.Shop:Order: {name: Text}
  Box_List_acme-trade_Money_: {content: List<acme-trade/Money>}
  Item: {name: Text, "on": Answer}
enums:
  Answer: ["Yes", "No"]
templates:
  Acme.Other:Order:
    fields: {id: Int64}
  Acme.Shop:Shop:
    fields:
      owner: Party
      price: acme-trade/Money
      items: "GenMap<Text, Item>"
      best: Item
      box: Box_List_acme-trade_Money_
      order: Acme.Shop:Order
      orders: Acme.Shop:Order
    choices:
      Shop_Run: {result: optional ContractId<Shop>}
      Shop_Sell: {argument: {item: Text}, result: {}}
`
	if got := texts["acme-shop.yaml"]; got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if typ := c.Template("acme-shop", "Acme.Shop:Shop"); typ == nil || typ.Fields[1].Type.Fields[0].Label != "amount" || typ.Fields[4].Type.Fields[0].Type.Elem.Fields[1].Label != "currency" {
		t.Errorf("the type of the shop is %+v", typ)
	}
	if len(texts) != 2 {
		t.Errorf("%d files, want those of acme-shop and acme-trade", len(texts))
	}
}

func TestMistakes(t *testing.T) {
	dar := filepath.Join(t.TempDir(), "trade.dar")
	if err := os.WriteFile(dar, DAR(Payload(Trade("1.0.0")), Standard()), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"name the .dar files to read":                       {},
		"no such file":                                      {dar + ".none"},
		"catalog_test.go: it is no .dar file":               {"catalog_test.go"},
		"none of the files has a package acme-shop with te": {"-package", "acme-shop", dar},
	} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	out := t.TempDir()
	if err := run([]string{"-out", out, "-package", "acme-trade", dar}); err != nil {
		t.Error(err)
	}
}
