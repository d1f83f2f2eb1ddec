package view_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// wants is a random request: its text is what the product reads, its fields are what the
// model and the text are made from.
type wants struct {
	transactions, reassignments *eventWants
	effects                     bool
	// topology is nil for none; empty is all.
	topology []string
	legacy   bool
	verbose  bool
}

type eventWants struct {
	anyParty []entry // nil without filters for any party
	byParty  map[string][]entry
}

// entry is one entry of a cumulative list.
type entry struct {
	kind string // Empty, WildcardFilter, TemplateFilter or InterfaceFilter
	// pkg is a package name with # or a package id; name is Module:Entity. asked is how the
	// request spells them.
	pkg, name, asked string
	blob, view       bool
}

// generator makes requests about a world.
type generator struct {
	*rand.Rand
	w *world
	// plain leaves out what the simulated node does not understand.
	plain bool
}

func (g *generator) wants() *wants {
	q := &wants{effects: g.IntN(2) == 0, verbose: g.IntN(2) == 0}
	if g.IntN(8) == 0 {
		q.legacy, q.effects = true, false
		e := g.eventWants()
		if e.anyParty != nil {
			e.byParty = nil
		}
		q.transactions, q.reassignments = e, e
		q.topology = slices.Sorted(maps.Keys(e.byParty))
		if q.topology == nil {
			q.topology = []string{}
		}
		return q
	}
	if g.IntN(8) > 0 {
		q.transactions = g.eventWants()
	}
	if g.IntN(2) == 0 {
		q.reassignments = g.eventWants()
	}
	switch g.IntN(4) {
	case 0:
		q.topology = []string{}
	case 1:
		for range 1 + g.IntN(3) {
			q.topology = append(q.topology, g.party())
		}
	}
	return q
}

func (g *generator) party() string {
	switch g.IntN(12) {
	case 0:
		return "nobody::1220ff"
	case 1:
		return "x" + g.w.parties[g.IntN(len(g.w.parties))]
	}
	return g.w.parties[g.IntN(len(g.w.parties))]
}

func (g *generator) eventWants() *eventWants {
	e := &eventWants{}
	if g.IntN(3) == 0 {
		e.anyParty = g.entries()
	}
	if e.anyParty == nil || g.IntN(3) == 0 {
		e.byParty = map[string][]entry{}
		for range 1 + g.IntN(4) {
			e.byParty[g.party()] = g.entries()
		}
	}
	return e
}

func (g *generator) entries() []entry {
	list := []entry{}
	for range g.IntN(4) {
		list = append(list, g.entry())
	}
	return list
}

func (g *generator) entry() entry {
	e := entry{blob: g.IntN(3) == 0}
	switch n := g.IntN(10); {
	case n == 0:
		e.kind = "Empty"
	case n == 1:
		e.kind = "WildcardFilter"
	case n < 4:
		ids := []string{holdingID, lockedID, nobodysID}
		if g.plain {
			ids = g.w.interfaces
		}
		e.kind, e.view = "InterfaceFilter", g.IntN(2) == 0
		e.pkg, e.name, _ = strings.Cut(ids[g.IntN(len(ids))], ":")
		e.asked = e.pkg + ":" + e.name
	default:
		e.kind = "TemplateFilter"
		t := g.w.templates[g.IntN(len(g.w.templates))]
		e.pkg, e.name, _ = strings.Cut(t.id, ":")
		if g.IntN(3) > 0 {
			e.pkg = "#" + t.pkg
		}
		e.asked = e.pkg + ":" + e.name
		if !g.plain && g.IntN(3) == 0 {
			e.asked = neutral.Replace(e.asked)
		}
	}
	return e
}

// neutral respells the names of coin templates.
var neutral = strings.NewReplacer("splice-amulet:Splice.Amulet:Amulet", "app-coin:App.Coin:Coin",
	"splice-amulet:Splice.Amulet:LockedAmulet", "app-coin:App.Coin:LockedCoin",
	":Splice.Amulet:AppRewardCoupon", ":App.Coin:AppRewardCoupon")

// text is the body of the request.
func (q *wants) text(begin, end int64, descending bool) string {
	body := map[string]any{"beginExclusive": begin, "endInclusive": end}
	if descending {
		body["descendingOrder"] = true
	}
	if q.legacy {
		body["filter"], body["verbose"] = q.transactions.json(), q.verbose
		return toJSON(body)
	}
	format := map[string]any{}
	if q.transactions != nil {
		shape := "TRANSACTION_SHAPE_ACS_DELTA"
		if q.effects {
			shape = "TRANSACTION_SHAPE_LEDGER_EFFECTS"
		}
		events := q.transactions.json()
		events["verbose"] = q.verbose
		format["includeTransactions"] = map[string]any{"eventFormat": events, "transactionShape": shape}
	}
	if q.reassignments != nil {
		format["includeReassignments"] = q.reassignments.json()
	}
	if q.topology != nil {
		format["includeTopologyEvents"] = map[string]any{"includeParticipantAuthorizationEvents": map[string]any{"parties": q.topology}}
	}
	body["updateFormat"] = format
	return toJSON(body)
}

func (e *eventWants) json() map[string]any {
	out := map[string]any{}
	if e.anyParty != nil {
		out["filtersForAnyParty"] = filtersJSON(e.anyParty)
	}
	if e.byParty != nil {
		parties := map[string]any{}
		for p, entries := range e.byParty {
			parties[p] = filtersJSON(entries)
		}
		out["filtersByParty"] = parties
	}
	return out
}

func filtersJSON(entries []entry) map[string]any {
	list := []any{}
	for _, e := range entries {
		value := map[string]any{"includeCreatedEventBlob": e.blob}
		switch e.kind {
		case "TemplateFilter":
			value["templateId"] = e.asked
		case "InterfaceFilter":
			value["interfaceId"], value["includeInterfaceView"] = e.asked, e.view
		}
		filter := map[string]any{e.kind: map[string]any{"value": value}}
		if e.kind == "Empty" {
			filter = map[string]any{e.kind: map[string]any{}}
		}
		list = append(list, map[string]any{"identifierFilter": filter})
	}
	if len(list) == 0 {
		return map[string]any{}
	}
	return map[string]any{"cumulative": list}
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("making a request: ", err))
	}
	return string(text)
}
