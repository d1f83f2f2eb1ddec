package packagestest

import "github.com/ledgerlake/ledgerlake/internal/packages"

// Standard returns the payload of a package with the types of the standard library that stand in
// contracts: Tuple2, Either, Set and RelTime.
func Standard() []byte {
	a, b := Param("a"), Param("b")
	generic := func(t packages.DataType, params ...string) packages.DataType {
		t.Params = params
		return t
	}
	return Payload(&packages.Package{
		Name: "daml-prim-DA-Types", Version: "1.0.0",
		Modules: []packages.Module{
			{Name: "DA.Types", Types: []packages.DataType{
				generic(Data(packages.Record, "Tuple2", F("_1", a), F("_2", b)), "a", "b"),
				generic(Data(packages.Variant, "Either", F("Left", a), F("Right", b)), "a", "b"),
			}},
			{Name: "DA.Set.Types", Types: []packages.DataType{
				generic(Data(packages.Record, "Set", F("map", Of(packages.GenMap, a, Of(packages.Unit)))), "a"),
			}},
			{Name: "DA.Time.Types", Types: []packages.DataType{
				Data(packages.Record, "RelTime", F("microseconds", Of(packages.Int64))),
			}},
			{Name: "DA.Internal.Template", Types: []packages.DataType{Data(packages.Record, "Archive")}},
		},
	})
}

// Tuple2, SetOf, RelTime and Archive are types of Standard.
func Tuple2(a, b *packages.Type) *packages.Type {
	return TypeOf(ID(Standard()), "DA.Types", "Tuple2", a, b)
}

// SetOf is a set.
func SetOf(t *packages.Type) *packages.Type { return TypeOf(ID(Standard()), "DA.Set.Types", "Set", t) }

// RelTime is the length of a time.
func RelTime() *packages.Type { return TypeOf(ID(Standard()), "DA.Time.Types", "RelTime") }

// ArchiveChoice is the choice that all templates and interfaces have.
func ArchiveChoice() packages.Choice {
	return packages.Choice{
		Name: "Archive", Consuming: true, Argument: TypeOf(ID(Standard()), "DA.Internal.Template", "Archive"), Result: Of(packages.Unit),
	}
}

// Trade returns the package of an application, acme-trade, with a bit of everything. It needs Standard.
func Trade(version string) *packages.Package {
	const module, api = "Acme.Trade", "Acme.Api"
	own := func(name string) *packages.Type { return TypeOf("", module, name) }
	text, party := Of(packages.Text), Of(packages.Party)
	return &packages.Package{
		Name: "acme-trade", Version: version, LF: "2.1",
		Modules: []packages.Module{{
			Name: api,
			Types: []packages.DataType{
				Data(packages.OfInterface, "Tradable"),
				Data(packages.Record, "TradableView", F("owner", party), F("price", Decimal())),
				Data(packages.Record, "Tradable_Rename", F("name", text)),
			},
			Interfaces: []packages.Interface{{
				Name: "Tradable", View: TypeOf("", api, "TradableView"),
				Choices: []packages.Choice{ArchiveChoice(), {Name: "Tradable_Rename", Consuming: true, Argument: TypeOf("", api, "Tradable_Rename"), Result: Of(packages.Unit)}},
			}},
		}, {
			Name: module,
			Types: []packages.DataType{
				Data(packages.Record, "Money", F("amount", Decimal()), F("currency", text)),
				Data(packages.Record, "Leg.Cash", F("money", own("Money")), F("due", Of(packages.Date))),
				Data(packages.Variant, "Leg", F("Cash", own("Leg.Cash")), F("Coin", Of(packages.ContractID, own("Order"))), F("Nothing", Of(packages.Unit))),
				EnumOf("Side", "Buy", "Sell"),
				Data(packages.Record, "Tree", F("label", text), F("children", Of(packages.List, own("Tree")))),
				Data(packages.Record, "Order",
					F("owner", party), F("side", own("Side")), F("legs", Of(packages.List, own("Leg"))),
					F("pair", Tuple2(party, Of(packages.Int64))), F("tags", SetOf(text)), F("ttl", RelTime()),
					F("tree", own("Tree")), F("limits", Of(packages.TextMap, Decimal())),
					F("at", Of(packages.Timestamp)), F("open", Of(packages.Bool)), F("note", Of(packages.Optional, text))),
				Data(packages.Record, "Order_Fill", F("price", Decimal()), F("by", party)),
				Data(packages.Record, "Order_FillResult", F("rest", Of(packages.Optional, Of(packages.ContractID, own("Order"))))),
				Data(packages.Record, "Helper", F("run", Of(packages.NotData))),
			},
			Templates: []packages.Template{{
				Name: "Order", Implements: []packages.Ref{{Module: api, Name: "Tradable"}},
				Choices: []packages.Choice{
					ArchiveChoice(),
					{Name: "Order_Fill", Consuming: true, Argument: own("Order_Fill"), Result: own("Order_FillResult")},
				},
			}},
		}},
	}
}

// Own returns a package as it was before it was written: what it has of its own has no package id.
func Own(p *packages.Package) *packages.Package {
	out := &packages.Package{Name: p.Name, Version: p.Version, LF: p.LF, Upgrades: p.Upgrades}
	o := owner{p.ID, map[*packages.Type]*packages.Type{}}
	for _, m := range p.Modules {
		c := packages.Module{Name: m.Name}
		for _, t := range m.Types {
			t.Fields = append([]packages.Field(nil), t.Fields...)
			for i := range t.Fields {
				t.Fields[i].Type = o.typ(t.Fields[i].Type)
			}
			c.Types = append(c.Types, t)
		}
		for _, t := range m.Templates {
			t.Choices, t.Implements, t.Key = o.choices(t.Choices), o.refs(t.Implements), o.typ(t.Key)
			c.Templates = append(c.Templates, t)
		}
		for _, i := range m.Interfaces {
			i.Choices, i.Requires, i.View = o.choices(i.Choices), o.refs(i.Requires), o.typ(i.View)
			c.Interfaces = append(c.Interfaces, i)
		}
		out.Modules = append(out.Modules, c)
	}
	return out
}

// owner takes the id of a package out of its types.
type owner struct {
	id   string
	done map[*packages.Type]*packages.Type
}

func (o owner) ref(r packages.Ref) packages.Ref {
	if r.Package == o.id {
		r.Package = ""
	}
	return r
}

func (o owner) refs(list []packages.Ref) (out []packages.Ref) {
	for _, r := range list {
		out = append(out, o.ref(r))
	}
	return out
}

func (o owner) choices(list []packages.Choice) (out []packages.Choice) {
	for _, c := range list {
		c.Argument, c.Result = o.typ(c.Argument), o.typ(c.Result)
		out = append(out, c)
	}
	return out
}

func (o owner) typ(t *packages.Type) *packages.Type {
	if t == nil || o.done[t] != nil {
		return o.done[t]
	}
	c := *t
	c.Ref, c.Args = o.ref(t.Ref), nil
	for _, a := range t.Args {
		c.Args = append(c.Args, o.typ(a))
	}
	o.done[t] = &c
	return &c
}
